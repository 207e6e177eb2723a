import { type Argument, builtinCost, formatCost } from './jq-builtins.ts';
import {
  AS_TEXT,
  type Cost,
  collected,
  constant,
  EVERY,
  either,
  elements,
  IDENTITY,
  pair,
  part,
  pipe,
  scaled,
} from './jq-cost.ts';
import {
  DIGITS,
  isOneOf,
  type Source,
  skip,
  skipBlanks,
  startsName,
  takeEscape,
  takeLiteral,
  takeName,
  takeOperator,
  takeWord,
} from './jq-text.ts';
import { plainRegex } from './plain-regex.ts';

/** The terms of jq and what stands behind them; the grammar is in jq.ts. */

/** What is read, and in how many brackets. */
export type Filter = Source & {
  depth: number;
  /** What stands in brackets is a filter of its own; between the entries of an object a comma is not part of it. */
  readonly readPipe: (filter: Filter, commas: boolean) => Cost | Refused;
};

/** What a function below returns for text that is not of the grammar. */
export type Refused = null;

/** A step into values that are there already. */
export type Step = (cost: Cost) => Cost;

const MOST_DEPTH = 64;
const MOST_DIGITS = 6;
/** Words of the language, which are no builtins and end an expression. */
const WORDS: ReadonlySet<string> = new Set(['and', 'or', 'then', 'elif', 'else', 'end', 'if']);

export function readTerm(source: Filter): Cost | Refused {
  skipBlanks(source);
  const { text, at } = source;
  const char = text[at];
  if (char === '.') return readPath(source);
  if (char === '"') return readText(source, null);
  if (char === '@') return readFormat(source);
  if (isOneOf(char, DIGITS)) return readNumber(source);
  if (char === '(' || char === '[' || char === '{') return within(source, readBracketed);
  const name = takeName(source);
  if (name === 'if') return within(source, readIf);
  return name === '' || WORDS.has(name) ? null : readBuiltin(source, name);
}

function readPath(source: Filter): Cost | Refused {
  const { text, at } = source;
  const next = text[at + 1];
  source.at += next === '.' ? 2 : 1;
  if (next === '.') return EVERY;
  const named = startsName(next) || next === '"';
  return named && readField(source) === null ? null : IDENTITY;
}

/** A key that is written out. */
function readName(source: Filter): Cost | Refused {
  const start = source.at;
  return readField(source) === null ? null : constant(source.at - start);
}

/** Behind a dot: a name, or a string without interpolations. */
function readField(source: Filter): Step | Refused {
  const found = source.text[source.at] === '"' ? takeLiteral(source) !== null : takeName(source) !== '';
  return found ? part : null;
}

function readIndex(source: Filter): Step | Refused {
  source.at += 1;
  if (takeOperator(source, ']')) return elements;
  skipBlanks(source);
  if (source.text[source.at] === '"') return takeLiteral(source) !== null && takeOperator(source, ']') ? part : null;
  const first = takeOffset(source);
  const sliced = takeOperator(source, ':');
  const second = sliced && takeOffset(source);
  return (first || second) && takeOperator(source, ']') ? part : null;
}

function takeOffset(source: Filter): boolean {
  takeOperator(source, '-');
  skipBlanks(source);
  const start = source.at;
  skip(source, DIGITS);
  return source.at > start && source.at - start <= MOST_DIGITS;
}

function readNumber(source: Filter): Cost | Refused {
  skip(source, DIGITS);
  if (source.text[source.at] === '.') {
    source.at += 1;
    skip(source, DIGITS);
  }
  return constant(1);
}

/** @param format what is done to each interpolation, besides being made a text. */
function readText(source: Filter, format: Cost | null): Cost | Refused {
  source.at += 1;
  const start = source.at;
  let cost = constant(1);
  while (source.at < source.text.length) {
    const char = source.text[source.at]!;
    source.at += 1;
    if (char === '"') return pair(cost, constant(source.at - start));
    if (char !== '\\') continue;
    if (source.text[source.at] === '(') {
      const inner = within(source, readParenthesis);
      if (inner === null) return null;
      cost = pair(cost, pipe(pipe(inner, scaled(AS_TEXT)), format ?? IDENTITY));
    } else if (!takeEscape(source)) return null;
  }
  return null;
}

