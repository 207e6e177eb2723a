import { describe, expect, test } from 'vitest';
import { classify, examine, judge } from '../../src/classifier/classify.ts';
import { compileFile } from '../../src/classifier/compile.ts';
import { explain, renderExplanation } from '../../src/classifier/explain.ts';
import type { Problem } from '../../src/classifier/problems.ts';
import { type RuleSet, type RuleSetData, restoreRules, rulesOf } from '../../src/classifier/rule-set.ts';
import type { RuleFile } from '../../src/rules/schema.ts';
import { answer, fileWith, nodeWith, option, PROFILES, ruleSetWith } from '../rules/fixture.ts';

const WHY = 'made up for tests';

function setOf(files: RuleSetData['files'], more: Partial<RuleSetData> = {}): RuleSet {
  return restoreRules({
    format: 1,
    hash: 'sha256:made-up',
    profiles: PROFILES,
    never: {},
    files,
    experimental: [],
    ...more,
  });
}

function problemsOf(file: RuleFile): readonly string[] {
  const problems: Problem[] = [];
  compileFile(file, PROFILES, 'built-in', problems);
  return problems.map(({ pointer, message }) => `${pointer} ${message}`);
}

describe('rules that are found nowhere', () => {
  test('a kind that nobody defines is reported, and accepts nothing', () => {
    const file = fileWith({ command: { options: { '-n': option({ takes: 'made-up' }) }, operands: ['other*'] } });
    expect(problemsOf(file)).toEqual([
      '/command/options/-n/takes expected a kind of value, got "made-up", which neither this file nor the code defines',
      '/command/operands expected a kind of value, got "other", which neither this file nor the code defines',
    ]);
    const [binary] = compileFile(file, PROFILES, 'built-in', []);
    const rules = { hash: '', binaries: new Map([['tool', binary!]]), never: new Map(), assignments: new Map() };
    for (const command of ['tool x', 'tool -n x', 'tool -n made-up', 'tool ""'])
      expect(examine(command, rules, {}, false).verdict.kind, command).toBe('serial');
    expect(examine('tool', rules, {}, false).verdict.kind).toBe('parallel');
  });

  test('an option of a shape that is no option of the node is reported, and fits nothing', () => {
    const shapes = [
      { why: WHY, with: ['-x'], operands: [], stdin: 'never' as const },
      { why: WHY, without: ['-y'], operands: ['word'], stdin: 'never' as const },
    ];
    const file = fileWith({ command: { options: { '-a': option() }, shapes } });
    expect(problemsOf(file)).toEqual([
      '/command/shapes/0/with expected an option of this node, got "-x"',
      '/command/shapes/1/without expected an option of this node, got "-y"',
    ]);
    const [binary] = compileFile(file, PROFILES, 'built-in', []);
    const rules = { hash: '', binaries: new Map([['tool', binary!]]), never: new Map(), assignments: new Map() };
    expect(examine('tool', rules, {}, false).verdict.kind).toBe('serial');
    expect(examine('tool -a', rules, {}, false).verdict.kind).toBe('serial');
    expect(examine('tool x', rules, {}, false).verdict.kind).toBe('parallel');
  });

  test('a node that names a profile has its own, and those below it', () => {
    const rules = ruleSetWith(
      fileWith({
        command: {
          subcommands: {
            a: nodeWith({ operands: [] }),
            b: nodeWith({ profile: 'quiet', operands: [], subcommands: undefined }),
            c: nodeWith({ profile: 'quiet', subcommands: { d: nodeWith({ operands: [] }) } }),
          },
        },
      } as never),
    );
    const profileOf = (command: string) => {
      const verdict = classify(command, { rules });
      return verdict.kind === 'parallel' ? verdict.profile : verdict.reason.code;
    };
    expect(['tool a', 'tool b', 'tool c d'].map(profileOf)).toEqual(['generic', 'quiet', 'quiet']);
  });
});

