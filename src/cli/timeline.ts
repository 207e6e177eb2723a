import { displayWidth } from '../classifier/display-width.ts';
import { toWidth, visible } from './display-text.ts';
import type { Paint } from './paint.ts';
import { isGood, type Row } from './progress.ts';

/** What the bars are made of: a blank stands for "not yet" and "no more". */
export type Glyphs = { readonly queued: string; readonly waited: string; readonly ran: string };

export const BLOCKS: Glyphs = { queued: '·', waited: '░', ran: '█' };
/** For terminals whose locale is not UTF-8. */
export const LETTERS: Glyphs = { queued: '.', waited: '-', ran: '#' };

export type TimelineOptions = {
  /** Columns of the terminal; no line is longer. At least 40 are assumed. */
  readonly width: number;
  /** Milliseconds since the batch began, for commands that have not ended. */
  readonly now: number;
  readonly glyphs: Glyphs;
  readonly paint: Paint;
  /** All rows of the batch, when only some are drawn: the axis and the last sentence are about all. Default: those drawn. */
  readonly all?: readonly Row[];
};

type Layout = {
  readonly id: number;
  readonly command: number;
  readonly bar: number;
  readonly verdict: number;
  readonly times: boolean;
};

const VERDICT = 8;
const EXIT = 11;
const TIME = 8;
const SMALLEST_BAR = 10;
const LEAST_WIDTH = 40;
/** From here on there is room for the code of a serial verdict beside it. */
const WIDTH_WITH_CODES = 120;

/** A duration in at most eight columns: `85 ms`, `1.25 s`, `2m 05s`. */
export function duration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_995) return `${(ms / 1000).toFixed(2)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${String(seconds % 60).padStart(2, '0')}s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)}h ${String(minutes % 60).padStart(2, '0')}m`;
}

/** How a command ended, in a word: its exit code, the signal that ended it, or its state. */
export function ending(row: Pick<Row, 'state' | 'exitCode' | 'signal'>): string {
  if (row.state !== 'exited') return row.state;
  return row.signal ?? String(row.exitCode);
}

/** The verdict, with the code of its reason when it is serial: `serial TEXT_REDIRECTION`. */
export function verdictText(verdict: Row['verdict']): string {
  return verdict.kind === 'parallel' ? 'parallel' : `serial ${verdict.reason.code}`;
}

function largest(rows: readonly Row[], least: number, measure: (row: Row) => number): number {
  return rows.reduce((most, row) => Math.max(most, measure(row)), least);
}

/** Columns are given to what cannot be shortened first; command and bar share the rest. */
function layOut(rows: readonly Row[], width: number): Layout {
  const id = Math.min(
    12,
    largest(rows, 2, (row) => displayWidth(visible(row.id))),
  );
  const longest = largest(rows, 7, (row) => displayWidth(visible(row.command)));
  const times = width >= 76;
  const verdict = width < WIDTH_WITH_CODES ? VERDICT : largest(rows, VERDICT, (row) => verdictText(row.verdict).length);
  const fixed = id + 1 + 1 + 1 + verdict + 1 + EXIT + (times ? 2 * (1 + TIME) : 0);
  const free = Math.max(0, width - fixed);
  const command = Math.max(0, Math.min(longest, Math.max(Math.floor(free / 2), free - 60), free - SMALLEST_BAR));
  return { id, command, bar: Math.max(0, free - command), verdict, times };
}

