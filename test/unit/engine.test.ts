import { describe, expect, test } from 'vitest';
import { classify } from '../../src/classifier/classify.ts';
import { answer, answerInPipe, answersOf, fileWith, nodeWith, option, ruleSetWith } from '../rules/fixture.ts';

describe('subcommands', () => {
  const rules = ruleSetWith(
    fileWith({
      syntax: 'getopt',
      command: {
        options: { '-q': option(), '-C': option({ takes: 'directory' }) },
        subcommands: {
          'list, ls': nodeWith({ operands: ['word?'], options: { '-l': option() } }),
          remote: nodeWith({
            operands: [],
            options: { '-v': option() },
            subcommands: { get: nodeWith({ operands: ['word'], syntax: 'words' }) },
          }),
        },
      },
    }),
  );

  test('are found whole, by each of their names, at any depth', () => {
    const expected = {
      'tool list': 'parallel',
      'tool ls x': 'parallel',
      'tool -q ls -l x': 'parallel',
      'tool -C d ls': 'parallel',
      'tool remote': 'parallel',
      'tool remote -v': 'parallel',
      'tool remote get x': 'parallel',
      tool: 'SUBCOMMAND_MISSING',
      'tool -q': 'SUBCOMMAND_MISSING',
      'tool --': 'SUBCOMMAND_MISSING',
      'tool -- list': 'SUBCOMMAND_MISSING',
      'tool lis': 'SUBCOMMAND_UNKNOWN',
      'tool lists': 'SUBCOMMAND_UNKNOWN',
      'tool LIST': 'SUBCOMMAND_UNKNOWN',
      "tool 'list'": 'SUBCOMMAND_UNKNOWN',
      'tool l\\ist': 'SUBCOMMAND_UNKNOWN',
      'tool list*': 'SUBCOMMAND_UNKNOWN',
      'tool constructor': 'SUBCOMMAND_UNKNOWN',
      'tool __proto__': 'SUBCOMMAND_UNKNOWN',
      'tool remote list': 'SUBCOMMAND_UNKNOWN',
      'tool remote get': 'OPERAND_MISSING',
      'tool ls -q': 'OPTION_UNKNOWN',
      'tool remote -- get': 'OPERAND_UNEXPECTED',
      'tool remote get -- x': 'OPTION_UNKNOWN',
    };
    expect(answersOf(rules, Object.keys(expected))).toEqual(expected);
  });

  test('the verdict names the node that decided', () => {
    const verdict = classify('tool remote get x', { rules });
    expect(verdict).toMatchObject({
      kind: 'parallel',
      rule: [{ binary: 'tool', path: 'tool remote get', origin: 'built-in' }],
    });
    expect(classify('tool remote get', { rules })).toMatchObject({ reason: { rule: { path: 'tool remote get' } } });
  });
});

describe('the leading token', () => {
  const rules = ruleSetWith(fileWith({ also: ['other', '['] }), fileWith({ binary: 'piped', only: 'compound' }));

  test('is a bare name that has a rule', () => {
    const expected = {
      tool: 'parallel',
      'other x': 'parallel',
      '[ x': 'parallel',
      'too x': 'COMMAND_UNKNOWN',
      Tool: 'COMMAND_UNKNOWN',
      constructor: 'COMMAND_UNKNOWN',
      __proto__: 'COMMAND_UNKNOWN',
      "'tool'": 'COMMAND_NOT_PLAIN',
      't\\ool': 'COMMAND_NOT_PLAIN',
      '"tool" x': 'COMMAND_NOT_PLAIN',
      '/bin/tool': 'COMMAND_NOT_PLAIN',
      './tool': 'COMMAND_NOT_PLAIN',
      'to*': 'TEXT_GLOB',
      'piped x': 'COMPOUND_ONLY',
    };
    expect(answersOf(rules, Object.keys(expected))).toEqual(expected);
    expect(answerInPipe(rules, 'piped x')).toBe('parallel');
  });

  test('retired and unasked experimental binaries keep their names and are not proved', () => {
    for (const maturity of ['retired', 'experimental'] as const) {
      expect(answer(ruleSetWith(fileWith({ maturity })), 'tool')).toBe('COMMAND_UNKNOWN');
    }
  });
});

