import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { SignalboxError } from '../../src/errors.ts';
import { duplicateKey } from '../../src/rules/duplicate-keys.ts';
import { parseProfiles, parseProposed, parseRuleFile } from '../../src/rules/parse.ts';
import { ProfilesSchema } from '../../src/rules/profiles-schema.ts';
import { RuleFileSchema } from '../../src/rules/schema.ts';
import { templateOf } from '../../src/rules/template.ts';
import { fileWith, nodeWith, option, PROFILES } from '../rules/fixture.ts';

/** The message of the error for a rule file with one thing changed. */
function complaint(change: (file: Record<string, never>) => void): string {
  const file = structuredClone(fileWith({ command: { options: { '-a': option() }, operands: ['path*'] } }));
  change(file as never);
  return messageOf(() => parseRuleFile(JSON.stringify(file), 'tool.json'));
}

function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect((error as SignalboxError).code).toBe('RULES_INVALID');
    return (error as Error).message;
  }
  return 'fine';
}

/** Any JSON, to be spoiled. */
type Loose = ReturnType<typeof JSON.parse>;
type Edit = (file: Loose) => void;

describe('a rule file of another form is refused, with place, expectation and what came', () => {
  const cases: readonly (readonly [string, Edit, string])[] = [
    ['an unknown key at the top', (f) => (f.extends = 'x'), 'tool.json at /extends: expected no key of this name here'],
    [
      'an unknown key of a node',
      (f) => (f.command.deny = []),
      'tool.json at /command/deny: expected no key of this name here',
    ],
    [
      'an unknown key of an option',
      (f) => (f.command.options['-a'].regex = 'x'),
      'at /command/options/-a/regex: expected no key',
    ],
    ['no reason', (f) => delete f.command.why, 'at /command/why: expected string, got nothing'],
    [
      'a short reason',
      (f) => (f.command.options['-a'].why = 'yes'),
      'at /command/options/-a/why: expected at least 8 characters, got "yes"',
    ],
    ['another version of the format', (f) => (f.schema = 2), 'at /schema: expected one of 1, got 2'],
    ['a name with a capital', (f) => (f.binary = 'Tool'), 'at /binary: expected a bare lower-case name'],
    ['a path for a name', (f) => (f.also = ['/bin/tool']), 'at /also/0: expected a bare lower-case name'],
    ['an empty name', (f) => (f.binary = ''), 'at /binary: expected a bare'],
    [
      'no address of the docs',
      (f) => (f.docs = 'man tool'),
      'at /docs: expected an address (https://…), got "man tool"',
    ],
    ['no date', (f) => (f.reviewed.on = 'today'), 'at /reviewed/on: expected a date (2026-11-30), got "today"'],
    ['an unknown syntax', (f) => (f.syntax = 'own'), 'at /syntax: expected one of "getopt"'],
    ['no decision about standard input', (f) => delete f.command.stdin, 'at /command/stdin: expected one of "never"'],
    [
      'a spelling with a value',
      (f) => (f.command.options = { '--a=b': option() }),
      'at /command/options/--a=b: expected a key like',
    ],
    ['an empty spelling', (f) => (f.command.options = { '-a, ': option() }), 'expected a key like spellings'],
    ['a spelling with a blank', (f) => (f.command.options = { '-a -b': option() }), 'expected a key like spellings'],
    [
      'the end of options as an option',
      (f) => (f.command.options = { '--': option() }),
      'expected a key like spellings',
    ],
    [
      'a form without a value',
      (f) => (f.command.options['-a'].form = 'joined'),
      'at /command/options/-a: expected `optional` and `form` only beside `takes`',
    ],
    ['an optional value without one', (f) => (f.command.options['-a'].optional = true), 'only beside `takes`'],
    [
      'an optional next word',
      (f) => Object.assign(f.command.options['-a'], { takes: 'text', optional: true, form: 'spaced' }),
      'cannot be `spaced`',
    ],
    [
      'an empty list of words',
      (f) => (f.command.options['-a'].takes = []),
      'at /command/options/-a/takes: expected at least 1 entry, got []',
    ],
    [
      'a value of no form',
      (f) => (f.values = { v: option() }),
      'at /values/v: expected one of `words`, `starts`, `template`',
    ],
    [
      'two ends of options',
      (f) => (f.command.operands = ['a', '--', 'b', '--', 'c']),
      'at /command/operands: expected at most one "--"',
    ],
    [
      'two items of variable count',
      (f) => (f.command.operands = ['path*', 'path?']),
      'at most one item of variable count',
    ],
    [
      'globs without a list',
      (f) => Object.assign(f.command, { operands: ['path'], globs: true }),
      '`globs` needs an unbounded last operand',
    ],
    [
      'globs behind a list of words',
      (f) => Object.assign(f.command, { operands: [['a']], globs: true }),
      '`globs` needs',
    ],
    [
      'operands and shapes',
      (f) => (f.command.shapes = [{ why: 'made up for tests', operands: [] }]),
      'one of `operands`, `shapes`, `delegates`',
    ],
    ['neither', (f) => delete f.command.operands, 'one of `operands`, `shapes`, `delegates`'],
    [
      'subcommands and operands',
      (f) => (f.command.subcommands = { s: nodeWith({ operands: [] }) }),
      'with `subcommands` no operands of its own',
    ],
    [
      'subcommands and a shape with operands',
      (f) => {
        delete f.command.operands;
        Object.assign(f.command, { subcommands: {}, shapes: [{ why: 'made up for tests', operands: ['path'] }] });
      },
      'with `subcommands` no operands of its own',
    ],
    [
      'subcommands and delegates',
      (f) => {
        delete f.command.operands;
        Object.assign(f.command, {
          subcommands: {},
          delegates: [{ command: 'x', ends: '--', why: 'made up for tests' }],
        });
      },
      'one of `operands`, `shapes`, `delegates`',
    ],
    [
      'a delegate of neither form',
      (f) => {
        delete f.command.operands;
        f.command.delegates = [{ command: 'x', why: 'made up for tests' }];
      },
      'at /command/delegates/0: expected one of `exactly` and `ends`',
    ],
    [
      'a subcommand without docs',
      (f) => {
        delete f.command.operands;
        f.command.subcommands = { s: { why: 'made up for tests', operands: [] } };
      },
      'at /command/subcommands/s/docs: expected string, got nothing',
    ],
    [
      'an example with an unknown code',
      (f) => (f.examples.serial[0].code = 'NO'),
      'at /examples/serial/0/code: expected one of',
    ],
    [
      'no parallel example',
      (f) => (f.examples.parallel = []),
      'at /examples/parallel: expected at least 1 entry, got []',
    ],
    ['no serial example', (f) => (f.examples.serial = []), 'at /examples/serial: expected at least 1 entry'],
  ];
  for (const [title, change, expected] of cases) {
    test(title, () => {
      expect(complaint(change)).toContain(expected);
    });
  }

  test('every problem is named, one a line', () => {
    const message = complaint((file: Loose) => {
      file.schema = 2;
      file.docs = 'x';
    });
    expect(message.split('\n')).toHaveLength(2);
  });

  test('what came is cut when it is long', () => {
    expect(complaint((file: Loose) => (file.docs = 'x'.repeat(500)))).toMatch(/got "x{70,80}…$/);
  });
});

test('a subcommand may stand alone beside subcommands of its own', () => {
  const file = fileWith({
    command: { operands: [], subcommands: { s: nodeWith({ subcommands: { t: nodeWith({ operands: [] }) } }) } },
  });
  expect(parseRuleFile(JSON.stringify(file), 'tool.json')).toEqual(JSON.parse(JSON.stringify(file)));
});

test('text that is no JSON is refused by name', () => {
  expect(messageOf(() => parseRuleFile('{', 'tool.json'))).toMatch(/^tool\.json: expected JSON, got /);
  expect(messageOf(() => parseRuleFile('5', 'tool.json'))).toMatch(/^tool\.json: expected object, got 5/);
});

describe('keys that stand twice', () => {
  test('are found with their place, at any depth and however they are written', () => {
    const rows: readonly (readonly [string, string | null])[] = [
      ['{"a":1,"a":2}', '/a'],
      ['{"a":{"b":1},"c":{"b":1}}', null],
      ['{"a":[{"b":1},{"b":1,"c":2,"b":3}]}', '/a/1/b'],
      ['{"a" : "a", "b": "a\\"", "\\u0061":1}', '/a'],
      ['{"a/b":{"x":1,"x":1}}', '/a~1b/x'],
      ['["a","a",{"k":"k"}]', null],
      ['{"a":[1,[2,3],{"x":[],"y":{},"x":0}]}', '/a/2/x'],
      ['{\n\t"a"\r\n:1,"b":":"}', null],
      ['"a"', null],
      ['{}', null],
    ];
    for (const [json, expected] of rows) expect([json, duplicateKey(json)]).toEqual([json, expected]);
  });

  test('are an error of a rule file', () => {
    const text = JSON.stringify(fileWith()).replace('"schema":1', '"schema":1,"schema":1');
    expect(messageOf(() => parseRuleFile(text, 'tool.json'))).toBe(
      'tool.json at /schema: expected each key once, but this one stands twice',
    );
  });
});

describe('profiles', () => {
  const complain = (change: Edit): string => {
    const file = structuredClone(PROFILES);
    change(file);
    return messageOf(() => parseProfiles(JSON.stringify(file), 'profiles.json'));
  };

  test('are strict too', () => {
    expect(complain(() => undefined)).toBe('fine');
    expect(complain((f) => (f.generic.set = { 'A B': 'x' }))).toContain(
      'at /generic/set/A B: expected a key like a name of an environment variable',
    );
    expect(complain((f) => (f.generic.set = { '1A': 'x' }))).toContain('expected a key like');
    expect(complain((f) => (f.generic.pass = ['']))).toContain(
      'at /generic/pass/0: expected a name of an environment variable, got ""',
    );
    expect(complain((f) => (f.generic.set = { A: 'x\0' }))).toContain('at /generic/set/A: expected text without NUL');
    expect(complain((f) => (f.assignments = { LANG: [] }))).toContain(
      'at /assignments/LANG: expected at least 1 entry',
    );
    expect(complain((f) => (f.profiles.generic = f.generic))).toContain('`generic` stands by itself');
    expect(complain((f) => (f.more = 1))).toContain('at /more: expected no key of this name here');
  });
});

test('proposed examples have a form of their own', () => {
  const proposed = { binary: 'tool', parallel: ['tool'], piped: [], serial: [{ command: 'tool', code: 'STDIN_READ' }] };
  expect(parseProposed(JSON.stringify(proposed), 'p.json')).toEqual(proposed);
  expect(messageOf(() => parseProposed(JSON.stringify({ ...proposed, why: 'x' }), 'p.json'))).toContain('/why');
});

test('the committed JSON Schemas are those of the definition', () => {
  for (const [name, schema] of [
    ['rule-file', RuleFileSchema],
    ['profiles', ProfilesSchema],
  ] as const) {
    const committed = readFileSync(new URL(`../../rules/schema/${name}.schema.json`, import.meta.url), 'utf8');
    expect(committed).toBe(`${JSON.stringify(z.toJSONSchema(schema), null, 2)}\n`);
  }
});

test('the template of a new rule file is refused until every decision in it is taken', () => {
  const message = messageOf(() => parseRuleFile(JSON.stringify(templateOf('tool')), 'tool.json'));
  for (const place of [
    '/docs',
    '/reviewed/how',
    '/command/why',
    '/examples/parallel',
    '/examples/serial',
    '/command/refuses',
  ]) {
    expect(message).toContain(`at ${place}`);
  }
  expect(message).not.toContain('no key of this name');
});
