import { classify } from '../../src/classifier/classify.ts';
import type { NodeRule, OptionRule, ShapeRule } from '../../src/classifier/compiled.ts';
import type { Kind } from '../../src/classifier/kinds.ts';
import { type RuleSet, rulesOf } from '../../src/classifier/rule-set.ts';
import { A_NUMBER } from '../../src/rules/candidates.ts';
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
  'local-path': ['README.md', 'archive.tar'],
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
  const made: Candidate[] = [];
  for (const entry of entries) {
    if (covered.has(entry.key)) continue;
    const node = nodeOf(rules.binaries.get(entry.binary)?.root, entry.path);
    if (node === undefined) continue;
    const bases = [...basesOf(entry.path), ...node.shapes.flatMap((shape) => [...plainCommands(node, shape)])];
    const command = firstThat(candidatesFor(entry, node, bases), (one) => entriesOf(one).includes(entry.key));
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

function* candidatesFor(entry: Entry, node: NodeRule, bases: readonly string[]): Generator<string> {
  const { path, text, kind } = entry;
  if (kind === 'alone') return yield `${path} ${text}`;
  if (kind === 'shape') return yield* bases;
  const option = node.options.get(text);
  const words = text === A_NUMBER || option === undefined ? [text] : [...spelled(text, option.value, option.optional)];
  for (const word of words) {
    for (const base of bases) {
      const rest = base.slice(path.length);
      yield `${path} ${word}${rest}`;
      yield `${base} ${word}`;
    }
    yield `${path} ${word}`;
  }
  if (option !== undefined && node.expression !== null) yield* inPlaceOf(text, option, node, bases);
}

/** What a shape asks for and no more, and with one operand more. */
function* plainCommands(node: NodeRule, shape: ShapeRule): Generator<string> {
  const asked = shape.with.map(([id]) => {
    const [spelling = '', option] = [...node.options].find(([, { id: other }]) => other === id) ?? [];
    return firstThat(spelled(spelling, option?.value ?? null, option?.optional ?? false), () => true) ?? '';
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

/** A connective has terms around it: one stands where another of its role does. */
function* inPlaceOf(text: string, { role }: OptionRule, node: NodeRule, bases: readonly string[]): Generator<string> {
  if (role === 'term' || role === 'leading') return;
  for (const words of bases.map((base) => base.split(' '))) {
    const at = words.findIndex((word) => node.options.get(word)?.role === role);
    if (at > 0) yield words.with(at, text).join(' ');
  }
}

function* spelled(spelling: string, value: Kind | null, optional: boolean): Generator<string> {
  if (value === null || optional) yield spelling;
  if (value === null) return;
  const own = IN_FIXTURE[value.name] ?? [];
  for (const sample of new Set([...own, ...samplesOf(value)])) {
    for (const joint of [' ', '=', '']) yield `${spelling}${joint}${worded(sample)}`;
  }
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
