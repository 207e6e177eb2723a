import { describe, expect, test } from 'vitest';
import { createClassifier } from '../../src/classifier/classifier.ts';
import { classify, examine, judge } from '../../src/classifier/classify.ts';
import { compileFile } from '../../src/classifier/compile.ts';
import { lex } from '../../src/classifier/lexer.ts';
import { isRoot, normalise, reachesDevices } from '../../src/classifier/paths.ts';
import type { Problem } from '../../src/classifier/problems.ts';
import { jqFilter } from '../../src/classifier/programs/jq.ts';
import { constant, EACH, INPUT, isBearable, pipe, plus } from '../../src/classifier/programs/jq-cost.ts';
import { plainRegex } from '../../src/classifier/programs/plain-regex.ts';
import { sedProgram } from '../../src/classifier/programs/sed.ts';
import { invalid, restoreRules, rulesOf } from '../../src/classifier/rule-set.ts';
import { answer, fileWith, option, PROFILES, ruleSetWith } from '../rules/fixture.ts';

const WHY = 'made up for tests';

describe('small languages', () => {
  test('sed: a brace closes one that is open', () => {
    for (const program of ['p};{p', '};{p', '{p};};{p', '}p{']) expect(sedProgram(program), program).toBe(false);
    for (const program of ['{p};{p}', '{{p}}', '1{p;p}']) expect(sedProgram(program), program).toBe(true);
  });

  test('regex: what is repeated stands right before, once, and is one character wide', () => {
    const refused = [
      '(*a)',
      '(+a)',
      '(?a)',
      'a(*)',
      '[a]**',
      '[a]++',
      '[a]+*',
      '[a](b+)+',
      '[a](b)*',
      'x[\\q]',
      '[\\q]',
      '[',
      'x[a',
    ];
    const accepted = ['[+][+][+]', '[*]x[?]', '[a]+', '[ab]c+', '(a+)', '([a]+)b', 'a[^b]c', '\\(a+', '[\\]]+'];
    for (const regex of [...refused, 'a\\', '[a\\', '[]', '[^]', 'a{2}', '+', '|+', '^*', '\\b+'])
      expect(plainRegex(regex), regex).toBe(false);
    for (const regex of accepted) expect(plainRegex(regex), regex).toBe(true);
  });

  test('jq: a pipe, a comma or an operator has both its sides, and nothing is thrown', () => {
    const refused = [
      '[.a|]',
      '(.a|)',
      '{a:.b|}',
      '{a:.b,}',
      'if . then .a| end',
      'if .a| then . end',
      'if . then . else .a| end',
      'map(.a|)',
      '[.a,]',
      '.a|',
      '"\\(.a|)"',
    ];
    for (const filter of refused) expect(jqFilter(filter), filter).toBe(false);
    const accepted = [
      'if .a,.b then .c,.d else .e,.f end',
      'map(.a,.b)',
      '[.a,.b]',
      '(.a,.b)',
      '{a:.b|.c,d:.e}',
      '"\\(.a,.b)"',
      '{(.a,.b):.c}',
    ];
    for (const filter of accepted) expect(jqFilter(filter), filter).toBe(true);
    expect(jqFilter(new Array(40).fill('(.)').join(','))).toBe(true);
  });

  test('jq: an index has at most six digits, and what is looked for is a text', () => {
    for (const filter of [
      '.[123456]',
      '.[-123456:]',
      '.[:999999]',
      'index("a")',
      'rindex("a")',
      'indices("a")',
      'test("a")',
      'test("a";"i")',
    ])
      expect(jqFilter(filter), filter).toBe(true);
    const refused = [
      '.[1234567]',
      '.[:1234567]',
      'index("")',
      'rindex("")',
      'indices("")',
      'index(.a)',
      'rindex(.a)',
      'indices(.a)',
    ];
    for (const filter of [...refused, 'test(.a)', 'test("a";.b)', 'test("a";"g")', 'test(a")', 'index(.")', 'index(1)'])
      expect(jqFilter(filter), filter).toBe(false);
  });

  test('jq: a text says what its escapes say', () => {
    const accepted = ['"\\u0041"', '"\\n\\t\\/\\\\\\""', 'test("\\\\d+")', 'test("a\\nb+")', '.["\\u0041"]'];
    for (const filter of accepted) expect(jqFilter(filter), filter).toBe(true);
    const refused = [
      '"\\x0041"',
      '"\\u004"',
      '"\\u004g"',
      '"\\u"',
      '"\\q"',
      '"\\',
      'test("(a+)+\\n")',
      'test("\\u0028a+)+")',
      'test("a\\n(b+)+")',
      '.["\\x0041"]',
      '."\\x0041"',
    ];
    for (const filter of refused) expect(jqFilter(filter), filter).toBe(false);
  });

  test('jq: what an output costs is counted for each of them, up to the bounds', () => {
    expect(pipe(EACH, constant(50)).total).toEqual(plus(INPUT, { factor: 50, degree: 1 }));
    expect(isBearable({ count: INPUT, total: { factor: 100_000, degree: 3 } })).toBe(true);
    expect(isBearable({ count: INPUT, total: { factor: 100_001, degree: 3 } })).toBe(false);
    expect(isBearable({ count: INPUT, total: { factor: 1, degree: 4 } })).toBe(false);
  });
});

