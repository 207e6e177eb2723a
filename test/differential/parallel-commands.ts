import { readdirSync, readFileSync } from 'node:fs';
import { classify } from '../../src/classifier/classify.ts';
import type { ClassifyOptions } from '../../src/classifier/judgement.ts';
import { lex } from '../../src/classifier/lexer.ts';
import type { Run } from '../../src/classifier/verdict.ts';
import type { Answer, Question } from '../support/bash-oracle.ts';
import { count, hostilePart, mutate, pick, type Random, randomFrom, requoted } from '../support/hostile-text.ts';

const RULES = new URL('../../rules/', import.meta.url);
const VECTORS = new URL('../vectors/parallel.jsonl', import.meta.url);

type RuleFile = {
  readonly binary?: string;
  readonly also?: readonly string[];
  readonly examples?: { readonly parallel?: readonly string[] };
};

function ruleFiles(): RuleFile[] {
  const names = readdirSync(RULES).filter((name) => name.endsWith('.json') && name !== 'profiles.json');
  return names.map((name) => JSON.parse(readFileSync(new URL(name, RULES), 'utf8')));
}

/** Every name that a built-in rule knows. */
export function namesOfRules(): string[] {
  return ruleFiles().flatMap(({ binary, also = [] }) => (binary === undefined ? [] : [binary, ...also]));
}

/** The examples of the rules and the vectors: what the edits start from. */
export function honestCommands(): string[] {
  const vectors = readFileSync(VECTORS, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  const examples = ruleFiles().flatMap((file) => file.examples?.parallel ?? []);
  return [...vectors.map((line): string => JSON.parse(line).cmd), ...examples];
}

/** A command that `classify` calls parallel, and how it is to be run. */
export type ParallelCommand = { readonly text: string; readonly run: Run };

const PREFIXES = ['LC_ALL=C ', 'TZ=UTC ', 'NO_COLOR=1 LC_ALL=C ', ' ', '\t'];

/** One or two edits: of the spelling, of a word, of a character. */
function edited(random: Random, text: string): string {
  const lexed = lex(text);
  if (!lexed.ok || random() < 0.25) return mutate(random, text, 0);
  const spellings = lexed.words.map((word) => word.raw);
  for (let edits = count(random, 1, 2); edits > 0; edits--) {
    const at = count(random, 0, lexed.words.length - 1);
    const word = lexed.words[at]!;
    const edit = random();
    if (edit < 0.55) spellings[at] = requoted(random, word.text);
    else if (edit < 0.7) spellings[at] = word.raw + hostilePart(random);
    else if (edit < 0.8) spellings[at] = hostilePart(random) + hostilePart(random);
    else if (edit < 0.9) spellings.push(hostilePart(random) + hostilePart(random));
    else spellings[0] = pick(random, PREFIXES) + spellings[0];
  }
  return spellings.join(pick(random, [' ', ' ', '  ', '\t', ' \t']));
}

/** At least `least` different parallel commands, an equal share out of each seed, none of them as it stood. */
export function parallelCommands(seeds: readonly number[], least: number, options: ClassifyOptions): ParallelCommand[] {
  const honest = honestCommands();
  const known = new Set(honest);
  const found = new Map<string, ParallelCommand>();
  for (const [index, seed] of seeds.entries()) {
    const random = randomFrom(seed);
    while (found.size < (least / seeds.length) * (index + 1)) {
      const text = edited(random, pick(random, honest));
      const verdict = classify(text, options);
      if (verdict.kind === 'parallel' && !known.has(text)) found.set(text, { text, run: verdict.run });
    }
  }
  return [...found.values()];
}

function accepted({ text }: ParallelCommand) {
  const lexed = lex(text);
  if (!lexed.ok) throw new Error(`Parallel, although the lexer refuses it with ${lexed.code}: ${JSON.stringify(text)}`);
  return lexed;
}

export function questionOf(command: ParallelCommand): Question {
  const { assignments, words } = accepted(command);
  const variables = [...new Set(assignments.map(({ name }) => name))];
  return { text: command.text, variables, noGlob: words.some((word) => word.glob) };
}

/** What bash must answer: the words that would be run, or, where bash is to run the text, those that were judged. */
export function expectedAnswer(command: ParallelCommand): Answer {
  const { assignments, words } = accepted(command);
  const { run } = command;
  const names = [...new Set(assignments.map(({ name }) => name))];
  const values = new Map(assignments.map(({ name, value }) => [name, value]));
  const argv = run.form === 'argv' ? run.argv : words.map((word) => word.text);
  const env: Readonly<Record<string, string | undefined>> = run.form === 'argv' ? run.env : Object.fromEntries(values);
  return { kind: 'call', argv, values: names.map((name) => env[name] ?? '<missing>') };
}
