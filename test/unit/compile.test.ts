import { describe, expect, test } from 'vitest';
import { compileFile } from '../../src/classifier/compile.ts';
import { type Problem, pointerOf } from '../../src/classifier/problems.ts';
import type { SignalboxError } from '../../src/errors.ts';
import { fileWith, type Given, nodeWith, option, PROFILES, ruleSetWith } from '../rules/fixture.ts';

function problemsOf(given: Given): readonly string[] {
  const problems: Problem[] = [];
  compileFile(fileWith(given), PROFILES, 'built-in', problems);
  return problems.map(({ pointer, message }) => `${pointer}: ${message}`);
}

describe('what does not fit together is reported with its place', () => {
  const cases: readonly (readonly [string, Given, string])[] = [
    ['an unknown profile', { profile: 'loud' }, '/profile: expected a profile of profiles.json, got "loud"'],
    [
      'a profile from the prototype of objects',
      { profile: 'constructor' },
      '/profile: expected a profile of profiles.json, got "constructor"',
    ],
    [
      'an unknown kind of an operand',
      { command: { operands: ['nothing*'] } },
      '/command/operands: expected a kind of value, got "nothing", which neither this file nor the code defines',
    ],
    [
      'an unknown kind of a value',
      { command: { options: { '-a': option({ takes: 'nothing' }) } } },
      '/command/options/-a/takes: expected a kind of value, got "nothing", which neither this file nor the code defines',
    ],
    [
      'a value that shadows a built-in kind',
      { values: { path: { why: 'made up for tests', words: ['x'] } } },
      '/values/path: expected a name that no built-in kind has',
    ],
    [
      'a group that is not there',
      { command: { use: ['none'] } },
      '/command/use/0: expected the name of a group of this file, got "none"',
    ],
    [
      'a group from the prototype of objects',
      { groups: {}, command: { use: ['toString'] } },
      '/command/use/0: expected the name of a group of this file, got "toString"',
    ],
    [
      'a spelling declared twice',
      { groups: { g: { '-a': option() } }, command: { use: ['g'], options: { '-a, -b': option() } } },
      '/command/options/-a, -b: expected each spelling once, but "-a" is declared twice',
    ],
    [
      'an optional value where values are words',
      { syntax: 'words', command: { options: { '-a': option({ takes: 'text', optional: true as const }) } } },
      '/command/options/-a: in this syntax a value is always the next word, so it can be neither `optional` nor `joined`',
    ],
    [
      'a number with a value',
      { command: { options: { '-NUMBER': option({ takes: 'number' }) } } },
      '/command/options/-NUMBER: -NUMBER is its own value and takes none',
    ],
    [
      'a demand for no option',
      {
        command: {
          shapes: [{ why: 'made up for tests', with: ['-x | -y'], operands: [] }],
          options: { '-x': option() },
        },
      },
      '/command/shapes/0/with: expected an option of this node, got "-y"',
    ],
    [
      'a ban on no option',
      { command: { shapes: [{ why: 'made up for tests', without: ['-x'], operands: [] }] } },
      '/command/shapes/0/without: expected an option of this node, got "-x"',
    ],
    [
      'a note on the command without a subcommand where it has none',
      { command: { bare: 'made up for tests' } },
      '/command/bare: expected `bare` only where there are subcommands and no shape of its own',
    ],
    [
      'a note against what is listed',
      { command: { options: { '-a': option() }, refuses: { '-a': 'made up for tests' } } },
      '/command/refuses: "-a" is an option of this node, so it is not refused',
    ],
    [
      'an expression of words that are no options',
      { syntax: 'words', command: { expression: { join: ['-o'] } } },
      '/command/expression/join: expected a switch of this node, got "-o"',
    ],
    [
      'a connective with a value',
      { syntax: 'words', command: { options: { '-o': option({ takes: 'text' }) }, expression: { join: ['-o'] } } },
      '/command/expression/join: expected a switch of this node, got "-o"',
    ],
    [
      'a word with two roles',
      { syntax: 'words', command: { options: { '-o': option() }, expression: { join: ['-o'], not: ['-o'] } } },
      '/command/expression/join: expected "-o" in one list only',
    ],
    [
      'an expression where letters stand together',
      { command: { options: { '-o': option() }, expression: { join: ['-o'] } } },
      '/command/expression: expected the syntax `words` beside an expression',
    ],
    [
      'a subcommand that looks like an option',
      { command: { subcommands: { '-a': nodeWith({ operands: [] }) } } },
      '/command/subcommands/-a: expected a plain word that is no option, got "-a"',
    ],
    [
      'a subcommand that is not plain',
      { command: { subcommands: { "'a'": nodeWith({ operands: [] }) } } },
      `/command/subcommands/'a': expected a plain word that is no option, got "'a'"`,
    ],
    [
      'a subcommand named twice',
      { command: { subcommands: { a: nodeWith({ operands: [] }), 'b, a': nodeWith({ operands: [] }) } } },
      '/command/subcommands/b, a: expected each name once, but "a" stands twice',
    ],
    [
      'text with dashes beside a count',
      { command: { dashes: 'text', operands: ['text+'] } },
      '/command/dashes: expected only switches and `"operands": ["text*"]` where words with a dash are text',
    ],
    [
      'text with dashes beside an option with a value',
      { command: { dashes: 'text', options: { '-a': option({ takes: 'text' }) }, operands: ['text*'] } },
      '/command/dashes: expected only switches and `"operands": ["text*"]` where words with a dash are text',
    ],
    [
      'text with dashes beside a kind',
      { command: { dashes: 'text', operands: ['word*'] } },
      '/command/dashes: expected only switches and `"operands": ["text*"]` where words with a dash are text',
    ],
    [
      'text with dashes beside subcommands',
      { command: { dashes: 'text', subcommands: { a: nodeWith({ operands: [] }) } } },
      '/command/dashes: expected only switches and `"operands": ["text*"]` where words with a dash are text',
    ],
  ];
  for (const [title, given, expected] of cases) {
    test(title, () => {
      expect(problemsOf(given)).toContain(expected);
    });
  }

  test('once, however many names the binary has', () => {
    expect(problemsOf({ also: ['other', 'third'], command: { use: ['none'] } })).toHaveLength(1);
  });

  test('all of it at once', () => {
    expect(problemsOf({ profile: 'loud', command: { use: ['none'], operands: ['nothing'] } })).toHaveLength(3);
  });

  test('and nothing when it fits', () => {
    expect(problemsOf({})).toEqual([]);
    expect(problemsOf({ command: { dashes: 'text', options: { '-n': option() }, operands: ['text*'] } })).toEqual([]);
  });
});

test('a set of files with one name twice is refused, naming both', () => {
  expect(() => ruleSetWith(fileWith(), fileWith({ binary: 'other', also: ['tool'] }))).toThrow(
    /other at \/binary: "tool" already has a rule, of tool/,
  );
});

test('the error of a set says everything about the file, and points at the first', () => {
  try {
    ruleSetWith(fileWith({ profile: 'loud', command: { use: ['none'] } }));
    expect.unreachable();
  } catch (error) {
    const { code, pointer, message } = error as SignalboxError;
    expect({ code, pointer, lines: message.split('\n').length }).toEqual({
      code: 'RULES_INVALID',
      pointer: '/profile',
      lines: 2,
    });
  }
});

test('a pointer escapes what JSON pointers escape', () => {
  expect(pointerOf(['a/b', 'c~d', 0])).toBe('/a~1b/c~0d/0');
  expect(pointerOf([])).toBe('');
});
