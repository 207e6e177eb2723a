/** The tokens of jq, as far as its parser here needs them: each is taken where it stands, or nothing is. */

/** What is read, and how far. */
export type Source = { readonly text: string; at: number };

export const DIGITS = '0123456789';
const BLANKS = ' \t\n';
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_';
const HEX = '0123456789abcdefABCDEF';
/** What a letter behind a backslash stands for. */
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);
/** With an equals sign behind them they are other operators, which assign. */
const ASSIGNING: ReadonlySet<string> = new Set(['|', '+', '-', '*', '/', '//', '<', '>']);

export function isOneOf(char: string | undefined, chars: string): boolean {
  return char !== undefined && chars.includes(char);
}

export function startsName(char: string | undefined): boolean {
  return isOneOf(char, LETTERS);
}

export function skipBlanks(source: Source): void {
  skip(source, BLANKS);
}

export function skip(source: Source, chars: string): void {
  while (isOneOf(source.text[source.at], chars)) source.at += 1;
}

/** Behind blanks; the longest operator counts, so `/` is none where `//` stands. */
export function takeOperator(source: Source, operator: string): boolean {
  skipBlanks(source);
  const { text, at } = source;
  if (!text.startsWith(operator, at)) return false;
  const next = text[at + operator.length];
  if (next === '=' && ASSIGNING.has(operator)) return false;
  if (next === '/' && operator === '/') return false;
  source.at += operator.length;
  return true;
}

/** Behind blanks, a whole word. */
export function takeWord(source: Source, word: string): boolean {
  skipBlanks(source);
  const { at } = source;
  if (takeName(source) === word) return true;
  source.at = at;
  return false;
}

/** Letters, digits and `_`, not beginning with a digit; empty where none stands. */
export function takeName(source: Source): string {
  const start = source.at;
  if (!startsName(source.text[start])) return '';
  skip(source, LETTERS + DIGITS);
  return source.text.slice(start, source.at);
}

/** A string without interpolations, from its first quote on: what it says. Null where none stands. */
export function takeLiteral(source: Source): string | null {
  if (source.text[source.at] !== '"') return null;
  source.at += 1;
  let said = '';
  while (source.at < source.text.length) {
    const char = source.text[source.at]!;
    source.at += 1;
    if (char === '"') return said;
    if (char === '\\') {
      const escaped = takeEscape(source);
      if (escaped === null) return null;
      said += escaped;
    } else said += char;
  }
  return null;
}

/** What stands behind a backslash in a string, but for an interpolation. */
export function takeEscape(source: Source): string | null {
  const { text, at } = source;
  const said = ESCAPES.get(text[at] ?? '');
  if (said !== undefined) {
    source.at += 1;
    return said;
  }
  const digits = text.slice(at + 1, at + 5);
  if (text[at] !== 'u' || digits.length < 4 || ![...digits].every((one) => HEX.includes(one))) return null;
  source.at += 5;
  return String.fromCharCode(Number.parseInt(digits, 16));
}
