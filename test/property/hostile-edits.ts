import { readFileSync } from 'node:fs';
import type { RuleFile, RuleNode } from '../../src/rules/schema.ts';
import { count, pick, type Random } from '../support/hostile-text.ts';

/** The edits that somebody might make to a harmless command so that it does harm. Texts in, texts out; nothing runs. */

/** A command as it was typed, cut at blanks outside quotes. */
export type Raw = readonly string[];

/** Cuts at blanks outside quotes; good for commands that the rules prove, which hold nothing else. */
export function rawWords(command: string): Raw {
  return command.match(/(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\])+/gs) ?? [];
}

type Options = { readonly [tool: string]: readonly string[] };

const read = (name: string): Options => JSON.parse(readFileSync(new URL(`../corpus/${name}`, import.meta.url), 'utf8'));

/** By tool: the options in its own help; and by the path of a rule, those that the facts know to be unsafe. */
export const REAL_OPTIONS = read('real-options.json');
export const DANGEROUS_OPTIONS = read('dangerous-options.json');

/** What some tool somewhere takes for an order to write, to run something, or to go on without end. */
const ANYWHERE = [
  '-o',
  '-i',
  '-f',
  '-w',
  '-x',
  '-c',
  '-d',
  '-e',
  '-s',
  '-O',
  '--output',
  '--exec',
  '--delete',
  '-exec',
];
const ANY_OPTIONS = [
  ...ANYWHERE,
  '-delete',
  '-out',
  '-fprint',
  '--in-place',
  '--follow',
  '--watch',
  '--config',
  '--',
  '-',
];

/** Everything that may be appended to a command of a file: what the tool knows, what the file lists or refuses anywhere. */
export function optionsAbout(file: RuleFile): readonly string[] {
  const names = [file.binary, ...(file.also ?? [])];
  const about = ([path]: [string, unknown]) => names.includes(path.split(' ')[0]!);
  const facts = [...Object.entries(DANGEROUS_OPTIONS), ...Object.entries(REAL_OPTIONS)].filter(about);
  const keys = [...Object.values(file.groups ?? {}).flatMap(Object.keys), ...keysOf(file.command)];
  const listed = keys.flatMap((key) => key.split(/[;,] /)).filter((option) => !option.includes('NUMBER'));
  return [...new Set([...facts.flatMap(([, options]) => options), ...listed, ...ANY_OPTIONS])];
}

function keysOf(node: RuleNode): readonly string[] {
  const below = Object.entries(node.subcommands ?? {}).flatMap(([names, one]) => [
    ...names.split(', '),
    ...keysOf(one),
  ]);
  return [...Object.keys(node.options ?? {}), ...Object.keys(node.refuses ?? {}), ...below];
}

const DEVICES = [
  ...['/dev/sda', '/dev/tty', '/dev/zero', '//dev/./zero', '/./dev//random', '/tmp/../dev/stdin', '/dev', '/dev/'],
  ...[
    '/proc/self/fd/0',
    '/proc/kmsg',
    '/proc',
    '/sys/kernel/debug/x',
    '/sys',
    "/d'e'v/tty",
    '/de\\v/tty',
    '"/dev"/tty',
  ],
  ...[
    '../../../../../dev/tty',
    '../../../dev/sda',
    '-',
    "'-'",
    '/dev/sd*',
    '/*/sda',
    '/[d]ev/sda',
    '/',
    '//',
    '../../..',
  ],
];
const OPERANDS = [
  ...['out', './out', 'a b', "''", '""', 'x=y', '@file', '+x', '+!touch', '*', '-*', '?', '[a]', 'src/*', "'*'", '.'],
  ...['..', 'host:file', '~', '~/x', '{}', "';'", '\\;', '!', 'HEAD', 'set', 'add', 'delete', 'eval', '10', 'inf', '0'],
  ...['12312359', "'$(touch x)'", "'a[$(touch x)]'", 'https://example.org/x', 'git://x/y', '../x', "'%G?'", "'1w out'"],
];
const INVISIBLE = [
  '\u00a0',
  '\u200b',
  '\u200d',
  '\u202e',
  '\u2028',
  '\ufeff',
  '\u000b',
  '\u000c',
  '\r',
  '\0',
  '\u00ad',
  '\u2060',
];
const OPERATORS = [
  ...[
    '; rm x',
    ' ; rm x',
    '&& rm x',
    ' & ',
    ' | tee x',
    '|sh',
    '\nrm x',
    '\r\nrm x',
    ' > x',
    '>x',
    ' >> x',
    ' <x',
    ' 2>x',
  ],
  ...[
    '$(rm x)',
    '`rm x`',
    ' $(rm x)',
    ' $' + '{x:=y}',
    ' "$(rm x)"',
    ' <(rm x)',
    ' >(rm x)',
    ' # x',
    '\\\n',
    '\n',
    ' {a,b}',
  ],
  ...[' <<x', ' <<< x', ' $x', " $'\\x3b'", ' !!', '\\', "'", '"', '(', ')', ' &>x', '()', ' || rm x'],
];
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/** One way to change a command; the same text where it finds nothing to change. */
type Edit = (random: Random, words: Raw, options: readonly string[]) => Raw;

