import { describe, expect, test } from 'vitest';
import { classify } from '../../src/classifier/classify.ts';
import { exportRules, restoreRules } from '../../src/classifier/rule-set.ts';
import type { RuleFile } from '../../src/rules/schema.ts';
import { loosenings } from '../../src/rules/tightening.ts';
import { fileWith, nodeWith, option, PROFILES, ruleSetWith } from '../rules/fixture.ts';

const WHY = 'made up for tests';

/** Any JSON, to be spoiled. */
type Loose = ReturnType<typeof JSON.parse>;

const VALUES: NonNullable<RuleFile['values']> = {
  format: {
    why: WHY,
    words: ['short', 'full'],
    starts: ['p='],
    template: { after: ['', 'f:'], mark: '%', allow: ['a', 'an'] },
  },
};

/** A built-in file with one of everything that can be loosened. */
function base(change: (file: Loose) => void = () => undefined): RuleFile {
  const file = structuredClone(
    fileWith({
      also: ['other'],
      alone: { '--version, -V': option() },
      resources: ['daemon'],
      identity: ['text one', 'text two'],
      profile: 'quiet',
      values: VALUES,
      command: {
        effects: ['network'],
        observes: ['files', 'repository'],
        options: { '-q, --quiet; -v': option(), '-NUMBER': option() },
        subcommands: {
          'list, ls': nodeWith({
            options: {
              '-a, --all; -b': option(),
              '-n': option({ takes: 'number' }),
              '-t': option({ takes: 'text' }),
              '-m': option({ takes: ['x', 'y'] }),
              '-f': option({ takes: 'format' }),
              '-j': option({ takes: 'text', form: 'joined' as const }),
              '-o': option({ takes: 'word', optional: true as const }),
            },
            shapes: [
              { why: WHY, with: ['-a | -b'], without: ['-n'], operands: ['path', 'word*', '--', 'path*'], globs: true },
              { why: WHY, operands: ['path?'], stdin: 'unless-operand' },
            ],
          }),
          find: nodeWith({
            syntax: 'words',
            options: { '-o; -x': option() },
            expression: { join: ['-o'], operandsFirst: true },
            operands: ['path*'],
          }),
          say: nodeWith({ dashes: 'text', operands: ['text*'], observes: ['index'], starts: ['pager'] }),
          each: nodeWith({
            stdin: 'always',
            delegates: [{ command: 'list', exactly: ['-l'], after: ['list', 'find'], without: ['-n', '-o'], why: WHY }],
            after: { list: ['-a', { '-t': ['f', 'd'] }], find: [] },
            headings: { list: ['-d', '-x'] },
            nul: { each: { with: ['-0'] }, list: { with: ['-z', '-0'], unless: ['-p'] } },
          }),
        },
      },
    }),
  );
  change(file);
  return file as RuleFile;
}

function loosened(change: (file: Loose) => void): readonly string[] {
  return loosenings(base(change), base(), PROFILES).map(
    ({ pointer, message }) => `${pointer}: ${message.replace(/^.*permit, got (.*); .*$/, '$1')}`,
  );
}

const list = (file: Loose): Loose => file.command.subcommands['list, ls'];
const each = (file: Loose): Loose => file.command.subcommands.each;

test('the same file loosens nothing', () => {
  expect(loosened(() => undefined)).toEqual([]);
});

