/**
 * The formats of the shell's printf that can only print. Everything outside this grammar is refused:
 *
 *     format     = { character | "%%" | conversion }
 *     conversion = "%" { "-" | "+" | " " | "0" | "#" } [ number ] [ "." [ number ] ] letter
 *     letter     = "s" | "b" | "q" | "c" | "d" | "i" | "o" | "u" | "x" | "X" | "e" | "E" | "f" | "F" | "g" | "G"
 *     number     = at most three digits
 *
 * Left out on purpose: `n`, undocumented, which assigns a number to the variable that the operand names, `PATH` too;
 * `*`, which takes a width from an operand, and wider numbers, which make gigabytes of blanks; `(FORMAT)T`, which asks
 * the clock; letters of length, which some versions skip and some do not.
 *
 * Backslashes are characters like others: no escape makes a `%` that begins a conversion (`\045n` prints `%n`), none
 * takes a `%` away, and `\%` is a backslash before a conversion. Facts: tried in bash 5.2.
 */

const FLAGS = '-+ 0#';
const DIGITS = '0123456789';
const LETTERS = 'sbqcdiouxXeEfFgG';
const MOST_DIGITS = 3;

/** Whether the text is a format of the grammar above. Linear in the text, and total: any string has an answer. */
export function printfFormat(text: string): boolean {
  let at = text.indexOf('%');
  while (at >= 0) {
    const end = text[at + 1] === '%' ? at + 2 : pastConversion(text, at + 1);
    if (end < 0) return false;
    at = text.indexOf('%', end);
  }
  return true;
}

/** The index behind the letter of a conversion, or -1. */
function pastConversion(text: string, start: number): number {
  const width = skip(text, start, FLAGS);
  let at = skip(text, width, DIGITS);
  if (at - width > MOST_DIGITS) return -1;
  if (text[at] === '.') {
    const precision = at + 1;
    at = skip(text, precision, DIGITS);
    if (at - precision > MOST_DIGITS) return -1;
  }
  return at < text.length && LETTERS.includes(text[at]!) ? at + 1 : -1;
}

function skip(text: string, start: number, characters: string): number {
  let at = start;
  while (at < text.length && characters.includes(text[at]!)) at += 1;
  return at;
}
