import { DIGIT, KEYWORDS, LITERAL, NAME, NAME_START, UNQUOTED } from './characters.ts';
import type { Limits } from './judgement.ts';
import { readJoint, readRedirection, startsRedirection } from './operators.ts';
import { atOperator, readWord, skipBlanks } from './scan.ts';
import { refuse, type Scan, startScan } from './scan-state.ts';
import type { Check, ReasonCode } from './verdict.ts';
import type { Assignment, Joint, Redirection, Word } from './word.ts';

export type { Assignment, Joint, Redirection, Word } from './word.ts';

/** What was read of one simple command. */
type Command = {
  readonly assignments: Assignment[];
  readonly words: Word[];
  readonly redirections: Redirection[];
};

/** One simple command of a list of pipelines. */
export type ListedCommand = {
  readonly assignments: readonly Assignment[];
  readonly words: readonly Word[];
  readonly redirections: readonly Redirection[];
  /** From its first word or redirection to its last. */
  readonly start: number;
  readonly end: number;
  /** The operator before it; null for the first. */
  readonly joint: Joint | null;
};

/** Why bash would do more with the text than is understood, and where. */
export type Unread = {
  readonly ok: false;
  readonly check: Extract<Check, 'input' | 'metacharacters' | 'leading-token'>;
  readonly code: ReasonCode;
  readonly span: readonly [start: number, end: number];
};

/** The words, or why bash would do more with the text than pass words to a command. */
export type Lexed =
  | { readonly ok: true; readonly assignments: readonly Assignment[]; readonly words: readonly Word[] }
  /** With the words that were read before the refusal. */
  | (Unread & { readonly words: readonly Word[] });

/** The simple commands, or why bash would do more with the text than run pipelines of them one after the other. */
export type LexedList =
  | {
      readonly ok: true;
      readonly commands: readonly ListedCommand[];
      /** It is more than one simple command: an operator or a redirection stands in it. */
      readonly compound: boolean;
    }
  /** With what was read before the refusal; the last of them may be cut off. */
  | (Unread & { readonly commands: readonly ListedCommand[] });