/** Cells of the bar: a phase that took place, however short, is seen when it is the run itself. */
function drawBar(row: Row, total: number, width: number, { now, glyphs, paint }: TimelineOptions): string {
  const column = (ms: number) => Math.min(width, Math.round((ms / total) * width));
  const end = row.endedAt ?? now;
  const start = row.startedAt ?? end;
  const joined = row.joinedAt ?? start;
  const ran = row.startedAt === null ? 0 : Math.max(1, column(end) - column(start));
  const from = row.startedAt === null ? column(end) : Math.min(column(start), width - ran);
  const joinedAt = Math.min(column(joined), from);
  const addedAt = Math.min(column(row.addedAt), joinedAt);
  const style = row.endedAt === null ? 'yellow' : isGood(row) ? 'green' : 'red';
  const waits = glyphs.queued.repeat(joinedAt - addedAt) + glyphs.waited.repeat(from - joinedAt);
  return (
    ' '.repeat(addedAt) + paint('dim', waits) + paint(style, glyphs.ran.repeat(ran)) + ' '.repeat(width - from - ran)
  );
}

function drawRow(row: Row, layout: Layout, total: number, options: TimelineOptions): string {
  const { paint, now } = options;
  const word = ending(row);
  const live = row.state === 'queued' || row.state === 'waiting' || row.state === 'running';
  const cells = [
    toWidth(visible(row.id), layout.id),
    toWidth(visible(row.command), layout.command),
    drawBar(row, total, layout.bar, options),
    paint(
      row.verdict.kind === 'parallel' ? 'cyan' : 'magenta',
      toWidth(layout.verdict > VERDICT ? verdictText(row.verdict) : row.verdict.kind, layout.verdict),
    ),
    paint(live ? 'yellow' : isGood(row) ? 'green' : 'red', toWidth(word, EXIT)),
  ];
  if (!layout.times) return cells.join(' ').trimEnd();
  const started = row.startedAt ?? row.endedAt ?? now;
  const waited = duration(Math.max(0, started - row.addedAt));
  const ran = row.startedAt === null ? '' : duration(Math.max(0, (row.endedAt ?? now) - row.startedAt));
  return [...cells, waited.padStart(TIME), ran.padStart(TIME)].join(' ').trimEnd();
}

function drawHead(layout: Layout, total: number): string {
  const to = duration(total);
  const scale = layout.bar > to.length + 2 ? `0${to.padStart(layout.bar - 1)}` : to.slice(0, layout.bar);
  const cells = [
    toWidth('id', layout.id),
    toWidth('command', layout.command),
    toWidth(scale, layout.bar),
    toWidth('verdict', layout.verdict),
    toWidth('exit', EXIT),
  ];
  if (layout.times) cells.push('waited'.padStart(TIME), 'ran'.padStart(TIME));
  return cells.join(' ').trimEnd();
}

/** One sentence about the whole: how many, how long, and how long the same commands would have taken one by one. */
function summarise(rows: readonly Row[], now: number): string {
  const ended = rows.filter((row) => row.endedAt !== null);
  const good = ended.filter(isGood).length;
  const others = ended.length - good;
  const wall = largest(rows, 0, (row) => row.endedAt ?? now);
  const oneByOne = rows.reduce(
    (sum, row) => sum + (row.startedAt === null ? 0 : (row.endedAt ?? now) - row.startedAt),
    0,
  );
  const parts = [`${rows.length} ${rows.length === 1 ? 'command' : 'commands'}`, `${good} with exit code 0`];
  if (others > 0) parts.push(`${others} otherwise`);
  if (ended.length < rows.length) parts.push(`${rows.length - ended.length} to go`);
  return `${parts.join(', ')}; ${duration(wall)} in all, ${duration(oneByOne)} of running`;
}

/**
 * The timeline as lines, none wider than the terminal: a head, one row for each command with a bar on the common axis
 * (queued, waited, ran), its verdict and how it ended, then one sentence about the whole.
 */
export function drawTimeline(rows: readonly Row[], options: TimelineOptions): string[] {
  const width = Math.max(LEAST_WIDTH, options.width);
  const layout = layOut(rows, width);
  const all = options.all ?? rows;
  const total = largest(all, 1, (row) => row.endedAt ?? options.now);
  return [
    options.paint('bold', drawHead(layout, total)),
    ...rows.map((row) => drawRow(row, layout, total, options)),
    toWidth(summarise(all, options.now), width).trimEnd(),
  ];
}
