import { classify } from '../../src/classifier/classify.ts';
import type { NodeRule, OptionRule, ShapeRule } from '../../src/classifier/compiled.ts';
import type { Kind } from '../../src/classifier/kinds.ts';
import { type RuleSet, rulesOf } from '../../src/classifier/rule-set.ts';
import { samplesOf, worded } from '../../src/rules/samples.ts';
import type { Candidate } from './commands.ts';
import type { Entry, Observer } from './coverage.ts';

/**
 * Commands for the entries of the rules that no example rests on: an example of the same node, with the one option put
 * into it. Made anew for every proof, so that an option that is added to a rule file is run without anybody thinking of it.
 */

/** What is in the fixture, for kinds whose own samples are only words. */
const IN_FIXTURE: Readonly<Record<string, readonly string[]>> = {
  path: ['README.md', 'src', 'archive.tar'],
  'unsigned-path': ['README.md', 'src'],
  'local-path': ['archive.tar', 'README.md'],
  tree: ['src'],
  directory: ['.', 'src'],
  revision: ['HEAD', 'HEAD~1'],
  'dotted-name': ['core.bare'],
  package: ['react'],
  number: ['3', '10', '1'],
  size: ['+1k', '+3'],
  word: ['foo', 'x'],
  text: ['foo', 'x'],
  pattern: ['foo', 'x'],
};

/** An example that is longer is about something else. */
const MOST_BASES = 12;
const PER_NAMESAKE = 6;

/**
 * One command for each entry, as far as one is found.
 *
 * @param commands those that are run anyway, the best first.
 */
export function optionCommands(
  ruleSet: RuleSet,
  { entries, entriesOf }: Observer,
  commands: readonly string[],
): readonly Candidate[] {
  const rules = rulesOf(ruleSet);
  const covered = new Set<string>();
  const basesOf = basesByPath(ruleSet, commands);
  const valuesOf = valuesIn(commands);
  const made: Candidate[] = [];
  for (const entry of entries) {
    if (covered.has(entry.key)) continue;
    const node = nodeOf(rules.binaries.get(entry.binary)?.root, entry.path);
    if (node === undefined) continue;
    const bases = [...basesOf(entry.path), ...node.shapes.flatMap((shape) => [...plainCommands(node, shape)])];
    const values = namesOf(node, entry.text).flatMap((name) => valuesOf(entry, name));
    const command = firstThat(candidatesFor(entry, node, bases, values), (one) => entriesOf(one).includes(entry.key));
    if (command === null) continue;
    for (const key of entriesOf(command)) covered.add(key);
    made.push({ command, source: 'option', binary: binaryOf(command, ruleSet) });
  }
  return made;
}

/** The name of the rule file, which may be another than that of the command. */
function binaryOf(command: string, rules: RuleSet): string {
  const verdict = classify(command, { rules });
  return (verdict.kind === 'parallel' ? verdict.rule[0]?.binary : undefined) ?? '';
}

function nodeOf(root: NodeRule | undefined, path: string): NodeRule | undefined {
  return path
    .split(' ')
    .slice(1)
    .reduce((node, word) => node?.subcommands.get(word), root);
}

function* candidatesFor(
  entry: Entry,
  node: NodeRule,
  bases: readonly string[],
  values: readonly string[],
): Generator<string> {
  const { path, text, kind } = entry;
  if (kind === 'alone') return yield `${path} ${text}`;
  if (kind === 'shape') return yield* bases;
  const option = node.options.get(text);
  if (option !== undefined && node.expression !== null) yield* inPlaceOf(text, option, node, bases);
  const words = option === undefined ? [text] : [...spelled(text, option.value, option.optional, values)];
  for (const word of words) {
    for (const base of bases) {
      const rest = base.slice(path.length);
      yield `${path} ${word}${rest}`;
      yield `${base} ${word}`;
    }
    yield `${path} ${word}`;
  }
}

/** What a shape asks for and no more, and with one operand more. */
function* plainCommands(node: NodeRule, shape: ShapeRule): Generator<string> {
  const asked = shape.with.map(([id]) => {
    const [spelling = '', option] = [...node.options].find(([, { id: other }]) => other === id) ?? [];
    return firstThat(spelled(spelling, option?.value ?? null, option?.optional ?? false, []), () => true) ?? '';
  });
  for (const extra of [0, 1]) {
    const lists = shape.parts.map(({ items }) =>
      items.flatMap(({ kind, least, most }) => {
        const [sample = 'x'] = [...(IN_FIXTURE[kind.name] ?? []), ...samplesOf(kind)];
        return Array<string>(Math.min(most, least + extra)).fill(worded(sample));
      }),
    );
    yield [node.path, ...asked, ...lists.flatMap((list, index) => (index === 0 ? list : ['--', ...list]))].join(' ');
  }
}

