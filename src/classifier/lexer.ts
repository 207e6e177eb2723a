import { KEYWORDS, LITERAL, NAME, NAME_START, UNQUOTED } from './characters.ts';
import type { Limits } from './judgement.ts';
import { readWord, skipBlanks, startScan } from './scan.ts';
import type { Check, ReasonCode } from './verdict.ts';
import type { Assignment, Word } from './word.ts';

export type { Assignment, Word } from './word.ts';

/** The words, or why bash would do more with the text than pass words to a command. */
export type Lexed =
  | { readonly ok: true; readonly assignments: readonly Assignment[]; readonly words: readonly Word[] }
  | {
      readonly ok: false;
      readonly check: Extract<Check, 'input' | 'metacharacters' | 'leading-token'>;
      readonly code: ReasonCode;
      readonly span: readonly [start: number, end: number];
      /** The words that were read before the refusal. */
      readonly words: readonly Word[];
    };

/** The codes of this file that are not about a character. */
const CHECKS: ReadonlyMap<ReasonCode, 'input' | 'leading-token'> = new Map([
  ['TEXT_EMPTY', 'input'],
  ['TEXT_TOO_LONG', 'input'],
  ['WORDS_TOO_MANY', 'input'],
  ['COMMAND_NOT_PLAIN', 'leading-token'],
]);

/** The limits that hold where none are given. */
export const DEFAULT_LIMITS: Limits = Object.freeze({ maxChars: 16_384, maxWords: 512, maxParts: 64 });

/**
 * Splits a command into words exactly as bash would, or refuses at the first character that bash would act on. One
 * pass, linear in the length. Pure; never throws for any string, ill-formed UTF-16 included.
 *
 * @param limits `maxChars` in UTF-16 code units (default 16,384), `maxWords` with leading assignments (default 512).
 */
export function lex(text: string, limits: Partial<Limits> = {}): Lexed {
  const { maxChars = DEFAULT_LIMITS.maxChars, maxWords = DEFAULT_LIMITS.maxWords } = limits;
  const assignments: Assignment[] = [];
  const words: Word[] = [];
  // Asked this way round, so that a limit that is not a number refuses.
  if (!(text.length <= maxChars)) return refused('TEXT_TOO_LONG', 0, text.length, words);

  const scan = startScan(text);
  while (skipBlanks(scan)) {
    if (!(words.length + assignments.length < maxWords)) return refused('WORDS_TOO_MANY', scan.at, text.length, words);
    const leading = words.length === 0;
    const word = readWord(scan, leading);
    if (word === null) return refused(scan.code, scan.span[0], scan.span[1], words);
    if (!leading) {
      words.push(word);
      continue;
    }
    const start = commandStart(word, scan.equals);
    if (typeof start === 'string') return refused(start, word.start, word.end, words);
    if ('name' in start) assignments.push(start);
    else words.push(start);
  }

  if (words.length > 0) return { ok: true, assignments, words };
  if (assignments.length > 0) return refused('TEXT_ASSIGNMENT', 0, text.length, words);
  return refused('TEXT_EMPTY', 0, text.length, words);
}

/** What a word is where a command may begin: its name, an assignment before it, or something that bash acts on. */
function commandStart(word: Word, equals: boolean): Word | Assignment | ReasonCode {
  if (equals) return assignmentOf(word) ?? 'TEXT_ASSIGNMENT';
  if (KEYWORDS.has(word.raw)) return 'TEXT_KEYWORD';
  // `%1` is no name: bash makes `fg %1` of it, even when it is quoted.
  if (word.text.startsWith('%')) return 'COMMAND_NOT_PLAIN';
  if (!word.glob) return word;
  if (word.raw === '[') return { ...word, glob: false };
  // `name[` begins an assignment to an element, which may even hold blanks; any other glob would choose the program.
  const bracket = word.raw.indexOf('[');
  return bracket > 0 && isName(word.raw.slice(0, bracket)) ? 'TEXT_ASSIGNMENT' : 'TEXT_GLOB';
}

/** `NAME=LITERAL` in plain literal characters; null for anything else with an unquoted `=` (`+=`, quotes, `a[0]=`). */
function assignmentOf(word: Word): Assignment | null {
  const { raw, start, end } = word;
  const equals = raw.indexOf('=');
  const name = raw.slice(0, equals);
  const value = raw.slice(equals + 1);
  return isName(name) && consistsOf(UNQUOTED, value) ? { name, value, start, end } : null;
}

function isName(text: string): boolean {
  return text !== '' && consistsOf(NAME_START, text.charAt(0)) && consistsOf(NAME, text);
}

function consistsOf(table: Uint8Array, text: string): boolean {
  for (let at = 0; at < text.length; at++) if (table[text.charCodeAt(at)] !== LITERAL) return false;
  return true;
}

function refused(code: ReasonCode, from: number, to: number, words: readonly Word[]): Lexed {
  return { ok: false, check: CHECKS.get(code) ?? 'metacharacters', code, span: [from, to], words };
}
