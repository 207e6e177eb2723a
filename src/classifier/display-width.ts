/** Columns that text takes on a terminal; only for drawing, never for a verdict. */

const COMBINING = /^[\p{Mn}\p{Me}]$/u;
const EMOJI = /^\p{Emoji_Presentation}$/u;

/** Wide and full-width blocks of EastAsianWidth.txt. */
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

/** The columns of visible text: two for wide characters, none for marks that stand on the one before. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

function characterWidth(character: string): 0 | 1 | 2 {
  if (COMBINING.test(character)) return 0;
  const code = character.codePointAt(0) as number;
  const wide = EMOJI.test(character) || WIDE.some(([first, last]) => code >= first && code <= last);
  return wide ? 2 : 1;
}
