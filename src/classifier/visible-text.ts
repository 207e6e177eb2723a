import { isVisible } from './visible-characters.ts';

/** Text from outside as a terminal or a log may show it: nothing in it acts, and none of it vanishes. */

const MOST_SHOWN = 40;

const NAMED: ReadonlyMap<number, string> = new Map([
  [0x09, '\\t'],
  [0x0a, '\\n'],
  [0x0d, '\\r'],
]);

/** One character as itself, or escaped when it would act on the terminal, vanish, or reorder what stands beside it. */
export function visibleCharacter(codePoint: number): string {
  if (isPrintable(codePoint) || isVisible(codePoint)) return String.fromCodePoint(codePoint);
  const hexadecimal = codePoint.toString(16);
  return NAMED.get(codePoint) ?? (codePoint < 0xa0 ? `\\x${hexadecimal.padStart(2, '0')}` : `\\u{${hexadecimal}}`);
}

/** All of a text, every character visible. */
export function visible(text: string): string {
  return Array.from(text, (character) => visibleCharacter(character.codePointAt(0) as number)).join('');
}

/** A quotation for a sentence: escaped, cut to 40 characters, in backticks. */
export function quoted(text: string): string {
  const end = printableEnd(text, MOST_SHOWN);
  // Nearly every text is short and plain, and this is on the way of every serial verdict.
  if (end === text.length) return `\`${text}\``;
  let shown = '';
  let count = 0;
  for (const character of text.slice(0, 2 * MOST_SHOWN)) {
    if (count++ === MOST_SHOWN) break;
    shown += visibleCharacter(character.codePointAt(0) as number);
  }
  return count > MOST_SHOWN ? `\`${shown}…\`` : `\`${shown}\``;
}

/** Where printable ASCII ends, or `most`. */
function printableEnd(text: string, most: number): number {
  const end = Math.min(text.length, most);
  for (let at = 0; at < end; at++) if (!isPrintable(text.charCodeAt(at))) return at;
  return end;
}

function isPrintable(code: number): boolean {
  return code >= 0x20 && code < 0x7f;
}
