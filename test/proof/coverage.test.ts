import { describe, expect, test } from 'vitest';
import { loadRules } from '../../src/rules/load.ts';
import { fileWith, nodeWith, option, ruleSetWith } from '../rules/fixture.ts';
import { observe } from './coverage.ts';
import { optionCommands } from './option-commands.ts';
import { readProof, withEveryOption } from './suite.ts';

/** Which entries of the rules the proof runs, and that none is forgotten. */

const made = ruleSetWith(
  fileWith({
    alone: { '--version': option() },
    command: {
      subcommands: {
        'list, ls': nodeWith({
          options: { '-a, --all; -b': option(), '-n': option({ takes: 'number' }), '-NUMBER': option() },
          shapes: [
            { why: 'made up for tests', with: ['-a'], operands: ['path+'] },
            { why: 'made up for tests', without: ['-a'], operands: [] },
          ],
        }),
      },
    },
  }),
);
const { entries, entriesOf } = observe(made);

describe('the entries of a command', () => {
  test.each([
    ['tool list -a README.md', ['tool list option -a', 'tool list -a', 'tool list shape 0']],
    ['tool list --all README.md', ['tool list option -a', 'tool list --all', 'tool list shape 0']],
    ['tool ls -b', ['tool ls option -b', 'tool ls -b', 'tool ls shape 1']],
    [
      'tool list -bn3',
      ['tool list option -b', 'tool list -b', 'tool list option -n', 'tool list -n', 'tool list shape 1'],
    ],
    ['tool list -7', ['tool list -20', 'tool list shape 1']],
    ['tool --version', ['tool alone --version']],
    ['tool list -z', []],
    ['tool list -a', []],
  ])('%s', (command, expected) => {
    expect([...entriesOf(command)].sort()).toEqual([...expected].sort());
  });

  test('are among all those of the rules, each with its place', () => {
    const keys = entries.map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
    for (const command of ['tool list -a x', 'tool ls -bn3', 'tool list -7', 'tool --version']) {
      expect(entriesOf(command).filter((key) => !keys.includes(key))).toEqual([]);
    }
  });
});

describe('a command that is made for an entry', () => {
  test('rests on it, and is an example with the option in it where there is one', () => {
    const commands = optionCommands(made, { entries, entriesOf }, ['tool list -a README.md']);
    const run = commands.map(({ command }) => command);
    expect(run).toContain('tool list --all -a README.md');
    const covered = new Set(run.flatMap(entriesOf));
    expect(entries.filter(({ key }) => !covered.has(key))).toEqual([]);
  });
});

describe('the proof', () => {
  const set = readProof();
  const whole = withEveryOption(set, { spellings: true });

  test('has a command for every entry of the rules but those that are only read behind a pipe', () => {
    const { observer, candidates } = whole;
    const covered = new Set(candidates.flatMap(({ command }) => observer.entriesOf(command)));
    const left = observer.entries.filter(({ key }) => !covered.has(key));
    expect(left.filter(({ whyNot }) => !whyNot.includes('only behind a pipe'))).toEqual([]);
    expect(left.length).toBeLessThan(0.01 * observer.entries.length);
    expect(observer.entries.length).toBeGreaterThan(10_000);
  });

  test('has each command once, and makes none for what an example has', () => {
    const commands = whole.candidates.map(({ command }) => command);
    expect(new Set(commands).size).toBe(commands.length);
    const written = new Set(set.candidates.flatMap(({ command }) => whole.observer.entriesOf(command)));
    const idle = whole.candidates
      .slice(set.candidates.length)
      .filter(({ command }) => whole.observer.entriesOf(command).every((key) => written.has(key)));
    expect(idle).toEqual([]);
  });

  test('the rules that are watched answer as those that are not', () => {
    const rules = loadRules();
    const { entriesOf: watched } = observe(rules);
    for (const command of ['git push', 'find . -delete', 'sed -i s/a/b/ x', 'cat'])
      expect(watched(command)).toEqual([]);
    for (const command of ['git status', 'find . -name x', 'cat -n x']) expect(watched(command)).not.toEqual([]);
  });
});
