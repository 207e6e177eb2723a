import { type Answer, type Figure, parallelShare, weightedShare } from './score-figures.ts';

/** What compound mode adds, on the same rows: each figure beside the one of simple mode where there is one. */

export type CompoundRow = { readonly cmd: string; readonly expected: 'parallel' | 'serial' };
export type LabelledRow = {
  readonly cmd: string;
  readonly expected: 'parallel' | 'serial' | 'parallel-in-compound';
  readonly borderline: boolean;
};
export type SeenRow = {
  readonly cmd: string;
  readonly count: number;
  readonly guess: 'ro' | 'ro-net' | 'cond' | 'no';
};
/** Commands that were sent in one turn. */
export type BatchRow = { readonly commands: readonly string[] };

/** The answers of both modes. */
export type Answers = { readonly simple: Answer; readonly compound: Answer };

/** The first must be none; the others should be all. */
export function compoundVectorFigures(
  hostile: readonly string[],
  rows: readonly CompoundRow[],
  { compound }: Answers,
): readonly [wrong: Figure, wrongRows: Figure, ...others: Figure[]] {
  const expecting = (expected: CompoundRow['expected']) =>
    rows.filter((row) => row.expected === expected).map(({ cmd }) => cmd);
  return [
    parallelShare('hostile vectors that are parallel, compound mode', hostile, 'none', compound),
    parallelShare('compound vectors expected serial that are parallel', expecting('serial'), 'none', compound),
    parallelShare('compound vectors expected parallel', expecting('parallel'), 'all', compound),
  ];
}

export function compoundCorpusFigures(
  labelled: readonly LabelledRow[],
  seen: readonly SeenRow[],
  batches: readonly BatchRow[],
  answers: Answers,
): readonly Figure[] {
  const { compound } = answers;
  const expecting = (expected: LabelledRow['expected'], borderline: boolean) =>
    labelled.filter((row) => row.expected === expected && row.borderline === borderline).map(({ cmd }) => cmd);
  const reads = seen.filter(({ guess }) => guess === 'ro' || guess === 'cond');
  const texts = (rows: readonly SeenRow[]) => rows.map(({ cmd }) => cmd);
  const writes = seen.filter(({ guess }) => guess === 'no');
  return [
    parallelShare('labelled serial that are parallel', expecting('serial', false), 'none', compound),
    parallelShare('  the borderline ones', expecting('serial', true), 'none', compound),
    parallelShare('labelled parallel', expecting('parallel', false), 'all', compound),
    parallelShare('  the borderline ones', expecting('parallel', true), 'all', compound),
    parallelShare('labelled parallel in compound mode', expecting('parallel-in-compound', false), 'all', compound),
    parallelShare('  the borderline ones', expecting('parallel-in-compound', true), 'all', compound),
    parallelShare('agent commands guessed to write', texts(writes), 'none', compound),
    parallelShare('agent commands guessed read-only or conditional', texts(reads), 'all', compound),
    weightedShare('  the same, as often as seen', reads, compound),
    parallelShare('  the same in simple mode', texts(reads), 'all', answers.simple),
    weightedShare('  the same in simple mode, as often as seen', reads, answers.simple),
    batchShare('turns of which every command is parallel', batches, compound),
    batchShare('  the same in simple mode', batches, answers.simple),
  ];
}

/** How many batches hold nothing but parallel commands. A miss names the first command that is serial. */
export function batchShare(title: string, batches: readonly BatchRow[], answer: Answer): Figure {
  const serial = batches.map(({ commands }) => commands.find((command) => answer(command) !== 'parallel'));
  const missed = serial.filter((command) => command !== undefined);
  return {
    title,
    count: batches.length - missed.length,
    of: batches.length,
    aim: 'all',
    misses: missed.map((command) => `${answer(command).padEnd(22)} ${JSON.stringify(command)}`),
  };
}

/** How many times as many turns compound mode lets overlap, as a line. */
export function gainLine(batches: readonly BatchRow[], { simple, compound }: Answers): string {
  const count = (answer: Answer) => batchShare('', batches, answer).count;
  const [before, after] = [count(simple), count(compound)];
  return `${after} turns overlap whole in compound mode, ${before} in simple mode: ${(after / before).toFixed(2)} times as many`;
}
