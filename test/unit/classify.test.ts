import { describe, expect, test } from 'vitest';
import { createClassifier } from '../../src/classifier/classifier.ts';
import { classify, judge } from '../../src/classifier/classify.ts';
import type { SecondReading } from '../../src/classifier/judgement.ts';
import { messageOf } from '../../src/classifier/messages.ts';
import { exportRules, restoreRules } from '../../src/classifier/rule-set.ts';
import { secondReading } from '../../src/classifier/second-reading.ts';
import { REASON_CODES, type Verdict } from '../../src/classifier/verdict.ts';
import type { SignalboxError } from '../../src/errors.ts';
import { answer, fileWith, nodeWith, option, ruleSetWith } from '../rules/fixture.ts';

const rules = ruleSetWith(
  fileWith({
    profile: 'quiet',
    resources: ['made-up-daemon'],
    command: {
      observes: ['files', 'repository', 'daemon'],
      effects: ['network', 'own-log'],
      options: {
        '-C': option({ takes: 'directory' }),
        '-f': option({ takes: 'path' }),
        '-t': option({ takes: 'text' }),
      },
      operands: ['path*'],
      globs: true,
    },
  }),
  fileWith({ binary: 'show', command: { observes: ['environment'], operands: [] } }),
  fileWith({ binary: 'plain', command: { observes: ['clock', 'processes', 'remote'] } }),
);

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return (error as SignalboxError).code;
  }
  return 'nothing thrown';
}

describe('a parallel verdict', () => {
  test('says how to run, with which environment, on which ground', () => {
    expect(classify('tool -t \'a b\' "c"', { rules })).toEqual({
      kind: 'parallel',
      run: { form: 'argv', argv: ['tool', '-t', 'a b', 'c'], env: { PAGER: 'cat', QUIET: '1' } },
      profile: 'quiet',
      rule: [{ binary: 'tool', path: 'tool', origin: 'built-in' }],
      effects: ['reads-files', 'reads-repository', 'talks-to-daemon', 'reads-network', 'own-log'],
      assumes: ['repository-plain'],
      ruleset: 'sha256:made-up',
    });
    expect(classify('plain x', { rules })).toEqual({
      kind: 'parallel',
      run: { form: 'argv', argv: ['plain', 'x'], env: {} },
      profile: 'generic',
      rule: [{ binary: 'plain', path: 'plain', origin: 'built-in' }],
      effects: ['reads-clock', 'reads-processes', 'reads-network'],
      assumes: [],
      ruleset: 'sha256:made-up',
    });
  });

  test('runs the text in bash when a glob stands in it', () => {
    expect(classify('tool a*', { rules })).toMatchObject({ kind: 'parallel', run: { form: 'bash' } });
    expect(classify("tool 'a*'", { rules })).toMatchObject({ run: { form: 'argv', argv: ['tool', 'a*'] } });
  });

  test('shares what it says, frozen', () => {
    const verdict = classify('tool', { rules });
    if (verdict.kind !== 'parallel' || verdict.run.form !== 'argv') throw new Error('expected argv');
    for (const shared of [verdict.rule, verdict.rule[0], verdict.effects, verdict.assumes, verdict.run.env]) {
      expect(Object.isFrozen(shared)).toBe(true);
    }
  });
});