describe('names that are never proved', () => {
  const file = (given = {}) => fileWith({ binary: 'risky', ...given });
  test('keep a rule out, unless a user insists', () => {
    const never = { risky: 'removes everything' };
    expect(() => setOf([{ origin: 'built-in', file: file() }], { never })).toThrow(
      expect.objectContaining({ code: 'RULES_INVALID', message: expect.stringContaining('stands in never.json') }),
    );
    expect(() => setOf([{ origin: 'user', file: file() }], { never })).toThrow(/stands in never.json/);
    expect(() => setOf([{ origin: 'built-in', file: file({ override: true }) }], { never })).toThrow(
      /stands in never.json/,
    );
    const mine = setOf([{ origin: 'user', file: file({ override: true }) }], { never });
    expect(classify('risky x', { rules: mine })).toMatchObject({ kind: 'parallel', rule: [{ origin: 'override' }] });
  });

  test('are told only of themselves', () => {
    const rules = setOf([{ origin: 'built-in', file: fileWith() }], { never: { risky: 'removes everything' } });
    expect(classify('risky x', { rules })).toMatchObject({
      reason: {
        code: 'COMMAND_REFUSED',
        knowledge: 'known-unsafe',
        message: expect.stringContaining('removes everything'),
      },
    });
    expect(classify('riskier x', { rules })).toMatchObject({
      reason: { code: 'COMMAND_UNKNOWN', knowledge: 'unrecognised' },
    });
  });
});

describe('notes against options', () => {
  const rules = ruleSetWith(
    fileWith({
      command: {
        options: { '-a': option(), '-n': option({ takes: 'text' }) },
        refuses: { '-o, --output': 'writes a file', '-w': 'waits' },
      },
    }),
    fileWith({ binary: 'mute' }),
  );
  const known = (command: string): string | null => {
    const verdict = classify(command, { rules });
    if (verdict.kind === 'parallel') return 'parallel';
    return /It is known to be unsafe: (.*)\.$/.exec(verdict.reason.message)?.[1] ?? null;
  };
  const cases: readonly (readonly [string, string | null])[] = [
    ['tool -o', 'writes a file'],
    ['tool --output', 'writes a file'],
    ['tool --output=x', 'writes a file'],
    ['tool -ao', 'writes a file'],
    ['tool -aw', 'waits'],
    ['tool -xo', 'writes a file'],
    // The rest of a letter that takes a value is its value.
    ['tool -no', 'parallel'],
    ['tool -xnw', null],
    ['tool -x', null],
    ['tool --x', null],
    ['tool --xo', null],
    ['tool --outpu', null],
    ['mute -o', null],
  ];
  test.each(cases)('%j: %j', (command, note) => {
    expect(known(command)).toBe(note);
  });
});

describe('a command that runs another', () => {
  const profiles = {
    ...PROFILES,
    profiles: { ...PROFILES.profiles, loud: { why: WHY, set: { QUIET: '0' }, pass: [] } },
  };
  const inner = (name: string, given: object = {}) =>
    fileWith({ binary: name, command: { operands: ['path*'], starts: [`${name}-helper`] }, ...given } as never);
  const rules = setOf(
    [
      fileWith({
        binary: 'each',
        profile: 'quiet',
        resources: ['first'],
        command: {
          stdin: 'always',
          starts: ['starter'],
          delegates: ['list', 'loud', 'open'].map((command) => ({ command, ends: '--', why: WHY })),
          after: { feed: [] },
        },
      } as never),
      inner('list', { resources: ['second'] }),
      inner('loud', { profile: 'loud' }),
      inner('open', { builtin: true }),
      fileWith({ binary: 'feed' }),
    ].map((file) => ({ origin: 'built-in' as const, file })),
    { profiles },
  );

  test('is refused where the two need different environments', () => {
    const command = 'feed | each loud a --';
    expect(classify(command, { rules, mode: 'compound' })).toMatchObject({
      reason: { check: 'environment', code: 'PROFILES_CONTRADICT', span: [7, command.length] },
    });
  });

  test('is judged with what both name, start and hold, but for the names from the pipe', () => {
    expect(judge('feed | each list a b --', { rules, mode: 'compound' })).toMatchObject({
      verdict: { kind: 'parallel', profile: 'quiet' },
      // What was listed may be anything below: those places are walked, and the directory itself is one.
      paths: ['a', 'b', '.'].map((text) => ({ text, glob: false, walked: true })),
      resources: ['first', 'second'],
      starts: ['starter', 'list', 'list-helper'],
      programs: ['feed', 'each'],
    });
    expect(judge('feed | each list --', { rules, mode: 'compound' })).toMatchObject({
      paths: [{ text: '.', glob: false, walked: true }],
      directories: [],
    });
    expect(judge('feed | feed', { rules, mode: 'compound' }).paths).toEqual([]);
  });

  test('runs in bash when a part of it does, behind a pipe that nobody described too', () => {
    const { verdict } = examine('each list a -- | feed', rulesOf(rules), { mode: 'compound' }, true);
    expect(verdict).toMatchObject({ kind: 'parallel', parts: [{ stdin: 'pipe' }, { stdin: 'pipe' }] });
    const lone = examine('feed </dev/null | each list --', rulesOf(rules), { mode: 'compound' }, true).verdict;
    expect(lone).toMatchObject({ kind: 'parallel', parts: [{ stdin: 'pipe' }, { stdin: 'pipe' }] });
    expect(examine('feed ; each list --', rulesOf(rules), { mode: 'compound' }, true).verdict).toMatchObject({
      kind: 'serial',
      reason: { code: 'STDIN_READ' },
    });
  });
});

