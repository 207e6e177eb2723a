import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { classify, judge } from '../../src/classifier/classify.ts';
import type { RuleSet } from '../../src/classifier/rule-set.ts';
import { secondReading } from '../../src/classifier/second-reading.ts';
import type { RuleFile } from '../../src/rules/schema.ts';
import { readProposed } from '../../src/rules/sources.ts';
import { mapped } from './mapping.ts';
import { drawEvenly } from './sample.ts';

/** Where a command of the proof comes from. */
export type Source = 'example' | 'proposed' | 'vector' | 'corpus' | 'option';

export type Candidate = {
  readonly command: string;
  readonly source: Source;
  /** The binary of its rule. */
  readonly binary: string;
  /** What the corpus had, where its paths were mapped onto the fixture. */
  readonly original?: string;
};

/** Rows of the corpus that are drawn. */
export const CORPUS_DRAWN = 500;
/** Changing it draws other rows. */
export const CORPUS_SEED = 20_261_130;

const CORPUS = new URL('../../../shared/corpus/agent-commands.jsonl', import.meta.url);

/** Every command that the proof runs, each once, in a fixed order; the corpus only where it lies beside the project. */
export function candidatesOf(rules: RuleSet, files: readonly RuleFile[], directory: string): readonly Candidate[] {
  const all = new Map<string, Candidate>();
  for (const candidate of [...examplesOf(files, directory), ...vectorsOf(rules), ...corpusOf(rules)]) {
    if (!all.has(candidate.command)) all.set(candidate.command, candidate);
  }
  return [...all.values()];
}

/** Whether the corpus is there. */
export function hasCorpus(): boolean {
  return existsSync(CORPUS);
}

function* examplesOf(files: readonly RuleFile[], directory: string): Generator<Candidate> {
  for (const { binary, examples, only } of files) {
    // What has no meaning alone is run in compounds: compounds.ts.
    if (only === 'compound') continue;
    for (const command of examples.parallel) yield { command, source: 'example', binary };
    for (const command of readProposed(directory, binary).parallel) yield { command, source: 'proposed', binary };
  }
}

function* vectorsOf(rules: RuleSet): Generator<Candidate> {
  const rows = rowsOf<{ readonly cmd: string }>(new URL('../vectors/parallel.jsonl', import.meta.url));
  for (const { cmd } of rows) yield* candidateFor(cmd, 'vector', rules);
}

/** The same rows whatever becomes of them: none is replaced by another. */
function corpusOf(rules: RuleSet): readonly Candidate[] {
  if (!hasCorpus()) return [];
  const rows = rowsOf<{ readonly cmd: string }>(CORPUS);
  const parallel = rows.flatMap(({ cmd }) => [...candidateFor(cmd, 'corpus', rules)]);
  return drawEvenly(parallel, ({ binary }) => binary, CORPUS_DRAWN, CORPUS_SEED);
}

function* candidateFor(original: string, source: Source, rules: RuleSet): Generator<Candidate> {
  const verdict = classify(original, { rules, secondReading });
  const binary = verdict.kind === 'parallel' ? verdict.rule[0]?.binary : undefined;
  if (binary === undefined) return;
  const command = mapped(original, rules);
  yield { command, source, binary, ...(command === original ? {} : { original }) };
}

function rowsOf<Row>(url: URL): readonly Row[] {
  const lines = readFileSync(fileURLToPath(url), 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
}

/** Commands whose operand is a directory that they walk or list. */
const WALKS: ReadonlySet<string> = new Set(['ls', 'find', 'tree', 'du', 'rg', 'grep']);

/** The files that the commands name, to be there before they are run. A slash at the end: a directory. */
export function filesFor(candidates: readonly Candidate[], rules: RuleSet): readonly string[] {
  // What one command opens as a file is no directory, though others would list it.
  const isFile = new Map<string, boolean>();
  for (const { command, binary } of candidates) {
    const { paths } = judge(command, { rules });
    for (const { text, glob } of paths) {
      const path = glob ? text.replaceAll('**', '*').replaceAll('*', 'x').replaceAll('?', 'y') : text;
      if (
        path === '' ||
        path.split('/')[0] === '.git' ||
        isRevision(path) ||
        path.startsWith('/') ||
        path.includes('..') ||
        path.includes('[')
      )
        continue;
      const base = path.slice(path.lastIndexOf('/') + 1);
      const opens = !WALKS.has(binary) || base.includes('.');
      isFile.set(path, (isFile.get(path) ?? false) || (opens && base !== ''));
    }
  }
  const names = [...isFile].map(([path, opens]) => (opens || path.endsWith('/') ? path : `${path}/`));
  // Deepest first: a name that is the directory of another is one.
  return names.sort((one, other) => other.split('/').length - one.split('/').length || (one < other ? -1 : 1));
}

/** A name of a commit may stand where a path may; a file of that name would make it ambiguous. */
function isRevision(text: string): boolean {
  return [
    'HEAD',
    'ORIG_HEAD',
    'FETCH_HEAD',
    '@',
    'main',
    'master',
    'develop',
    'origin',
    'stash',
    'feature',
    'v1.',
  ].some((name) => text.startsWith(name));
}
