import { describe, expect, test } from 'vitest';
import { classify, examine } from '../../src/classifier/classify.ts';
import { lex } from '../../src/classifier/lexer.ts';
import { type RuleSet, restoreRules, rulesOf } from '../../src/classifier/rule-set.ts';
import type { RuleFile } from '../../src/rules/schema.ts';
import {
  answer,
  answerInPipe,
  answersOf,
  fileWith,
  nodeWith,
  option,
  PROFILES,
  ruleSetWith,
} from '../rules/fixture.ts';

const WHY = 'made up for tests';

/** The code with the stretch that is to blame. */
function blamed(rules: RuleSet, command: string, piped = false, cwd?: string): string {
  const { verdict } = examine(command, rulesOf(rules), cwd === undefined ? {} : { cwd }, piped);
  if (verdict.kind === 'parallel') return 'parallel';
  return `${verdict.reason.code} ${JSON.stringify(command.slice(...verdict.reason.span))}`;
}

describe('globs', () => {
  const shaped = (operands: readonly (string | readonly string[])[]): RuleSet =>
    ruleSetWith(fileWith({ command: { operands: [...operands], globs: true } } as never));

  test('stand only in a list without an end, at its end', () => {
    expect(answer(shaped(['path*']), 'tool f*', '/srv')).toBe('parallel');
    expect(answer(shaped(['path+']), 'tool f*', '/srv')).toBe('parallel');
    for (const bounded of [['path'], ['path?'], ['path', 'path?'], ['path*', 'path']]) {
      expect(answer(shaped(bounded), 'tool f*', '/srv'), bounded.join(' ')).toBe('GLOB_REFUSED');
      expect(answer(shaped(bounded), 'tool f* g*', '/srv'), bounded.join(' ')).not.toBe('parallel');
    }
    expect(answer(shaped(['word', 'path*']), 'tool f* g', '/srv')).toBe('GLOB_REFUSED');
    expect(answer(shaped(['word', 'path*']), 'tool f g*', '/srv')).toBe('parallel');
  });

  test('reach no device, whatever is done with the names', () => {
    const texts = shaped(['text*']);
    for (const glob of ['/dev/t*', '/d*/tty', '/*/tty', '/proc/*', '/[a-e]ev/x*'])
      expect(answer(texts, `tool ${glob}`, '/srv'), glob).not.toBe('parallel');
    expect(answer(texts, 'tool /dev/t*', '/srv')).toBe('PATH_DEVICE');
    expect(answer(texts, 'tool /proc/*', '/srv')).toBe('PATH_DEVICE');
    for (const glob of ['/devx/*', '/x*/dev', '/srv/dev*', '/de/v*'])
      expect(answer(texts, `tool ${glob}`, '/srv'), glob).toBe('parallel');
  });

  test('name no directory to work in, and none stands in a value', () => {
    expect(answer(shaped(['directory*']), 'tool f*', '/srv')).toBe('GLOB_REFUSED');
    expect(answer(shaped(['directory*']), 'tool f', '/srv')).toBe('parallel');
  });
});

describe('trees', () => {
  const trees = ruleSetWith(
    fileWith({ command: { operands: ['tree*'] } }),
    fileWith({ binary: 'some', command: { operands: ['tree+'] } }),
    fileWith({ binary: 'files', command: { operands: ['path*'] } }),
  );
  test('are walked from the working directory where none is named', () => {
    expect(answer(trees, 'tool', '/')).toBe('PATH_DEVICE');
    expect(answer(trees, 'tool', '/srv')).toBe('parallel');
    expect(answer(trees, 'tool srv etc', '/')).toBe('parallel');
    expect(answer(trees, 'some srv', '/')).toBe('parallel');
    expect(answer(trees, 'some srv etc', '/')).toBe('parallel');
    expect(answer(trees, 'files', '/')).toBe('parallel');
  });
});

