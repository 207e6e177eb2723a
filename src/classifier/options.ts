import type { NodeRule, OptionRule } from './compiled.ts';
import { type Expression, follow } from './expression.ts';
import type { Kind } from './kinds.ts';
import { resolve } from './paths.ts';
import { type Reading, type Refusal, refuse, refuseExpansion, refuseValue, takeText } from './reading.ts';
import type { Word } from './word.ts';

/** One level of the tree while its words are read. */
export type Level = {
  readonly node: NodeRule;
  readonly reading: Reading;
  /** The ids of the options that were there, as far as a shape asks for them. */
  readonly used: number[];
  readonly operands: Word[];
  /** Where the last word of an option ends. */
  optionsEnd: number;
  /** What the next word has to be, when an option waits for its value. */
  pending: Kind | null;
  readonly expression: Expression | null;
};

/** What a word is: an operand, an option that is complete, an option whose value is the next word, or refused. */
export type Outcome = 'operand' | 'read' | 'value-next' | Refusal;

const MINUS = 45;
const EQUALS = 61;
const ASCII = 128;

/**
 * Reads one word before any `--`. Names are compared with the raw spelling, so a quoted name is never one, and `\(` is
 * one only where the rule lists it so.
 */
export function readOption(level: Level, word: Word): Outcome {
  const { node } = level;
  const dashed = word.text.charCodeAt(0) === MINUS;
  if (!dashed && !node.bareOptions) return 'operand';
  const exact = node.options.get(word.raw) ?? otherDash(node, word.raw);
  if (exact !== undefined) return readExact(level, exact, word);
  // The program sees an option all the same: `find !'' -name x` has no path.
  if (!dashed && word.raw !== word.text && node.bareTexts.has(word.text)) {
    return refuse('OPTION_QUOTED', word, node);
  }
  if (!dashed || word.text.length === 1 || node.dashesAreText) return 'operand';
  if (word.glob) return refuseExpansion(word, node);
  if (word.plain === 0) return refuse('OPERAND_QUOTED_OPTION', word, node);
  if (node.number !== null && isNumber(word.raw)) return use(level, node.number, word);
  const equals = node.syntax.equals ? word.text.indexOf('=') : -1;
  const long = word.text.charCodeAt(1) === MINUS;
  if (equals > 0 && equals < word.plain && (long || node.syntax.eitherDash)) return readEquals(level, equals, word);
  if (long) return refuse(word.plain === word.raw.length ? 'OPTION_UNKNOWN' : 'OPTION_QUOTED', word, node);
  return readCluster(level, word);
}

/** Takes the next word as the value of the option that waits for it. */
export function readValue(level: Level, kind: Kind, word: Word): Refusal | null {
  if (word.glob) return refuseExpansion(word, level.node);
  level.pending = null;
  level.optionsEnd = word.end;
  return takeValue(level, kind, word.text, word);
}

/** Where one dash and two are the same. */
function otherDash(node: NodeRule, name: string): OptionRule | undefined {
  return node.syntax.eitherDash && name.startsWith('--') ? node.options.get(name.slice(1)) : undefined;
}

function readExact(level: Level, option: OptionRule, word: Word): Outcome {
  if (level.expression !== null && !follow(level.expression, option.role, level.operands.length > 0)) {
    return refuse('EXPRESSION_REFUSED', word, level.node);
  }
  if (option.value === null || option.optional) return use(level, option, word);
  return awaitValue(level, option, option.value, word);
}

/** `--name=value`, the name within the plain beginning. */
function readEquals(level: Level, equals: number, word: Word): Outcome {
  const name = word.text.slice(0, equals);
  const option = level.node.options.get(name) ?? otherDash(level.node, name);
  if (option === undefined) return refuse('OPTION_UNKNOWN', word, level.node);
  if (option.value === null || option.form === 'spaced') return refuse('OPTION_FORM', word, level.node);
  use(level, option, word);
  return takeValue(level, option.value, word.text.slice(equals + 1), word) ?? 'read';
}

/** `-abc`, letter by letter, each within the plain beginning; the first with a value takes the rest or the next word. */
function readCluster(level: Level, word: Word): Outcome {
  const { node } = level;
  const { text } = word;
  for (let at = 1; at < text.length; at++) {
    if (at >= word.plain) return refuse('OPTION_QUOTED', word, node);
    const code = text.charCodeAt(at);
    const option = code < ASCII ? node.letters[code] : undefined;
    if (option === undefined || (at > 1 && !node.syntax.clusters)) return refuse('OPTION_UNKNOWN', word, node);
    if (option.value !== null && hasJoined(node, option, text, at + 1)) {
      return readJoined(level, option, option.value, at + 1, word);
    }
    // A quote behind the letters is no part of a name: `-a''` is not `-a`, which may be more than a switch.
    if (at + 1 === text.length && word.plain !== word.raw.length) return refuse('OPTION_QUOTED', word, node);
    if (option.value !== null && !option.optional) return awaitValue(level, option, option.value, word);
    use(level, option, word);
  }
  return 'read';
}

/** Whether what follows the letter is its value. In pflag an optional one is given only behind `=`: `-An x` is `-A -n x`. */
function hasJoined({ syntax }: NodeRule, option: OptionRule, text: string, from: number): boolean {
  if (from === text.length) return false;
  return !(option.optional && syntax.shortEquals) || text.charCodeAt(from) === EQUALS;
}

function readJoined(level: Level, option: OptionRule, kind: Kind, from: number, word: Word): Outcome {
  const { joined, shortEquals } = level.node.syntax;
  if (!joined || option.form === 'spaced') return refuse('OPTION_FORM', word, level.node);
  use(level, option, word);
  const skip = shortEquals && word.text.charCodeAt(from) === EQUALS ? 1 : 0;
  return takeValue(level, kind, word.text.slice(from + skip), word) ?? 'read';
}

function awaitValue(level: Level, option: OptionRule, kind: Kind, word: Word): Outcome {
  if (option.form === 'joined') return refuse('OPTION_FORM', word, level.node);
  use(level, option, word);
  level.pending = kind;
  return 'value-next';
}

function use(level: Level, option: OptionRule, word: Word): Outcome {
  if (option.related) level.used.push(option.id);
  level.reading.options.push({ spellings: option.spellings, role: option.role, value: null });
  if (option.override) level.reading.override = true;
  level.optionsEnd = word.end;
  return 'read';
}

function takeValue({ node, reading }: Level, kind: Kind, text: string, word: Word): Refusal | null {
  reading.options.at(-1)!.value = text;
  const code = takeText(reading, kind, text, node.stdin, null);
  if (code !== null) return refuseValue(code, word, node, kind);
  if (kind.role === 'directory') reading.base = resolve(reading.base, text);
  return null;
}

/** `-20`: nothing but a dash and digits. */
function isNumber(raw: string): boolean {
  for (let at = 1; at < raw.length; at++) {
    const code = raw.charCodeAt(at);
    if (code < 48 || code > 57) return false;
  }
  return true;
}
