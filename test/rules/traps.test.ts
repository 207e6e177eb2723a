import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { classify } from '../../src/classifier/classify.ts';
import type { Check, ReasonCode } from '../../src/classifier/verdict.ts';
import { loadRules } from '../../src/rules/load.ts';
import { files, firstWord } from './built-in.ts';

/**
 * Every trap that the facts name: a form that looks harmless and writes, executes, locks, waits without end or opens a
 * device. They are only classified, never run. `near` is a form like it that is proved, so that no trap is serial for
 * a reason of no weight; a trap without one is of a name that has no rule, or is refused by its text.
 */

type Refused = 'text' | 'command' | 'subcommand' | 'option' | 'operand' | 'path' | 'glob' | 'stdin' | 'program';
type Trap = {
  readonly group: string;
  readonly command: string;
  readonly refused: Refused;
  readonly why: string;
  readonly near?: string;
};

const traps: readonly Trap[] = readFileSync(new URL('traps.jsonl', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line));
const groups = [...new Set(traps.map(({ group }) => group))].map((group) => ({
  group,
  rows: traps.filter((trap) => trap.group === group),
}));

/** Rules that are not stable yet must hold against their traps, too. */
const experimental = files.filter(({ maturity }) => maturity === 'experimental').map(({ binary }) => binary);
const rules = loadRules({ experimental });

type Told = { readonly check: Check; readonly code: ReasonCode } | 'parallel';
function tell(command: string): Told {
  const verdict = classify(command, { rules, cwd: '/repo' });
  return verdict.kind === 'parallel' ? 'parallel' : { check: verdict.reason.check, code: verdict.reason.code };
}

/** What of the command was refused. A name without a rule may get one, which then refuses something behind it. */
function refusedIn(told: Told): Refused | 'parallel' {
  if (told === 'parallel') return told;
  const { check, code } = told;
  if (check === 'input' || check === 'metacharacters') return 'text';
  if (check === 'leading-token') return 'command';
  switch (code) {
    case 'PATH_DEVICE':
      return 'path';
    case 'GLOB_REFUSED':
      return 'glob';
    case 'STDIN_READ':
      return 'stdin';
    case 'PROGRAM_REFUSED':
      return 'program';
    case 'VALUE_REFUSED':
    case 'EXPRESSION_REFUSED':
      return 'option';
    default:
      if (code.startsWith('SUBCOMMAND_')) return 'subcommand';
      return code.startsWith('OPTION_') ? 'option' : 'operand';
  }
}

test('there is no trap twice', () => {
  expect(new Set(traps.map(({ command }) => command)).size).toBe(traps.length);
});

test('a trap without a form like it that is proved is of a name without a rule, or refused by its text', () => {
  const known = new Set(files.flatMap(({ binary, also = [] }) => [binary, ...also]));
  const bare = traps.filter(({ near, refused }) => near === undefined && refused !== 'text' && refused !== 'command');
  expect(bare.filter(({ command }) => known.has(firstWord(command))).map(({ command }) => command)).toEqual([]);
});

describe.each(groups)('$group', ({ rows }) => {
  test.each(rows.map((row) => [row.command, row.refused, row.why] as const))(
    '%j is serial, by its %s: %s',
    (command, refused) => {
      const found = refusedIn(tell(command));
      expect(found).not.toBe('parallel');
      if (refused !== 'command') expect(found).toBe(refused);
    },
  );

  const near = [...new Set(rows.flatMap((row) => row.near ?? []))];
  test.each(near)('%j is parallel', (command) => {
    expect(tell(command)).toBe('parallel');
  });
});

describe('in compound mode', () => {
  const isParallel = (command: string) =>
    classify(command, { rules, cwd: '/repo', mode: 'compound' }).kind === 'parallel';

  test('every trap is serial', () => {
    expect(traps.map(({ command }) => command).filter(isParallel)).toEqual([]);
  });

  /** Put together with others, a text that is refused as such is another text; a path is read from another directory. */
  const words = traps.filter(({ refused }) => refused !== 'text');
  test.each<[string, (trap: string) => string]>([
    ['behind a command', (trap) => `ls && ${trap}`],
    ['before a command', (trap) => `${trap}; ls`],
    ['before a pipe', (trap) => `${trap} | cat`],
    ['without its errors', (trap) => `${trap} 2>/dev/null`],
  ])('every trap is serial %s', (_, place) => {
    expect(words.map(({ command }) => place(command)).filter(isParallel)).toEqual([]);
  });

  test('every trap is serial behind a pipe, but for those that only wait for their input', () => {
    const others = words.filter(({ refused }) => refused !== 'stdin');
    expect(others.map(({ command }) => `cat f | ${command}`).filter(isParallel)).toEqual([]);
  });

  test('every trap is serial behind a change of directory', () => {
    const others = words.filter(({ refused }) => refused !== 'path');
    expect(others.map(({ command }) => `cd sub && ${command}`).filter(isParallel)).toEqual([]);
  });
});
