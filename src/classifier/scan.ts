import {
  BACKSLASH,
  BRACE_OPEN,
  BRACED,
  DOUBLE_QUOTE,
  EQUALS,
  EVENT,
  GLOB,
  HASH,
  LITERAL,
  refusalOf,
  SINGLE_QUOTE,
  TILDE,
  UNQUOTED,
} from './characters.ts';
import { passDoubleQuoted, passEscaped, passSingleQuoted } from './quotes.ts';
import { atBlank, endOfRun, passVisible, refuse, refuseCharacter, type Scan } from './scan-state.ts';
import type { Word } from './word.ts';

/** What operators and redirections begin with. */
const OPERATORS = ';|&<>()';

/** What stands behind a brace that is a word of its own: where a command may begin, it opens a group. */
const BEHIND_GROUP: ReadonlySet<string> = new Set(['', ' ', '\t']);

/** Moves past spaces and tabs; false at the end of the text. */
export function skipBlanks(scan: Scan): boolean {
  while (atBlank(scan)) scan.at++;
  return scan.at < scan.text.length;
}

/** Whether an operator begins here: where words may end at one, nothing else does. */
export function atOperator({ text, at }: Scan): boolean {
  return at < text.length && OPERATORS.includes(text.charAt(at));
}

/**
 * Reads the word that begins here, and stops behind it: at a blank, the end, or in a compound at an operator. Null when it holds something that bash
 * would act on; `scan.code` and `scan.span` tell what. `leading` says that a command may begin here.
 */
export function readWord(scan: Scan, leading: boolean): Word | null {
  const { text, at: start } = scan;
  scan.at = endOfRun(UNQUOTED, text, start);
  scan.from = start;
  scan.firstQuote = -1;
  scan.glob = false;
  scan.equals = false;
  scan.home = false;
  scan.stopped = false;

  while (scan.at < text.length && !atBlank(scan)) {
    if (passUnquoted(scan, start, leading)) continue;
    if (scan.stopped) break;
    return null;
  }

  const { at: end, firstQuote, glob, home } = scan;
  const raw = text.slice(start, end);
  const decoded = firstQuote === -1 ? raw : decodedTo(scan, end);
  const plain = (firstQuote === -1 ? end : firstQuote) - start;
  if (home) return { raw, text: decoded, start, end, plain, glob: true, home };
  return { raw, text: decoded, start, end, plain, glob };
}

function decodedTo(scan: Scan, end: number): string {
  scan.runs.push(scan.text.slice(scan.from, end));
  return scan.decoded + scan.runs.join('');
}

/** Passes what stands here outside quotes: a run of literals, one special character, or one quoted part. */
function passUnquoted(scan: Scan, start: number, leading: boolean): boolean {
  const { text, at } = scan;
  const code = text.charCodeAt(at);
  if (code >= 128) return passVisible(scan);
  switch (UNQUOTED[code]) {
    case LITERAL:
      scan.at = endOfRun(UNQUOTED, text, at + 1);
      return true;
    case SINGLE_QUOTE:
      return passSingleQuoted(scan);
    case DOUBLE_QUOTE:
      return passDoubleQuoted(scan);
    case BACKSLASH:
      return passEscaped(scan);
    case BRACE_OPEN:
      if (leading && at === start && BEHIND_GROUP.has(text.charAt(at + 1))) {
        return refuse(scan, 'TEXT_GROUP', at, at + 1);
      }
      return passRevisionBrace(scan, start);
    case GLOB:
      scan.glob = true;
      break;
    case EQUALS:
      scan.equals = true;
      break;
    case EVENT:
      if (leading && at === start) return refuse(scan, 'TEXT_HISTORY', at, at + 1);
      break;
    case HASH:
      if (at === start) return refuse(scan, 'TEXT_COMMENT', at, text.length);
      break;
    case TILDE:
      if (scan.compound && !leading && at === start && text.charAt(at + 1) === '/') scan.home = true;
      else if (expandsTilde(text, start, at)) return refuse(scan, 'TEXT_TILDE', at, at + 1);
      break;
    default:
      if (scan.compound && atOperator(scan)) scan.stopped = true;
      else refuseOperator(scan, start);
      return false;
  }
  scan.at = at + 1;
  return true;
}

/**
 * A tilde expands at the start of a word, and after `=` and `:` in a word that looks like an assignment, also as an
 * argument (`args a=~`). Whether it looks like one is bash's affair: here every `=` and `:` before it refuses.
 */
function expandsTilde(text: string, start: number, at: number): boolean {
  if (at === start) return true;
  const before = text.charCodeAt(at - 1);
  return before === 0x3d || before === 0x3a;
}

/**
 * `@{u}`, `stash@{0}`, `HEAD^{tree}`: bash expands a brace only for a comma or `..` inside, but takes a lone closing
 * brace further on for its end (`a@{1},x}` gives two words). So neither passes, and any other brace is refused, literal
 * or not.
 */
function passRevisionBrace(scan: Scan, start: number): boolean {
  const { text, at: open } = scan;
  const before = open > start ? text.charCodeAt(open - 1) : 0;
  if (before !== 0x40 && before !== 0x5e) return refuse(scan, 'TEXT_BRACE', open, open + 1);
  const end = endOfRun(BRACED, text, open + 1);
  if (text.charCodeAt(end) !== 0x7d) return refuse(scan, 'TEXT_BRACE', open, end);
  if (text.slice(open, end).includes('..')) return refuse(scan, 'TEXT_BRACE', open, end + 1);
  scan.at = end + 1;
  return true;
}

/** An operator is blamed as a whole: `&&`, and `2>` with the number that belongs to it. */
function refuseOperator(scan: Scan, start: number): false {
  const { text, at } = scan;
  const code = refusalOf(text, at);
  if (code !== 'TEXT_OPERATOR' && code !== 'TEXT_REDIRECTION') return refuseCharacter(scan, at);
  let end = at + 1;
  while (end < text.length && '<>|&;('.includes(text.charAt(end))) end++;
  // `<(` and `>(` start a process and pass its name: no redirection.
  if (code === 'TEXT_REDIRECTION' && text.charAt(at + 1) === '(') return refuse(scan, 'TEXT_EXPANSION', at, at + 2);
  if (code === 'TEXT_OPERATOR' && !text.startsWith('&>', at)) return refuse(scan, code, at, end);
  let from = at;
  while (from > start && isDigit(text.charCodeAt(from - 1))) from--;
  return refuse(scan, 'TEXT_REDIRECTION', from === start ? from : at, end);
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}