test('alone: a word that is accepted as the sole argument, and only so', () => {
  const alone = { '--version, -V': option(), help: option() };
  const rules = ruleSetWith(fileWith({ alone, command: { operands: [] } }));
  const expected = {
    'tool --version': 'parallel',
    'tool -V': 'parallel',
    'tool help': 'parallel',
    'tool --version x': 'OPTION_UNKNOWN',
    'tool -V -V': 'OPTION_UNKNOWN',
    "tool '-V'": 'OPERAND_QUOTED_OPTION',
    'tool help help': 'OPERAND_UNEXPECTED',
    'tool --versio': 'OPTION_UNKNOWN',
  };
  expect(answersOf(rules, Object.keys(expected))).toEqual(expected);
  expect(classify('tool --version', { rules })).toMatchObject({ rule: [{ path: 'tool --version' }], effects: [] });
});

test('a builtin runs in bash, and no word of it holds a subscript', () => {
  const rules = ruleSetWith(fileWith({ builtin: true, also: ['['] }));
  expect(classify('tool x', { rules })).toMatchObject({ kind: 'parallel', run: { form: 'bash' } });
  expect(answersOf(rules, ["tool 'a[x]'", 'tool a[x]', '[ x ]', "tool x 'b[1]'"])).toEqual({
    "tool 'a[x]'": 'OPERAND_SUBSCRIPT',
    'tool a[x]': 'OPERAND_SUBSCRIPT',
    '[ x ]': 'parallel',
    "tool x 'b[1]'": 'OPERAND_SUBSCRIPT',
  });
});

describe('expressions', () => {
  const words = {
    '-P': option(),
    '-n': option({ takes: 'text' }),
    '-t': option(),
    '!; -not; -a; -o; ,; \\(; \\)': option(),
  };
  const expression = {
    open: ['\\('],
    close: ['\\)'],
    not: ['!', '-not'],
    join: ['-a', '-o', ','],
    leading: ['-P'],
    implicitJoin: true as const,
    operandsFirst: true as const,
  };
  const rules = ruleSetWith(
    fileWith({ syntax: 'words', command: { options: words, expression, operands: ['path*'] } }),
  );

  test('hold together', () => {
    const whole = [
      'tool',
      'tool d',
      'tool d e -t',
      'tool -P d -t',
      'tool -t -t',
      'tool -t -o -t',
      'tool d ! -t',
      'tool d ! ! -not -t',
      'tool \\( -t \\)',
      'tool \\( -t -o ! \\( -n -delete -a -t \\) \\) -t',
      'tool -t , -t',
      'tool -n \\) -t',
      'tool -P',
    ];
    expect(answersOf(rules, whole)).toEqual(Object.fromEntries(whole.map((command) => [command, 'parallel'])));
  });

  test('or are refused', () => {
    const broken = [
      'tool -t d',
      'tool -t -P',
      'tool d -P',
      'tool \\( \\)',
      'tool \\( -t',
      'tool -t \\)',
      'tool \\)',
      'tool -o -t',
      'tool -t -o',
      'tool -t -o -a -t',
      'tool !',
      'tool -t !',
      'tool ! -o -t',
      'tool \\( -o -t \\)',
      'tool \\( -t -o \\)',
      'tool \\( ! \\)',
      'tool -t , , -t',
      'tool , d',
    ];
    expect(answersOf(rules, broken)).toEqual(
      Object.fromEntries(broken.map((command) => [command, 'EXPRESSION_REFUSED'])),
    );
    expect(answer(rules, 'tool -x')).toBe('OPTION_UNKNOWN');
    expect(answer(rules, "tool '-t'")).toBe('OPERAND_QUOTED_OPTION');
  });

  test('without `implicitJoin` something stands between terms; without `operandsFirst` operands stand anywhere', () => {
    const { implicitJoin: _, operandsFirst: __, ...strict } = expression;
    const other = ruleSetWith(
      fileWith({ syntax: 'words', command: { options: words, expression: strict, operands: ['path*'] } }),
    );
    expect(
      answersOf(other, ['tool -t -t', 'tool -t -a -t', 'tool -t d', 'tool -t \\( -t \\)', 'tool -t ! -t']),
    ).toEqual({
      'tool -t -t': 'EXPRESSION_REFUSED',
      'tool -t -a -t': 'parallel',
      'tool -t d': 'parallel',
      'tool -t \\( -t \\)': 'EXPRESSION_REFUSED',
      'tool -t ! -t': 'EXPRESSION_REFUSED',
    });
  });
});