describe('a serial verdict', () => {
  test('says which check refused, where and why, and what would help', () => {
    expect(classify('tool --out=x', { rules })).toEqual({
      kind: 'serial',
      reason: {
        check: 'subcommand',
        code: 'OPTION_UNKNOWN',
        knowledge: 'unrecognised',
        span: [5, 12],
        message: 'The rule of `tool` lists no option `--out=x`.',
        rule: { binary: 'tool', path: 'tool', origin: 'built-in' },
      },
      ruleset: 'sha256:made-up',
    });
    expect(classify('nobody', { rules })).toMatchObject({
      reason: { check: 'leading-token', code: 'COMMAND_UNKNOWN', span: [0, 6], hint: expect.stringContaining('rule') },
    });
    expect(classify('tool; tool', { rules })).toMatchObject({
      reason: { check: 'metacharacters', code: 'TEXT_OPERATOR', span: [4, 5] },
    });
  });

  test('lists what the rule permits where that helps', () => {
    const forms = ruleSetWith(
      fileWith({
        command: {
          subcommands: {
            'list, ls': nodeWith({ operands: ['word?'] }),
            get: nodeWith({
              options: { '-a; -b': option() },
              shapes: [
                { why: 'made up for tests', with: ['-a | -b'], operands: [['x', 'y'], 'path+'] },
                { why: 'made up for tests', operands: ['number', '--', 'path*'] },
              ],
            }),
          },
        },
      }),
    );
    const hint = (command: string): unknown => {
      const verdict = classify(command, { rules: forms });
      return verdict.kind === 'serial' ? verdict.reason.hint : verdict;
    };
    expect(hint('tool')).toBe('Proved are: list, get.');
    expect(hint('tool other')).toBe('Proved are: list, get.');
    expect(hint('tool ls a b')).toBe('Proved are: `tool ls [WORD]`.');
    expect(hint('tool get')).toBe('Proved are: `tool get -a|-b x|y PATH…`, `tool get NUMBER -- [PATH…]`.');
    const many = Object.fromEntries([...'abcdefghijklmn'].map((name) => [name, nodeWith({ operands: [] })]));
    const long = ruleSetWith(fileWith({ command: { subcommands: many } }));
    expect(classify('tool', { rules: long })).toMatchObject({
      reason: { hint: 'Proved are: a, b, c, d, e, f, g, h, i, j, k, l and others.' },
    });
    const bare = ruleSetWith(fileWith({ command: { operands: ['path'], delegates: undefined } }));
    expect(classify('tool', { rules: bare })).toMatchObject({ reason: { hint: 'Proved are: `tool PATH`.' } });
  });

  test('has a sentence for every code, its own', () => {
    const facts = { at: '`x`', command: 'tool', expected: 'number' };
    const sentences = REASON_CODES.map((code) => messageOf(code, facts));
    expect(new Set(sentences).size).toBe(REASON_CODES.length);
    for (const sentence of sentences) expect(sentence).toMatch(/^.{10,}\.$/);
  });

  test('quotes the text so that nothing in it acts or vanishes', () => {
    const message = (command: string): string => {
      const verdict = classify(command, { rules });
      return verdict.kind === 'serial' ? verdict.reason.message : '';
    };
    expect(message('tool a\u0007')).toContain('`\\x07`');
    expect(message('tool \u202e')).toContain('`\\u{202e}`');
    expect(message('tool\ta\u00a0b')).toContain('`\\u{a0}`');
    expect(message(`-${'x'.repeat(100)}`)).toBe(`No rule says what \`-${'x'.repeat(39)}…\` does.`);
    expect(message(`-${'é'.repeat(100)}`)).toBe(`No rule says what \`-${'é'.repeat(39)}…\` does.`);
    expect(message(`-${'é'.repeat(39)}`)).toBe(`No rule says what \`-${'é'.repeat(39)}\` does.`);
    expect(message("tool --x'\t'")).toContain('\\t');
  });

  test('a value that is no text is serial, whatever it is', () => {
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    const values: readonly unknown[] = [
      undefined,
      null,
      0,
      1n,
      true,
      Symbol('tool'),
      {},
      [],
      ['tool'],
      () => 'tool',
      new Date(0),
      Object('tool'),
      { toString: () => 'tool' },
      revoked.proxy,
    ];
    for (const value of values) {
      expect(classify(value, { rules })).toMatchObject({
        kind: 'serial',
        reason: { check: 'input', code: 'INPUT_NOT_TEXT', span: [0, 0] },
      });
      expect(judge(value, { rules })).toMatchObject({
        directories: [],
        paths: [],
        resources: [],
        wholeEnvironment: false,
      });
    }
  });
});