describe('what is reported of operands', () => {
  test('is the last one where one is missing, or the name where none is there', () => {
    const rules = ruleSetWith(
      fileWith({ command: { options: { '-a': option() }, operands: ['word', 'word', 'word'] } }),
    );
    expect(blamed(rules, 'tool x yy')).toBe('OPERAND_MISSING "yy"');
    expect(blamed(rules, 'tool x -a')).toBe('OPERAND_MISSING "x"');
    expect(blamed(rules, 'tool')).toBe('OPERAND_MISSING "tool"');
    expect(blamed(rules, 'tool -a')).toBe('OPERAND_MISSING "tool"');
    expect(blamed(rules, 'tool x y z aa bb')).toBe('OPERAND_UNEXPECTED "aa"');
  });

  test('is of the shape that came furthest', () => {
    const rules = (...shapes: readonly object[]) =>
      ruleSetWith(
        fileWith({
          command: {
            options: { '-a': option(), '-b': option() },
            stdin: 'always',
            shapes: shapes.map((one) => ({ why: WHY, ...one })),
          },
        } as never),
      );
    const needsA = { with: ['-a'], operands: [], stdin: 'never' };
    const two = { operands: ['word', 'word'], stdin: 'never' };
    const numbers = { operands: ['number', 'number'], stdin: 'never' };
    const read = { operands: ['word*'], without: ['-b'] };
    const orders = <T>(one: T, other: T): readonly (readonly [T, T])[] => [
      [one, other],
      [other, one],
    ];
    for (const [one, other] of orders<object>(needsA, two)) {
      expect(blamed(rules(one, other), 'tool x')).toBe('OPERAND_MISSING "x"');
      expect(blamed(rules(one, other), 'tool')).toBe('OPERAND_MISSING "tool"');
    }
    for (const [one, other] of orders<object>(needsA, numbers))
      expect(blamed(rules(one, other), 'tool 1 x')).toBe('OPERAND_REFUSED "x"');
    for (const [one, other] of orders<object>(numbers, read)) {
      expect(blamed(rules(one, other), 'tool 1')).toBe('STDIN_READ "tool"');
      expect(blamed(rules(one, other), 'tool 1 x')).toBe('STDIN_READ "tool"');
      expect(blamed(rules(one, other), 'tool -b 1')).toBe('OPERAND_MISSING "1"');
    }
    // As far as the same word: one that it should not be there says less than one on what it is.
    const none = { operands: ['word'], stdin: 'never' };
    const second = { operands: ['word', 'number'], stdin: 'never' };
    for (const [one, other] of orders<object>(none, second))
      expect(blamed(rules(one, other), 'tool x y')).toBe('OPERAND_REFUSED "y"');
    // The later word counts, whatever is wrong with it.
    const third = { operands: ['word', 'word', 'number'], stdin: 'never' };
    for (const [one, other] of orders<object>(second, third))
      expect(blamed(rules(one, other), 'tool x y z')).toBe('OPERAND_REFUSED "z"');
  });

  test('a node with subcommands only says so, and what is known of it alone', () => {
    const rules = ruleSetWith(
      fileWith({ command: { bare: 'opens a window', subcommands: { a: nodeWith({ operands: [] }) } } }),
      fileWith({ binary: 'mute', command: { subcommands: { a: nodeWith({ operands: [] }) } } }),
    );
    expect(classify('tool', { rules })).toMatchObject({
      reason: {
        code: 'SUBCOMMAND_MISSING',
        knowledge: 'known-unsafe',
        message: expect.stringContaining('opens a window'),
      },
    });
    expect(classify('mute', { rules })).toMatchObject({
      reason: { code: 'SUBCOMMAND_MISSING', knowledge: 'unrecognised' },
    });
  });
});