describe('taking away what permits, and sharpening what restricts, tightens', () => {
  const tighter: readonly (readonly [string, (file: Loose) => void])[] = [
    ['another name less', (f) => delete f.also],
    ['no word alone', (f) => delete f.alone],
    ['more lock keys', (f) => f.resources.push('more')],
    ['less mature', (f) => (f.maturity = 'experimental')],
    ['retired', (f) => (f.maturity = 'retired')],
    ['only in pipes', (f) => (f.only = 'compound')],
    ['no number', (f) => delete f.command.options['-NUMBER']],
    ['no option', (f) => (f.command.options = {})],
    ['a spelling less', (f) => (f.command.options = { '-q; -v': option() })],
    ['a subcommand less', (f) => delete f.command.subcommands.find],
    ['a name of a subcommand less', (f) => (f.command.subcommands = { ls: list(f) })],
    ['more effects', (f) => f.command.effects.push('own-log')],
    ['a value narrower than text', (f) => (list(f).options['-t'].takes = 'word')],
    ['words for a kind', (f) => (list(f).options['-n'].takes = ['1', '2'])],
    ['a word less', (f) => (list(f).options['-m'].takes = ['x'])],
    ['a placeholder less', (f) => (f.values.format.template.allow = ['a'])],
    ['a beginning less', (f) => delete f.values.format.starts],
    ['a longer beginning', (f) => (f.values.format.starts = ['p=x'])],
    ['no template', (f) => delete f.values.format.template],
    ['a prefix of a template less', (f) => (f.values.format.template.after = ['f:'])],
    ['a form', (f) => (list(f).options['-t'].form = 'spaced')],
    ['a shape less', (f) => list(f).shapes.pop()],
    ['another demand', (f) => (list(f).shapes[1].with = ['-a'])],
    ['a sharper demand', (f) => (list(f).shapes[0].with = ['-a'])],
    ['another ban', (f) => list(f).shapes[0].without.push('-t')],
    ['fewer operands', (f) => (list(f).shapes[0].operands = ['path', 'word', '--', 'path+'])],
    ['a narrower kind', (f) => (list(f).shapes[0].operands = ['path', ['x'], '--', 'path*'])],
    ['no globs', (f) => delete list(f).shapes[0].globs],
    ['reads more often', (f) => (list(f).shapes[1].stdin = 'always')],
    [
      'an option less, with the ban on it',
      (f) => {
        delete list(f).options['-n'];
        delete list(f).shapes[0].without;
      },
    ],
    ['a delegate without another option', (f) => each(f).delegates[0].without.push('-p')],
    ['another option that ends with a newline', (f) => each(f).nul.list.unless.push('-q')],
    ['no text with dashes', (f) => delete f.command.subcommands.say.dashes],
    ['fewer texts to know the program by', (f) => f.identity.pop()],
    [
      'an expression where there was none',
      (f) => Object.assign(f.command.subcommands.say, { dashes: undefined, syntax: 'getopt' }),
    ],
  ];
  for (const [title, change] of tighter) {
    test(title, () => {
      expect(loosened(change)).toEqual([]);
    });
  }
});