describe('leading assignments', () => {
  test('pass with the listed name and exactly the listed value, and reach the run', () => {
    expect(classify('LANG=C tool', { rules })).toMatchObject({
      kind: 'parallel',
      run: { form: 'argv', argv: ['tool'], env: { PAGER: 'cat', QUIET: '1', LANG: 'C' } },
    });
    expect(classify('LANG= PAGER=cat plain', { rules })).toMatchObject({ run: { env: { LANG: '', PAGER: 'cat' } } });
    expect(classify('LANG=C tool a*', { rules })).toMatchObject({ kind: 'parallel', run: { form: 'bash' } });
  });

  test('and no other', () => {
    for (const command of [
      'LANG=D tool',
      'LANG=c tool',
      'PATH=C tool',
      'constructor=C tool',
      'LANG=C PATH=/x tool',
      'lang=C tool',
      "LANG='C' tool",
    ]) {
      expect([command, answer(rules, command)]).toEqual([command, 'TEXT_ASSIGNMENT']);
    }
    expect(classify('LANG=C PATH=/x tool', { rules })).toMatchObject({ reason: { span: [7, 14] } });
  });
});

describe('what surrounds a command', () => {
  test('a working directory under a device tree makes it serial', () => {
    for (const cwd of ['/dev', '/dev/', '/dev/pts', '/proc/self', '/sys', '/a/../dev', '//dev', '/./sys/x']) {
      expect(classify('plain', { rules, cwd })).toMatchObject({
        reason: { check: 'environment', code: 'DIRECTORY_DEVICE', span: [0, 5] },
      });
    }
    for (const cwd of ['/', '/home/dev', '/device', '/development/x', '/a/dev/..']) {
      expect(classify('plain', { rules, cwd }).kind).toBe('parallel');
    }
  });

  test('a variable of the caller is one that the profile sets alike, or a listed assignment; a name alone is not enough', () => {
    const code = (command: string, env: Record<string, string>): string => {
      const verdict = classify(command, { rules, env });
      return verdict.kind === 'parallel' ? 'parallel' : verdict.reason.code;
    };
    expect(code('tool', {})).toBe('parallel');
    expect(code('tool', { QUIET: '1', LANG: 'C' })).toBe('parallel');
    expect(code('tool', { PATH: '/bin' })).toBe('VARIABLE_UNKNOWN');
    expect(code('tool', { WHERE: 'here' })).toBe('VARIABLE_UNKNOWN');
    expect(code('tool', { QUIET: '0' })).toBe('VARIABLE_UNKNOWN');
    expect(code('tool', { LANG: 'D' })).toBe('VARIABLE_UNKNOWN');
    expect(code('plain', { WHERE: 'here' })).toBe('VARIABLE_UNKNOWN');
    expect(code('plain', { constructor: 'x' })).toBe('VARIABLE_UNKNOWN');
    expect(classify('plain', { rules, env: { LD_PRELOAD: 'x' } })).toMatchObject({
      reason: { check: 'environment', message: expect.stringContaining('`LD_PRELOAD`') },
    });
  });
});

describe('a second reading', () => {
  test('is asked about every parallel command, with all its words, assignments among them', () => {
    const seen: unknown[] = [];
    const witness: SecondReading = (command, words) => {
      seen.push([command, words.map(({ text, glob }) => [text, glob])]);
      return true;
    };
    expect(classify("LANG=C tool 'a' b*", { rules, secondReading: witness }).kind).toBe('parallel');
    expect(classify('tool; x', { rules, secondReading: witness }).kind).toBe('serial');
    expect(seen).toEqual([
      [
        "LANG=C tool 'a' b*",
        [
          ['LANG=C', false],
          ['tool', false],
          ['a', false],
          ['b*', true],
        ],
      ],
    ]);
  });

  test('takes a yes away by anything but true, and by throwing', () => {
    const readings = [
      () => false,
      () => 1,
      () => undefined,
      () => Promise.resolve(true),
      () => {
        throw new Error('no');
      },
    ];
    for (const reading of readings) {
      expect(classify('tool', { rules, secondReading: reading as unknown as SecondReading })).toMatchObject({
        reason: { check: 'environment', code: 'SECOND_READING', span: [0, 4] },
      });
    }
  });

  test("agrees with shell-quote's on what is simple", () => {
    for (const command of ['tool', "tool 'a b' c", 'LANG=C tool x', 'tool src/*.ts', 'tool -t "x y"']) {
      expect(classify(command, { rules, secondReading }).kind).toBe('parallel');
    }
  });
});

