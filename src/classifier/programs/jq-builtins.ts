import {
  AS_TEXT,
  type Cost,
  collected,
  constant,
  EACH,
  EVERY,
  IDENTITY,
  INPUT,
  ONE,
  pair,
  perOutput,
  pipe,
  plus,
  scaled,
  single,
  times,
} from './jq-cost.ts';

/**
 * The builtins of jq that end for every input, and what they cost; facts: the manual and `jq` 1.6, tried. Left out on
 * purpose: `input inputs debug stderr input_line_number` (other input and output), `env $ENV now localtime` (the answer is
 * of the surroundings), `repeat while until recurse(f) range limit(f) walk combinations` (loops, or as many outputs as a
 * number says), `indices("")` and `gsub("";…)` (do not end in 1.6), `implode` (stops the program in 1.6).
 */

/** A literal string among the arguments, where there is one; the builtins that take texts take nothing else. */
export type Argument = { readonly cost: Cost; readonly literal: string | null };

/** What an entry has besides its key and its value. */
const ENTRY = 16;
const PIECES = 4;

const AS_IT_IS: readonly string[] = (
  'not length utf8bytelength type values nulls booleans numbers strings arrays objects iterables scalars empty error ' +
  'keys keys_unsorted add any all floor ceil round sqrt fabs tonumber sort unique reverse min max first last flatten ' +
  'ascii_downcase ascii_upcase from_entries fromjson explode todate fromdate input_filename isnan isinfinite isnormal'
).split(' ');

const WITHOUT_ARGUMENT: ReadonlyMap<string, Cost> = new Map([
  ...AS_IT_IS.map((name) => [name, scaled(2)] as const),
  ['recurse', EVERY],
  ['paths', EVERY],
  ['leaf_paths', EVERY],
  ['to_entries', scaled(ENTRY)],
  ['tostring', scaled(AS_TEXT)],
  ['tojson', scaled(AS_TEXT)],
  ['null', constant(1)],
  ['true', constant(1)],
  ['false', constant(1)],
]);

const FORMATS: ReadonlySet<string> = new Set('text json csv tsv html uri sh base64 base64d'.split(' '));

/** Of each element, something to compare by. */
const byElement = (f: Cost): Cost => single(pipe(EACH, collected(f)), 4);
const mapped = (f: Cost): Cost => collected(pipe(EACH, f));

const WITH_FILTER: ReadonlyMap<string, (f: Cost) => Cost> = new Map([
  ['select', (f) => perOutput(f, 1)],
  ['map', mapped],
  ['map_values', mapped],
  ['with_entries', (f) => pipe(pipe(scaled(ENTRY), mapped(f)), scaled(2))],
  ['sort_by', byElement],
  ['group_by', byElement],
  ['unique_by', byElement],
  ['min_by', byElement],
  ['max_by', byElement],
  ['any', (f) => single(pipe(EACH, f), 1)],
  ['all', (f) => single(pipe(EACH, f), 1)],
  ['first', (f) => single(f, 1)],
  ['last', (f) => single(f, 1)],
  ['path', (f) => perOutput(f, 1)],
  ['paths', (f) => pipe(EVERY, pair(IDENTITY, f))],
  ['del', (f) => ({ count: ONE, total: plus(perOutput(f, 2).total, INPUT) })],
  ['has', (f) => perOutput(f, 1)],
  ['contains', (f) => perOutput(f, 1)],
  ['inside', (f) => perOutput(f, 1)],
  ['startswith', (f) => perOutput(f, 1)],
  ['endswith', (f) => perOutput(f, 1)],
  ['ltrimstr', (f) => perOutput(f, 1)],
  ['rtrimstr', (f) => perOutput(f, 1)],
  ['getpath', (f) => perOutput(f, 1)],
  ['split', (f) => perOutput(f, PIECES)],
  ['join', (f) => ({ count: f.count, total: plus(perOutput(f, AS_TEXT).total, times(INPUT, f.total)) })],
]);

/** Where a text is: one that is not empty, or 1.6 looks for it without end. */
const LITERALS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['index', (text) => text !== ''],
  ['rindex', (text) => text !== ''],
  ['indices', (text) => text !== ''],
]);

const REGEXES: ReadonlySet<string> = new Set(['test']);
const REGEX_FLAGS: ReadonlySet<string> = new Set(['i']);

/** The cost of a builtin with these arguments; null for any other name or number of arguments. */
export function builtinCost(
  name: string,
  parameters: readonly Argument[],
  isRegex: (text: string) => boolean,
): Cost | null {
  const [first, second, ...more] = parameters;
  if (first === undefined) return WITHOUT_ARGUMENT.get(name) ?? null;
  if (more.length > 0) return null;
  if (REGEXES.has(name)) {
    if (first.literal === null || !isRegex(first.literal)) return null;
    if (second !== undefined && !(second.literal !== null && REGEX_FLAGS.has(second.literal))) return null;
    return scaled(2);
  }
  if (second !== undefined) return null;
  const accepts = LITERALS.get(name);
  if (accepts !== undefined) return first.literal !== null && accepts(first.literal) ? scaled(2) : null;
  return WITH_FILTER.get(name)?.(first.cost) ?? null;
}

/** `@name`, alone or before a string whose interpolations it formats. */
export function formatCost(name: string): Cost | null {
  return FORMATS.has(name) ? scaled(AS_TEXT) : null;
}
