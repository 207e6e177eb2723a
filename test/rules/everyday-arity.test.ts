import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { spellingsOf } from '../../src/classifier/usage.ts';
import type { RuleFile } from '../../src/rules/schema.ts';
import { type Fixture, makeFixture } from '../proof/fixture.ts';
import { UNPRIVILEGED } from '../support/strace.ts';

/**
 * The real programs are asked about every spelling of every option: whether they know it, and whether they take the next
 * word as its value. Where rule and program differ on that, one of them could read a hostile word as a value. The option
 * stands last, so a program that wants a value says so and does nothing. All of these options only read.
 */

const NUMBER = '-NUMBER';

type Program = {
  readonly binary: string;
  /** What stands before the option, so that the program gets as far as reading it and does not read standard input. */
  readonly before: readonly string[];
  readonly unknown: readonly string[];
  readonly wantsValue: readonly string[];
};

const GNU = { unknown: ['unrecognized option', 'invalid option'], wantsValue: ['requires an argument'] };
const PROGRAMS: readonly Program[] = [
  { binary: 'ls', before: ['src'], ...GNU },
  { binary: 'cat', before: ['log'], ...GNU },
  { binary: 'head', before: ['log'], ...GNU },
  { binary: 'tail', before: ['log'], ...GNU },
  { binary: 'wc', before: ['log'], ...GNU },
  { binary: 'sed', before: ['p', 'log'], ...GNU },
  { binary: 'grep', before: ['x', 'log'], ...GNU },
  {
    binary: 'rg',
    before: ['x', 'log'],
    unknown: ["wasn't expected", 'unrecognized flag'],
    wantsValue: ['requires a value', 'missing value'],
  },
  {
    binary: 'find',
    before: ['src'],
    unknown: ['unknown predicate'],
    wantsValue: ['missing argument', 'needs an argument', 'invalid argument'],
  },
];

let tree: Fixture;
beforeAll(() => {
  tree = makeFixture({ trapped: false });
});
afterAll(() => tree.remove());

function complaintOf({ binary, before }: Program, words: readonly string[]): string {
  const run = spawnSync(binary, [...before, ...words], {
    cwd: tree.project,
    env: tree.environment,
    ...UNPRIVILEGED,
    encoding: 'utf8',
    timeout: 10_000,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return `${run.error?.message ?? ''}${run.stderr}`;
}

for (const program of PROGRAMS) {
  const { binary } = program;
  const file: RuleFile = JSON.parse(readFileSync(new URL(`../../rules/${binary}.json`, import.meta.url), 'utf8'));
  const { open = [], close = [], not = [], join = [], leading = [] } = file.command.expression ?? {};
  const connectives = new Set([...open, ...close, ...not, ...join, ...leading]);
  const saysAny = (complaint: string, texts: readonly string[]): boolean =>
    texts.some((text) => complaint.includes(text));

  describe(`${binary} and its rule agree`, () => {
    const options = Object.entries(file.command.options ?? {});
    test.each(options)('on %s', (key, option) => {
      for (const spelling of spellingsOf(key).flat()) {
        if (connectives.has(spelling)) continue;
        const complaint = complaintOf(program, [spelling === NUMBER ? '-3' : spelling]);
        expect(saysAny(complaint, program.unknown), `${spelling} is known: ${complaint}`).toBe(false);
        const takesNext = option.takes !== undefined && option.optional !== true;
        expect(saysAny(complaint, program.wantsValue), `${spelling} takes a value: ${complaint}`).toBe(takesNext);
      }
    });

    test('and the program does say when it does not know an option', () => {
      expect(saysAny(complaintOf(program, ['--signalbox-stranger']), program.unknown)).toBe(true);
    });
  });
}

test('the words that may stand before the paths are known to find, and those that join terms are read as such', () => {
  const find = PROGRAMS.find(({ binary }) => binary === 'find')!;
  for (const word of ['-H', '-L', '-P', '-O0', '-O1', '-O2', '-O3']) {
    expect(complaintOf({ ...find, before: [word, 'src'] }, []), word).toBe('');
  }
  const good = [
    ['(', '-true', ')'],
    ['!', '-true'],
    ['-not', '-true'],
    ...['-a', '-and', '-o', '-or', ','].map((join) => ['-true', join, '-false']),
  ];
  for (const words of good) expect(complaintOf(find, words), words.join(' ')).toBe('');
});
