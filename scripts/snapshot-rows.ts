import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { classify } from '../src/classifier/classify.ts';
import type { RuleSet } from '../src/classifier/rule-set.ts';
import { keyOf, type Line } from './snapshot-lines.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const corpus = `${root}../shared/corpus/`;

/** Where the entries are that permit a line to loosen. */
export const loosenedPath = (directory: string): string => join(directory, 'loosened.md');

export const snapshotPath = (directory: string, name: string): string => join(directory, 'snapshot', `${name}.txt`);

/** What agents ran; may be missing. */
export const CORPUS_ROWS = `${corpus}agent-commands.jsonl`;

/** Where both are kept. */
export const CORPUS_RECORDS = join(root, 'test/corpus');

/** JSON in which every character can be seen. */
function inAscii(text: string): string {
  return JSON.stringify(text).replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

type Source = { readonly name: string; readonly paths: readonly string[]; readonly keyOf: (command: string) => string };

/** Vectors are ours and stand as text, as JSON so that each is one line; what others typed stands as its hash. */
const SOURCES: readonly Source[] = [
  {
    name: 'vectors',
    paths: ['hostile', 'parallel', 'compound'].map((name) => `${root}test/vectors/${name}.jsonl`),
    keyOf: inAscii,
  },
  { name: 'agent-commands', paths: [CORPUS_ROWS], keyOf },
  { name: 'labelled', paths: [`${corpus}labelled.jsonl`], keyOf },
];

/** The names of all snapshots, also of those whose commands are not here. */
export const SNAPSHOT_NAMES: readonly string[] = SOURCES.map(({ name }) => name);

/**
 * The verdicts of the rules as lines, for every source that is here. The working directory is unknown, nothing is probed.
 *
 * @param names which snapshots to take. Default: all.
 */
export function snapshots(
  rules: RuleSet,
  names: readonly string[] = SNAPSHOT_NAMES,
): readonly { readonly name: string; readonly lines: readonly Line[] }[] {
  const here = SOURCES.filter(({ name, paths }) => names.includes(name) && paths.every((path) => existsSync(path)));
  return here.map((source) => ({
    name: source.name,
    lines: source.paths.flatMap(commandsOf).map((command) => ({
      simple: answer(command, rules, 'simple'),
      compound: answer(command, rules, 'compound'),
      key: source.keyOf(command),
    })),
  }));
}

/** The commands of a file of JSON lines. */
export function commandsOf(path: string): readonly string[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line): string => JSON.parse(line).cmd);
}

/** `parallel` with the paths of its rules, or the code of the reason. */
export function answer(command: string, rules: RuleSet, mode: 'simple' | 'compound'): string {
  const verdict = classify(command, { rules, mode });
  if (verdict.kind === 'serial') return verdict.reason.code;
  return `parallel ${verdict.rule.map(({ path }) => path).join(' + ')}`;
}