describe('expressions', () => {
  const rules = ruleSetWith(
    fileWith({
      syntax: 'words',
      command: {
        options: {
          '(': option(),
          ')': option(),
          '\\(': option(),
          '\\)': option(),
          '-t': option(),
          '-o': option(),
          '!': option(),
        },
        expression: { open: ['(', '\\('], close: [')', '\\)'], join: ['-o'], not: ['!'], implicitJoin: true },
        operands: ['path*'],
      },
    }),
  );
  test('close what they opened, and in that order', () => {
    const parallel = ['\\( -t \\)', '\\( -t \\) \\( -t \\)', '-t \\( -t -o -t \\)', '\\( \\( -t \\) -t \\)'];
    const refused = [
      '-t \\) \\( -t',
      '-t \\)',
      '\\( -t',
      '\\) -t \\(',
      '\\( -t \\) \\) \\( -t',
      '-t \\) -o \\( -t',
      '\\( \\)',
    ];
    for (const words of parallel) expect(answer(rules, `tool ${words}`), words).toBe('parallel');
    for (const words of refused) expect(answer(rules, `tool ${words}`), words).toBe('EXPRESSION_REFUSED');
  });
});

describe('an entry that a user loosened', () => {
  /** A rule set of a user's file, which may override. */
  const mine = (file: RuleFile): RuleSet =>
    restoreRules({
      format: 1,
      hash: 'sha256:made-up',
      profiles: PROFILES,
      never: {},
      files: [{ origin: 'user', file }],
      experimental: [],
    });
  const originOf = (rules: RuleSet, command: string) => {
    const verdict = classify(command, { rules, mode: 'compound' });
    return verdict.kind === 'parallel' ? verdict.rule.map(({ origin }) => origin) : verdict.reason.code;
  };

  test('is named by every verdict that rests on it, and by no other', () => {
    const rules = mine(
      fileWith({
        command: {
          options: {
            '-a': option(),
            '-l': option({ override: true }),
            '-n': option({ takes: 'text', override: true }),
          },
          shapes: [
            { why: WHY, operands: [], stdin: 'never' },
            { why: WHY, operands: ['word'], stdin: 'never', override: true },
          ],
        },
      } as never),
    );
    expect(originOf(rules, 'tool')).toEqual(['user']);
    expect(originOf(rules, 'tool -a')).toEqual(['user']);
    expect(originOf(rules, 'tool -l')).toEqual(['override']);
    expect(originOf(rules, 'tool -al')).toEqual(['override']);
    expect(originOf(rules, 'tool -nx')).toEqual(['override']);
    expect(originOf(rules, 'tool x')).toEqual(['override']);
    expect(originOf(rules, 'tool -l x')).toEqual(['override']);
    // Of a compound, each part stands for itself.
    expect(originOf(rules, 'tool | tool -l')).toEqual(['user', 'override']);
    expect(originOf(rules, 'tool x | tool ; tool')).toEqual(['override', 'user']);
  });
});