/** The codes of this file that are not about a character. */
const CHECKS: ReadonlyMap<ReasonCode, 'input' | 'leading-token'> = new Map([
  ['TEXT_EMPTY', 'input'],
  ['TEXT_TOO_LONG', 'input'],
  ['WORDS_TOO_MANY', 'input'],
  ['PARTS_TOO_MANY', 'input'],
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
  const command: Command = { assignments: [], words: [], redirections: [] };
  const { assignments, words } = command;
  // Asked this way round, so that a limit that is not a number refuses.
  if (!(text.length <= maxChars)) return refused('TEXT_TOO_LONG', [0, text.length], words);

  const scan = startScan(text, maxWords, false);
  if (!readCommand(scan, command)) return refused(scan.code, scan.span, words);
  if (words.length > 0) return { ok: true, assignments, words };
  return refused(assignments.length > 0 ? 'TEXT_ASSIGNMENT' : 'TEXT_EMPTY', [0, text.length], words);
}

/**
 * The same for a list of pipelines: the same words, cut at `&&`, `||`, `;` and `|`, and the redirections that neither
 * write nor read anything. Every other operator refuses, and so does a part without a command.
 *
 * @param limits besides those of `lex`, `maxParts` (default 64). A redirection counts as a word.
 */
export function lexList(text: string, limits: Partial<Limits> = {}): LexedList {
  const { maxChars = DEFAULT_LIMITS.maxChars, maxWords = DEFAULT_LIMITS.maxWords } = limits;
  const { maxParts = DEFAULT_LIMITS.maxParts } = limits;
  const commands: ListedCommand[] = [];
  if (!(text.length <= maxChars)) return { ...unread('TEXT_TOO_LONG', [0, text.length]), commands };

  const scan = startScan(text, maxWords, true);
  let joint: Joint | null = null;
  for (;;) {
    skipBlanks(scan);
    const { at: start } = scan;
    const command: Command = { assignments: [], words: [], redirections: [] };
    const isRead = readCommand(scan, command);
    const next: Joint | null = isRead && atOperator(scan) ? readJoint(scan) : null;
    const isLast = isRead && next === null && !atOperator(scan);
    const end = endOf(command, start);
    // Behind a last semicolon nothing has to stand.
    if (isLast && end === start && joint?.text === ';') return { ok: true, commands, compound: true };
    const listed: ListedCommand = { ...command, start, end, joint };
    commands.push(listed);
    const isWhole = (isLast || next !== null) && holdsCommand(scan, listed, next) && fits(scan, commands, maxParts);
    if (!isWhole) return { ...unread(scan.code, scan.span), commands };
    if (next === null) break;
    joint = next;
  }
  return { ok: true, commands, compound: joint !== null || commands[0]!.redirections.length > 0 };
}

/**
 * Reads words up to the end, or in a compound up to an operator. False when bash would do something else with what
 * stands there; `scan.code` and `scan.span` tell what.
 */
function readCommand(scan: Scan, command: Command): boolean {
  while (skipBlanks(scan)) {
    if (scan.compound && atOperator(scan) && !startsRedirection(scan)) break;
    if (!(scan.left > 0)) return refuse(scan, 'WORDS_TOO_MANY', scan.at, scan.text.length);
    scan.left -= 1;
    if (!readPiece(scan, command)) return false;
  }
  return true;
}

/** A word, an assignment or a redirection. */
function readPiece(scan: Scan, { assignments, words, redirections }: Command): boolean {
  const { at: start } = scan;
  if (scan.compound && startsRedirection(scan)) return takeRedirection(scan, start, redirections);
  const leading = words.length === 0;
  const word = readWord(scan, leading);
  if (word === null) return false;
  // A number that touches the operator is its descriptor: `a 2>&1`, but `a2>&1` and `2 >&1` are words.
  if (scan.stopped && startsRedirection(scan) && isDescriptor(scan, word)) {
    return takeRedirection(scan, start, redirections);
  }
  if (!leading) {
    words.push(word);
    return true;
  }
  const begun = commandStart(word, scan.equals);
  if (typeof begun === 'string') return refuse(scan, begun, word.start, word.end);
  if ('name' in begun) assignments.push(begun);
  else words.push(begun);
  return true;
}

function takeRedirection(scan: Scan, start: number, redirections: Redirection[]): boolean {
  const redirection = readRedirection(scan, start);
  if (redirection !== null) redirections.push(redirection);
  return redirection !== null;
}

/** Digits and nothing else; `2&>` is the word `2` before another operator. */
function isDescriptor({ text, at }: Scan, { raw }: Word): boolean {
  return text.charAt(at) !== '&' && consistsOf(DIGIT, raw);
}

function endOf({ assignments, words, redirections }: Command, start: number): number {
  const pieces = [assignments.at(-1), words.at(-1), redirections.at(-1)];
  return Math.max(start, ...pieces.map((piece) => piece?.end ?? start));
}

/** Refuses a part without a command: two operators in a row, redirections alone, assignments, which would stay. */
function holdsCommand(scan: Scan, listed: ListedCommand, next: Joint | null): boolean {
  const { assignments, words, redirections, start, end, joint } = listed;
  if (words.length > 0) return true;
  const isAlone = joint === null && next === null && redirections.length === 0;
  const whole = [0, scan.text.length] as const;
  if (assignments.length > 0) return refuse(scan, 'TEXT_ASSIGNMENT', ...(isAlone ? whole : ([start, end] as const)));
  if (isAlone) return refuse(scan, 'TEXT_EMPTY', ...whole);
  if (redirections.length > 0) return refuse(scan, 'TEXT_PART_EMPTY', start, end);
  const { start: from, end: to } = (next ?? joint)!;
  return refuse(scan, 'TEXT_PART_EMPTY', from, to);
}

function fits(scan: Scan, commands: readonly ListedCommand[], maxParts: number): boolean {
  if (commands.length <= maxParts) return true;
  return refuse(scan, 'PARTS_TOO_MANY', commands.at(-1)!.start, scan.text.length);
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

function refused(code: ReasonCode, span: Unread['span'], words: readonly Word[]): Lexed {
  return { ok: false, check: checkOf(code), code, span, words };
}

function unread(code: ReasonCode, span: Unread['span']): Unread {
  return { ok: false, check: checkOf(code), code, span };
}

function checkOf(code: ReasonCode): Unread['check'] {
  return CHECKS.get(code) ?? 'metacharacters';
}
