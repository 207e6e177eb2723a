import { displayWidth } from './display-width.ts';
import { visibleCharacter } from './visible-text.ts';

/** How much of the command stands around the stretch. */
const CONTEXT_COLUMNS = 60;
const MARK = '^';
const CUT = '…';

type Piece = { readonly shown: string; readonly width: number; readonly marked: boolean };

/**
 * The command on one line and, below it, marks under a stretch of it. What would act on a terminal is shown escaped, and
 * the marks stand right for wide, combining and escaped characters. A long command is cut around the stretch.
 *
 * @param span half-open, in UTF-16 code units; null for no marks. An empty stretch is marked where it would stand.
 */
export function underlined(text: string, span: readonly [start: number, end: number] | null): readonly string[] {
  const [start, end] = span ?? [0, 0];
  const pieces = piecesOf(text, start, end);
  const first = pieces.findIndex(({ marked }) => marked);
  const around = first < 0 ? (span === null ? 0 : pieces.length) : first;
  const from = stepBack(pieces, around);
  const to = stepOn(pieces, around);
  const shown = pieces.slice(from, to);
  const lead = from > 0 ? CUT : '';
  const line = `${lead}${shown.map((piece) => piece.shown).join('')}${to < pieces.length ? CUT : ''}`;
  if (span === null) return [line];
  const before = shown.filter((_, index) => index + from < around);
  const marked = shown.filter((piece) => piece.marked);
  const blanks = ' '.repeat(lead.length + widthOf(before));
  return [line, `${blanks}${MARK.repeat(Math.max(1, widthOf(marked)))}`];
}

function piecesOf(text: string, start: number, end: number): readonly Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const character of text) {
    const shown = visibleCharacter(character.codePointAt(0) as number);
    pieces.push({ shown, width: displayWidth(shown), marked: at < end && at + character.length > start });
    at += character.length;
  }
  return pieces;
}

function stepBack(pieces: readonly Piece[], from: number): number {
  let at = from;
  for (let width = 0; at > 0 && width < CONTEXT_COLUMNS / 2; at--) width += pieces[at - 1]!.width;
  return at;
}

function stepOn(pieces: readonly Piece[], from: number): number {
  let at = from;
  for (let width = 0; at < pieces.length && width < CONTEXT_COLUMNS; at++) width += pieces[at]!.width;
  return at;
}

function widthOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { width }) => sum + width, 0);
}
