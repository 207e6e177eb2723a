import type { ReasonCode } from './verdict.ts';
import { isVisible } from './visible-characters.ts';

/** What an ASCII character means to the reader of the text. Numbers, because they are stored in byte tables. */
export const LITERAL = 0;
export const BLANK = 1;
export const SINGLE_QUOTE = 2;
export const DOUBLE_QUOTE = 3;
export const BACKSLASH = 4;
export const GLOB = 5;
/** An opening brace: literal only as part of `@{…}` and `^{…}`. */
export const BRACE_OPEN = 6;
/** A comment at the start of a word, literal elsewhere. */
export const HASH = 7;
/** Expands at the start of a word and after `=` and `:`. */
export const TILDE = 8;
/** `!` and `^`: an event or a negation at the start of a command, literal elsewhere. */
export const EVENT = 9;
/** `=`: makes an assignment of a word in command position, literal elsewhere. */
export const EQUALS = 10;
/** Always refused; `refusalOf` says why. */
export const REFUSED = 11;

const ASCII = 128;
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
const DIGITS = '0123456789';

/** Everything is refused but what is listed: rows of characters and their meaning. */
function tableOf(rows: readonly (readonly [characters: string, meaning: number])[]): Uint8Array {
  const table = new Uint8Array(ASCII).fill(REFUSED);
  for (const [characters, meaning] of rows) {
    for (const character of characters) table[character.charCodeAt(0)] = meaning;
  }
  return table;
}

const PRINTABLE = Array.from({ length: 0x7f - 0x20 }, (_, index) => String.fromCharCode(0x20 + index)).join('');

/** Outside quotes. */
export const UNQUOTED = tableOf([
  [`${LETTERS}${DIGITS}_-./:,+@%]`, LITERAL],
  [' \t', BLANK],
  ["'", SINGLE_QUOTE],
  ['"', DOUBLE_QUOTE],
  ['\\', BACKSLASH],
  ['*?[', GLOB],
  ['{', BRACE_OPEN],
  ['#', HASH],
  ['~', TILDE],
  ['!^', EVENT],
  ['=', EQUALS],
]);

/** Between single quotes, and after a backslash outside quotes: printable ASCII and the tab are data. */
export const SINGLE_QUOTED = tableOf([
  [`${PRINTABLE}\t`, LITERAL],
  ["'", SINGLE_QUOTE],
]);

/** Between double quotes. */
export const DOUBLE_QUOTED = tableOf([
  [`${PRINTABLE}\t`, LITERAL],
  ['"', DOUBLE_QUOTE],
  ['\\', BACKSLASH],
  ['$`', REFUSED],
]);

/** After a backslash between double quotes: these lose the backslash, before any other character both stay. */
export const ESCAPABLE = tableOf([['$`"\\', LITERAL]]);

/** Between the braces of `@{…}` and `^{…}`: no comma, because it would make bash expand them. */
export const BRACED = tableOf([[`${LETTERS}${DIGITS}_-./:+@%`, LITERAL]]);

/** The characters of a variable's name, and those it may begin with. */
export const NAME = tableOf([[`${LETTERS}${DIGITS}_`, LITERAL]]);
export const NAME_START = tableOf([[`${LETTERS}_`, LITERAL]]);

/** The characters of a descriptor before a redirection. */
export const DIGIT = tableOf([[DIGITS, LITERAL]]);

/** Words that bash reads as grammar where a command may begin. `!`, `{`, `}`, `((` are refused as characters. */
export const KEYWORDS: ReadonlySet<string> = new Set(
  'if then elif else fi for while until do done case esac select in function time coproc [[ ]]'.split(' '),
);

/** UTF-16 code units of the visible character beyond ASCII at `at`: 1 or 2, or 0 when it is to be refused. */
export function visibleWidth(text: string, at: number): 0 | 1 | 2 {
  const codePoint = text.codePointAt(at) as number;
  if (!isVisible(codePoint)) return 0;
  return codePoint > 0xffff ? 2 : 1;
}

/** Why the character at `at` is refused where no rule of its own gives another reason. */
export function refusalOf(text: string, at: number): ReasonCode {
  const code = text.codePointAt(at) as number;
  if (code < ASCII) return asciiRefusal(code);
  if (code < 0xa0) return 'TEXT_CONTROL';
  if (code >= 0xd800 && code <= 0xdfff) return 'TEXT_NOT_WELL_FORMED';
  return BLANKS.has(code) ? 'TEXT_BLANK' : 'TEXT_INVISIBLE';
}

function asciiRefusal(code: number): ReasonCode {
  switch (code) {
    case 0x0a:
    case 0x0d:
      return 'TEXT_NEWLINE';
    case 0x24: // $
    case 0x60: // `
      return 'TEXT_EXPANSION';
    case 0x3c: // <
    case 0x3e: // >
      return 'TEXT_REDIRECTION';
    case 0x7d: // }
      return 'TEXT_BRACE';
    case 0x26: // &
    case 0x28: // (
    case 0x29: // )
    case 0x3b: // ;
    case 0x7c: // |
      return 'TEXT_OPERATOR';
    default:
      return 'TEXT_CONTROL';
  }
}

/** Separators (Zs, Zl, Zp) and characters that are drawn as a blank. */
const BLANKS: ReadonlySet<number> = new Set([
  0xa0, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a, 0x2028, 0x2029,
  0x202f, 0x205f, 0x2800, 0x3000, 0x13441, 0x13442, 0x16fe4, 0x1d159,
]);
