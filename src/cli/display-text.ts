import { visibleCharacter } from '../classifier/visible-text.ts';

/**
 * Text of others on a terminal: nothing in it may move the cursor, change colours, hide or reorder what stands beside
 * it, and its width in columns must be known, because the timeline redraws in place.
 */

/** Every character that a terminal acts on, or that a reader cannot see: controls, formats, odd blanks, surrogates. */
const UNSEEN = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u;

const COMBINING = /[\p{Mn}\p{Me}]/u;
const EMOJI = /\p{Emoji_Presentation}/u;

/** Wide and full-width blocks of EastAsianWidth.txt; emoji are asked for by property, so that new ones are known. */
const WIDE: readonly (readonly [first: number, last: number])[] = [
  [0x1100, 0x115f],
  [0x2329, 0x232a],
  [0x2e80, 0x303e],
  [0x3041, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x1b2ff],
  [0x1f200, 0x1f2ff],
  [0x20000, 0x3fffd],
];

/** In the notation of the classifier's own messages, so that a person sees one character under one name. */
function spellOut(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  const shown = visibleCharacter(code);
  return shown === char ? `\\u{${code.toString(16)}}` : shown;
}

/** The text on one line, with every unseen character as something that can be seen: `\n` for LF, `\u{202e}` for a bidi override. */
export function visible(text: string): string {
  let shown = '';
  for (const char of text) shown += char !== ' ' && UNSEEN.test(char) ? spellOut(char) : char;
  return shown;
}

/** Like `visible`, for output of several lines: LF stays, and a tab becomes two blanks. */
export function visibleLines(text: string): string[] {
  return text.split('\n').map((line) => visible(line.replaceAll('\t', '  ')));
}

/** Columns that one character takes on a terminal: 0, 1 or 2. */
function charWidth(char: string): 0 | 1 | 2 {
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x300) return 1;
  if (COMBINING.test(char)) return 0;
  if (EMOJI.test(char) || WIDE.some(([first, last]) => code >= first && code <= last)) return 2;
  return 1;
}

/** Columns that visible text takes. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const char of text) width += charWidth(char);
  return width;
}

/** Visible text in exactly `width` columns: filled with blanks, or cut with `…` at its end. */
export function toWidth(text: string, width: number): string {
  const full = displayWidth(text);
  if (full <= width) return text + ' '.repeat(width - full);
  if (width <= 0) return '';
  let kept = '';
  let used = 0;
  for (const char of text) {
    const next = charWidth(char);
    if (used + next > width - 1) break;
    kept += char;
    used += next;
  }
  return `${kept}…${' '.repeat(width - 1 - used)}`;
}
