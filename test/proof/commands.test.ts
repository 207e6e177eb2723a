import { describe, expect, test } from 'vitest';
import { classify } from '../../src/classifier/classify.ts';
import { loadRules } from '../../src/rules/load.ts';
import { BUILT_IN_DIRECTORY, readRuleDirectory } from '../../src/rules/sources.ts';
import { fileWith, nodeWith, option } from '../rules/fixture.ts';
import { CORPUS_DRAWN, candidatesOf, filesFor, hasCorpus } from './commands.ts';
import { mapped } from './mapping.ts';
import { drawEvenly } from './sample.ts';
import { startsOf } from './starts.ts';

/** Which commands the proof runs. */

const rules = loadRules();
const files = readRuleDirectory(BUILT_IN_DIRECTORY).map(({ file }) => file);
const candidates = candidatesOf(rules, files, BUILT_IN_DIRECTORY);
const rulePathOf = (command: string): string | undefined => {
  const verdict = classify(command, { rules });
  return verdict.kind === 'parallel' ? verdict.rule[0]?.path : undefined;
};

describe('the commands of the proof', () => {
  test('are all examples of all files, each once, and at least 1,500', () => {
    const commands = new Set(candidates.map(({ command }) => command));
    expect(commands.size).toBe(candidates.length);
    expect(commands.size).toBeGreaterThanOrEqual(1500);
    const own = files.filter(({ only }) => only !== 'compound').flatMap(({ examples }) => examples.parallel);
    expect(own.filter((command) => !commands.has(command))).toEqual([]);
  });

  test('with what agents sent where the corpus lies beside the project, the same each time', () => {
    const drawn = candidates.filter(({ source }) => source === 'corpus');
    // Some are examples already.
    expect(drawn.length > 0.9 * CORPUS_DRAWN).toBe(hasCorpus());
    expect(drawn.length).toBeLessThanOrEqual(CORPUS_DRAWN);
    expect(candidatesOf(rules, files, BUILT_IN_DIRECTORY)).toEqual(candidates);
  });

  test('keep the rule that proves them when their paths are mapped', () => {
    const moved = candidates.filter(({ original }) => original !== undefined);
    for (const { command, original } of moved) expect(rulePathOf(command), command).toBe(rulePathOf(original!));
  });

  test('name files that the fixture is given, and none outside of it', () => {
    const names = filesFor(candidates, rules);
    expect(names).toEqual(expect.arrayContaining(['archive.tar', 'README.md']));
    expect(names.filter((name) => name.startsWith('/') || name.split('/').includes('..'))).toEqual([]);
  });
});

describe('a path is mapped into the project', () => {
  test.each([
    ['cat /testbed/src/a.py', 'cat testbed/src/a.py'],
    ["sed -n '1,20p' /app/src/main.ts", "sed -n '1,20p' app/src/main.ts"],
    ['grep -rn "foo" /app', 'grep -rn "foo" app'],
    ['cat "/app/a b.txt"', 'cat "app/a b.txt"'],
    ['head -n 5 ../other/a.txt', 'head -n 5 other/a.txt'],
    ['git -C /testbed status', 'git -C . status'],
    ['git show 1a2b3c4d --stat', 'git show HEAD~1 --stat'],
    ['cat /etc/passwd', 'cat /etc/passwd'],
    ['cat src/a.ts', 'cat src/a.ts'],
    ['ls -la', 'ls -la'],
  ])('%s is %s', (command, expected) => {
    expect(mapped(command, rules)).toBe(expected);
  });
});

describe('drawing', () => {
  const items = [...Array(100).keys()].map((number) => ({ number, stratum: number < 3 ? 'few' : 'many' }));
  const draw = (seed: number, count = 20) => drawEvenly(items, ({ stratum }) => stratum, count, seed);

  test('takes small strata whole, and nothing twice', () => {
    const drawn = draw(1);
    expect(drawn.length).toBe(20);
    expect(new Set(drawn).size).toBe(20);
    expect(drawn.filter(({ stratum }) => stratum === 'few').length).toBe(3);
    expect(draw(1, 1000).length).toBe(100);
  });

  test('is the same for the same seed, and another for another', () => {
    expect(draw(1)).toEqual(draw(1));
    expect(draw(1)).not.toEqual(draw(2));
  });
});

describe('the programs that a command may start', () => {
  const sub = nodeWith({
    operands: [],
    starts: ['helper'],
    options: { '-z, --zip': option({ starts: ['gzip'] }), '-v': option() },
  });
  const file = fileWith({ also: ['tool2'], command: { starts: ['base'], subcommands: { 'sub, s': sub } } });
  const programs = (command: string): readonly string[] => startsOf(file, command.split(' -')[0]!, command);

  test('are its own names, those of the nodes on its way, and of the options that stand in it', () => {
    expect(programs('tool')).toEqual(['tool', 'tool2', 'base']);
    expect(programs('tool s')).toEqual(['tool', 'tool2', 'base', 'helper']);
    for (const zipped of ['tool sub -z', 'tool sub -vz', 'tool sub --zip', 'tool sub --zip=9']) {
      expect(programs(zipped), zipped).toContain('gzip');
    }
    for (const plain of ['tool sub -v', 'tool sub --zap']) expect(programs(plain), plain).not.toContain('gzip');
  });
});