describe('delegation', () => {
  const outer = fileWith({
    binary: 'each',
    only: 'compound',
    command: {
      stdin: 'always',
      options: { '-n': option({ takes: 'number' }), '-0': option() },
      delegates: [
        { command: 'count', exactly: ['-l'], why: 'made up for tests' },
        { command: 'seek', ends: '--', why: 'made up for tests' },
        { command: 'each', ends: '--', why: 'made up for tests' },
        { command: 'absent', ends: '--', why: 'made up for tests' },
      ],
    },
  });
  const count = fileWith({ binary: 'count', command: { options: { '-l; -c': option() }, operands: ['text*'] } });
  const seek = fileWith({
    binary: 'seek',
    command: { options: { '-e': option({ takes: 'text' }) }, operands: ['pattern', 'path*'] },
  });
  const one = fileWith({ binary: 'one', command: { operands: ['word?'] } });
  const rules = ruleSetWith(outer, count, seek, one);
  const behindPipe = (command: string): string => answerInPipe(rules, command);

  test('the inner command is judged by its own rule, with names nobody knows behind it', () => {
    for (const command of ['each count -l', 'each -0 -n 5 count -l', 'each seek x --', 'each seek -e -- x --']) {
      expect([command, behindPipe(command)]).toEqual([command, 'parallel']);
    }
  });

  test('anything else is refused', () => {
    const expected = {
      each: 'OPERAND_MISSING',
      'each -n x count -l': 'VALUE_REFUSED',
      'each count -c': 'DELEGATE_REFUSED',
      'each count -l -l': 'DELEGATE_REFUSED',
      "each count '-l'": 'DELEGATE_REFUSED',
      'each count': 'DELEGATE_REFUSED',
      "each 'count' -l": 'DELEGATE_REFUSED',
      'each seek x': 'DELEGATE_REFUSED',
      'each seek -e --': 'DELEGATE_REFUSED',
      'each seek -x --': 'OPTION_UNKNOWN',
      'each seek /dev/tty /dev/tty --': 'PATH_DEVICE',
      'each one --': 'DELEGATE_REFUSED',
      'each absent --': 'DELEGATE_REFUSED',
      'each each --': 'DELEGATE_REFUSED',
      'each each count -l --': 'STDIN_READ',
      'each other': 'DELEGATE_REFUSED',
    };
    const commands = Object.keys(expected);
    expect(Object.fromEntries(commands.map((command) => [command, behindPipe(command)]))).toEqual(expected);
  });

  test('only behind a pipe: alone, it would read standard input', () => {
    const anywhere = ruleSetWith({ ...outer, only: undefined }, count, seek);
    expect(answer(anywhere, 'each count -l')).toBe('STDIN_READ');
  });

  test('with one and with two names: a command that takes one operand only is refused', () => {
    const delegates = [{ command: 'one', ends: '--' as const, why: 'made up for tests' }];
    const narrow = ruleSetWith(fileWith({ binary: 'each', command: { stdin: 'always', delegates } }), one);
    expect(answerInPipe(narrow, 'each one --')).toBe('OPERAND_UNEXPECTED');
  });
});

