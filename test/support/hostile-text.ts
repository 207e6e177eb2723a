/**
 * Hostile and near-honest command texts, out of a seed. They are made to be read, by the lexer and by other parsers;
 * only what the lexer accepts is shown to a bash without rights and without programs.
 */

/** A source of numbers from 0 (included) to 1 (excluded). */
export type Random = () => number;

/** Mulberry32: small, and the same on every machine. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** The seed of this run: SIGNALBOX_TEST_SEED, or the time. Print it, so that a failure can be repeated. */
export function seedOfRun(): number {
  const given = Number(process.env.SIGNALBOX_TEST_SEED);
  return Number.isInteger(given) && given > 0 ? given : Date.now() % 1_000_000_007;
}

export function pick<T>(random: Random, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)] as T;
}

/** From `least` to `most`, both included. */
export function count(random: Random, least: number, most: number): number {
  return least + Math.floor(random() * (most - least + 1));
}

function atoms(text: string, gap = ' '): readonly string[] {
  return text.split(gap);
}

type Weighted = readonly (readonly [weight: number, atoms: readonly string[]])[];

function weighted(random: Random, table: Weighted): string {
  let left = random() * table.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, atoms] of table) {
    left -= weight;
    if (left < 0) return pick(random, atoms);
  }
  return 'a';
}

const PLAIN = atoms('a b c x 1 0 n t A - -- . .. / , : _ + % @ ] ^');
const VISIBLE = atoms('é ü ß Ж 日本 한 😀 ﬁ e\u0301 א م ； 〜 … “ ’ ＄ ｜ 𝒜 ¬');
const UNSEEN = [...'\u00a0\u2028\u0085\u3000\u200b\u202e\ufeff\u00ad\ufe0f\u{e0041}\ud800'];
const CONTROLS = [...'\n\r\0\v\f\u0001\u0007\u001b\u007f'];
/** Literal in some places and acted on in others. */
const DOUBTFUL = atoms('# ~ = ! ^ :~ =~ ~/ ~+ !! !a a= b+= a: [ ] * ? [a] [!a] **');
const BRACES = atoms('@{0} @{u} ^{} ^{tree} @{-1} @{ { } {} {a,b} {1..3} @{a,b} @{1..2} {,} ,b} @{1},');
const OPERATORS = atoms('; & | < > ( ) && || |& >& 2> 2>&1 << <<< <( >( ;; >| $( (( @(a) !(a)');
// biome-ignore lint/suspicious/noTemplateCurlyInString: it is bash's placeholder that is meant
const EXPANSIONS = atoms('$ ` $a ${a} $(a) $((1)) $\'a\' $"a" `a` $@ $? $$');
const ESCAPES = [...' \t\\\'"$`an;()!*?[{}~#=&|<>é😀-:'].map((character) => `\\${character}`);
const PROPERTIES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'];

/** Anything at all. */
const WILD: Weighted = [
  [10, PLAIN],
  [9, [' ']],
  [2, ['\t']],
  [1, UNSEEN],
  [1, CONTROLS],
  [5, ["'", '"', '\\']],
  [4, DOUBTFUL],
  [2, BRACES],
  [1.5, OPERATORS],
  [1, EXPANSIONS],
  [3, ESCAPES],
  [3, ["''", '""', "'a'", '"a"', "'\\''", '"\\""', '"$"', "'$'"]],
  [2, VISIBLE],
  [0.5, PROPERTIES],
];

/** Outside quotes, mostly what stays a word. */
const BARE: Weighted = [
  [10, PLAIN],
  [4, DOUBTFUL],
  [1.5, BRACES],
  [2, VISIBLE],
  [0.2, OPERATORS],
  [0.2, EXPANSIONS],
  [0.1, UNSEEN],
  [0.5, PROPERTIES],
];

/** Between quotes, where almost everything is data. */
const DATA: Weighted = [
  [5, PLAIN],
  [3, [' ', '  ', '\t']],
  [4, DOUBTFUL],
  [3, BRACES],
  [5, OPERATORS],
  [2, EXPANSIONS],
  [3, ESCAPES],
  [3, ["'", '"', '\\']],
  [2, VISIBLE],
  [0.1, UNSEEN],
  [0.1, CONTROLS],
];

function many(random: Random, table: Weighted, least: number, most: number): string {
  return Array.from({ length: count(random, least, most) }, () => weighted(random, table)).join('');
}

/** One part of a word, in one form of quoting. */
export function hostilePart(random: Random): string {
  const form = random();
  if (form < 0.25) return many(random, BARE, 1, 4);
  if (form < 0.48) return `'${many(random, DATA, 0, 5).replaceAll("'", '')}'`;
  if (form < 0.6) return `"${many(random, DATA, 0, 5).replace(/["$`]/g, '')}"`;
  if (form < 0.72) return `"${many(random, DATA, 0, 5).replace(/["$`\\]/g, '\\$&')}"`;
  if (form < 0.9) return pick(random, ESCAPES);
  if (form < 0.95) return pick(random, ["''", '""', "''''", '""\'\'']);
  return pick(random, VISIBLE);
}

