import { describe, expect, test } from 'vitest';
import { classify } from '../../src/classifier/classify.ts';
import { answer, answerInPipe, answersOf, fileWith, type Given, option, ruleSetWith } from '../rules/fixture.ts';

function holds(command: Given['command'], expected: Readonly<Record<string, string>>): void {
  const rules = ruleSetWith(fileWith({ command: command ?? {} }));
  expect(answersOf(rules, Object.keys(expected))).toEqual(expected);
}

describe('counts', () => {
  test('exactly one', () => {
    holds({ operands: ['word'] }, { tool: 'OPERAND_MISSING', 'tool a': 'parallel', 'tool a b': 'OPERAND_UNEXPECTED' });
  });

  test('none or one', () => {
    holds({ operands: ['word?'] }, { tool: 'parallel', 'tool a': 'parallel', 'tool a b': 'OPERAND_UNEXPECTED' });
  });

  test('at least one', () => {
    holds({ operands: ['word+'] }, { tool: 'OPERAND_MISSING', 'tool a': 'parallel', 'tool a b c': 'parallel' });
  });

  test('none at all', () => {
    holds({ operands: [] }, { tool: 'parallel', 'tool a': 'OPERAND_UNEXPECTED', 'tool -- a': 'OPERAND_UNEXPECTED' });
  });

  test('the item of variable count takes what the fixed ones leave, wherever it stands', () => {
    holds(
      { operands: ['number', 'word*', 'number'] },
      {
        'tool 1': 'OPERAND_MISSING',
        'tool 1 2': 'parallel',
        'tool 1 a 2': 'parallel',
        'tool 1 a b 2': 'parallel',
        'tool 1 a b': 'OPERAND_REFUSED',
        'tool a 1': 'OPERAND_REFUSED',
      },
    );
  });

  test('a list of words is one operand', () => {
    holds(
      { operands: [['on', 'off'], 'word?'] },
      { 'tool on': 'parallel', 'tool off x': 'parallel', 'tool other': 'OPERAND_REFUSED', "tool 'on'": 'parallel' },
    );
  });
});

describe('two lists parted by --', () => {
  const command = { operands: ['number*', '--', 'path+'] };

  test('words go to the list on their side', () => {
    holds(command, {
      'tool 1 2': 'parallel',
      'tool 1 -- a': 'parallel',
      'tool -- a b': 'parallel',
      'tool a -- 1': 'OPERAND_REFUSED',
      'tool 1 --': 'OPERAND_MISSING',
      'tool 1 -- -a': 'OPERAND_REFUSED',
    });
  });

  test('standard input is read when the list that counts is empty', () => {
    holds(
      { operands: ['number*', '--', 'path*'], stdin: 'unless-operand' },
      { 'tool 1': 'parallel', 'tool 1 --': 'STDIN_READ' },
    );
  });
});

describe('shapes', () => {
  const command: Given['command'] = {
    options: { '-e, --expr': option({ takes: 'text' }), '-r; -l; -n': option() },
    shapes: [
      { why: 'made up for tests', without: ['-e'], operands: ['text', 'path*'] },
      { why: 'made up for tests', with: ['-e'], operands: ['path*'] },
      { why: 'made up for tests', with: ['-r | -l', '-n'], operands: [] },
    ],
  };

  test('one that fits is enough, and each spelling of an option counts for it', () => {
    holds(command, {
      'tool a b': 'parallel',
      'tool -e x b': 'parallel',
      'tool --expr=x b': 'parallel',
      'tool -e x /dev/tty': 'PATH_DEVICE',
      'tool x /dev/tty': 'PATH_DEVICE',
      'tool -rn': 'parallel',
      'tool -l -n': 'parallel',
      'tool -r': 'OPERAND_MISSING',
      'tool -n': 'OPERAND_MISSING',
    });
  });

  test('the report is of the shape that came furthest', () => {
    const shapes = [
      { why: 'made up for tests', with: ['-l'], operands: [] },
      { why: 'made up for tests', without: ['-r'], operands: ['number'] },
    ];
    holds(
      { options: { '-l; -r': option() }, shapes },
      {
        'tool -r': 'OPTION_REQUIRED',
        'tool -lr x': 'OPERAND_UNEXPECTED',
        'tool x': 'OPERAND_REFUSED',
        'tool 1 2': 'OPERAND_UNEXPECTED',
        tool: 'OPERAND_MISSING',
      },
    );
    const forms = [
      { why: 'made up for tests', operands: ['number', 'number?'] },
      { why: 'made up for tests', operands: [['get', 'set'], 'dotted-name', 'number'] },
      { why: 'made up for tests', operands: ['path+'], stdin: 'always' as const },
    ];
    holds({ shapes: forms.slice(0, 2) }, { 'tool 1 x': 'OPERAND_REFUSED', 'tool get a.b c': 'OPERAND_REFUSED' });
    const spanOf = (command: string) => {
      const verdict = classify(command, { rules: ruleSetWith(fileWith({ command: { shapes: forms.slice(0, 2) } })) });
      return verdict.kind === 'serial' ? command.slice(...verdict.reason.span) : null;
    };
    expect(['tool 1 x', 'tool 1 2 x', 'tool get a.b c', 'tool get ab 1', 'tool x'].map(spanOf)).toEqual([
      ...['x', 'x', 'c', 'ab', 'x'],
    ]);
    holds({ shapes: forms }, { 'tool get a.b c': 'STDIN_READ', tool: 'OPERAND_MISSING' });
    const second = { options: { '-r': option() }, shapes: shapes.slice(1) };
    holds(second, { 'tool -r 1': 'OPTION_CONFLICT' });
  });
});

