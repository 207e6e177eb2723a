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

/** One pass over a text: where it stands, and what it knows of the word it reads. */
export type Scan = {
  readonly text: string;
  /** The next character to look at. */
  at: number;
  /** Set by whatever refuses; nothing is read after that. */
  refusal: { readonly code: ReasonCode; readonly span: readonly [start: number, end: number] } | null;
  /** Of the word: the text so far, up to `from`; from there on characters stand for themselves. */
  decoded: string;
  from: number;
  /** Where its first quote or escape stands, or -1. */
  firstQuote: number;
  /** An unquoted `*`, `?` or `[` stands in it. */
  glob: boolean;
  /** An unquoted `=` stands in it. */
  equals: boolean;
};

/** A scan at the beginning of the text. */
export function startScan(text: string): Scan {
  return { text, at: 0, refusal: null, decoded: '', from: 0, firstQuote: -1, glob: false, equals: false };
}

/** Moves past spaces and tabs; false at the end of the text. */
export function skipBlanks(scan: Scan): boolean {
  const { text } = scan;
  let at = scan.at;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code >= 128 || UNQUOTED[code] !== BLANK) break;
    at++;
  }
  scan.at = at;
  return at < text.length;
}

/**
 * Reads the word that begins here, and stops behind it: at a blank or the end. Null when it holds something that bash
 * would act on; `scan.refusal` tells what. `leading` says that a command may begin here.
 */
export function readWord(scan: Scan, leading: boolean): Word | null {
  const { text } = scan;
  const start = scan.at;
  scan.decoded = '';
  scan.from = start;
  scan.firstQuote = -1;
  scan.glob = false;
  scan.equals = false;

  while (scan.at < text.length) {
    const at = scan.at;
    const code = text.charCodeAt(at);
    if (code >= 128) {
      if (!passVisible(scan)) return null;
      continue;
    }
    switch (UNQUOTED[code]) {
      case LITERAL:
        scan.at = at + 1;
        continue;
      case BLANK:
        return endWord(scan, start);
      case SINGLE_QUOTE:
        if (!passSingleQuoted(scan)) return null;
        continue;
      case DOUBLE_QUOTE:
        if (!passDoubleQuoted(scan)) return null;
        continue;
      case BACKSLASH:
        if (!passEscaped(scan)) return null;
        continue;
      case GLOB:
        scan.glob = true;
        scan.at = at + 1;
        continue;
      case EQUALS:
        scan.equals = true;
        scan.at = at + 1;
        continue;
      case EVENT:
        if (leading && at === start) return refuse(scan, 'TEXT_HISTORY', at, at + 1);
        scan.at = at + 1;
        continue;
      case HASH:
        if (at === start) return refuse(scan, 'TEXT_COMMENT', at, text.length);
        scan.at = at + 1;
        continue;
      case TILDE:
        if (expandsTilde(text, start, at)) return refuse(scan, 'TEXT_TILDE', at, at + 1);
        scan.at = at + 1;
        continue;
      case BRACE_OPEN:
        if (!passRevisionBrace(scan, start)) return null;
        continue;
      default:
        return refuseOperator(scan, start);
    }
  }
  return endWord(scan, start);
}

function endWord(scan: Scan, start: number): Word {
  const { text, at: end, firstQuote, glob } = scan;
  const raw = text.slice(start, end);
  if (firstQuote === -1) return { raw, text: raw, start, end, plain: end - start, glob };
  return { raw, text: scan.decoded + text.slice(scan.from, end), start, end, plain: firstQuote - start, glob };
}

/** Ends a run of characters that stand for themselves at `at`; the next run begins at `next`. */
function cutRun(scan: Scan, at: number, next: number): void {
  if (scan.firstQuote === -1) scan.firstQuote = at;
  if (scan.from < at) scan.decoded += scan.text.slice(scan.from, at);
  scan.from = next;
}

function refuse(scan: Scan, code: ReasonCode, from: number, to: number): null {
  scan.refusal = { code, span: [from, to] };
  return null;
}

/** Refuses the character at `at` for what it is. */
function refuseCharacter(scan: Scan, at: number): null {
  const width = (scan.text.codePointAt(at) as number) > 0xffff ? 2 : 1;
  return refuse(scan, refusalOf(scan.text, at), at, at + width);
}