describe('what is known to be unsafe', () => {
  const rules = ruleSetWith(
    fileWith({
      command: {
        options: { '-a': option(), '-n': option({ takes: 'text' }) },
        refuses: { '-o, --output; -w': 'writes a file', drop: 'removes everything', '+f': 'follows for ever' },
        subcommands: {
          show: nodeWith({ operands: [], options: { '-a': option() }, refuses: { '-e': 'starts an editor' } }),
          kept: nodeWith({
            bare: 'drops everything it keeps',
            refuses: { '--output': 'sends it away' },
            subcommands: { list: nodeWith({ operands: ['word'], options: { '--output': option() } }) },
          }),
          plain: nodeWith({ subcommands: { list: nodeWith({ operands: ['word'] }) } }),
        },
      },
    }),
  );
  const knowledge = (command: string): string => {
    const verdict = classify(command, { rules });
    if (verdict.kind === 'parallel') return 'parallel';
    return `${verdict.reason.knowledge}: ${verdict.reason.message}`;
  };

  test('is said of the word that was refused, in clusters and with values too', () => {
    for (const command of ['tool -o x', 'tool --output=x', 'tool -w', 'tool -ao x']) {
      expect(knowledge(command)).toMatch(/^known-unsafe: .* It is known to be unsafe: writes a file\.$/);
    }
    expect(knowledge('tool drop')).toContain('removes everything');
    expect(knowledge('tool show -e')).toContain('starts an editor');
  });

  test('of an option by its name below too, unless the node there says otherwise', () => {
    expect(knowledge('tool show --output=x')).toContain('writes a file');
    expect(knowledge('tool plain list --output x')).toContain('writes a file');
    expect(knowledge('tool kept --output=x')).toContain('sends it away');
    expect(knowledge('tool kept list --output')).toBe('unrecognised: `tool kept list` needs more operands.');
    expect(knowledge('tool kept list --output=x')).toMatch(/^unrecognised/);
    expect(knowledge('tool kept list --output x')).toBe('parallel');
  });

  test('of a node that needs a subcommand and has none', () => {
    expect(knowledge('tool kept')).toMatch(/^known-unsafe: .* It is known to be unsafe: drops everything it keeps\.$/);
    expect(knowledge('tool kept x')).toMatch(/^unrecognised/);
    expect(knowledge('tool plain')).toMatch(/^unrecognised/);
  });

  test('of operands that no shape takes, unless the node knows the word', () => {
    const others = ruleSetWith(
      fileWith({
        command: {
          options: { '-a': option() },
          otherwise: 'runs what it is told',
          refuses: { drop: 'removes everything' },
          shapes: [{ why: 'made up for tests', with: ['-a'], operands: ['number', 'number?'] }],
        },
      }),
    );
    const said = (command: string): string => {
      const verdict = classify(command, { rules: others });
      return verdict.kind === 'parallel' ? 'parallel' : `${verdict.reason.knowledge} ${verdict.reason.message}`;
    };
    for (const command of ['tool x', 'tool', 'tool -a 1 2 x']) {
      expect(said(command)).toMatch(/^known-unsafe .* It is known to be unsafe: runs what it is told\.$/);
    }
    expect(said('tool -a 1 2 drop')).toContain('removes everything');
    for (const command of ['tool -a x', 'tool -a', 'tool -b', 'tool -a 1 *']) {
      expect(said(command)).toMatch(/^unrecognised/);
    }
    expect(said('tool -a 1')).toBe('parallel');
  });

  test('of a value that a kind does not accept, as an operand and in every form of an option', () => {
    const values = { format: { why: 'made up for tests', words: ['short'], otherwise: 'may start a program' } };
    const command = { options: { '-f, --format': option({ takes: 'format' }) }, operands: ['format?'] };
    const kinds = ruleSetWith(fileWith({ values, command }));
    for (const text of ['tool x', 'tool -fx', 'tool -f x', 'tool --format=x', 'tool --format x']) {
      const verdict = classify(text, { rules: kinds });
      expect(verdict).toMatchObject({ kind: 'serial', reason: { knowledge: 'known-unsafe' } });
      expect(verdict.kind === 'serial' && verdict.reason.message).toContain('may start a program');
    }
    expect(classify('tool --format short short', { rules: kinds }).kind).toBe('parallel');
  });

  test('and of nothing else', () => {
    for (const command of [
      'tool -x',
      'tool -now',
      'tool --out',
      'tool other',
      'tool show -o',
      'tool show -w',
      'tool show drop',
      'tool plain list +f +f',
      'tool show',
      'tool --o',
    ]) {
      expect(knowledge(command)).not.toMatch(/^known-unsafe/);
    }
    expect(knowledge('tool show')).toBe('parallel');
  });
});