const isOption = (word: string): boolean => /^['"\\]?-./.test(word);
const at = (random: Random, words: Raw): number => count(random, 1, words.length);
const without = (words: Raw, index: number): Raw => words.filter((_, other) => other !== index);
const put = (words: Raw, index: number, ...more: readonly string[]): Raw => [
  ...words.slice(0, index),
  ...more,
  ...words.slice(index),
];

function change(random: Random, words: Raw, fits: (word: string) => boolean, how: (word: string) => Raw | string): Raw {
  const places = words.flatMap((word, index) => (index > 0 && fits(word) ? [index] : []));
  if (places.length === 0) return words;
  const index = pick(random, places);
  return put(without(words, index), index, ...[how(words[index]!)].flat());
}

function withValue(random: Random, option: string): Raw {
  const value = pick(random, [...OPERANDS, ...DEVICES]);
  switch (count(random, 0, 4)) {
    case 0:
      return [`${option}=${value}`];
    case 1:
      return [`${option}${value}`];
    case 2:
      return [option, value];
    default:
      return [option];
  }
}

const cut = (random: Random, word: string): number => count(random, 0, word.length);
const within = (random: Random, word: string, piece: string): string => {
  const place = cut(random, word);
  return word.slice(0, place) + piece + word.slice(place);
};

function requote(random: Random, word: string): string {
  const place = cut(random, word);
  const end = count(random, place, word.length);
  const [before, middle, after] = [word.slice(0, place), word.slice(place, end), word.slice(end)];
  return pick(random, [
    `'${word}'`,
    `"${word}"`,
    `${before}"${middle}"${after}`,
    `${before}'${middle}'${after}`,
    `${before}\\${middle}${after}`,
    `${before}""${middle}${after}`,
    `$'${word}'`,
  ]);
}

/** By name, so that a finding says how it came about. */
export const EDITS: Readonly<Record<string, Edit>> = {
  'append an option': (random, words, options) => [...words, ...withValue(random, pick(random, options))],
  'insert an option': (random, words, options) =>
    put(words, at(random, words), ...withValue(random, pick(random, options))),
  'swap an operand for a device': (random, words) =>
    change(
      random,
      words,
      (word) => !isOption(word),
      () => pick(random, DEVICES),
    ),
  'swap a word for an operand': (random, words) =>
    change(
      random,
      words,
      () => true,
      () => pick(random, OPERANDS),
    ),
  'swap a word for an option': (random, words, options) =>
    change(
      random,
      words,
      () => true,
      () => withValue(random, pick(random, options)),
    ),
  'another operand': (random, words) => put(words, at(random, words), pick(random, [...OPERANDS, ...DEVICES])),
  'an empty operand': (random, words) => put(words, at(random, words), pick(random, ["''", '""'])),
  'quote or split a word': (random, words) =>
    change(
      random,
      words,
      () => true,
      (word) => requote(random, word),
    ),
  'quote or split an option': (random, words) => change(random, words, isOption, (word) => requote(random, word)),
  'add a letter to a cluster': (random, words) =>
    change(
      random,
      words,
      (word) => /^-[A-Za-z0-9]/.test(word),
      (word) => `-${within(random, word.slice(1), pick(random, [...LETTERS]))}`,
    ),
  'part an option and its value': (random, words) =>
    change(
      random,
      words,
      (word) => word.startsWith('-') && word.includes('='),
      (word) => word.split('=', 2),
    ),
  'join an option and its value': (random, words) => {
    const places = words.flatMap((word, index) =>
      index > 0 && isOption(word) && index + 1 < words.length ? [index] : [],
    );
    if (places.length === 0) return words;
    const index = pick(random, places);
    const glue = pick(random, ['=', '']);
    return put(without(without(words, index + 1), index), index, `${words[index]}${glue}${words[index + 1]}`);
  },
  'insert an invisible character': (random, words) =>
    change(
      random,
      words,
      () => true,
      (word) => within(random, word, pick(random, INVISIBLE)),
    ),
  'abbreviate a long option': (random, words) =>
    change(
      random,
      words,
      (word) => /^--?[a-z][a-z-]+/.test(word),
      (word) => {
        const [name = '', ...value] = word.split('=');
        const short = name.slice(0, count(random, 2, name.length));
        return [short, ...value].join('=');
      },
    ),
  'append an operator': (random, words) => [...words.slice(0, -1), `${words.at(-1)}${pick(random, OPERATORS)}`],
  'insert an operator': (random, words) => put(words, at(random, words), pick(random, OPERATORS)),
  'say a word twice': (random, words) =>
    change(
      random,
      words,
      () => true,
      (word) => [word, word],
    ),
  'say two words twice': (random, words) => {
    const index = at(random, words);
    return put(words, index, ...words.slice(index, index + 2));
  },
  'move a word to the end, behind two dashes or not': (random, words) => {
    if (words.length < 2) return words;
    const index = count(random, 1, words.length - 1);
    return [...without(words, index), ...pick(random, [['--'], []]), words[index]!];
  },
  'move a word to the front': (random, words) => {
    if (words.length < 2) return words;
    const index = count(random, 1, words.length - 1);
    return put(without(words, index), 1, words[index]!);
  },
  'insert two dashes': (random, words) => put(words, at(random, words), '--'),
  'leave a word out': (random, words) =>
    words.length < 2 ? words : without(words, count(random, 1, words.length - 1)),
  'change a character': (random, words) =>
    change(
      random,
      words,
      () => true,
      (word) => {
        const place = Math.min(cut(random, word), word.length - 1);
        return word.slice(0, place) + pick(random, [...LETTERS, ...'-=./:+@%^,_']) + word.slice(place + 1);
      },
    ),
  'an assignment before it': (random, words) => [
    pick(random, [
      'LD_PRELOAD=x',
      'PAGER=x',
      'LC_ALL=x',
      'GIT_DIR=x',
      'PATH=.',
      'LC_ALL=C',
      'x=$(y)',
      'IFS=x',
      'A[0]=b',
    ]),
    ...words,
  ],
  'another program before it': (random, words) => [
    pick(random, ['env', 'command', 'xargs', 'time', 'sudo', 'exec', 'nice', './', '\\', 'builtin', 'watch', '!', '-']),
    ...words,
  ],
};

const NAMES = Object.keys(EDITS);

/** One to three edits of a command, and their names. */
export function edited(
  random: Random,
  command: string,
  options: readonly string[],
): { readonly text: string; readonly edits: readonly string[] } {
  let words = rawWords(command);
  const edits: string[] = [];
  for (let left = pick(random, [1, 1, 1, 2, 2, 3]); left > 0; left--) {
    const name = pick(random, NAMES);
    words = EDITS[name]!(random, words, options);
    edits.push(name);
  }
  return { text: words.join(' '), edits };
}