function passVisible(scan: Scan): boolean {
  const width = visibleWidth(scan.text, scan.at);
  if (width === 0) return refuseCharacter(scan, scan.at) !== null;
  scan.at += width;
  return true;
}

function passSingleQuoted(scan: Scan): boolean {
  const { text } = scan;
  const open = scan.at;
  cutRun(scan, open, open + 1);
  scan.at = open + 1;
  while (scan.at < text.length) {
    const code = text.charCodeAt(scan.at);
    if (code >= 128) {
      if (!passVisible(scan)) return false;
      continue;
    }
    switch (SINGLE_QUOTED[code]) {
      case LITERAL:
        scan.at++;
        continue;
      case SINGLE_QUOTE:
        cutRun(scan, scan.at, scan.at + 1);
        scan.at++;
        return true;
      default:
        return refuseCharacter(scan, scan.at) !== null;
    }
  }
  return refuse(scan, 'TEXT_QUOTE_OPEN', open, text.length) !== null;
}

function passDoubleQuoted(scan: Scan): boolean {
  const { text } = scan;
  const open = scan.at;
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
        scan.at = at + 1;
        continue;
      case BACKSLASH: {
        // The backslash goes only before these; before anything else it stays, and what follows is read like any other.
        const next = text.charCodeAt(at + 1);
        if (next < 128 && ESCAPABLE[next] === LITERAL) {
          cutRun(scan, at, at + 1);
          scan.at = at + 2;
        } else scan.at = at + 1;
        continue;
      }
      case DOUBLE_QUOTE:
        cutRun(scan, at, at + 1);
        scan.at = at + 1;
        return true;
      default:
        return refuseCharacter(scan, at) !== null;
    }
  }
  return refuse(scan, 'TEXT_QUOTE_OPEN', open, text.length) !== null;
}

/** Outside quotes a backslash makes any character that may stand between single quotes, and the single quote, data. */
function passEscaped(scan: Scan): boolean {
  const { text } = scan;
  const at = scan.at;
  const next = at + 1;
  if (next === text.length) return refuse(scan, 'TEXT_BACKSLASH', at, next) !== null;
  cutRun(scan, at, next);
  scan.at = next;
  const code = text.charCodeAt(next);
  if (code >= 128) return passVisible(scan);
  const meaning = SINGLE_QUOTED[code];
  if (meaning !== LITERAL && meaning !== SINGLE_QUOTE) return refuseCharacter(scan, next) !== null;
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
 * `@{u}`, `stash@{0}`, `HEAD^{tree}`: bash expands a brace only for a comma or `..` inside, and takes a lone closing
 * brace further on for its end. So neither passes, and every other brace is refused, literal or not.
 */
function passRevisionBrace(scan: Scan, start: number): boolean {
  const { text } = scan;
  const open = scan.at;
  const before = open > start ? text.charCodeAt(open - 1) : 0;
  if (before !== 0x40 && before !== 0x5e) return refuse(scan, 'TEXT_BRACE', open, open + 1) !== null;
  let at = open + 1;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= 128 || BRACED[code] !== LITERAL) break;
    if (code === 0x2e && text.charCodeAt(at - 1) === 0x2e) break;
  }
  if (text.charCodeAt(at) !== 0x7d) return refuse(scan, 'TEXT_BRACE', open, Math.min(at + 1, text.length)) !== null;
  scan.at = at + 1;
  return true;
}

/** An operator is blamed as a whole: `&&`, and `2>&1` with the number that belongs to it. */
function refuseOperator(scan: Scan, start: number): null {
  const { text, at } = scan;
  const code = refusalOf(text, at);
  if (code !== 'TEXT_OPERATOR' && code !== 'TEXT_REDIRECTION') return refuseCharacter(scan, at);
  let end = at + 1;
  while (end < text.length && '<>|&;('.includes(text.charAt(end))) end++;
  const operator = text.slice(at, end);
  // `<(` and `>(` start a process and pass its name: no redirection.
  if (operator.startsWith('<(') || operator.startsWith('>(')) return refuse(scan, 'TEXT_EXPANSION', at, at + 2);
  if (code === 'TEXT_OPERATOR' && !operator.startsWith('&>')) return refuse(scan, code, at, end);
  let from = at;
  while (from > start && text.charCodeAt(from - 1) >= 0x30 && text.charCodeAt(from - 1) <= 0x39) from--;
  return refuse(scan, 'TEXT_REDIRECTION', from === start ? start : at, end);
}