describe('adding what permits, and blunting what restricts, loosens', () => {
  const looser: readonly (readonly [string, (file: Loose) => void, string])[] = [
    ['a name', (f) => f.also.push('third'), '/also: another name'],
    ['a word alone', (f) => (f.alone['--help'] = option()), '/alone: that "--help" may stand alone'],
    ['fewer lock keys', (f) => delete f.resources, '/resources: fewer lock keys'],
    ['no text to know the program by', (f) => delete f.identity, '/identity: another program'],
    ['another text to know it by', (f) => f.identity.push('text three'), '/identity: another program'],
    ['another profile', (f) => delete f.profile, '/profile: another profile'],
    [
      'another profile of a subcommand',
      (f) => (f.command.subcommands['list, ls'].profile = 'generic'),
      '/command/subcommands/list, ls/profile: another profile',
    ],
    [
      'a refresh of the index that is not told',
      (f) => (f.command.subcommands.say.observes = ['repository']),
      '/command/subcommands/say/observes: fewer assumptions',
    ],
    [
      'a program that it starts and does not name',
      (f) => delete f.command.subcommands.say.starts,
      '/command/subcommands/say/starts: that it does not start "pager"',
    ],
    ['another way to run', (f) => (f.builtin = true), '/builtin: another way to run'],
    ['an option', (f) => (f.command.options['-x'] = option()), '/command/options: the option "-x"'],
    [
      'a spelling',
      (f) => (f.command.options = { '-q, --quiet, --silent; -v': option() }),
      '/command/options: the option "--silent"',
    ],
    [
      'spellings parted',
      (f) => (f.command.options = { '-q; --quiet': option() }),
      '/command/options: "--quiet" beside other spellings',
    ],
    [
      'options made one',
      (f) => (f.command.options = { '-q, -v': option() }),
      '/command/options: "-v" beside other spellings',
    ],
    [
      'a number',
      (f) => (list(f).options['-NUMBER'] = option()),
      '/command/subcommands/list, ls/options: the option "-NUMBER"',
    ],
    [
      'a switch with a value',
      (f) => (f.command.options['-q, --quiet; -v'].takes = 'text'),
      '/command/options: another value or form for "-q"',
    ],
    [
      'a value for a switch',
      (f) => delete list(f).options['-n'].takes,
      '/command/subcommands/list, ls/options: another value or form for "-n"',
    ],
    [
      'a wider kind',
      (f) => (list(f).options['-n'].takes = 'text'),
      '/command/subcommands/list, ls/options: another value or form for "-n"',
    ],
    [
      'another kind',
      (f) => (list(f).options['-n'].takes = 'size'),
      '/command/subcommands/list, ls/options: another value or form for "-n"',
    ],
    [
      'a kind for words',
      (f) => (list(f).options['-m'].takes = 'word'),
      '/command/subcommands/list, ls/options: another value or form for "-m"',
    ],
    [
      'a word',
      (f) => list(f).options['-m'].takes.push('z'),
      '/command/subcommands/list, ls/options: another value or form for "-m"',
    ],
    [
      'a word of a value',
      (f) => f.values.format.words.push('other'),
      '/command/subcommands/list, ls/options: another value or form for "-f"',
    ],
    [
      'a shorter beginning',
      (f) => (f.values.format.starts = ['p']),
      '/command/subcommands/list, ls/options: another value or form for "-f"',
    ],
    [
      'a placeholder',
      (f) => f.values.format.template.allow.push('z'),
      '/command/subcommands/list, ls/options: another value or form for "-f"',
    ],
    [
      'another mark',
      (f) => (f.values.format.template.mark = '$'),
      '/command/subcommands/list, ls/options: another value or form for "-f"',
    ],
    [
      'a value instead of a kind',
      (f) => (list(f).options['-n'].takes = 'format'),
      '/command/subcommands/list, ls/options: another value or form for "-n"',
    ],
    [
      'a path instead of a word',
      (f) => (list(f).options['-o'].takes = 'path'),
      '/command/subcommands/list, ls/options: another value or form for "-o"',
    ],
    [
      'a freed form',
      (f) => delete list(f).options['-j'].form,
      '/command/subcommands/list, ls/options: another value or form for "-j"',
    ],
    [
      'an optional value',
      (f) => (list(f).options['-t'].optional = true),
      '/command/subcommands/list, ls/options: another value or form for "-t"',
    ],
    [
      'a needed value',
      (f) => delete list(f).options['-o'].optional,
      '/command/subcommands/list, ls/options: another value or form for "-o"',
    ],
    ['another syntax', (f) => (f.syntax = 'pflag'), '/command/syntax: another syntax'],
    [
      'a subcommand',
      (f) => (f.command.subcommands.more = nodeWith({ operands: [] })),
      '/command/subcommands/more: the subcommand "more"',
    ],
    [
      'a subcommand below',
      (f) => {
        list(f).subcommands = { more: nodeWith({ operands: [] }) };
        list(f).shapes = [];
      },
      '/command/subcommands/list, ls/subcommands/more: the subcommand "more"',
    ],
    [
      'a shape',
      (f) => list(f).shapes.push({ why: WHY, operands: ['path', 'path'] }),
      '/command/subcommands/list, ls/shapes/2: a shape',
    ],
    ['a demand less', (f) => delete list(f).shapes[0].with, '/command/subcommands/list, ls/shapes/0: a shape'],
    [
      'a wider demand',
      (f) => (list(f).shapes[0].with = ['-a | -b | -t']),
      '/command/subcommands/list, ls/shapes/0: a shape',
    ],
    ['a ban less', (f) => delete list(f).shapes[0].without, '/command/subcommands/list, ls/shapes/0: a shape'],
    [
      'more operands',
      (f) => (list(f).shapes[1].operands = ['path*']),
      '/command/subcommands/list, ls/shapes/1: a shape',
    ],
    [
      'another list',
      (f) => (list(f).shapes[1].operands = ['path?', '--', 'path*']),
      '/command/subcommands/list, ls/shapes/1: a shape',
    ],
    [
      'a wider operand',
      (f) => (list(f).shapes[1].operands = ['text?']),
      '/command/subcommands/list, ls/shapes/1: a shape',
    ],
    [
      'fewer items, so that input is read less often',
      (f) => (list(f).shapes[0].operands = ['path', '--', 'path*']),
      '/command/subcommands/list, ls/shapes/0: a shape',
    ],
    [
      'globs',
      (f) => Object.assign(f.command.subcommands.find, { globs: true }),
      '/command/subcommands/find/operands: a shape',
    ],
    ['reads less often', (f) => (list(f).shapes[1].stdin = 'never'), '/command/subcommands/list, ls/shapes/1: a shape'],
    [
      'no expression',
      (f) => delete f.command.subcommands.find.expression,
      '/command/subcommands/find/expression: another expression',
    ],
    [
      'another expression',
      (f) => delete f.command.subcommands.find.expression.operandsFirst,
      '/command/subcommands/find/expression: another expression',
    ],
    [
      'text with dashes',
      (f) => Object.assign(f.command.subcommands.find, { dashes: 'text', operands: ['text*'], expression: undefined }),
      '/command/subcommands/find/dashes: text with a dash',
    ],
    [
      'a delegate',
      (f) => f.command.subcommands.each.delegates.push({ command: 'x', ends: '--', why: WHY }),
      '/command/subcommands/each/delegates: that it runs x',
    ],
    [
      'a freer delegate',
      (f) => (f.command.subcommands.each.delegates[0] = { command: 'list', ends: '--', why: WHY }),
      '/command/subcommands/each/delegates: that it runs list',
    ],
    [
      'a delegate behind any listing',
      (f) => delete f.command.subcommands.each.delegates[0].after,
      '/command/subcommands/each/delegates: that it runs list',
    ],
    [
      'a delegate behind another listing',
      (f) => f.command.subcommands.each.delegates[0].after.push('tool'),
      '/command/subcommands/each/delegates: that it runs list',
    ],
    [
      'a delegate with an option that it is not run with',
      (f) => each(f).delegates[0].without.pop(),
      '/command/subcommands/each/delegates: that it runs list',
    ],
    [
      'an end of names that nobody tells',
      (f) => delete each(f).nul.list,
      '/command/subcommands/each/nul: another end of the names of "list"',
    ],
    [
      'an end of names that was not told',
      (f) => (each(f).nul.find = { with: ['-0'] }),
      '/command/subcommands/each/nul: another end of the names of "find"',
    ],
    [
      'another option that ends names with NUL',
      (f) => each(f).nul.list.with.push('-p'),
      '/command/subcommands/each/nul: another end of the names of "list"',
    ],
    [
      'fewer options that end names with NUL',
      (f) => each(f).nul.list.with.pop(),
      '/command/subcommands/each/nul: another end of the names of "list"',
    ],
    [
      'some that end with a newline all the same',
      (f) => delete each(f).nul.list.unless,
      '/command/subcommands/each/nul: another end of the names of "list"',
    ],
    [
      'names from another rule',
      (f) => (f.command.subcommands.each.after.tool = []),
      '/command/subcommands/each/after: names from "tool"',
    ],
    [
      'names with another option',
      (f) => f.command.subcommands.each.after.list.push('-b'),
      '/command/subcommands/each/after/list: names from it with -b',
    ],
    [
      'names with another value',
      (f) => f.command.subcommands.each.after.list[1]['-t'].push('p'),
      '/command/subcommands/each/after/list: names from it with -t',
    ],
    [
      'names with any value',
      (f) => (f.command.subcommands.each.after.list[1] = '-t'),
      '/command/subcommands/each/after/list: names from it with -t',
    ],
    [
      'headings',
      (f) => delete f.command.subcommands.each.headings,
      '/command/subcommands/each/headings: headings of "list"',
    ],
    [
      'headings with another option',
      (f) => f.command.subcommands.each.headings.list.push('-y'),
      '/command/subcommands/each/headings: headings of "list"',
    ],
    ['fewer effects', (f) => delete f.command.effects, '/command/observes: fewer effects'],
    [
      'the whole environment',
      (f) => f.command.observes.push('environment'),
      '/command/observes: the whole environment',
    ],
  ];
  for (const [title, change, expected] of looser) {
    test(title, () => {
      expect(loosened(change)).toContain(expected);
    });
  }

  test('a more mature file, or one outside pipes', () => {
    const retired = base((f) => Object.assign(f, { maturity: 'retired', only: 'compound' }));
    const messages = loosenings(base(), retired, PROFILES).map(({ pointer }) => pointer);
    expect(messages).toEqual(['/only', '/maturity']);
  });
});

