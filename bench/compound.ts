/**
 * The same as classify.ts in compound mode: how long one verdict takes beside unbash's parse and walk, and whether the
 * time stays linear in texts of many parts. Run: `npx tsx bench/compound.ts`. A figure, not a test.
 */
import { fileURLToPath } from 'node:url';
import { classify } from '../src/classifier/classify.ts';
import type { ClassifyOptions } from '../src/classifier/judgement.ts';
import { loadRules } from '../src/rules/load.ts';
import { bestOf, medianOf, sampleCommands } from './measure.ts';
import { parseAndWalk } from './unbash.ts';

const rules = loadRules();
const options: ClassifyOptions = { rules, cwd: '/home/someone/project', mode: 'compound' };

/** Texts of as many parts, operators or redirections as their length allows. */
const WORST: readonly (readonly [name: string, make: (length: number) => string])[] = [
  ['a list', (n) => `ls${'&&ls'.repeat(n / 4)}`],
  ['a list with semicolons', (n) => `ls${';ls'.repeat(n / 3)};`],
  ['a pipeline', (n) => `ls${'|wc'.repeat(n / 3)}`],
  ['a pipeline into xargs', (n) => `ls${'|cat'.repeat(n / 4)}|xargs wc -l`],
  ['redirections', (n) => `ls${' 2>&1'.repeat(n / 5)}`],
  ['redirections of every part', (n) => `ls${'|wc 2>/dev/null'.repeat(n / 15)}`],
  ['different profiles', (n) => `ls${';git log;rg a;docker ps'.repeat(n / 23)}`],
  ['a directory and both places', (n) => `cd src && ls${'||ls'.repeat(n / 4)}`],
  ['long words in parts', (n) => `ls${` && cat ${'a'.repeat(100)}`.repeat(n / 108)}`],
  ['operators in quotes', (n) => `ls${" && echo '&&|;>'".repeat(n / 16)}`],
  ['operators without commands', (n) => `ls${'&& '.repeat(n / 3)}`],
];

const LARGE = 20_000;

/** Milliseconds of processor time for one text. */
function timeOf(command: string): number {
  const limits = { maxChars: 4 * LARGE, maxWords: 4 * LARGE, maxParts: 4 * LARGE };
  return bestOf(() => classify(command, { ...options, limits }));
}

export function benchCompound(): void {
  const { commands, source } = sampleCommands();
  const compounds = commands.filter((command) => {
    const verdict = classify(command, options);
    return verdict.kind === 'parallel' && verdict.parts !== undefined;
  });
  for (const [what, some] of [
    [`${commands.length} commands of ${source}`, commands],
    [`the ${compounds.length} parallel compounds of them`, compounds],
  ] as const) {
    const ours = medianOf(some, (command) => classify(command, options));
    const walk = medianOf(some, parseAndWalk);
    console.log(`${what}, median per command`);
    console.log(`  classify in compound mode ${ours.toFixed(2)} µs`);
    console.log(`  unbash parse and walk     ${walk.toFixed(2)} µs  (${(walk / ours).toFixed(1)} times as long)\n`);
  }
  console.log('20 and 40 KB of one pattern, limits raised');
  for (const [name, make] of WORST) {
    const [once, twice] = [timeOf(make(LARGE)), timeOf(make(2 * LARGE))];
    const { kind } = classify(make(150), options);
    console.log(
      `  ${name.padEnd(28)} ${once.toFixed(1).padStart(7)} ms ${twice.toFixed(1).padStart(7)} ms  × ${(twice / once).toFixed(2)}  ${kind}`,
    );
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) benchCompound();