describe('a command that another one runs', () => {
  const each = (node: object): RuleFile => fileWith({ binary: 'each', command: { stdin: 'always', ...node } } as never);
  const inner = [
    fileWith({
      binary: 'seek',
      command: { options: { '-e': option({ takes: 'text' }) }, operands: ['pattern', 'path*'] },
    }),
    fileWith({ binary: 'head', command: { options: { '-n': option({ takes: 'number' }) }, operands: ['path+'] } }),
    fileWith({ binary: 'loose', override: true, command: { operands: ['text*'] } }),
    fileWith({ binary: 'quiet', profile: 'quiet', command: { operands: ['text*'] } }),
    fileWith({ binary: 'list', command: { observes: ['files'], operands: ['path*'] } }),
    fileWith({ binary: 'pass', command: { stdin: 'unless-operand', operands: ['path*'] } }),
    fileWith({ binary: 'other', command: { operands: ['text*'] } }),
    fileWith({ binary: 'twice', command: { operands: ['text*'] } }),
  ];
  const why = WHY;
  const rules = ruleSetWith(
    each({
      options: { '-0': option() },
      delegates: [
        { command: 'seek', ends: '--', why },
        { command: 'head', exactly: ['-n', 'NUMBER'], why },
        { command: 'twice', exactly: ['a'], why },
        { command: 'twice', exactly: ['b', 'c'], why },
        { command: 'loose', ends: '--', why },
        { command: 'quiet', ends: '--', why },
        { command: 'list', exactly: [], why },
      ],
      after: { list: [], other: [] },
      through: { pass: [] },
    }),
    ...inner,
  );

  const cases: readonly (readonly [string, string])[] = [
    ['each seek x --', 'parallel'],
    ['each -0 seek -e x --', 'parallel'],
    ['each seek -- x', 'DELEGATE_REFUSED "x"'],
    ['each seek x', 'DELEGATE_REFUSED "x"'],
    ['each seek -e --', 'DELEGATE_REFUSED "--"'],
    ['each seek -x --', 'OPTION_UNKNOWN "-x"'],
    ['each head -n 5', 'parallel'],
    ['each head -n x', 'DELEGATE_REFUSED "x"'],
    ["each head -n ''", 'DELEGATE_REFUSED "\'\'"'],
    ['each head -n NUMBER', 'DELEGATE_REFUSED "NUMBER"'],
    ['each head -m 5', 'DELEGATE_REFUSED "5"'],
    ['each head -n5', 'DELEGATE_REFUSED "-n5"'],
    ['each head -n 5 6', 'DELEGATE_REFUSED "6"'],
    ['each head -n 5 --', 'DELEGATE_REFUSED "--"'],
    ['each head', 'DELEGATE_REFUSED "head"'],
    ['each twice a', 'parallel'],
    ['each twice b c', 'parallel'],
    ['each twice b a', 'DELEGATE_REFUSED "a"'],
    ['each twice a c', 'DELEGATE_REFUSED "c"'],
    ['each list', 'parallel'],
    ['each other x --', 'DELEGATE_REFUSED "other"'],
    ['each nobody x --', 'DELEGATE_REFUSED "nobody"'],
    ["each 'seek' x --", 'DELEGATE_REFUSED "\'seek\'"'],
    ['each', 'OPERAND_MISSING "each"'],
    ['each -0', 'OPERAND_MISSING "each"'],
  ];
  test.each(cases)('%j: %s', (command, expected) => {
    expect(blamed(rules, command, true)).toBe(expected);
    if (expected === 'parallel') expect(blamed(rules, command)).toBe('STDIN_READ "each"');
  });

  const inCompound = (command: string, cwd = '/srv/x') => {
    const verdict = classify(command, { rules, mode: 'compound', cwd });
    if (verdict.kind === 'parallel') return 'parallel';
    return `${verdict.reason.check} ${verdict.reason.code} ${JSON.stringify(command.slice(...verdict.reason.span))}`;
  };
  const refusedNames = (stage: string) => `subcommand NAMES_REFUSED ${JSON.stringify(stage)}`;
  const piped: readonly (readonly [string, string])[] = [
    ['list a | each seek x --', 'parallel'],
    ['other a | each list', 'parallel'],
    ['list a | pass | each list', 'parallel'],
    ['list | pass | pass | each list', 'parallel'],
    ['seek x a | each list', refusedNames('seek x a')],
    ['pass a | each list', refusedNames('pass a')],
    ['list a | pass b | each list', refusedNames('pass b')],
    ['list a | seek b | each list', refusedNames('seek b')],
    ['seek x | pass | each list', refusedNames('seek x')],
    ['list / | each list', refusedNames('list /')],
    ['list ../.. | each list', refusedNames('list ../..')],
    ['list .. | each list', 'parallel'],
    ['other /dev/x | each list', refusedNames('other /dev/x')],
    ['other "x /dev/y" | each list', refusedNames('other "x /dev/y"')],
    ['other proc/1 | each list', refusedNames('other proc/1')],
    ['other device | each list', 'parallel'],
    ['list a && list b | each list', 'parallel'],
    ['seek x ; list b | each list', 'parallel'],
    ['list a | each list ; seek x', 'parallel'],
  ];
  test.each(piped)('fed by a stage: %j: %s', (command, expected) => {
    expect(inCompound(command)).toBe(expected);
  });

  test('fed from the root is refused: the devices are there', () => {
    expect(inCompound('list | each list', '/')).toBe(refusedNames('list'));
    expect(inCompound('list a | each list', '/')).toBe(refusedNames('list a'));
    expect(inCompound('list .. | each list', '/srv')).toBe(refusedNames('list ..'));
    expect(inCompound('cd / && list a | each list')).toBe(refusedNames('list a'));
    expect(inCompound('cd /srv && list a | each list', '/')).toBe('parallel');
    expect(inCompound('cd /srv && list a | each list ; list', '/')).toBe(refusedNames('list a'));
  });

  test('a pipe that nobody described may bring any names: only the self-test asks so', () => {
    expect(answerInPipe(rules, 'each list')).toBe('parallel');
  });

  test('is proved by both rules, and loosened by either', () => {
    const verdict = (command: string) => examine(command, rulesOf(rules), {}, true).verdict;
    expect(verdict('each seek x --')).toMatchObject({ rule: [{ path: 'each' }, { path: 'seek' }], profile: 'generic' });
    expect(verdict('each quiet --')).toMatchObject({ profile: 'quiet', run: { env: { QUIET: '1' } } });
    expect(verdict('each loose --')).toMatchObject({
      rule: [
        { path: 'each', origin: 'built-in' },
        { path: 'loose', origin: 'override' },
      ],
    });
  });
});