describe('paths', () => {
  test('that are above a place that nobody knows may be the root', () => {
    expect(reachesDevices('dev/tty', '..', false)).toBe(true);
    expect(reachesDevices('dev/tty', '../x', false)).toBe(false);
    expect(reachesDevices('dev', 'x', false)).toBe(false);
    expect(reachesDevices('d*', '../..', true)).toBe(true);
    expect(normalise('/..')).toBe('/');
    expect(normalise('/../../x')).toBe('/x');
    expect(isRoot('/..', '')).toBe(true);
    expect(isRoot('', '')).toBe(false);
  });

  test('that bash would not write so have their code', () => {
    const codeOf = (text: string) => {
      const read = lex(text);
      return read.ok ? 'read' : read.code;
    };
    expect(codeOf('a\udfff')).toBe('TEXT_NOT_WELL_FORMED');
    expect(codeOf('a\ud800b')).toBe('TEXT_NOT_WELL_FORMED');
    expect(codeOf('a\u0080')).toBe('TEXT_CONTROL');
    expect(codeOf("a '\u0080'")).toBe('TEXT_CONTROL');
    expect(codeOf("a '\u200b b'")).toBe('TEXT_INVISIBLE');
    expect(codeOf('a "\u200b b"')).toBe('TEXT_INVISIBLE');
    expect(codeOf('a \\\u200b')).toBe('TEXT_INVISIBLE');
    expect(lex('a b', { maxChars: 2 })).toMatchObject({ code: 'TEXT_TOO_LONG', span: [0, 3] });
  });
});

describe('a judgement', () => {
  const rules = ruleSetWith(
    fileWith({ command: { operands: ['path*'], stdin: 'unless-operand' } }),
    fileWith({ binary: 'filter', only: 'compound', command: { stdin: 'always', operands: [] } }),
    fileWith({ binary: 'list', command: { operands: ['path*'] } }),
  );
  test('holds the verdict that classify gives, in both modes', () => {
    for (const mode of ['simple', 'compound'] as const) {
      for (const command of [
        'tool',
        'tool a',
        'tool -',
        'filter',
        'filter | tool',
        'list | filter',
        'list | tool',
        '',
        'list $a',
        'a'.repeat(99),
      ]) {
        const options = { rules, mode, limits: { maxChars: 50 } };
        expect(judge(command, options).verdict, command).toEqual(classify(command, options));
      }
    }
    expect(judge('list aa | list', { rules, mode: 'compound', limits: { maxChars: 5 } })).toMatchObject({
      verdict: { reason: { code: 'TEXT_TOO_LONG', span: [0, 14] } },
      cd: null,
      programs: [],
      paths: [],
    });
  });

  test('of a compound is also that of a bound classifier', () => {
    const bound = createClassifier({ rules, mode: 'compound' });
    expect(bound.isConcurrencySafe('list | tool')).toBe(true);
    expect(bound.classify('list | tool')).toEqual(classify('list | tool', { rules, mode: 'compound' }));
    expect(bound.explain('list | tool').parts).toHaveLength(2);
    const simple = createClassifier({ rules });
    expect(simple.isConcurrencySafe('list | tool')).toBe(false);
    expect(createClassifier({ rules, mode: 'simple' }).isConcurrencySafe('list | tool')).toBe(false);
  });
});

describe('a change of directory', () => {
  const rules = ruleSetWith(fileWith({ binary: 'list' }));
  const at = (command: string) => {
    const verdict = classify(command, { rules, mode: 'compound', cwd: '/home/user/x' });
    return verdict.kind === 'parallel' ? 'parallel' : verdict.reason.code;
  };
  test('may begin with dots, and a quoted glob is a name', () => {
    for (const target of ['./../a', '.././../a', './.', '..', "'/d*v/x'", '"?"'])
      expect(at(`cd ${target} && list`), target).toBe('parallel');
    for (const target of ['a/./..', './a/..', '/d*v/x', '?'])
      expect(at(`cd ${target} && list`), target).toBe('CD_TARGET');
  });
});

