/**
 * `npm run score`: how the rules do on the vectors of this repository and, when the shared corpus lies beside it, on
 * commands that people and agents really ran. `--misses` lists every row that keeps a figure from its aim. Exit code 1
 * when a hostile row is parallel or the lexer reads a row unlike bash.
 */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { classify } from '../src/classifier/classify.ts';
import { lex } from '../src/classifier/lexer.ts';
import { secondReading } from '../src/classifier/second-reading.ts';
import { loadRules } from '../src/rules/load.ts';
import {
  type Answers,
  type BatchRow,
  type CompoundRow,
  compoundCorpusFigures,
  compoundVectorFigures,
  gainLine,
  type LabelledRow,
  type SeenRow,
} from './score-compound.ts';
import {
  drawFigures,
  type Figure,
  type LexerRow,
  lexerFigures,
  parallelShare,
  weightedShare,
} from './score-figures.ts';
import './closed-pipe.ts';

type Row = { readonly cmd: string };
type Seen = SeenRow & { readonly shape: string };

const root = fileURLToPath(new URL('..', import.meta.url));
const corpus = `${root}../shared/corpus/`;

function readRows<T>(path: string): readonly T[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
}

const rules = loadRules();
const known = new Set(rules.names);

function answerIn(mode: 'simple' | 'compound', command: string): string {
  const verdict = classify(command, { rules, secondReading, mode });
  return verdict.kind === 'parallel' ? 'parallel' : verdict.reason.code;
}
const answer = (command: string): string => answerIn('simple', command);
const answers: Answers = { simple: answer, compound: (command) => answerIn('compound', command) };

const texts = (rows: readonly Row[]) => rows.map(({ cmd }) => cmd);
const hasRule = (command: string) => known.has(/^[^\t\n\r ]*/.exec(command)?.[0] ?? '');

function vectorFigures(): { readonly figures: readonly Figure[]; readonly faults: readonly Figure[] } {
  const hostile = texts(readRows<Row>(`${root}test/vectors/hostile.jsonl`));
  const harmless = texts(readRows<Row>(`${root}test/vectors/parallel.jsonl`));
  const compound = readRows<CompoundRow>(`${root}test/vectors/compound.jsonl`);
  const wrong = parallelShare('hostile vectors that are parallel', hostile, 'none', answer);
  const [misread, ...lexed] = lexerFigures(readRows<LexerRow>(`${root}test/vectors/lexer.jsonl`), lex);
  const [wrongHostile, wrongCompound, ...compounds] = compoundVectorFigures(hostile, compound, answers);
  const faults = [wrong, ...(misread === undefined ? [] : [misread]), wrongHostile, wrongCompound];
  const ruled = harmless.filter(hasRule);
  const figures = [
    wrong,
    parallelShare('hostile vectors of binaries with a rule', hostile.filter(hasRule), 'none', answer),
    parallelShare('parallel vectors of binaries with a rule', ruled, 'all', answer),
    parallelShare('parallel vectors, all', harmless, 'all', answer),
    ...faults.slice(1),
    ...lexed,
    ...compounds,
  ];
  console.log(`${rules.names.length} names with a rule, ${rules.hash}\n`);
  return { figures, faults };
}

function corpusFigures(): readonly Figure[] {
  const labelled = readRows<LabelledRow>(`${corpus}labelled.jsonl`);
  const seen = readRows<Seen>(`${corpus}agent-commands.jsonl`);
  const expecting = (expected: LabelledRow['expected']) => texts(labelled.filter((row) => row.expected === expected));
  const guessed = (guess: Seen['guess']) => seen.filter((row) => row.guess === guess);
  const simple = (rows: readonly Seen[]) => rows.filter(({ shape }) => shape.startsWith('simple'));
  return [
    parallelShare('labelled serial that are parallel', expecting('serial'), 'none', answer),
    parallelShare('labelled parallel', expecting('parallel'), 'all', answer),
    parallelShare('labelled parallel, as compounds only', expecting('parallel-in-compound'), 'all', answer),
    parallelShare('agent commands guessed to write', texts(guessed('no')), 'none', answer),
    parallelShare('agent commands guessed read-only, simple', texts(simple(guessed('ro'))), 'all', answer),
    weightedShare('  the same, as often as seen', simple(guessed('ro')), answer),
    parallelShare('agent commands guessed read-only, all', texts(guessed('ro')), 'all', answer),
    weightedShare('  the same, as often as seen', guessed('ro'), answer),
    parallelShare('agent commands guessed conditional, simple', texts(simple(guessed('cond'))), 'all', answer),
    weightedShare('  the same, as often as seen', simple(guessed('cond')), answer),
    parallelShare('agent commands, all', texts(seen), 'all', answer),
    weightedShare('  the same, as often as seen', seen, answer),
  ];
}

const withMisses = process.argv.includes('--misses');
const { figures, faults } = vectorFigures();
console.log(drawFigures(figures, withMisses).join('\n'));
if (existsSync(corpus)) {
  const batches = readRows<BatchRow>(`${corpus}sibling-batches.jsonl`);
  const labelled = readRows<LabelledRow>(`${corpus}labelled.jsonl`);
  const compound = compoundCorpusFigures(labelled, readRows<Seen>(`${corpus}agent-commands.jsonl`), batches, answers);
  console.log(`\n${drawFigures(corpusFigures(), withMisses).join('\n')}`);
  console.log(`\ncompound mode\n${drawFigures(compound, withMisses).join('\n')}\n${gainLine(batches, answers)}`);
} else console.log('\nno ../shared/corpus here: its figures are left out');

const wrong = faults.reduce((sum, { count }) => sum + count, 0);
if (wrong > 0) console.error(`\n${wrong} rows are on the wrong side`);
process.exitCode = wrong > 0 ? 1 : 0;