describe('names in the home directory', () => {
  const rules = ruleSetWith(
    fileWith({ command: { operands: ['path*'], globs: true } }),
    fileWith({ binary: 'walk', command: { operands: ['tree*'], globs: true } }),
  );
  test('are told as such, walked or not', () => {
    const pathsOf = (command: string) => judge(command, { rules, mode: 'compound', cwd: '/srv' }).paths;
    expect(pathsOf('tool ~/a | tool b* c')).toEqual([
      { text: '~/a', glob: true, home: true },
      { text: 'b*', glob: true },
      { text: 'c', glob: false },
    ]);
    expect(pathsOf('walk ~/a | walk b c*')).toEqual([
      { text: '~/a', glob: true, home: true, walked: true },
      { text: 'b', glob: false, walked: true },
      { text: 'c*', glob: true, walked: true },
    ]);
  });
});

describe('names in a home directory that is known', () => {
  const rules = ruleSetWith(fileWith({ command: { operands: ['path*'], globs: true } }));
  test('are told as what they lead to, and the others as they are', () => {
    const homeDirectory = '/home/someone';
    expect(judge('tool ~/a b | tool ~/c*', { rules, mode: 'compound', cwd: '/srv', homeDirectory }).paths).toEqual([
      { text: '/home/someone/a', glob: true },
      { text: 'b', glob: false },
      { text: '/home/someone/c*', glob: true },
    ]);
  });
});

describe('a compound explained', () => {
  const rules = ruleSetWith(fileWith({ command: { options: { '-a': option() }, operands: ['word*'] } }));
  const explained = (command: string, cwd = '/srv') =>
    explain(classify(command, { rules, mode: 'compound', cwd }), command);
  const states = (command: string, cwd?: string) =>
    explained(command, cwd).parts.map(({ span, state, detail }) => `${command.slice(...span)}: ${state}, ${detail}`);

  test('shows each proved part with its rule and its input', () => {
    expect(states('tool a | tool b ; tool')).toEqual([
      'tool a: passed, the built-in rule of `tool`, with nothing to read',
      'tool b: passed, the built-in rule of `tool`, behind a pipe',
      'tool: passed, the built-in rule of `tool`, with nothing to read',
    ]);
    expect(states('tool a')).toEqual([]);
  });

  test('shows how far it was read, where a part was refused', () => {
    expect(states('tool | tool -x | tool')).toEqual([
      'tool: passed, proved',
      'tool -x: refused, refused',
      'tool: not-reached, not asked',
    ]);
    expect(states('nobody ; tool')).toEqual(['nobody: refused, refused', 'tool: not-reached, not asked']);
    expect(states('tool ; tool', '/dev')).toEqual(['tool: refused, refused', 'tool: not-reached, not asked']);
    for (const none of ['tool -x', 'tool | tool $x', 'tool & tool', 'tool > f', '', 'nobody'])
      expect(states(none), none).toEqual([]);
    // All of it is to blame.
    const contradicted = explain(
      { kind: 'serial', ruleset: '', reason: { ...reasonOf('tool | tool -x'), span: [0, 11] } },
      'tool | tool',
    );
    expect(contradicted.parts).toEqual([]);
  });

  function reasonOf(command: string) {
    const verdict = classify(command, { rules, mode: 'compound' });
    if (verdict.kind === 'parallel') throw new Error('expected a serial one');
    return verdict.reason;
  }

  test('is drawn part by part', () => {
    const text = renderExplanation(explained('tool | tool -x'));
    expect(text).toContain('[ok] Part 1 of 2: proved');
    expect(text).toContain('[no] Part 2 of 2: refused');
    expect(renderExplanation(explained('tool a'))).not.toContain('Part 1');
    expect(answer(rules, 'tool | tool')).toBe('TEXT_OPERATOR');
  });
});
