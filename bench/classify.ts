/**
 * How long one verdict takes, beside what shell-quote's `parse` alone takes for the same text in the same run; and
 * whether the time stays linear. Run: `npx tsx bench/classify.ts`. A figure, not a test: the machine decides it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import parse from 'shell-quote/parse.js';
import { classify } from '../src/classifier/classify.ts';
import type { ClassifyOptions } from '../src/classifier/judgement.ts';
import { loadRules } from '../src/rules/load.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CORPUS = `${ROOT}../shared/corpus/agent-commands.jsonl`;
const VECTORS = ['parallel', 'hostile'].map((name) => `${ROOT}test/vectors/${name}.jsonl`);

/** Rounds over all commands: the first warm the compiler up and are thrown away. */
const WARM_UP = 5;
const ROUNDS = 15;
/** Calls in a row of one command: the clock is too coarse for one. */
const BURST = 8;

const rules = loadRules();
const options: ClassifyOptions = { rules, cwd: '/home/someone/project' };

/** The median of each command's own best time, in microseconds. */
function medianOf(commands: readonly string[], ask: (command: string) => unknown): number {
  const best = new Float64Array(commands.length).fill(Number.POSITIVE_INFINITY);
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    for (const [index, command] of commands.entries()) {
      const start = process.hrtime.bigint();
      for (let call = 0; call < BURST; call++) ask(command);
      const took = Number(process.hrtime.bigint() - start) / 1000 / BURST;
      if (round >= 0 && took < best[index]!) best[index] = took;
    }
  }
  return best.sort()[best.length >> 1]!;
}

function parseAlone(command: string): unknown {
  try {
    return parse(command, (name) => `$${name}`);
  } catch {
    return null;
  }
}

function commandsOf(paths: readonly string[]): readonly string[] {
  const lines = paths.flatMap((path) => readFileSync(path, 'utf8').split('\n'));
  return lines.filter((line) => line !== '').map((line): string => JSON.parse(line).cmd);
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

/** Milliseconds of processor time for one text, the best of a few: what else runs on the machine does not count. */
function timeOf(command: string): number {
  const limits = { maxChars: 4 * LARGE, maxWords: 4 * LARGE };
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 7; round++) {
    const start = process.cpuUsage();
    classify(command, { ...options, limits });
    const { user, system } = process.cpuUsage(start);
    best = Math.min(best, (user + system) / 1000);
  }
  return best;
}

export function benchClassify(): void {
  const fromCorpus = existsSync(CORPUS);
  const commands = commandsOf(fromCorpus ? [CORPUS] : VECTORS);
  const ours = medianOf(commands, (command) => classify(command, options));
  const theirs = medianOf(commands, parseAlone);
  console.log(`${commands.length} commands of ${fromCorpus ? 'the shared corpus' : 'the vectors'}, median per command`);
  console.log(`  classify             ${ours.toFixed(2)} µs`);
  console.log(`  shell-quote parse    ${theirs.toFixed(2)} µs  (${(theirs / ours).toFixed(1)} times as long)`);
  const parallel = commands.filter((command) => classify(command, options).kind === 'parallel');
  const proved = medianOf(parallel, (command) => classify(command, options));
  const parsed = medianOf(parallel, parseAlone);
  console.log(`  the ${parallel.length} parallel ones: ${proved.toFixed(2)} µs, parse ${parsed.toFixed(2)} µs\n`);
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
