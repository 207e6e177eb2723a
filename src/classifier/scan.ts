import {
  BACKSLASH,
  BLANK,
  BRACE_OPEN,
  BRACED,
  DOUBLE_QUOTE,
  DOUBLE_QUOTED,
  EQUALS,
  ESCAPABLE,
  EVENT,
  GLOB,
  HASH,
  LITERAL,
  refusalOf,
  SINGLE_QUOTE,
  SINGLE_QUOTED,
  TILDE,
  UNQUOTED,
  visibleWidth,
} from './characters.ts';
import type { ReasonCode } from './verdict.ts';
import type { Word } from './word.ts';

/** One pass over a text: where it stands, what it knows of the word it reads, and what it refused. */
export type Scan = {
  readonly text: string;
  /** The next character to look at. */
  at: number;
  /** Of the word: its text, then the last runs of it, up to `from`; from there on characters stand for themselves. */
  decoded: string;
  runs: string[];
  from: number;
  /** Where its first quote or escape stands, or -1. */
  firstQuote: number;
  /** An unquoted `*`, `?` or `[` stands in it. */
  glob: boolean;
  /** An unquoted `=` stands in it. */
  equals: boolean;
  /** Why `readWord` gave no word, and where; nothing is read after that. */
  code: ReasonCode;
  span: readonly [start: number, end: number];
};

/** Runs are joined in portions: a string or a list that grows run by run takes more than twice the time for twice the runs. */
const RUNS_AT_ONCE = 1024;

/** A scan at the beginning of the text. */
export function startScan(text: string): Scan {
  const span = [0, text.length] as const;
  return {
    text,
    at: 0,
    decoded: '',
    runs: [],
    from: 0,
    firstQuote: -1,
    glob: false,
    equals: false,
    code: 'TEXT_CONTROL',
    span,
  };
}

/** Moves past spaces and tabs; false at the end of the text. */
export function skipBlanks(scan: Scan): boolean {
  while (atBlank(scan)) scan.at++;
  return scan.at < scan.text.length;
}

/**
 * Reads the word that begins here, and stops behind it: at a blank or the end. Null when it holds something that bash
 * would act on; `scan.code` and `scan.span` tell what. `leading` says that a command may begin here.
 */
export function readWord(scan: Scan, leading: boolean): Word | null {
  const { text, at: start } = scan;
  scan.at = endOfRun(UNQUOTED, text, start);
  scan.from = start;
  scan.firstQuote = -1;
  scan.glob = false;
  scan.equals = false;

  while (scan.at < text.length && !atBlank(scan)) {
    if (!passUnquoted(scan, start, leading)) return null;
  }

  const { at: end, firstQuote, glob } = scan;
  const raw = text.slice(start, end);
  if (firstQuote === -1) return { raw, text: raw, start, end, plain: end - start, glob };
  scan.runs.push(text.slice(scan.from, end));
  return { raw, text: scan.decoded + scan.runs.join(''), start, end, plain: firstQuote - start, glob };
}

function atBlank(scan: Scan): boolean {
  const code = scan.text.charCodeAt(scan.at);
  return code < 128 && UNQUOTED[code] === BLANK;
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
      if (expandsTilde(text, start, at)) return refuse(scan, 'TEXT_TILDE', at, at + 1);
      break;
    default:
      return refuseOperator(scan, start);
  }
  scan.at = at + 1;
  return true;
}

/** Where the run of literal characters ends that goes on at `at`. Most characters of a command are passed here. */
function endOfRun(table: Uint8Array, text: string, at: number): number {
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= 128 || table[code] !== LITERAL) break;
  }
  return at;
}

/** Ends a run of characters that stand for themselves at `at`; the next one begins at `next`. */
function cutRun(scan: Scan, at: number, next: number): void {
  if (scan.firstQuote === -1) {
    scan.firstQuote = at;
    scan.decoded = '';
    scan.runs = [];
  }
  if (scan.from < at) scan.runs.push(scan.text.slice(scan.from, at));
  if (scan.runs.length === RUNS_AT_ONCE) {
    scan.decoded += scan.runs.join('');
    scan.runs = [];
  }
  scan.from = next;
}

function passVisible(scan: Scan): boolean {
  const width = visibleWidth(scan.text, scan.at);
  if (width === 0) return refuseCharacter(scan, scan.at);
  scan.at += width;
  return true;
}

function passSingleQuoted(scan: Scan): boolean {
  const { text, at: open } = scan;
  cutRun(scan, open, open + 1);
  let at = open + 1;
  while (at < text.length) {
    scan.at = at = endOfRun(SINGLE_QUOTED, text, at);
    const code = text.charCodeAt(at);
    if (code >= 128) {
      if (!passVisible(scan)) return false;
      at = scan.at;
    } else if (SINGLE_QUOTED[code] === SINGLE_QUOTE) {
      cutRun(scan, at, at + 1);
      scan.at = at + 1;
      return true;
    } else if (at < text.length) return refuseCharacter(scan, at);
  }
  return refuse(scan, 'TEXT_QUOTE_OPEN', open, text.length);
}

function passDoubleQuoted(scan: Scan): boolean {
  const { text, at: open } = scan;
  cutRun(scan, open, open + 1);
  scan.at = open + 1;
  while (scan.at < text.length) {
    const at = scan.at;
    const code = text.charCodeAt(at);
    if (code >= 128) {
      if (!passVisible(scan)) return false;
      continue;
    }
    switch (DOUBLE_QUOTED[code]) {
      case LITERAL:
        scan.at = endOfRun(DOUBLE_QUOTED, text, at + 1);
        break;
      case BACKSLASH:
        scan.at = at + 1;
        // It goes only before these; before anything else it stays, and what follows is read like any other character.
        if (ESCAPABLE[text.charCodeAt(at + 1)] === LITERAL) {
          cutRun(scan, at, at + 1);
          scan.at = at + 2;
        }
        break;
      case DOUBLE_QUOTE:
        cutRun(scan, at, at + 1);
        scan.at = at + 1;
        return true;
      default:
        return refuseCharacter(scan, at);
    }
  }
  return refuse(scan, 'TEXT_QUOTE_OPEN', open, text.length);
}

/** Outside quotes a backslash makes data of whatever may stand between single quotes, and of the single quote. */
function passEscaped(scan: Scan): boolean {
  const { text, at } = scan;
  const next = at + 1;
  if (next === text.length) return refuse(scan, 'TEXT_BACKSLASH', at, next);
  cutRun(scan, at, next);
  scan.at = next;
  const code = text.charCodeAt(next);
  if (code >= 128) return passVisible(scan);
  const meaning = SINGLE_QUOTED[code];
  if (meaning !== LITERAL && meaning !== SINGLE_QUOTE) return refuseCharacter(scan, next);
  scan.at = next + 1;
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

/** Refuses the character at `at` for what it is. */
function refuseCharacter(scan: Scan, at: number): false {
  const width = (scan.text.codePointAt(at) as number) > 0xffff ? 2 : 1;
  return refuse(scan, refusalOf(scan.text, at), at, at + width);
}

function refuse(scan: Scan, code: ReasonCode, from: number, to: number): false {
  scan.code = code;
  scan.span = [from, to];
  return false;
}
