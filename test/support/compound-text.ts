import { lex } from '../../src/classifier/lexer.ts';
import { count, hostilePart, mutate, pick, type Random, requoted } from './hostile-text.ts';

/** What compounds are made of: commands that are parallel by themselves, and those that are where a pipe feeds them. */
export type Samples = { readonly alone: readonly string[]; readonly piped: readonly string[] };

/** Redirections that a compound may hold, in every spelling. */
const HARMLESS = [
  '2>&1',
  '1>&2',
  '>&2',
  '2>/dev/null',
  '>/dev/null',
  '&>/dev/null',
  '</dev/null',
  '2> /dev/null',
  '>\t/dev/null',
  '&> /dev/null',
  '<  /dev/null',
  '2>& 1',
];

/** What looks like one of them, and is another; and what is none. */
const DOUBTFUL = [
  ...[
    '2>&1a',
    '2>&12',
    '2>&-',
    '2>&1-',
    '>&3',
    '3>&1',
    '1>&1',
    '2>&2',
    '02>&1',
    '2 >&1',
    '2>& 1',
    '2>1',
    '>&/dev/null',
  ],
  ...['2>/dev/nul', '2>/dev/null/', '2>/dev//null', '2>/dev/./null', '>/dev/null2', '>/dev/nullx', '> /dev/null x'],
  ...["2>'/dev/null'", '2>"/dev/null"', '2>/dev/nul\\l', "2>&'1'", '2>&"1"', '2>&\\1', '2>/dev/null*', '2>/dev/[n]ull'],
  ...[
    '>>/dev/null',
    '2>>/dev/null',
    '&>>/dev/null',
    '>|/dev/null',
    '<>/dev/null',
    '<&0',
    '<&-',
    '</dev/zero',
    '</dev/tty',
  ],
  ...['5>/dev/null', '12>/dev/null', '{a}>/dev/null', "'2'>/dev/null", '\\2>/dev/null', 'a2>/dev/null', '-2>/dev/null'],
  ...[
    '& >/dev/null',
    '&>/dev/null&',
    '>file',
    '2>file',
    '>>file',
    '</dev/null<file',
    '<<<a',
    '<<a',
    '<(a)',
    '>(a)',
    '<file',
  ],
  ...[
    '>&',
    '2>',
    '>',
    '<',
    '&>',
    '2>&',
    '0>/dev/null',
    '1>/dev/null',
    '0</dev/null',
    '1</dev/null',
    '2</dev/null',
    '3</dev/null',
    '>/dev/stdout',
  ],
  ...['>&2>/dev/null', '2>&1>/dev/null', '>/dev/null2>&1', '2>&1</dev/null', '&>/dev/null2>&1', '>/dev/null>&2'],
];

const LIST_OPERATORS = ['&&', '&&', '||', ';', ';'];
const BLANKS = ['', '', ' ', ' ', ' ', ' ', ' ', '  ', '\t', ' \t'];
/** Where bash can go in the oracle's directory, and where it cannot. */
const PLACES = [
  'src',
  './src',
  'src/deep',
  "'a b'",
  '"a b"',
  'a\\ b',
  'docs',
  '/',
  '/usr',
  '..',
  '../',
  './',
  '.',
  'link',
];
const ELSEWHERE = [
  'nowhere',
  'file',
  '-',
  '~',
  '~/src',
  '$HOME',
  '-d',
  '-- src',
  'src docs',
  '""',
  'src/..',
  'sr*',
  'é',
  "''",
];
const ENDS = [
  ';',
  ' ;',
  '; ',
  ' || true',
  '||true',
  ' || true;',
  ' && true',
  '; true',
  ' || :',
  ' || echo none',
  ' | cat',
  ' &',
  '&&',
  '|',
];

/** One spelling of a command: some words quoted otherwise, and perhaps a word more. */
function respelled(random: Random, command: string): readonly string[] {
  const lexed = lex(command);
  if (!lexed.ok) return [command];
  const before = lexed.assignments.map(({ name, value }) => `${name}=${value}`);
  const words = lexed.words.map((word, index) =>
    index > 0 && random() < 0.12 ? requoted(random, word.text) : word.raw,
  );
  if (random() < 0.04) words.push(hostilePart(random) + hostilePart(random));
  if (random() < 0.04) before.push(pick(random, ['LC_ALL=C', 'TZ=UTC', 'NO_COLOR=1', 'A=b']));
  return [...before, ...words];
}

/** One part of a compound, with redirections anywhere. */
function part(random: Random, command: string): string {
  const pieces = [...respelled(random, command)];
  for (let left = random() < 0.45 ? count(random, 1, 2) : 0; left > 0; left--) {
    const redirection = pick(random, random() < 0.93 ? HARMLESS : DOUBTFUL);
    // Most people put it last; before the name it may stand too.
    pieces.splice(random() < 0.5 ? pieces.length : count(random, 0, pieces.length), 0, redirection);
  }
  let text = pieces[0] ?? '';
  for (const piece of pieces.slice(1)) {
    const isTight = /^[<>&]|^[0-9]+[<>]/.test(piece) || /[<>][^'"]*$/.test(text);
    text += (isTight && random() < 0.2 ? '' : pick(random, [' ', ' ', ' ', '  ', '\t'])) + piece;
  }
  return text;
}

function pipeline(random: Random, { alone, piped }: Samples): string {
  let text = part(random, pick(random, alone));
  for (let left = pick(random, [0, 0, 0, 1, 1, 1, 2, 3]); left > 0; left--) {
    const next = part(random, pick(random, random() < 0.75 ? piped : alone));
    text += `${pick(random, BLANKS)}|${pick(random, BLANKS)}${next}`;
  }
  return text;
}

/**
 * The next text that looks like a compound, out of commands that are parallel one by one. Most of them are proved; some
 * are of what stands near to it and is not.
 */
export function compoundText(random: Random, samples: Samples): string {
  const pipelines = Array.from({ length: pick(random, [1, 1, 1, 2, 2, 2, 3, 4]) }, () => pipeline(random, samples));
  let text = pipelines[0] ?? '';
  for (const next of pipelines.slice(1)) {
    text += `${pick(random, BLANKS)}${pick(random, LIST_OPERATORS)}${pick(random, BLANKS)}${next}`;
  }
  if (random() < 0.2) {
    const place = pick(random, random() < 0.8 ? PLACES : ELSEWHERE);
    text = `cd ${place}${pick(random, [' && ', ' && ', ' && ', '&&', '; ', ' || ', ' 2>/dev/null && '])}${text}`;
  }
  if (random() < 0.2) text += pick(random, ENDS);
  if (random() < 0.05) text = pick(random, [' ', '\t', '! ', 'time ', '{ ', '( ', ': | ', '; ']) + text;
  return random() < 0.08 ? mutate(random, text, 0) : text;
}