function readFormat(source: Filter): Cost | Refused {
  source.at += 1;
  const format = formatCost(takeName(source));
  skipBlanks(source);
  return format !== null && source.text[source.at] === '"' ? readText(source, format) : format;
}

/** One more level of brackets. */
function within(source: Filter, read: (source: Filter) => Cost | Refused): Cost | Refused {
  if (source.depth === MOST_DEPTH) return null;
  source.depth += 1;
  const cost = read(source);
  source.depth -= 1;
  return cost;
}

function readBracketed(source: Filter): Cost | Refused {
  const char = source.text[source.at];
  if (char === '(') return readParenthesis(source);
  source.at += 1;
  if (char === '{') return readObject(source);
  if (takeOperator(source, ']')) return constant(1);
  const cost = source.readPipe(source, true);
  return cost !== null && takeOperator(source, ']') ? collected(cost) : null;
}

function readParenthesis(source: Filter): Cost | Refused {
  source.at += 1;
  const cost = source.readPipe(source, true);
  return cost !== null && takeOperator(source, ')') ? cost : null;
}

function readObject(source: Filter): Cost | Refused {
  if (takeOperator(source, '}')) return constant(1);
  let cost = readEntry(source);
  while (cost !== null && takeOperator(source, ',')) {
    const entry = readEntry(source);
    cost = entry === null ? null : pair(cost, entry);
  }
  return cost !== null && takeOperator(source, '}') ? cost : null;
}

function readEntry(source: Filter): Cost | Refused {
  skipBlanks(source);
  const computed = source.text[source.at] === '(';
  const key = computed ? within(source, readParenthesis) : readName(source);
  if (key === null) return null;
  if (!takeOperator(source, ':')) return computed ? null : pair(key, IDENTITY);
  const value = source.readPipe(source, false);
  return value === null ? null : pair(key, value);
}

/** Behind `if` or `elif`. */
function readIf(source: Filter): Cost | Refused {
  const condition = source.readPipe(source, true);
  if (condition === null || !takeWord(source, 'then')) return null;
  const then = source.readPipe(source, true);
  if (then === null) return null;
  const otherwise = takeWord(source, 'elif') ? within(source, readIf) : readElse(source);
  return otherwise === null ? null : pair(condition, either(then, otherwise));
}

/** A builtin, with the texts among its arguments. */
function readBuiltin(source: Filter, name: string): Cost | Refused {
  const parameters: Argument[] = [];
  if (source.text[source.at] === '(' && within(source, (at) => readArguments(at, parameters)) === null) return null;
  return builtinCost(name, parameters, plainRegex);
}

function readArguments(source: Filter, parameters: Argument[]): Cost | Refused {
  source.at += 1;
  do {
    const parameter = readArgument(source);
    if (parameter === null) return null;
    parameters.push(parameter);
  } while (takeOperator(source, ';'));
  return takeOperator(source, ')') ? IDENTITY : null;
}

function readArgument(source: Filter): Argument | Refused {
  skipBlanks(source);
  const start = source.at;
  const literal = takeLiteral(source);
  skipBlanks(source);
  if (literal !== null && isOneOf(source.text[source.at], ';)')) return { cost: constant(literal.length), literal };
  source.at = start;
  const cost = source.readPipe(source, true);
  return cost === null ? null : { cost, literal: null };
}

function readElse(source: Filter): Cost | Refused {
  const cost = takeWord(source, 'else') ? source.readPipe(source, true) : IDENTITY;
  return cost !== null && takeWord(source, 'end') ? cost : null;
}
/** What stands behind a term, by what it makes of its cost; undefined when the term ends there. */
export function readSuffix(source: Filter): Step | Refused | undefined {
  const { text, at } = source;
  if (text[at] === '?') {
    source.at += 1;
    return part;
  }
  if (text[at] === '[') return readIndex(source);
  if (text[at] !== '.') return undefined;
  source.at += 1;
  return text[at + 1] === '[' ? readIndex(source) : readField(source);
}
