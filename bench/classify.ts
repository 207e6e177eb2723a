/**
 * How long one verdict takes, beside what others take for the same texts in the same run: shell-quote's `parse` alone,
 * and unbash's with a walk over its tree; and whether the time stays linear. Run: `npx tsx bench/classify.ts`. A figure,
 * not a test: the machine decides it.
 */
import { fileURLToPath } from 'node:url';
import parse from 'shell-quote/parse.js';
import { classify } from '../src/classifier/classify.ts';
import type { ClassifyOptions } from '../src/classifier/judgement.ts';
import { loadRules } from '../src/rules/load.ts';
import { bestOf, medianOf, sampleCommands } from './measure.ts';
import { parseAndWalk } from './unbash.ts';

/** One verdict may take this many times as long as unbash's parse and walk. */
const BAR = 2;

const rules = loadRules();
const options: ClassifyOptions = { rules, cwd: '/home/someone/project' };

function parseAlone(command: string): unknown {
  try {
    return parse(command, (name) => `$${name}`);
  } catch {
    return null;
  }
}

/** Texts of which each character costs as much as it can, as long as the limit allows. */
const WORST: readonly (readonly [name: string, make: (length: number) => string])[] = [
  ['one long word', (n) => `ls ${'a'.repeat(n)}`],
  ['many words', (n) => `ls ${'a '.repeat(n / 2)}`],
  ['single quotes', (n) => `ls ${"''".repeat(n / 2)}`],
  ['double quotes and escapes', (n) => `ls "${'\\"'.repeat(n / 2)}"`],
  ['backslashes', (n) => `ls ${'\\a'.repeat(n / 2)}`],
  ['letters beyond ASCII', (n) => `ls ${'é'.repeat(n)}`],
  ['surrogate pairs', (n) => `ls ${'𝒂'.repeat(n / 2)}`],
  ['climbing', (n) => `ls ${'../'.repeat(n / 3)}`],
  ['globs', (n) => `ls a${'/.*'.repeat(n / 3)}`],
  ['a cluster', (n) => `ls -${'l'.repeat(n)}`],
  ['option values', (n) => `grep ${'-e a '.repeat(n / 5)}x f`],
  ['placeholders', (n) => `git log --format=${'%h'.repeat(n / 2)}`],
  ['joins and terms', (n) => `find . ${'-name a -o '.repeat(n / 11)}-name a`],
  ['a program', (n) => `sed -n '${'p;'.repeat(n / 2)}p' f`],
];

const LARGE = 1_000_000;

/** Milliseconds of processor time for one text. */
function timeOf(command: string): number {
  const limits = { maxChars: 4 * LARGE, maxWords: 4 * LARGE };
  return bestOf(() => classify(command, { ...options, limits }));
}

const microseconds = (value: number): string => `${value.toFixed(2)} µs`;

/** One set of commands, ours and theirs, and whether the bar is kept. */
function compare(commands: readonly string[]): void {
  const ours = medianOf(commands, (command) => classify(command, options));
  const quote = medianOf(commands, parseAlone);
  const walk = medianOf(commands, parseAndWalk);
  const ratio = ours / walk;
  console.log(`  classify               ${microseconds(ours)}`);
  console.log(`  unbash parse and walk  ${microseconds(walk)}  (${(walk / ours).toFixed(1)} times as long)`);
  console.log(`  shell-quote parse      ${microseconds(quote)}  (${(quote / ours).toFixed(1)} times as long)`);
  const kept = ratio <= BAR ? 'kept' : 'NOT KEPT';
  console.log(`  bar: classify at most ${BAR} times unbash's parse and walk: ${ratio.toFixed(2)} times, ${kept}\n`);
}

export function benchClassify(): void {
  const { commands, source } = sampleCommands();
  console.log(`${commands.length} commands of ${source}, median per command`);
  compare(commands);
  const parallel = commands.filter((command) => classify(command, options).kind === 'parallel');
  console.log(`the ${parallel.length} parallel ones of them`);
  compare(parallel);
  console.log('1 MB and 2 MB of one alphabet, limits raised');
  for (const [name, make] of WORST) {
    const [once, twice] = [timeOf(make(LARGE)), timeOf(make(2 * LARGE))];
    const { kind } = classify(make(1000), options);
    console.log(
      `  ${name.padEnd(26)} ${once.toFixed(1).padStart(7)} ms ${twice.toFixed(1).padStart(7)} ms  × ${(twice / once).toFixed(2)}  ${kind}`,
    );
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) benchClassify();