describe('standard input', () => {
  const stdin = (given: 'never' | 'named' | 'unless-operand' | 'always', operands: string[]) =>
    ruleSetWith(fileWith({ command: { stdin: given, operands } }));

  test('a command that would read it is serial alone and fine behind a pipe', () => {
    for (const rules of [stdin('always', ['path*']), stdin('unless-operand', ['path*'])]) {
      expect(answer(rules, 'tool')).toBe('STDIN_READ');
      expect(answerInPipe(rules, 'tool')).toBe('parallel');
    }
    expect(answer(stdin('always', ['path*']), 'tool f')).toBe('STDIN_READ');
    expect(answer(stdin('unless-operand', ['path*']), 'tool f')).toBe('parallel');
    expect(answer(stdin('never', ['path*']), 'tool')).toBe('parallel');
  });

  test('what counts is whether the last list is empty', () => {
    const rules = stdin('unless-operand', ['pattern', 'path*']);
    expect(answersOf(rules, ['tool p', 'tool p f'])).toEqual({ 'tool p': 'STDIN_READ', 'tool p f': 'parallel' });
    expect(answer(stdin('unless-operand', ['path?']), 'tool')).toBe('STDIN_READ');
    expect(answer(stdin('unless-operand', ['pattern']), 'tool p')).toBe('parallel');
    expect(answer(stdin('unless-operand', []), 'tool')).toBe('STDIN_READ');
  });

  test('a dash as a file name is standard input to who says so, and a riddle to who never reads it', () => {
    for (const given of ['named', 'unless-operand', 'always'] as const) {
      const rules = stdin(given, ['path*']);
      expect([given, answer(rules, 'tool f -')]).toEqual([given, 'STDIN_READ']);
      expect([given, answerInPipe(rules, 'tool f -')]).toEqual([given, 'parallel']);
    }
    const rules = stdin('never', ['path*']);
    expect(answer(rules, 'tool f -')).toBe('STDIN_READ');
    expect(answerInPipe(rules, 'tool f -')).toBe('STDIN_READ');
    expect(answer(stdin('named', ['path*']), 'tool')).toBe('parallel');
  });

  test('the same of a dash as the value of an option, and of shapes that say otherwise', () => {
    const options = { '-f': option({ takes: 'path' }) };
    const shapes = [
      { without: ['-f'], operands: ['path*'], stdin: 'named' as const, why: 'made up for tests' },
      { with: ['-f'], operands: [], why: 'made up for tests' },
    ];
    const rules = ruleSetWith(fileWith({ command: { stdin: 'never', options, shapes } }));
    expect(answerInPipe(rules, 'tool -')).toBe('parallel');
    expect(answerInPipe(rules, 'tool -f -')).toBe('STDIN_READ');
    const open = ruleSetWith(fileWith({ command: { stdin: 'named', options, operands: [] } }));
    expect(answerInPipe(open, 'tool -f -')).toBe('parallel');
    expect(answer(open, 'tool -f -')).toBe('STDIN_READ');
  });
});