const GAPS = [' ', ' ', ' ', ' ', '  ', '\t', ' \t '];
/** Spellings of the printer's name, and names that this bash does not know. */
const NAMES = atoms(
  `'args'|"args"|ar\\gs|''args|args""|a'rg's|\\args|A=1 args|NO_COLOR= A=b:c args|_b=a/b.c,d args| \targs`,
  '|',
);
const STRANGERS = atoms(`x1|é|%1|a-b|'a b'|\\!|''|-x|,|\\~|"#"|'if'`, '|');
const REALISTIC = [
  "args -n 'foo.*bar' src/",
  'args -la /a/b',
  'args "a b" c\\ d',
  "args --a=b --c='d e'",
  'args -c "a\\"b"',
  'args a:1,2p x',
  'args HEAD~1..HEAD^ -- a/b',
  "args 'it'\\''s' a",
  'args stash@{0} HEAD^{tree} @{u}',
  'args -e \'\\.ts$\' "x"',
  'args -t"\\n" \'\\n\'',
  'args -f1 -d: /a',
  'args a=b c=d',
  'args -- -a',
  'args "a|b" \'c&&d\'',
  "args -p '#a' b#c",
  'args 100% a+b',
  'args . ! -name \\*.ts \\( -size +1 \\)',
  'args --format="%h %s" -5',
  'args naïve "日本 語" größe\\ 1',
];
const PREFIXES = atoms('time |! |a[0]=1 |a+=1 |{ |( |if |[[ |\n|\r|\u00a0|\\\n|#\n|"" |>a |2>&1 |a() |~|*', '|');
const SUFFIXES = atoms(`;%&%\n% # a%#% }%)%; fi%\\%\\\n% |% &&%\r\n%\u00a0%'%"% ~%\0`, '%');

function parts(random: Random): string {
  const words = Array.from({ length: count(random, 1, 4) }, () => {
    const length = count(random, 1, 4);
    return Array.from({ length }, () => hostilePart(random)).join('');
  });
  return words.map((word) => pick(random, GAPS) + word).join('');
}

/** Another spelling of a word with this text: cut into pieces, each in one of the forms of quoting. */
export function requoted(random: Random, text: string): string {
  const characters = [...text];
  let spelling = pick(random, ['', '', '', "''", '""']);
  for (let at = 0; at < characters.length; ) {
    const length = count(random, 1, Math.max(1, Math.min(8, characters.length - at)));
    const piece = characters.slice(at, at + length).join('');
    at += length;
    const form = random();
    if (form < 0.35) spelling += `'${piece.replaceAll("'", "'\\''")}'`;
    else if (form < 0.7) spelling += `"${piece.replace(/["$`\\]/g, '\\$&')}"`;
    else if (form < 0.85) spelling += [...piece].map((character) => `\\${character}`).join('');
    else spelling += piece;
  }
  return spelling;
}

/** Puts in, takes out or changes one character or two. Never splits a pair of surrogates. */
export function mutate(random: Random, text: string, from: number): string {
  const characters = [...text];
  for (let edits = count(random, 1, 2); edits > 0; edits--) {
    const at = count(random, Math.min(from, characters.length), characters.length);
    const edit = random();
    if (edit < 0.6) characters.splice(at, 0, weighted(random, WILD));
    else if (edit < 0.8) characters.splice(at, 1);
    else characters.splice(at, 1, weighted(random, WILD));
  }
  return characters.join('');
}

/** The next text; about every second is one that a strict reader accepts. */
export function hostileText(random: Random): string {
  const strategy = random();
  if (strategy < 0.15) return `args ${many(random, WILD, 1, 9)}`;
  if (strategy < 0.65) return `args${parts(random)}`;
  if (strategy < 0.85) return mutate(random, pick(random, REALISTIC), 4);
  if (strategy < 0.9) return pick(random, NAMES) + parts(random);
  if (strategy < 0.92) return pick(random, STRANGERS) + parts(random);
  if (strategy < 0.96) return `${pick(random, PREFIXES)}args ${many(random, BARE, 0, 3)}`;
  return `args ${many(random, BARE, 1, 3)}${pick(random, SUFFIXES)}`;
}

/** The forms of quoting that a word is written in, told from its spelling alone. */
export const FORMS = ['single', 'double', 'backslash', 'mixed', 'empty', 'joined', 'non-ascii'] as const;
export type Form = (typeof FORMS)[number];

/** `raw` must be one complete word; the forms are found without the lexer. */
export function formsOf(raw: string): Set<Form> {
  const forms = new Set<Form>();
  const kinds: string[] = [];
  for (const [piece] of raw.matchAll(/'[^']*'|"(?:\\[\s\S]|[^"\\])*"|\\[\s\S]|[^'"\\]+/gu)) {
    const kind = piece.startsWith("'")
      ? 'single'
      : piece.startsWith('"')
        ? 'double'
        : piece.startsWith('\\')
          ? 'backslash'
          : 'plain';
    kinds.push(kind);
    if (kind !== 'plain') forms.add(kind as Form);
    if (piece === "''" || piece === '""') forms.add('empty');
  }
  const quoting = new Set(kinds.filter((kind) => kind !== 'plain'));
  if (quoting.size > 1) forms.add('mixed');
  if (quoting.size > 0 && kinds.includes('plain')) forms.add('joined');
  if (/[^\0-\x7f]/u.test(raw)) forms.add('non-ascii');
  return forms;
}