describe('judge', () => {
  test('tells what a proved command names', () => {
    expect(judge('tool -C d -f e -t /x g h*', { rules })).toMatchObject({
      verdict: { kind: 'parallel' },
      directories: ['d'],
      paths: [
        { text: 'e', glob: false },
        { text: 'g', glob: false },
        { text: 'h*', glob: true },
      ],
      resources: ['made-up-daemon'],
      wholeEnvironment: false,
    });
    expect(judge('show', { rules })).toMatchObject({
      verdict: { kind: 'parallel' },
      wholeEnvironment: true,
      resources: [],
    });
  });

  test('tells as much of a serial one as was read', () => {
    expect(judge('tool -C d --other', { rules })).toMatchObject({
      verdict: { kind: 'serial' },
      directories: ['d'],
      resources: ['made-up-daemon'],
    });
    expect(judge('tool -C d x > y', { rules })).toMatchObject({
      verdict: { kind: 'serial', reason: { code: 'TEXT_REDIRECTION' } },
      directories: ['d'],
    });
    expect(judge('tool -C d -- $x', { rules }).directories).toEqual(['d']);
    expect(judge('nobody -C d', { rules })).toMatchObject({ directories: [], resources: [] });
    expect(judge('', { rules })).toMatchObject({ verdict: { reason: { code: 'TEXT_EMPTY' } }, directories: [] });
  });

  test('forgets the operands of a shape that did not fit', () => {
    const shapes = [
      { why: 'made up for tests', operands: ['path', 'number'] },
      { why: 'made up for tests', operands: ['text', 'path'] },
    ];
    expect(judge('tool a b', { rules: ruleSetWith(fileWith({ command: { shapes } })) }).paths).toEqual([
      { text: 'b', glob: false },
    ]);
  });
});

describe('misuse throws', () => {
  const cases: readonly (readonly [string, unknown, string])[] = [
    ['no rule set', { rules: {} }, 'RULES_INVALID'],
    ['a copy of a rule set', { rules: { ...rules } }, 'RULES_INVALID'],
    ['nothing for rules', { rules: null }, 'RULES_INVALID'],
    ['no options', undefined, 'OPTION_INVALID'],
    ['nothing for options', null, 'OPTION_INVALID'],
    ['a text for options', 'compound', 'OPTION_INVALID'],
    ['another mode', { rules, mode: 'other' }, 'OPTION_INVALID'],
    ['a relative directory', { rules, cwd: 'a' }, 'OPTION_INVALID'],
    ['an empty directory', { rules, cwd: '' }, 'OPTION_INVALID'],
    ['a directory that is no text', { rules, cwd: 5 }, 'OPTION_INVALID'],
    ['a directory that is an object', { rules, cwd: {} }, 'OPTION_INVALID'],
    ['an environment that is none', { rules, env: null }, 'OPTION_INVALID'],
    ['an environment of text', { rules, env: 'A=1' }, 'OPTION_INVALID'],
    ['a limit below one', { rules, limits: { maxChars: 0 } }, 'OPTION_INVALID'],
    ['a limit that is no number', { rules, limits: { maxWords: Number.NaN } }, 'OPTION_INVALID'],
    ['a limit that is text', { rules, limits: { maxWords: '5' } }, 'OPTION_INVALID'],
  ];
  for (const [title, options, code] of cases) {
    test(title, () => {
      expect(codeOf(() => classify('tool', options as never))).toBe(code);
      expect(codeOf(() => classify(undefined, options as never))).toBe(code);
    });
  }

  test('limits hold, and one that is not given is the default', () => {
    expect(classify('tool abc', { rules, limits: { maxChars: 7 } })).toMatchObject({
      reason: { code: 'TEXT_TOO_LONG' },
    });
    expect(classify('tool a b', { rules, limits: { maxWords: 2 } })).toMatchObject({
      reason: { code: 'WORDS_TOO_MANY' },
    });
    expect(classify(`tool ${'x'.repeat(17_000)}`, { rules })).toMatchObject({ reason: { code: 'TEXT_TOO_LONG' } });
    expect(
      classify(`tool ${'x'.repeat(17_000)}`, { rules, limits: { maxChars: 20_000, maxWords: undefined as never } })
        .kind,
    ).toBe('parallel');
  });
});