test('a file that does not fit together is left to the error that says so', () => {
  const broken = base((f) => {
    f.command.use = ['none'];
    f.command.options['-x'] = option();
  });
  expect(loosenings(broken, base(), PROFILES)).toEqual([]);
  expect(loosenings(base(), broken, PROFILES)).toEqual([
    { pointer: '', message: 'expected a built-in rule that fits together, to compare with' },
  ]);
});

describe('an override permits, at its entry and no other', () => {
  test('at the top, everything', () => {
    expect(
      loosened((f) => {
        f.override = true;
        delete f.profile;
        f.command.options['-x'] = option();
      }),
    ).toEqual([]);
  });

  test('at a node, what is in it and below', () => {
    const change = (f: Loose): void => {
      Object.assign(list(f), { override: true, shapes: [{ why: WHY, operands: ['text*'] }] });
      f.command.subcommands.more = { ...nodeWith({ operands: [] }), override: true };
    };
    expect(loosened(change)).toEqual([]);
    expect(
      loosened((f) => {
        change(f);
        f.command.options['-x'] = option();
      }),
    ).toEqual(['/command/options: the option "-x"']);
  });

  test('at an option or a shape', () => {
    expect(
      loosened((f) => {
        f.command.options['-x'] = { ...option(), override: true };
        list(f).shapes.push({ why: WHY, operands: ['path', 'path'], override: true });
      }),
    ).toEqual([]);
  });

  test('and shows in every verdict that rests on it', () => {
    const file = base((f) => {
      f.command.options['-x'] = { ...option(), override: true };
      f.command.options['-y'] = { ...option({ takes: 'word' }), override: true };
      list(f).shapes.push({ why: WHY, operands: ['path', 'path'], override: true });
      f.command.subcommands.more = {
        ...nodeWith({ subcommands: { most: nodeWith({ operands: [] }) } }),
        override: true,
      };
    });
    const data = exportRules(ruleSetWith(file));
    const rules = restoreRules({ ...data, files: data.files.map((one) => ({ ...one, origin: 'user' as const })) });
    const origin = (command: string): string => {
      const verdict = classify(command, { rules });
      return verdict.kind === 'parallel' ? verdict.rule.map((one) => one.origin).join() : verdict.reason.code;
    };
    expect(origin('tool list p')).toBe('user');
    expect(origin('tool --version')).toBe('user');
    expect(origin('tool -x list p')).toBe('override');
    expect(origin('tool -xq list p')).toBe('override');
    expect(origin('tool -y v list p')).toBe('override');
    expect(origin('tool list p q')).toBe('override');
    expect(origin('tool more most')).toBe('override');
    const whole = restoreRules({ ...data, files: [{ origin: 'user', file: { ...file, override: true } }] });
    expect(classify('tool --version', { rules: whole })).toMatchObject({ rule: [{ origin: 'override' }] });
    expect(classify('tool list p', { rules: whole })).toMatchObject({ rule: [{ origin: 'override' }] });
  });
});