describe('a variable that minds many', () => {
  const rules = restoreRules({
    format: 1,
    hash: 'sha256:made-up',
    profiles: {
      ...PROFILES,
      profiles: {
        wary: { why: WHY, set: {}, pass: [], minds: ['MO*'] },
        near: { why: WHY, set: { MX: '1', M: '1' }, pass: [] },
        far: { why: WHY, set: { MOST: '1' }, pass: [] },
      },
    },
    never: {},
    files: ['wary', 'near', 'far'].map((binary) => ({
      origin: 'built-in' as const,
      file: fileWith({ binary, profile: binary }),
    })),
    experimental: [],
  });
  test('minds those that begin so, and no other', () => {
    expect(classify('wary | near', { rules, mode: 'compound' })).toMatchObject({
      kind: 'parallel',
      profile: 'near+wary',
    });
    expect(classify('wary | far', { rules, mode: 'compound' })).toMatchObject({
      reason: { code: 'PROFILES_CONTRADICT' },
    });
  });
});

describe('a stage that hands on names', () => {
  const each = fileWith({
    binary: 'each',
    command: {
      stdin: 'always',
      delegates: ['list', 'filter', 'pass'].map((command) => ({ command, ends: '--', why: WHY })),
      after: { list: [] },
      through: { pass: [] },
    },
  } as never);
  const rules = ruleSetWith(
    each,
    fileWith({ binary: 'list', command: { operands: ['path*'] } }),
    fileWith({ binary: 'pass', command: { stdin: 'unless-operand', operands: ['path*'] } }),
    fileWith({ binary: 'filter', command: { stdin: 'always', operands: ['text*'] } }),
  );
  const at = (command: string) => {
    const verdict = classify(command, { rules, mode: 'compound', cwd: '/srv/x' });
    return verdict.kind === 'parallel' ? 'parallel' : `${verdict.reason.code} ${command.slice(...verdict.reason.span)}`;
  };
  test('is proved by listed rules alone, and has a stage before it to pass names from', () => {
    expect(at('list | each list --')).toBe('parallel');
    expect(at('list | each list -- | each list --')).toBe('NAMES_REFUSED each list --');
    expect(at('pass </dev/null | each list --')).toBe('NAMES_REFUSED pass');
    expect(at('list | pass | each list --')).toBe('parallel');
  });

  test('the command that gets them reads no input of its own', () => {
    expect(at('list | each filter --')).toMatch(/^STDIN_READ/);
    expect(at('list | each pass --')).toBe('parallel');
    expect(at('list | each pass - --')).toMatch(/^(STDIN_READ|DELEGATE_REFUSED)/);
  });
});

describe('what is reported', () => {
  test('is a word that does not fit rather than one that is missing further on', () => {
    const shape = (operands: readonly string[]) => ({ why: WHY, operands: [...operands], stdin: 'never' as const });
    for (const shapes of [
      [shape(['number', 'number']), shape(['word', 'word', 'word'])],
      [shape(['word', 'word', 'word']), shape(['number', 'number'])],
    ]) {
      const verdict = classify('tool x yy', { rules: ruleSetWith(fileWith({ command: { shapes } })) });
      expect(verdict).toMatchObject({ reason: { code: 'OPERAND_REFUSED', span: [5, 6] } });
    }
  });

  test('is the last word of an expression that does not end', () => {
    const rules = ruleSetWith(
      fileWith({
        syntax: 'words',
        command: {
          options: { '\\(': option(), '\\)': option(), '-t': option(), '-d': option({ takes: 'number' }) },
          expression: { open: ['\\('], close: ['\\)'], leading: ['-d'], implicitJoin: true },
          operands: ['path*'],
        },
      }),
    );
    expect(classify('tool a \\( -t', { rules })).toMatchObject({
      reason: { code: 'EXPRESSION_REFUSED', span: [10, 12] },
    });
    expect(answer(rules, 'tool -d 5 -t')).toBe('parallel');
    expect(answer(rules, 'tool -t -d 5')).toBe('EXPRESSION_REFUSED');
  });

  test('is the file, and the place in it where there is one', () => {
    expect(invalid('tool', [{ pointer: '', message: 'it is odd' }])).toMatchObject({
      code: 'RULES_INVALID',
      message: expect.stringContaining('tool: it is odd'),
    });
    expect(invalid('tool', [{ pointer: '/x', message: 'it is odd' }]).message).toContain('tool at /x: it is odd');
  });
});