describe('createClassifier', () => {
  test('binds everything but the command', () => {
    const veto = createClassifier({
      rules,
      mode: 'simple',
      limits: { maxWords: 2 },
      secondReading: (command) => command !== 'tool no',
    });
    const { classify: ask, judge: judged, isConcurrencySafe, explain } = veto;
    expect([ask('tool yes').kind, ask('tool no').kind, ask('tool a b').kind]).toEqual(['parallel', 'serial', 'serial']);
    expect(ask('tool yes', { cwd: '/dev' })).toMatchObject({ reason: { code: 'DIRECTORY_DEVICE' } });
    expect(judged('tool d', { cwd: '/a' }).paths).toEqual([{ text: 'd', glob: false }]);
    expect(judged('tool').verdict.kind).toBe('parallel');
    expect(explain('tool no')).toMatchObject({ kind: 'serial', code: 'SECOND_READING' });
    expect(explain('tool yes', { env: { X: '1' } })).toMatchObject({ code: 'VARIABLE_UNKNOWN' });
    expect(['tool yes', 'tool no', '', 'tool;'].filter(isConcurrencySafe)).toEqual(['tool yes']);
    expect(isConcurrencySafe(Symbol('tool'))).toBe(false);
    expect(Object.isFrozen(veto)).toBe(true);
  });

  test('a context cannot smuggle in other rules or a milder reading', () => {
    const bound = createClassifier({ rules, secondReading: () => false });
    const other = ruleSetWith(fileWith({ binary: 'other' }));
    for (const smuggled of [{ secondReading: () => true }, { rules: other }, { mode: 'compound' }, { limits: {} }]) {
      const context = { cwd: '/work', ...smuggled } as never;
      for (const ask of [bound.classify, bound.judge, bound.explain]) {
        expect(codeOf(() => ask('tool', context))).toBe('OPTION_INVALID');
      }
    }
    expect(bound.classify('tool', { cwd: '/work' })).toMatchObject({ reason: { code: 'SECOND_READING' } });
  });

  test.each<[string, <Options extends object>(options: Options) => Options]>([
    ['inherited', (options) => Object.create(options)],
    ['inherited from what inherits it', (options) => Object.create(Object.create(options))],
    [
      'told by the getters of a class',
      (options) => {
        class Told {}
        for (const [name, value] of Object.entries(options)) {
          Object.defineProperty(Told.prototype, name, { get: () => value });
        }
        return new Told() as never;
      },
    ],
    [
      'hidden from listing',
      (options) =>
        Object.defineProperties(
          {},
          Object.fromEntries(Object.entries(options).map(([name, value]) => [name, { value }])),
        ) as never,
    ],
  ])('options that are %s count', (_, told) => {
    const refuses = told({ network: false });
    const code = (verdict: Verdict) => (verdict.kind === 'serial' ? verdict.reason.code : 'parallel');
    expect(code(classify('tool', { rules }))).toBe('parallel');
    expect(code(createClassifier({ rules, allow: refuses }).classify('tool'))).toBe('EFFECT_REFUSED');
    expect(code(createClassifier({ rules }).classify('tool', told({ allow: refuses })))).toBe('EFFECT_REFUSED');
    expect(code(createClassifier(told({ rules, allow: refuses })).classify('tool'))).toBe('EFFECT_REFUSED');
    expect(code(classify('tool', told({ rules, allow: refuses })))).toBe('EFFECT_REFUSED');
    expect(code(createClassifier({ rules, limits: told({ maxChars: 3 }) }).classify('tool'))).toBe('TEXT_TOO_LONG');
    expect(code(createClassifier({ rules }).classify('tool', told({ cwd: '/dev' })))).toBe('DIRECTORY_DEVICE');
    expect(codeOf(() => createClassifier({ rules, allow: told({ network: 'no' }) as never }))).toBe('OPTION_INVALID');
    expect(codeOf(() => createClassifier({ rules, limits: told({ maxChars: 0 }) }))).toBe('OPTION_INVALID');
  });

  test('limits are those of the time when it was made', () => {
    const limits = { maxChars: 3 };
    const bound = createClassifier({ rules, limits });
    limits.maxChars = 100;
    expect(bound.classify('tool')).toMatchObject({ reason: { code: 'TEXT_TOO_LONG' } });
  });

  test('variables that are inherited count, as for who starts a program; what is no record of them is misuse', () => {
    const bound = createClassifier({ rules });
    for (const env of [Object.create({ OTHER: '1' }), Object.assign(Object.create({ OTHER: '1' }), {})]) {
      expect(bound.classify('tool', { env })).toMatchObject({ reason: { code: 'VARIABLE_UNKNOWN' } });
    }
    for (const env of [new Map([['OTHER', '1']]), ['OTHER=1'], new Set(), () => ({}), 'OTHER=1', null]) {
      expect(codeOf(() => bound.classify('tool', { env: env as never }))).toBe('OPTION_INVALID');
    }
    expect(bound.classify('tool', { env: Object.create(null) }).kind).toBe('parallel');
  });

  test('takes only a genuine rule set', () => {
    for (const bad of [undefined, null, 'rules', {}, { ...rules }, JSON.parse(JSON.stringify(rules))]) {
      expect(codeOf(() => createClassifier({ rules: bad as never }))).toBe('RULES_INVALID');
    }
    expect(codeOf(() => createClassifier({ rules, mode: 'other' as never }))).toBe('OPTION_INVALID');
  });

  test('takes no option that it would not look at', () => {
    for (const one of [undefined, null, { rules, mod: 'compound' }, { rules, cwd: '/work' }])
      expect(codeOf(() => createClassifier(one as never))).toBe('OPTION_INVALID');
  });
});