/** In an expression one word stands where another of its role does, with the same kind of value. */
function* inPlaceOf(
  text: string,
  { role, value }: OptionRule,
  node: NodeRule,
  bases: readonly string[],
): Generator<string> {
  const isLike = (word: string): boolean => {
    const other = node.options.get(word);
    return other?.role === role && other.value?.name === value?.name;
  };
  for (const words of bases.map((base) => base.split(' '))) {
    const at = words.findIndex((word, index) => index > 0 && isLike(word));
    if (at > 0) yield words.with(at, text).join(' ');
  }
}

/** @param values with which the option stands elsewhere, as typed. */
function* spelled(
  spelling: string,
  value: Kind | null,
  optional: boolean,
  values: readonly string[],
): Generator<string> {
  if (value === null || optional) yield spelling;
  if (value === null) return;
  const own = [...(IN_FIXTURE[value.name] ?? []), ...samplesOf(value)].map(worded);
  for (const sample of new Set([...values, ...own])) {
    for (const joint of [' ', '=', '']) yield `${spelling}${joint}${sample}`;
  }
}

/** The spellings of the option that is spelled so. */
function namesOf(node: NodeRule, spelling: string): readonly string[] {
  const id = node.options.get(spelling)?.id;
  return id === undefined ? [] : [...node.options].filter(([, option]) => option.id === id).map(([name]) => name);
}

/**
 * What stands behind an option in some command: of the same node, else of the binary, since `--diff-filter=AM` of
 * `git log` is fit for `git show` too.
 */
function valuesIn(commands: readonly string[]): (entry: Entry, spelling: string) => readonly string[] {
  const found = new Map<string, { readonly command: string; readonly value: string }[]>();
  for (const command of commands) {
    const [binary = '', ...words] = command.split(' ');
    for (const [spelling, value] of words.flatMap((word, index) => valuesOfWord(word, words[index + 1] ?? ''))) {
      const key = `${binary} ${spelling}`;
      if (value !== '' && !/['"\\]/.test(value)) found.set(key, [...(found.get(key) ?? []), { command, value }]);
    }
  }
  return ({ binary, path }, spelling) => {
    const all = found.get(`${binary} ${spelling}`) ?? [];
    const isOwn = ({ command }: { readonly command: string }): boolean => command.startsWith(`${path} `);
    return [...all.filter(isOwn), ...all.filter((one) => !isOwn(one))].map(({ value }) => value);
  };
}

/** As an option with its value may be written: `--name=value`, `--name value`, `-nvalue`. */
function valuesOfWord(word: string, next: string): readonly (readonly [spelling: string, value: string])[] {
  if (!word.startsWith('-')) return [];
  const equals = word.indexOf('=');
  if (equals > 0) return [[word.slice(0, equals), word.slice(equals + 1)]];
  const isJoined = word.length > 2 && !word.startsWith('--');
  return isJoined
    ? [
        [word, next],
        [word.slice(0, 2), word.slice(2)],
      ]
    : [[word, next]];
}

/** The commands of a node, and of one of another name with the words of this one in their place. */
function basesByPath(ruleSet: RuleSet, commands: readonly string[]): (path: string) => readonly string[] {
  const byPath = new Map<string, string[]>();
  for (const command of commands) {
    const verdict = classify(command, { rules: ruleSet });
    const path = verdict.kind === 'parallel' ? (verdict.rule[0]?.path ?? '') : '';
    if (command !== path && !command.startsWith(`${path} `)) continue;
    byPath.set(path, [...(byPath.get(path) ?? []), command]);
  }
  return (path) => {
    const own = byPath.get(path) ?? [];
    const words = path.split(' ');
    const others = [...byPath]
      .filter(([other]) => isNamesake(other.split(' '), words))
      .flatMap(([other, list]) =>
        list.slice(0, PER_NAMESAKE).map((command) => `${path}${command.slice(other.length)}`),
      );
    const below = [...byPath].filter(([other]) => other.startsWith(`${path} `)).map(([, [first = '']]) => first);
    return [...own.slice(0, MOST_BASES), ...others, ...below.slice(0, MOST_BASES)];
  };
}

/** The same but for one name: `git stash ls` for `git stash list`, `egrep` for `grep`. */
function isNamesake(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.filter((word, index) => word !== other[index]).length === 1;
}

function firstThat<Item>(items: Iterable<Item>, fits: (item: Item) => boolean): Item | null {
  for (const item of items) if (fits(item)) return item;
  return null;
}