describe('a rule file', () => {
  const problemsOf = (given: Parameters<typeof fileWith>[0]): readonly string[] => {
    const problems: Problem[] = [];
    compileFile(fileWith(given), PROFILES, 'built-in', problems);
    return problems.map(({ pointer }) => pointer);
  };

  test('lets words with a dash be text only beside switches and one list of text without an end', () => {
    const dashes = (command: object) => problemsOf({ command: { dashes: 'text', ...command } } as never);
    for (const fine of [
      { operands: ['text*'] },
      { operands: ['pattern*'] },
      { options: { '-a': option() }, operands: ['text*'] },
    ])
      expect(dashes(fine), JSON.stringify(fine)).toEqual([]);
    const a = option();
    const n = option({ takes: 'text' });
    for (const wrong of [
      { operands: [] },
      { operands: ['text?'] },
      { operands: ['text+'] },
      { operands: ['text'] },
      { operands: ['path*'] },
      { operands: ['text*', 'text'] },
      { operands: ['text*', 'path?'] },
      { options: { '-n': n }, operands: ['text*'] },
      { options: { '-a': a, '-n': n }, operands: ['text*'] },
      { options: { '-a': a }, shapes: [{ why: WHY, operands: ['text*'] }] },
    ])
      expect(dashes(wrong), JSON.stringify(wrong)).toEqual(['/command/dashes']);
    const expression = { not: ['-a'] };
    expect(
      problemsOf({
        syntax: 'words',
        command: { dashes: 'text', options: { '-a': a }, operands: ['text*'], expression },
      } as never),
    ).toEqual(['/command/dashes']);
  });

  test('names its own kinds as no built-in kind is named', () => {
    expect(problemsOf({ values: { path: { why: WHY, words: ['x'] } } } as never)).toEqual(['/values/path']);
    expect(
      problemsOf({ values: { colour: { why: WHY, words: ['red'] } }, command: { operands: ['colour*'] } } as never),
    ).toEqual([]);
  });

  test('has shapes without operands, and words that may stand alone', () => {
    const shapes = [{ why: WHY, with: ['-a'], stdin: 'never' as const }];
    const rules = ruleSetWith(fileWith({ command: { options: { '-a': option() }, shapes } }));
    expect(answer(rules, 'tool -a')).toBe('parallel');
    expect(answer(rules, 'tool -a x')).toBe('OPERAND_UNEXPECTED');
    const alone = (override: boolean) => {
      const file = fileWith({
        ...(override ? { override } : {}),
        alone: { '--version': { why: WHY } },
        command: { operands: [] },
      } as never);
      const mine = restoreRules({
        format: 1,
        hash: '',
        profiles: PROFILES,
        never: {},
        files: [{ origin: 'user', file }],
        experimental: [],
      });
      return examine('tool --version', rulesOf(mine), {}, false).verdict;
    };
    expect(alone(false)).toMatchObject({
      kind: 'parallel',
      rule: [{ path: 'tool --version', origin: 'user' }],
      effects: [],
    });
    expect(alone(true)).toMatchObject({ kind: 'parallel', rule: [{ path: 'tool --version', origin: 'override' }] });
  });

  test('is refused as a whole set when it is no data of ours', () => {
    const codeOf = (data: unknown) => {
      try {
        restoreRules(data as never);
      } catch (error) {
        return error as Error & { code: string };
      }
      return undefined;
    };
    const whole = { format: 1, hash: 'x', profiles: PROFILES, never: {}, files: [], experimental: [] };
    expect(codeOf(whole)).toBeUndefined();
    for (const data of [null, {}, { ...whole, format: 2 }, { ...whole, hash: 5 }])
      expect(codeOf(data), JSON.stringify(data)).toMatchObject({ code: 'RULES_INVALID' });
    expect(codeOf({ ...whole, hash: 5 })!.message).toContain('Expected data of format 1 with its hash');
    const broken = codeOf({ ...whole, files: 5 })!;
    expect(broken.message).toContain('Expected data that exportRules gave');
    expect(broken.cause).toBeInstanceOf(TypeError);
    expect(() => classify('x', { rules: {} as never })).toThrow(
      /Expected rules to be a rule set that loadRules or restoreRules made/,
    );
  });
});
