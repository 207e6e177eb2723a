import { stripVTControlCharacters } from 'node:util';
import { displayWidth } from '../classifier/display-width.ts';
import type { Row } from './progress.ts';
import { drawTimeline, type TimelineOptions } from './timeline.ts';

/** The terminal as far as redrawing in place needs it; `process.stdout` is one. */
export type Terminal = {
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
};

const CLEAR_BELOW = '\u001b[J';
const CLEAR_REST_OF_LINE = '\u001b[K';
const FALLBACK_COLUMNS = 80;
const FALLBACK_ROWS = 24;

/** Columns of the terminal; 80 where it does not say. */
export function columnsOf(terminal: Pick<Terminal, 'columns'>): number {
  return terminal.columns !== undefined && terminal.columns > 0 ? terminal.columns : FALLBACK_COLUMNS;
}

/** How long a line may be: as the terminal is wide, and without an end where the output goes elsewhere. */
export function roomOf(terminal: Pick<Terminal, 'columns'> & { readonly isTTY?: boolean }): number {
  return terminal.isTTY === true ? columnsOf(terminal) : Number.POSITIVE_INFINITY;
}

/**
 * The rows that fit on the screen: what runs or has ended last is of interest, so rows that have long ended go first,
 * then those that have not begun. One line is kept for the count of the others.
 */
export function rowsInView(
  rows: readonly Row[],
  room: number,
): { readonly shown: readonly Row[]; readonly left: number } {
  if (rows.length <= room) return { shown: rows, left: 0 };
  const places = Math.max(1, room - 1);
  const firstLive = rows.findIndex((row) => row.endedAt === null);
  const anchor = firstLive === -1 ? rows.length : firstLive;
  const from = Math.max(0, Math.min(anchor - Math.floor(places / 4), rows.length - places));
  return { shown: rows.slice(from, from + places), left: rows.length - places };
}

/**
 * Redraws the timeline in place. Remembers how wide every line was drawn, because a terminal that became narrower has
 * folded them, and the cursor must climb over the folds.
 */
export class LiveScreen {
  readonly #terminal: Terminal;
  #drawnWidths: readonly number[] = [];

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Draws these rows over the last drawing. */
  draw(rows: readonly Row[], options: Omit<TimelineOptions, 'width' | 'all'>): void {
    // The last column stays free: writing into it makes some terminals fold the line and others not.
    const width = columnsOf(this.#terminal) - 1;
    const height = this.#terminal.rows ?? FALLBACK_ROWS;
    const { shown, left } = rowsInView(rows, Math.max(1, height - 4));
    const lines = drawTimeline(shown, { ...options, width, all: rows });
    if (left > 0) lines.splice(-1, 0, `… and ${left} more`);
    const text = lines.map((line) => `${line}${CLEAR_REST_OF_LINE}\n`).join('');
    this.#terminal.write(`${this.#home()}${text}${CLEAR_BELOW}`);
    this.#drawnWidths = lines.map((line) => displayWidth(stripVTControlCharacters(line)));
  }

  /** Takes the drawing away, so that what is written next stands in its place. */
  clear(): void {
    this.#terminal.write(`${this.#home()}${CLEAR_BELOW}`);
    this.#drawnWidths = [];
  }

  #home(): string {
    if (this.#drawnWidths.length === 0) return '';
    const columns = columnsOf(this.#terminal);
    const lines = this.#drawnWidths.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0);
    return `\r\u001b[${lines}A`;
  }
}