describe('where the scanner says that it stopped', () => {
  const stretch = (text: string): string => {
    const read = lex(text);
    return read.ok ? 'read' : `${read.code} ${JSON.stringify(read.span)}`;
  };
  const cases: readonly (readonly [string, string])[] = [
    ['a |', 'TEXT_OPERATOR [2,3]'],
    ['a ||', 'TEXT_OPERATOR [2,4]'],
    ['a |(b)', 'TEXT_OPERATOR [2,4]'],
    ['a &(b)', 'TEXT_OPERATOR [2,4]'],
    ['a <(b)', 'TEXT_EXPANSION [2,4]'],
    ['a >', 'TEXT_REDIRECTION [2,3]'],
    ['a 0>b', 'TEXT_REDIRECTION [2,4]'],
    ['a 9>b', 'TEXT_REDIRECTION [2,4]'],
    ['a 90>>b', 'TEXT_REDIRECTION [2,6]'],
    ['a .>b', 'TEXT_REDIRECTION [3,4]'],
    ['a /5>b', 'TEXT_REDIRECTION [4,5]'],
    ['a :>b', 'TEXT_REDIRECTION [3,4]'],
    ['0>b', 'TEXT_REDIRECTION [0,2]'],
    ['a &>b', 'TEXT_REDIRECTION [2,4]'],
    ['a 2&>b', 'TEXT_REDIRECTION [2,5]'],
    ['a@{1} ..', 'read'],
    ['.. a@{1}', 'read'],
    ['a@{1..2}', 'TEXT_BRACE [2,8]'],
    ['@{a} {b}', 'TEXT_BRACE [5,6]'],
    ['a@ {b}', 'TEXT_BRACE [3,4]'],
    ['a ~/b', 'TEXT_TILDE [2,3]'],
    ['[x a', 'TEXT_GLOB [0,2]'],
  ];
  test.each(cases)('%j: %s', (text, expected) => {
    expect(stretch(text)).toBe(expected);
  });

  test('a name that is known to be unsafe is called so, any other is not', () => {
    const rules = restoreRules({
      format: 1,
      hash: 'sha256:made-up',
      profiles: PROFILES,
      never: { never: 'removes everything' },
      files: [{ origin: 'built-in', file: fileWith() }],
      experimental: [],
    });
    expect(answersOf(rules, ['never x', 'nobody x', 'x/never', "'never'", 'tool'])).toEqual({
      'never x': 'COMMAND_REFUSED',
      'nobody x': 'COMMAND_UNKNOWN',
      'x/never': 'COMMAND_NOT_PLAIN',
      "'never'": 'COMMAND_NOT_PLAIN',
      tool: 'parallel',
    });
  });
});