describe('a rule set', () => {
  test('travels as plain data and answers the same', () => {
    const data = JSON.parse(JSON.stringify(exportRules(rules)));
    const again = restoreRules(data);
    expect(again.hash).toBe(rules.hash);
    expect(again.names).toEqual(['plain', 'show', 'tool']);
    for (const command of ['tool -C d x', 'tool --no', 'LANG=C plain', 'show']) {
      expect(classify(command, { rules: again })).toEqual(classify(command, { rules }));
    }
  });

  test('is frozen, and deaf to later changes of the data it was made of', () => {
    const data = JSON.parse(JSON.stringify(exportRules(rules)));
    const own = restoreRules(data);
    data.profiles.assignments.PATH = ['/x'];
    data.files.length = 0;
    expect(answer(own, 'tool')).toBe('parallel');
    expect(answer(own, 'PATH=/x tool')).toBe('TEXT_ASSIGNMENT');
    for (const part of [
      own,
      own.names,
      own.profiles,
      own.profiles.assignments,
      own.profiles.generic.pass,
      exportRules(own),
    ]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });

  test('is not made of anything else', () => {
    const data = exportRules(rules);
    const broken: readonly unknown[] = [
      undefined,
      null,
      5,
      'x',
      {},
      [],
      { ...data, format: 2 },
      { ...data, files: [{}] },
      { ...data, profiles: {} },
      { ...data, hash: 5 },
      { ...data, files: [data.files[0], data.files[0]] },
    ];
    for (const one of broken) expect(codeOf(() => restoreRules(one as never))).toBe('RULES_INVALID');
    for (const one of [{}, null, { hash: 'x' }]) expect(codeOf(() => exportRules(one as never))).toBe('RULES_INVALID');
  });
});