describe('globs', () => {
  const rules = ruleSetWith(
    fileWith({
      command: {
        options: { '-a': option(), '-n': option({ takes: 'number' }), '-f': option({ takes: 'path' }) },
        operands: ['word', 'path*'],
        globs: true,
      },
    }),
  );

  test('stand in the last unbounded list, behind every option, and begin with a literal', () => {
    const expected = {
      'tool x src/*.ts': 'parallel',
      'tool x ./a*': 'parallel',
      'tool x a?b c[0-9]': 'parallel',
      'tool -a x src/*': 'parallel',
      'tool -n 5 x src/*': 'parallel',
      'tool x -- src/*': 'parallel',
      'tool x src/* -a': 'GLOB_REFUSED',
      'tool x src/* -n 5': 'GLOB_REFUSED',
      'tool x src/* --': 'GLOB_REFUSED',
      'tool x *': 'GLOB_REFUSED',
      'tool x ?': 'GLOB_REFUSED',
      'tool x [a]': 'GLOB_REFUSED',
      'tool x -- *': 'GLOB_REFUSED',
      'tool x -- -*': 'GLOB_REFUSED',
      "tool x 's'*": 'GLOB_REFUSED',
      'tool x \\s*': 'GLOB_REFUSED',
      'tool s* f': 'GLOB_REFUSED',
      'tool -f s* x': 'GLOB_REFUSED',
    };
    expect(answersOf(rules, Object.keys(expected))).toEqual(expected);
  });

  test('never lead under device trees, or up', () => {
    const expected = {
      'tool x /dev/*': 'PATH_DEVICE',
      'tool x /d*/tty': 'PATH_DEVICE',
      'tool x /*': 'PATH_DEVICE',
      'tool x /[dp]*/x': 'PATH_DEVICE',
      'tool x /p*c/x': 'PATH_DEVICE',
      'tool x ../../s*/x': 'PATH_DEVICE',
      'tool x /src*/x': 'parallel',
      'tool x /d*s/x': 'parallel',
      'tool x /usr/d*': 'parallel',
      'tool x a/.*/b': 'GLOB_REFUSED',
      'tool x a/.?': 'GLOB_REFUSED',
      'tool x a/.[.]/b': 'GLOB_REFUSED',
      'tool x a/..*': 'GLOB_REFUSED',
      'tool x a/.e*': 'parallel',
      'tool x ../a*': 'parallel',
    };
    expect(answersOf(rules, Object.keys(expected))).toEqual(expected);
    expect(answer(rules, 'tool x ./*')).toBe('PATH_DEVICE');
    expect(answer(rules, 'tool x ./*', '/')).toBe('PATH_DEVICE');
    expect(answer(rules, 'tool x ./*', '/home')).toBe('parallel');
    expect(answer(rules, 'tool x d*/x', '/')).toBe('PATH_DEVICE');
    expect(answer(rules, 'tool x d*/x', '/home')).toBe('parallel');
    expect(answer(rules, 'tool x ../d*', '/home')).toBe('PATH_DEVICE');
  });

  test('are refused in a list that ends, and where the rule does not say so', () => {
    const one = ruleSetWith(fileWith({ command: { operands: ['path', 'path*', 'path'], globs: true } }));
    expect(answer(one, 'tool a b* c')).toBe('GLOB_REFUSED');
    const none = ruleSetWith(fileWith({ command: { operands: ['path*'] } }));
    expect(answer(none, 'tool a*')).toBe('GLOB_REFUSED');
  });

  test('with two lists, stand only in the second', () => {
    const both = ruleSetWith(fileWith({ command: { operands: ['word*', '--', 'path*'], globs: true } }));
    expect(answer(both, 'tool a -- b*')).toBe('parallel');
    expect(answer(both, 'tool a* -- b')).toBe('GLOB_REFUSED');
  });
});

