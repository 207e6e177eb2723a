import { type Cost, either, isBearable, pair, pipe, repeated, scaled } from './jq-cost.ts';
import { type Filter, type Refused, readSuffix, readTerm } from './jq-terms.ts';
import { DIGITS, skipBlanks, startsName, takeOperator, takeWord } from './jq-text.ts';

/**
 * The filters of jq that end for every input, in time that a polynomial of its size bounds:
 *
 *     pipe    = comma { "|" comma }
 *     comma   = alt { "," alt }
 *     alt     = or { "//" or }          or = and { "or" and }          and = compare { "and" compare }
 *     compare = sum { ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) sum }
 *     sum     = product { ( "+" | "-" ) product }
 *     product = postfix { "/" postfix | "*" postfix }          of the two sides of "*" one is a number of at most four digits
 *     postfix = [ "-" ] term { ".name" | "." string | [ "." ] "[" [ index | [ index ] ":" [ index ] ] "]" | "?" }
 *     term    = "." | ".." | ".name" | "." string | number | string | "@" name [ string ] | "(" pipe ")" | "[" [ pipe ] "]"
 *             | "{" [ entry { "," entry } ] "}" | "if" pipe "then" pipe { "elif" pipe "then" pipe } [ "else" pipe ] "end"
 *             | builtin [ "(" pipe { ";" pipe } ")" ]
 *     entry   = ( name | string ) [ ":" value ] | "(" pipe ")" ":" value          value = alt { "|" alt }
 *     index   = [ "-" ] number of at most six digits | string
 *
 * Strings have interpolations, except as an index, a key or the argument of `test`. Left out on purpose: names that a
 * filter defines or binds (`def`, `as`, `reduce`, `foreach`, `label`), modules, `$name`, assignments (`.[999999999] = 1`
 * fills the memory), `%`, `try`, comments, and every builtin that jq-builtins.ts does not list. While it reads, it adds up
 * what the filter can cost (jq-cost.ts): `[.,.]|[.,.]|[.,.]` doubles with each stage, and ends, but nobody would see it.
 */

/** A sign or a word between two filters, and what they cost together. */
type Operator = { readonly token: string; readonly join: (left: Cost, right: Cost) => Cost };

/** A text times a number is repeated so often. */
const MOST_TIMES = 10_000;

const COMPARISONS = ['==', '!=', '<=', '>=', '<', '>'];
const PIPES: readonly Operator[] = [{ token: '|', join: pipe }];
/** From the weakest to the strongest, which is the product. */
const LEVELS: readonly (readonly Operator[])[] = [
  [{ token: ',', join: either }],
  [{ token: '//', join: either }],
  [{ token: 'or', join: pair }],
  [{ token: 'and', join: pair }],
  COMPARISONS.map((token) => ({ token, join: pair })),
  ['+', '-'].map((token) => ({ token, join: pair })),
];
/** Whether the text is a jq filter of the grammar above, at a bearable cost. Linear in the text, and total. */
export function jqFilter(text: string): boolean {
  const source: Filter = { text, at: 0, depth: 0, readPipe };
  const cost = readPipe(source, true);
  skipBlanks(source);
  return cost !== null && source.at === text.length && isBearable(cost);
}

/** @param commas whether a comma is part of it; between the entries of an object it is not. */
function readPipe(source: Filter, commas: boolean): Cost | Refused {
  return readChain(source, (at) => readLevel(at, commas ? 0 : 1), PIPES);
}

function readLevel(source: Filter, level: number): Cost | Refused {
  const operators = LEVELS[level];
  return operators === undefined ? readProduct(source) : readChain(source, (at) => readLevel(at, level + 1), operators);
}

/** Operands with operators of one level between them, from the left. */
function readChain(
  source: Filter,
  next: (source: Filter) => Cost | Refused,
  operators: readonly Operator[],
): Cost | Refused {
  let cost = next(source);
  while (cost !== null) {
    const operator = operators.find(({ token }) => take(source, token));
    if (operator === undefined) return cost;
    const right = next(source);
    cost = right === null ? null : operator.join(cost, right);
  }
  return null;
}

function take(source: Filter, token: string): boolean {
  return startsName(token[0]) ? takeWord(source, token) : takeOperator(source, token);
}

/** A text times a number is repeated so often, so the number has to be in sight. */
function readProduct(source: Filter): Cost | Refused {
  skipBlanks(source);
  let start = source.at;
  let cost = readPostfix(source);
  let factor = factorAt(source, start);
  while (cost !== null) {
    const times = takeOperator(source, '*');
    if (!times && !takeOperator(source, '/')) return cost;
    skipBlanks(source);
    start = source.at;
    const right = readPostfix(source);
    if (right === null) return null;
    const by = factorAt(source, start) ?? factor;
    if (times && by === null) return null;
    // A text divided by a text is cut into pieces.
    cost = times ? repeated(pair(cost, right), by!) : pipe(pair(cost, right), scaled(4));
    factor = null;
  }
  return null;
}

function readPostfix(source: Filter): Cost | Refused {
  takeOperator(source, '-');
  let cost = readTerm(source);
  while (cost !== null) {
    skipBlanks(source);
    const step = readSuffix(source);
    if (step === undefined) return cost;
    cost = step === null ? null : step(cost);
  }
  return null;
}

/** What a short number is, when nothing else was read since `start`. */
function factorAt({ text, at }: Filter, start: number): number | null {
  const number = text.slice(start, at).trimEnd();
  const isNumber = number !== '' && [...number].every((one) => `${DIGITS}.`.includes(one));
  return isNumber && Number(number) < MOST_TIMES ? Math.max(Math.ceil(Number(number)), 1) : null;
}
