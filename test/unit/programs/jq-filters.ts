/** Seeded generators of jq filters: of the parser's grammar, of that grammar damaged, and of loose tokens. */

type Next = () => number;

function pick<T>(next: Next, of: readonly T[]): T {
  return of[Math.floor(next() * of.length)] as T;
}

const PATHS = [
  '.',
  '..',
  '.a',
  '.b',
  '.a.b',
  '.items',
  '."a b"',
  '.["a"]',
  '.[0]',
  '.[-1]',
  '.[1:3]',
  '.[:2]',
  '.[]',
  '.a[]',
];
const LITERALS = ['0', '1', '42', '1.5', '"x"', '""', '"a,b"', '"\\u00e9\\n"', 'null', 'true', 'false', '[]', '{}'];
/** Builtins and formats without an argument. */
export const PLAIN = (
  'not length utf8bytelength type values nulls booleans numbers strings arrays objects iterables scalars empty error keys ' +
  'keys_unsorted add any all floor ceil round sqrt fabs tonumber tostring sort unique reverse min max first last flatten ' +
  'ascii_downcase ascii_upcase to_entries from_entries tojson fromjson explode todate fromdate input_filename isnan ' +
  'isinfinite isnormal recurse paths leaf_paths @text @json @csv @tsv @html @uri @sh @base64 @base64d'
).split(' ');
/** Builtins with a filter as their argument. */
export const TAKING = (
  'select map map_values with_entries sort_by group_by unique_by min_by max_by any all first last path paths del has ' +
  'contains inside startswith endswith ltrimstr rtrimstr getpath split join'
).split(' ');
const TEXTS = [
  'index("a")',
  'rindex(",")',
  'indices("b")',
  'test("^a")',
  'test("a.*b"; "i")',
  'test("[a-c]+x?")',
  'test("\\\\.")',
];
const OPERATORS = ['+', '-', '/', '* 2 +', '==', '!=', '<', '<=', '>', '>=', 'and', 'or', '//', '|', ','];

function term(next: Next, depth: number): string {
  const kind = next();
  if (depth > 3 || kind < 0.3) return pick(next, PATHS);
  if (kind < 0.4) return pick(next, LITERALS);
  if (kind < 0.55) return pick(next, PLAIN);
  if (kind < 0.7) return `${pick(next, TAKING)}(${filter(next, depth + 1)})`;
  if (kind < 0.75) return pick(next, TEXTS);
  if (kind < 0.8) return `(${filter(next, depth + 1)})`;
  if (kind < 0.85) return `[${filter(next, depth + 1)}]`;
  if (kind < 0.9) return `{a: ${term(next, depth + 1)}, b, "c d": .b, (.a | tostring): 1}`;
  if (kind < 0.95) return `"x\\(${filter(next, depth + 1)})y"`;
  return `if ${filter(next, depth + 1)} then ${filter(next, depth + 1)} else ${filter(next, depth + 1)} end`;
}

function filter(next: Next, depth: number): string {
  let text = term(next, depth);
  for (let left = Math.floor(next() * 3); left > 0; left -= 1) {
    if (next() < 0.3) text += pick(next, ['?', '[]?', '.a?', '[0]', '[]', '."b"']);
    else text += ` ${pick(next, OPERATORS)} ${term(next, depth)}`;
  }
  return text;
}

/** What a careless or hostile hand would put in: loops, inputs, bindings, assignments, and what moves a boundary. */
const DAMAGE = [
  ...'()[]{}|,;:?.\\"=<>+-*/%$@#&!~`\'0129 abeE_',
  'input',
  'inputs',
  'repeat(.)',
  'range(infinite)',
  'while(true; .)',
  'until(false; .)',
  'recurse(.)',
  'limit(9; repeat(1))',
  'def f: f; f',
  'reduce .[] as $x (0; .)',
  'as $x | $x',
  'label $x |',
  '$ENV',
  'env',
  ' = ',
  ' |= ',
  '+=',
  '?//',
  '//=',
  '"\\(',
  ')"',
  '* 1000000000',
  '"x" *',
  'index("")',
  'gsub("";"x")',
  'test("(a*)*b")',
  'implode',
  'walk(.)',
  'import "x" as y;',
  '.[999999999]',
  '\n',
  '\t',
  '\u00a0',
  'é',
  '🚂',
];

/** A filter of the grammar. */
export function wellFormed(next: Next): string {
  return filter(next, 0);
}

/** A filter of the grammar with one to three things put in, taken out or written over. */
export function damaged(next: Next): string {
  let text = wellFormed(next);
  for (let left = Math.floor(next() * 3); left >= 0; left -= 1) {
    const at = Math.floor(next() * (text.length + 1));
    const kind = next();
    if (kind < 0.5) text = text.slice(0, at) + pick(next, DAMAGE) + text.slice(at);
    else if (kind < 0.75) text = text.slice(0, at) + text.slice(at + 1);
    else text = text.slice(0, at) + pick(next, DAMAGE) + text.slice(at + 1);
  }
  return text;
}

const TOKENS = [
  ...PATHS,
  ...LITERALS,
  ...PLAIN,
  ...TAKING,
  ...TEXTS,
  ...OPERATORS,
  ...DAMAGE,
  '(.a)',
  '[.b]',
  '{a}',
  '|',
  '|',
  ',',
];

/** Loose tokens. */
export function soup(next: Next): string {
  let text = '';
  for (let left = Math.floor(next() * 5) + 1; left > 0; left -= 1)
    text += pick(next, TOKENS) + pick(next, ['', '', ' ']);
  return text;
}