describe('devices', () => {
  const rules = ruleSetWith(
    fileWith({
      command: {
        options: {
          '-f, --file': option({ takes: 'path' }),
          '-C': option({ takes: 'directory' }),
          '-t': option({ takes: 'text' }),
        },
        operands: ['path*'],
      },
    }),
  );

  test('no path leads under /dev, /proc or /sys, however it is written', () => {
    const refused = [
      '/dev/tty',
      '/dev',
      '//dev//tty',
      '/./dev/x',
      '/a/../dev/tty',
      '/proc/1/fd/0',
      '/sys/x',
      "'/dev'/tty",
    ];
    for (const path of refused) {
      for (const command of [
        `tool ${path}`,
        `tool -f ${path}`,
        `tool -f${path}`,
        `tool --file=${path}`,
        `tool -- ${path}`,
      ]) {
        expect([command, answer(rules, command)]).toEqual([command, 'PATH_DEVICE']);
      }
    }
    for (const path of ['/device', '/a/dev', '/dev.txt', '/home/dev/x', '/sysroot']) {
      expect([path, answer(rules, `tool ${path}`)]).toEqual([path, 'parallel']);
    }
    expect(answer(rules, 'tool -t /dev/tty')).toBe('parallel');
  });

  test('without a working directory, a path that could land there is refused', () => {
    for (const path of ['../dev/tty', '../../proc/x', 'a/../../sys', 'dev/tty', './proc', 'a/../dev']) {
      expect([path, answer(rules, `tool ${path}`)]).toEqual([path, 'PATH_DEVICE']);
    }
    for (const path of ['..', '../..', '../a/dev', 'a/dev', 'device', '.']) {
      expect([path, answer(rules, `tool ${path}`)]).toEqual([path, 'parallel']);
    }
  });

  test('with one, it is exactly known where it lands', () => {
    const rows: readonly (readonly [string, string, string])[] = [
      ['/', 'dev/tty', 'PATH_DEVICE'],
      ['/', './dev', 'PATH_DEVICE'],
      ['/a/..', 'dev', 'PATH_DEVICE'],
      ['/a', '../dev/tty', 'PATH_DEVICE'],
      ['/a', '../../../dev/tty', 'PATH_DEVICE'],
      ['/a/b', '../dev/tty', 'parallel'],
      ['/a', 'dev/tty', 'parallel'],
      ['/a', '/dev/tty', 'PATH_DEVICE'],
      ['/a/', '../dev', 'PATH_DEVICE'],
    ];
    for (const [cwd, path, expected] of rows)
      expect([cwd, path, answer(rules, `tool ${path}`, cwd)]).toEqual([cwd, path, expected]);
  });

  test('an option that names a directory leads there, and the start still counts', () => {
    const rows: readonly (readonly [string, string, string])[] = [
      ['/a', 'tool -C / dev/tty', 'PATH_DEVICE'],
      ['/a', 'tool -C .. dev/tty', 'PATH_DEVICE'],
      ['/a/b', 'tool -C .. -C .. dev/tty', 'PATH_DEVICE'],
      ['/a/b', 'tool -C .. dev/tty', 'parallel'],
      ['/a', 'tool -C b ../dev/tty', 'PATH_DEVICE'],
      ['/a/b/c', 'tool -C x ../dev/tty', 'parallel'],
      ['/a', 'tool -C /dev x', 'PATH_DEVICE'],
      ['/a', 'tool -C /x -C ../sys y', 'PATH_DEVICE'],
    ];
    for (const [cwd, command, expected] of rows)
      expect([command, answer(rules, command, cwd)]).toEqual([command, expected]);
    expect(answer(rules, 'tool -C .. dev/tty')).toBe('PATH_DEVICE');
    expect(answer(rules, 'tool -C a dev/tty')).toBe('PATH_DEVICE');
    expect(answer(rules, 'tool -C a b')).toBe('parallel');
    const globs = ruleSetWith(
      fileWith({ command: { options: { '-C': option({ takes: 'directory' }) }, operands: ['path*'], globs: true } }),
    );
    expect(answer(globs, 'tool -C b ../d*', '/a')).toBe('PATH_DEVICE');
    expect(answer(globs, 'tool -C .. d*', '/a')).toBe('PATH_DEVICE');
  });
});

describe('trees', () => {
  const rules = ruleSetWith(
    fileWith({
      command: {
        options: { '-C': option({ takes: 'directory' }), '-r': option() },
        shapes: [
          { why: 'made up for tests', with: ['-r'], operands: ['word', 'tree*'], globs: true },
          { why: 'made up for tests', without: ['-r'], operands: ['word', 'path*'] },
        ],
      },
    }),
  );

  test('a program that reads all below a directory does not start at the root', () => {
    const rows: readonly (readonly [string | undefined, string, string])[] = [
      [undefined, 'tool -r x', 'parallel'],
      [undefined, 'tool -r x src', 'parallel'],
      [undefined, 'tool -r x /', 'PATH_DEVICE'],
      [undefined, 'tool -r x ..', 'PATH_DEVICE'],
      [undefined, 'tool x /', 'parallel'],
      ['/', 'tool -r x', 'PATH_DEVICE'],
      ['/', 'tool x', 'parallel'],
      ['/', 'tool -r x a', 'parallel'],
      ['/a', 'tool -r x', 'parallel'],
      ['/a', 'tool -r x ..', 'PATH_DEVICE'],
      ['/a/b', 'tool -r x ..', 'parallel'],
      ['/a', 'tool -C .. -r x', 'PATH_DEVICE'],
      ['/a', 'tool -C / -r x', 'PATH_DEVICE'],
    ];
    for (const [cwd, command, expected] of rows) {
      expect([cwd, command, answer(rules, command, cwd)]).toEqual([cwd, command, expected]);
    }
  });
});
