import { BLANK, LITERAL, refusalOf, UNQUOTED, visibleWidth } from './characters.ts';
import type { ReasonCode } from './verdict.ts';

/** One pass over a text: where it stands, what it knows of the word it reads, and what it refused. */
export type Scan = {
  readonly text: string;
  /** Words end at operators instead of being refused, and may begin with `~/`. */
  readonly compound: boolean;
  /** How many words may still come. */
  left: number;
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
  /** It begins with an unquoted `~/`. */
  home: boolean;
  /** It ends at an operator. */
  stopped: boolean;
  /** Why `readWord` gave no word, and where; nothing is read after that. */
  code: ReasonCode;
  span: readonly [start: number, end: number];
};

/** Runs are joined in portions: a string or a list that grows run by run takes more than twice the time for twice the runs. */
const RUNS_AT_ONCE = 1024;

/** A scan at the beginning of the text. */
export function startScan(text: string, maxWords: number, compound: boolean): Scan {
  const span = [0, text.length] as const;
  return {
    text,
    compound,
    left: maxWords,
    at: 0,
    decoded: '',
    runs: [],
    from: 0,
    firstQuote: -1,
    glob: false,
    equals: false,
    home: false,
    stopped: false,
    code: 'TEXT_CONTROL',
    span,
  };
}

export function atBlank(scan: Scan): boolean {
  const code = scan.text.charCodeAt(scan.at);
  return code < 128 && UNQUOTED[code] === BLANK;
}

/** Where the run of literal characters ends that goes on at `at`. Most characters of a command are passed here. */
export function endOfRun(table: Uint8Array, text: string, at: number): number {
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= 128 || table[code] !== LITERAL) break;
  }
  return at;
}

/** Ends a run of characters that stand for themselves at `at`; the next one begins at `next`. */
export function cutRun(scan: Scan, at: number, next: number): void {
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

export function passVisible(scan: Scan): boolean {
  const width = visibleWidth(scan.text, scan.at);
  if (width === 0) return refuseCharacter(scan, scan.at);
  scan.at += width;
  return true;
}

/** Refuses the character at `at` for what it is. */
export function refuseCharacter(scan: Scan, at: number): false {
  const width = (scan.text.codePointAt(at) as number) > 0xffff ? 2 : 1;
  return refuse(scan, refusalOf(scan.text, at), at, at + width);
}

/** Notes why nothing more is read, and where. */
export function refuse(scan: Scan, code: ReasonCode, from: number, to: number): false {
  scan.code = code;
  scan.span = [from, to];
  return false;
}
