/** Seeded generators of sed programs: of the parser's grammar, of that grammar damaged, and of loose tokens. */

/** A small generator of numbers (mulberry32): the same seed gives the same programs on every machine. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

type Next = () => number;

function pick<T>(next: Next, of: readonly T[]): T {
  return of[Math.floor(next() * of.length)] as T;
}

const DELIMITERS = [...'/////|,#:@!%_+=~-.*?()$&<>;"\'`'];
const ATOMS = [
  'a',
  'b',
  '.',
  'x*',
  '^',
  '$',
  'é/',
  '你 ',
  '\\.',
  '\\n',
  '\\[',
  '\\]',
  '\\\\',
  ' ',
  '\t',
  ';',
  'w',
  'e',
];
const GROUPS = ['\\(a\\)', '(b)', 'a\\{2\\}', 'c{1,3}', '\\1', '{', '}', '#', '!', '\\x41', '\\b', 'w f', '\\t'];
const BRACKETS = [
  '[abc]',
  '[^,]',
  '[]x]',
  '[^]x]',
  '[[:alpha:]]',
  '[[:digit:]_.]',
  '[\\]',
  '[\\\\]',
  '[a[]',
  '[\\t w]',
];

function regex(next: Next, delimiter: string): string {
  let text = '';
  for (let left = Math.floor(next() * 5); left >= 0; left -= 1) {
    const kind = next();
    if (kind < 0.5) text += pick(next, ATOMS);
    else if (kind < 0.7) text += pick(next, GROUPS);
    else if (kind < 0.9) text += pick(next, BRACKETS);
    else text += pick(next, [`\\${delimiter}`, `[\\${delimiter}]`, `[a\\${delimiter}b]`]);
  }
  return text;
}

function replacement(next: Next, delimiter: string): string {
  let text = '';
  for (let left = Math.floor(next() * 4); left > 0; left -= 1) {
    text += pick(next, [
      'a',
      '&',
      '\\&',
      '\\1',
      '\\U&\\E',
      '\\t',
      ' ',
      ';w f',
      '[',
      ']',
      '[^',
      '{',
      '}',
      `\\${delimiter}`,
      'é ',
    ]);
  }
  return text;
}

function address(next: Next): string {
  const kind = next();
  if (kind < 0.3) return String(Math.floor(next() * 40) + 1);
  if (kind < 0.4) return '$';
  if (kind < 0.5) return `${Math.floor(next() * 3)}~${Math.floor(next() * 4)}`;
  const flags = pick(next, ['', '', '', 'I', 'M', 'IM']);
  if (kind < 0.85) return `/${regex(next, '/')}/${flags}`;
  const delimiter = pick(next, DELIMITERS);
  return `\\${delimiter}${regex(next, delimiter)}${delimiter}${flags}`;
}

function addresses(next: Next): string {
  const kind = next();
  const bang = next() < 0.15 ? pick(next, ['!', '! ', ' !']) : '';
  if (kind < 0.35) return bang;
  if (kind < 0.7) return address(next) + bang;
  const second = pick(next, [() => address(next), () => '+2', () => '~3'])();
  return `${address(next)}${pick(next, [',', ', ', ' ,'])}${second}${bang}`;
}

function item(next: Next, depth: number): string {
  const kind = next();
  if (depth < 3 && kind < 0.12) return `${addresses(next)}{${list(next, depth + 1)}${pick(next, ['', ';', ' '])}}`;
  if (kind < 0.6) return addresses(next) + pick(next, [...'ppddqQ=n']);
  const delimiter = pick(next, DELIMITERS);
  const flags = pick(next, ['', '', 'g', 'p', 'gp', '2', '3gI', 'm', 'Mi']);
  return `${addresses(next)}s${delimiter}${regex(next, delimiter)}${delimiter}${replacement(next, delimiter)}${delimiter}${flags}`;
}

function list(next: Next, depth: number): string {
  let text = item(next, depth);
  for (let left = Math.floor(next() * 3); left > 0; left -= 1)
    text += pick(next, [';', '; ', ' ; ', ';;']) + item(next, depth);
  return text;
}

/** What a careless or hostile hand would put in: commands that write, run, read, loop, and what moves a boundary. */
const DAMAGE = [
  ...'wWerRbtTDaicyvFlhHgGNPzx:#{}[]^!,;/\\|s0$ &p',
  'w f',
  ';w f',
  'e',
  'r f',
  '[^',
  '[]',
  '[[:',
  ':]',
  '[.',
  '.]',
  '\\]',
  '\\[',
  '\\\\',
  '\\c',
  '\\c\\',
  '\\/',
  '//',
  'a\\',
  '#n',
  'é',
  '你',
  '🚂',
  '\t',
  '\v',
  '\u00a0',
];

/** A program of the grammar. */
export function wellFormed(next: Next): string {
  return list(next, 0);
}

/** A program of the grammar with one to three characters put in, taken out, exchanged or written over. */
export function damaged(next: Next): string {
  let text = wellFormed(next);
  for (let left = Math.floor(next() * 3); left >= 0; left -= 1) {
    const at = Math.floor(next() * (text.length + 1));
    const kind = next();
    if (kind < 0.45) text = text.slice(0, at) + pick(next, DAMAGE) + text.slice(at);
    else if (kind < 0.7) text = text.slice(0, at) + text.slice(at + 1);
    else if (kind < 0.9) text = text.slice(0, at) + pick(next, DAMAGE) + text.slice(at + 1);
    else
      text =
        text.slice(0, at) +
        text
          .slice(at, at + 2)
          .split('')
          .reverse()
          .join('') +
        text.slice(at + 2);
  }
  return text;
}

const TOKENS = [
  ...DAMAGE,
  'p',
  'p',
  ';',
  's/',
  '/',
  '/',
  's|',
  '|',
  '1',
  '2,',
  '/a/',
  '{p}',
  's/a/b/',
  's/[',
  ']/',
  '[\\',
  '\\|',
  '[|]',
  '[/]',
  '[\\/]',
  'n',
  'd',
  'q',
];

function tokens(next: Next, most: number): string {
  let text = '';
  for (let left = Math.floor(next() * most) + 1; left > 0; left -= 1) text += pick(next, TOKENS);
  return text;
}

/** Loose tokens, bare or where a regex, a replacement or the flags belong. */
export function soup(next: Next): string {
  const kind = next();
  if (kind < 0.25) return tokens(next, 8);
  if (kind < 0.5) return `/${tokens(next, 4)}/${pick(next, ['p', 'd', 'I', ''])}${tokens(next, 2)}`;
  const delimiter = pick(next, ['/', '/', '|', ',', ':', '!']);
  return `s${delimiter}${tokens(next, 4)}${delimiter}${tokens(next, 2)}${delimiter}${pick(next, ['', 'g', tokens(next, 1)])}`;
}
