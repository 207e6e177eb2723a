import { describe, expect, test } from 'vitest';
import { classify, judge } from '../../src/classifier/classify.ts';
import type { ClassifyOptions, SecondReading } from '../../src/classifier/judgement.ts';
import { type RuleSet, restoreRules } from '../../src/classifier/rule-set.ts';
import type { RuleFile } from '../../src/rules/schema.ts';
import { fileWith, option, PROFILES } from '../rules/fixture.ts';

const WHY = 'made up for tests';

/** Rules with profiles that contradict each other, and some that do not. */
function rulesWith(...files: readonly RuleFile[]): RuleSet {
  const profile = (set: Record<string, string>, minds: readonly string[] = []) => ({
    why: WHY,
    set,
    pass: [],
    minds: [...minds],
  });
  return restoreRules({
    format: 1,
    hash: 'sha256:made-up',
    profiles: {
      ...PROFILES,
      generic: { ...PROFILES.generic, set: { LANG: 'C' }, pass: ['PATH'] },
      profiles: {
        calm: { why: WHY, set: { MODE: 'calm' }, pass: ['WHERE'], minds: ['OTHER'] },
        loud: profile({ MODE: 'loud' }),
        minding: profile({}, ['MODE']),
        wary: profile({}, ['MO*', 'X']),
        apart: profile({ APART: '1' }, ['MODE2', 'MO']),
      },
    },
    never: { eval: 'runs its words' },
    files: files.map((file) => ({ origin: 'built-in' as const, file })),
    experimental: [],
  });
}

const rules = rulesWith(
  fileWith({
    binary: 'list',
    resources: ['made-up-daemon'],
    command: {
      observes: ['repository'],
      options: { '-C': option({ takes: 'directory' }) },
      operands: ['path*'],
      globs: true,
      starts: ['pager'],
    },
  }),
  fileWith({ binary: 'say', builtin: true, command: { operands: ['text*'] } }),
  fileWith({ binary: 'read', command: { stdin: 'unless-operand', operands: ['path*'], effects: ['network'] } }),
  fileWith({ binary: 'filter', only: 'compound', command: { stdin: 'always', operands: [] } }),
  fileWith({ binary: 'show', command: { observes: ['environment'], operands: [] } }),
  ...['calm', 'loud', 'minding', 'wary', 'apart'].map((name) =>
    fileWith({ binary: name, profile: name, command: { operands: ['text*'] } }),
  ),
);

const COMPOUND = { rules, mode: 'compound' } as const;

/** `parallel`, or the check, the code and the stretch that is to blame. */
function answer(command: string, options: Partial<ClassifyOptions> = {}): string {
  const verdict = classify(command, { ...COMPOUND, ...options });
  if (verdict.kind === 'parallel') return 'parallel';
  const { check, code, span } = verdict.reason;
  return `${check} ${code} ${JSON.stringify(command.slice(...span))}`;
}

describe('a compound', () => {
  test('is parallel when every part is, and says what each is and what all are', () => {
    expect(classify('list a && say b 2>&1 | read >/dev/null', COMPOUND)).toEqual({
      kind: 'parallel',
      run: { form: 'bash' },
      profile: 'generic',
      rule: [
        { binary: 'list', path: 'list', origin: 'built-in' },
        { binary: 'say', path: 'say', origin: 'built-in' },
        { binary: 'read', path: 'read', origin: 'built-in' },
      ],
      effects: ['reads-repository', 'reads-files', 'reads-network'],
      assumes: ['repository-plain'],
      parts: [
        {
          span: [0, 6],
          rule: [{ binary: 'list', path: 'list', origin: 'built-in' }],
          profile: 'generic',
          effects: ['reads-repository'],
          stdin: 'null',
        },
        {
          span: [10, 20],
          rule: [{ binary: 'say', path: 'say', origin: 'built-in' }],
          profile: 'generic',
          effects: ['reads-files'],
          stdin: 'null',
        },
        {
          span: [23, 38],
          rule: [{ binary: 'read', path: 'read', origin: 'built-in' }],
          profile: 'generic',
          effects: ['reads-files', 'reads-network'],
          stdin: 'pipe',
        },
      ],
      ruleset: 'sha256:made-up',
    });
  });

  test('names each rule once', () => {
    const verdict = classify('say a; say b; list', COMPOUND);
    expect(verdict).toMatchObject({ rule: [{ path: 'say' }, { path: 'list' }] });
    expect(verdict).toMatchObject({ parts: [{ span: [0, 5] }, { span: [7, 12] }, { span: [14, 18] }] });
  });

  test('of one simple command is judged as in simple mode', () => {
    for (const command of ['list a', 'say x', ' list ', 'list a b*', 'LANG=C list', 'nobody', '', 'X=1', 'list $a']) {
      expect(classify(command, COMPOUND), command).toEqual(classify(command, { rules }));
    }
    expect(classify('list a;', COMPOUND)).toMatchObject({ parts: [{ span: [0, 6] }], run: { form: 'bash' } });
    expect(classify('list 2>&1', COMPOUND)).toMatchObject({ parts: [{ span: [0, 9] }], run: { form: 'bash' } });
    expect(answer('list a | say b', { mode: 'simple' })).toBe('metacharacters TEXT_OPERATOR "|"');
  });

  const cases: readonly (readonly [string, string])[] = [
    ['list a | nobody', 'leading-token COMMAND_UNKNOWN "nobody"'],
    ['nobody | list', 'leading-token COMMAND_UNKNOWN "nobody"'],
    ['list && list -x', 'subcommand OPTION_UNKNOWN "-x"'],
    ['list ; list -x ; list', 'subcommand OPTION_UNKNOWN "-x"'],
    ['list | LANG=x list', 'metacharacters TEXT_ASSIGNMENT "LANG=x"'],
    ['list | LANG=C list', 'parallel'],
    ['list /dev/x | say', 'subcommand PATH_DEVICE "/dev/x"'],
    ['list ~/x | say', 'parallel'],
    ['list ~/../dev/x | say', 'subcommand PATH_DEVICE "~/../dev/x"'],
    ['list ~/dev/x | say', 'subcommand PATH_DEVICE "~/dev/x"'],
    ['list ~/dev | say', 'subcommand PATH_DEVICE "~/dev"'],
    ['say a | list -C ~/x', 'metacharacters TEXT_TILDE "~"'],
    ['calm ~/x | say', 'metacharacters TEXT_TILDE "~"'],
    ['show ; say', 'environment ENVIRONMENT_SHOWN "show"'],
    ['say | show', 'environment ENVIRONMENT_SHOWN "show"'],
    ['show', 'parallel'],
  ];
  test.each(cases)('%j: %s', (command, expected) => {
    expect(answer(command)).toBe(expected);
  });

  test('a keyword keeps what is known of it', () => {
    const known = restoreRulesNever();
    expect(classify('if x', { rules: known })).toMatchObject({ reason: { knowledge: 'known-unsafe' } });
    expect(classify('list | if x', { ...COMPOUND, rules: known })).toMatchObject({
      reason: { code: 'TEXT_KEYWORD', knowledge: 'known-unsafe' },
    });
    // Only a keyword: another refusal at a word of that name says nothing of it.
    expect(classify('if=', { rules: known })).toMatchObject({ reason: { knowledge: 'unrecognised' } });
  });
});

function restoreRulesNever(): RuleSet {
  return restoreRules({
    format: 1,
    hash: 'sha256:made-up',
    profiles: PROFILES,
    never: { if: 'runs what follows', 'if=': 'is no keyword' },
    files: [{ origin: 'built-in', file: fileWith({ binary: 'list' }) }],
    experimental: [],
  });
}

describe('standard input', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['list | read', 'parallel'],
    ['list | filter', 'parallel'],
    ['list | read -', 'parallel'],
    ['read', 'subcommand STDIN_READ "read"'],
    ['list ; read', 'subcommand STDIN_READ "read"'],
    ['list && read', 'subcommand STDIN_READ "read"'],
    ['list || read -', 'subcommand STDIN_READ "-"'],
    ['read | list', 'subcommand STDIN_READ "read"'],
    ['list && read </dev/null', 'parallel'],
    ['read </dev/null', 'parallel'],
    ['read 2>/dev/null', 'subcommand STDIN_READ "read"'],
    // Two inputs at once: nobody would read the pipe.
    ['list | read </dev/null', 'metacharacters TEXT_REDIRECTION "</dev/null"'],
    ['list | read 2>&1 </dev/null', 'metacharacters TEXT_REDIRECTION "</dev/null"'],
    // What has no meaning elsewhere stands behind a pipe.
    ['filter </dev/null', 'leading-token COMPOUND_ONLY "filter"'],
    ['list && filter', 'leading-token COMPOUND_ONLY "filter"'],
  ];
  test.each(cases)('%j: %s', (command, expected) => {
    expect(answer(command)).toBe(expected);
  });

  test('is the null device, or the stage before', () => {
    const verdict = classify('list | read && read </dev/null ; list', COMPOUND);
    expect(verdict).toMatchObject({
      parts: [{ stdin: 'null' }, { stdin: 'pipe' }, { stdin: 'null' }, { stdin: 'null' }],
    });
  });
});

describe('profiles', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['calm | calm', 'calm'],
    ['calm | say', 'calm'],
    ['say | calm | say', 'calm'],
    ['say | list', 'generic'],
    ['calm | apart', 'apart+calm'],
    ['apart ; calm ; say ; apart', 'apart+calm'],
    ['minding | apart', 'apart+minding'],
  ];
  test.each(cases)('%j presumes %s', (command, name) => {
    expect(classify(command, COMPOUND)).toMatchObject({ kind: 'parallel', profile: name });
  });

  const contradicting: readonly (readonly [string, string])[] = [
    ['calm | loud', 'MODE'],
    ['say | loud | calm', 'MODE'],
    ['calm | minding', 'MODE'],
    ['minding | calm', 'MODE'],
    ['wary && say && calm', 'MODE'],
  ];
  test.each(contradicting)('%j: %s cannot be two things at once', (command, variable) => {
    const verdict = classify(` ${command} `, COMPOUND);
    expect(verdict).toMatchObject({
      kind: 'serial',
      reason: { check: 'environment', code: 'PROFILES_CONTRADICT', span: [1, command.length + 1] },
    });
    expect(verdict.kind === 'serial' && verdict.reason.message).toContain(variable);
  });

  test('each part stands in the surroundings of its own', () => {
    expect(answer('calm | say', { env: { MODE: 'calm' } })).toBe('environment VARIABLE_UNKNOWN "say"');
    expect(answer('calm | calm', { env: { MODE: 'calm' } })).toBe('parallel');
    expect(answer('list | read', { allow: { network: false } })).toBe('environment EFFECT_REFUSED "read"');
    expect(answer('say | list -C a', { repository: { findings: [] } })).toBe('parallel');
    const findings = [{ code: 'REPOSITORY_LAYOUT', affects: 'every-read', detail: 'it is bare' } as const];
    expect(answer('say | list -C a', { repository: { findings } })).toBe('environment REPOSITORY_LAYOUT "list -C a"');
    expect(answer('say | say', { repository: { findings } })).toBe('parallel');
    expect(answer('say | say', { cwd: '/proc' })).toBe('environment DIRECTORY_DEVICE "say"');
    expect(classify('say | list', { ...COMPOUND, repository: { findings: [] } })).toMatchObject({ assumes: [] });
  });
});

describe('a leading change of directory', () => {
  const HOME = { cwd: '/home/user/tree' };
  const cases: readonly (readonly [string, string])[] = [
    ['cd a && list', 'parallel'],
    ['cd ./a/b && list', 'parallel'],
    ['cd ../a && list', 'parallel'],
    ['cd ../../a && list', 'parallel'],
    ['cd /srv && list ; say', 'parallel'],
    ['cd "a b" && list', 'parallel'],
    ['cd a/./b && list', 'parallel'],
    ['cd /../a && list', 'parallel'],
    ['cd', 'leading-token COMMAND_UNKNOWN "cd"'],
    ['cd a', 'leading-token COMMAND_UNKNOWN "cd"'],
    ['cd a ;', 'leading-token CD_NOT_LEADING "cd a"'],
    ['cd a ; list', 'leading-token CD_NOT_LEADING "cd a"'],
    ['cd a || list', 'leading-token CD_NOT_LEADING "cd a"'],
    ['cd a | list', 'leading-token CD_NOT_LEADING "cd a"'],
    ['list && cd a', 'leading-token CD_NOT_LEADING "cd a"'],
    ['cd a && cd b && list', 'leading-token CD_NOT_LEADING "cd b"'],
    ['LANG=C cd a && list', 'leading-token CD_NOT_LEADING "LANG=C cd a"'],
    ['cd a >/dev/null && list', 'leading-token CD_NOT_LEADING "cd a >/dev/null"'],
    ['cd && list', 'leading-token CD_TARGET "cd"'],
    ['cd a b && list', 'leading-token CD_TARGET "b"'],
    ['cd - && list', 'leading-token CD_TARGET "-"'],
    ['cd -P && list', 'leading-token CD_TARGET "-P"'],
    ['cd -- a && list', 'leading-token CD_TARGET "a"'],
    ['cd +1 && list', 'leading-token CD_TARGET "+1"'],
    ["cd '~' && list", `leading-token CD_TARGET "'~'"`],
    ['cd ~/a && list', 'leading-token CD_TARGET "~/a"'],
    ['cd "" && list', 'leading-token CD_TARGET "\\"\\""'],
    ['cd a* && list', 'leading-token CD_TARGET "a*"'],
    ['cd a/.. && list', 'leading-token CD_TARGET "a/.."'],
    ['cd ../a/../b && list', 'leading-token CD_TARGET "../a/../b"'],
    ['cd /a/../b && list', 'leading-token CD_TARGET "/a/../b"'],
    ['cd /dev && list', 'subcommand PATH_DEVICE "/dev"'],
    ['cd ../../../proc/1 && list', 'subcommand PATH_DEVICE "../../../proc/1"'],
  ];
  test.each(cases)('%j: %s', (command, expected) => {
    expect(answer(command, HOME)).toBe(expected);
  });

  test('the rest is judged from there, and from here too if it may run though the change failed', () => {
    expect(answer('cd a && list ../../../../dev/tty', HOME)).toBe('subcommand PATH_DEVICE "../../../../dev/tty"');
    expect(answer('list ../../../dev/tty | say', HOME)).toBe('subcommand PATH_DEVICE "../../../dev/tty"');
    expect(answer('cd a && list ../../../dev/tty', HOME)).toBe('parallel');
    expect(answer('cd a && say x && list ../../../dev/tty | say', HOME)).toBe('parallel');
    for (const joint of [';', '||']) {
      expect(answer(`cd a && say x ${joint} list ../../../dev/tty`, HOME), joint).toBe(
        'subcommand PATH_DEVICE "../../../dev/tty"',
      );
      expect(answer(`cd a && say x ${joint} list ../../dev/tty`, HOME), joint).toBe('parallel');
      expect(answer(`cd a && say x ${joint} list ../../../../dev/tty`, HOME), joint).toBe(
        'subcommand PATH_DEVICE "../../../../dev/tty"',
      );
    }
    expect(answer('cd a && list ; list | read', HOME)).toBe('parallel');
    expect(answer('cd a && list ; read', HOME)).toBe('subcommand STDIN_READ "read"');
  });

  test('leads into one of the roots, if they are given', () => {
    const roots = ['/home/user/', '/srv/x'];
    const told = (target: string, given: readonly string[] = roots) =>
      answer(`cd ${target} && list`, { ...HOME, roots: given });
    const outside = (target: string) => `environment CD_OUTSIDE_ROOTS ${JSON.stringify(target)}`;
    for (const inside of ['a', '..', '../../user', '/home/user', '/srv/x', '/srv/x/y', '/srv/./x'])
      expect(told(inside), inside).toBe('parallel');
    for (const other of ['../..', '/', '/srv', '/srv/xy', '/home/someone', '/home'])
      expect(told(other), other).toBe(outside(other));
    expect(told('/anywhere', ['/'])).toBe('parallel');
    expect(told('a', [])).toBe(outside('a'));
    // Where the text starts is not known, so a relative target lies in no root.
    expect(answer('cd a && list', { roots: ['/'] })).toBe('environment CD_OUTSIDE_ROOTS "a"');
    expect(answer('cd a && list')).toBe('parallel');
    // Who stays where the text starts is asked nothing.
    expect(answer('list | say', { cwd: '/elsewhere', roots: ['/srv'] })).toBe('parallel');
  });
});

describe('the judgement of a compound', () => {
  const judged = (command: string) => judge(command, COMPOUND);

  test('names what all parts name, each once', () => {
    expect(answer('list -C b a | say c ; list f* && read e')).toBe('parallel');
    expect(judged('list -C b a | say c ; list f* && read e')).toMatchObject({
      verdict: { kind: 'parallel' },
      directories: ['b'],
      paths: [
        { text: 'a', glob: false },
        { text: 'f*', glob: true },
        { text: 'e', glob: false },
      ],
      resources: ['made-up-daemon'],
      starts: ['pager'],
      programs: ['list', 'read'],
      cd: null,
      wholeEnvironment: false,
    });
    expect(judged('list ~/a | say').paths).toEqual([{ text: '~/a', glob: true, home: true }]);
  });

  test('of a simple command names its program, and nothing for a builtin', () => {
    expect(judged('list a')).toMatchObject({ programs: ['list'], starts: ['pager'], cd: null });
    expect(judged('say a')).toMatchObject({ programs: [], starts: [], cd: null });
    expect(judged('nobody a')).toMatchObject({ programs: [], directories: [], cd: null });
    expect(judged('show')).toMatchObject({ programs: ['show'], wholeEnvironment: true });
    expect(judge(5, COMPOUND)).toMatchObject({ programs: [], paths: [] });
    expect(classify(5, COMPOUND)).toMatchObject({
      reason: { code: 'INPUT_NOT_TEXT', span: [0, 0], message: expect.not.stringContaining('Stryker') },
    });
  });

  test('names also what stands behind a part that was refused, or before where the reading ended', () => {
    expect(judged('list -C a | nobody | list -C b c')).toMatchObject({
      verdict: { kind: 'serial' },
      directories: ['a', 'b'],
      paths: [{ text: 'c' }],
      programs: ['list'],
    });
    expect(judged('say | list -C a >f')).toMatchObject({ verdict: { kind: 'serial' }, directories: ['a'] });
    expect(judged('list -C a b & list -C c')).toMatchObject({ directories: ['a'], paths: [{ text: 'b' }] });
    expect(judged('list -C a $x')).toMatchObject({ directories: ['a'] });
    expect(judged('list -C a | if')).toMatchObject({ directories: ['a'], programs: ['list'] });
  });

  test('tells where a leading change leads, and whether something may run here', () => {
    const cdOf = (command: string) => judged(command).cd;
    expect(cdOf('cd a && list')).toEqual({ text: 'a', alsoHere: false });
    expect(cdOf('cd "a b" && list | read && say')).toEqual({ text: 'a b', alsoHere: false });
    expect(cdOf('cd a && list ; say')).toEqual({ text: 'a', alsoHere: true });
    expect(cdOf('cd a && list || say')).toEqual({ text: 'a', alsoHere: true });
    expect(cdOf('cd a && nobody')).toEqual({ text: 'a', alsoHere: false });
    // Not read to its end: what follows may be anything.
    expect(cdOf('cd a && list > f')).toEqual({ text: 'a', alsoHere: true });
    for (const none of [
      'cd a',
      'cd a;',
      'list && cd a',
      'cd a; list',
      'cd a* && list',
      'list',
      'list | say',
      'cd $a',
    ]) {
      expect(cdOf(none), none).toBeNull();
    }
    expect(judged('cd a && list b')).toMatchObject({ programs: ['list'], paths: [{ text: 'b' }] });
    expect(judged('cd a && nobody && list b')).toMatchObject({ programs: ['list'], paths: [{ text: 'b' }] });
    expect(judged('cd a ; list b')).toMatchObject({ programs: ['list'], paths: [{ text: 'b' }] });
  });
});

describe('a second reading of a compound', () => {
  const seen: unknown[] = [];
  const noting: SecondReading = (...given) => {
    seen.push(given);
    return true;
  };

  test('gets the words of all parts, and the parts', () => {
    const command = 'LANG=C list a* >/dev/null 2>&1 | say "b c";';
    expect(answer(command, { secondReading: noting })).toBe('parallel');
    const word = (text: string, glob = false) => expect.objectContaining({ text, glob });
    const first = [word('LANG=C'), word('list'), word('a*', true)];
    const second = [word('say'), word('b c')];
    expect(seen).toEqual([
      [
        command,
        [...first, ...second],
        [
          { joint: null, words: first, redirections: ['>/dev/null', '2>&1'] },
          { joint: '|', words: second, redirections: [] },
        ],
      ],
    ]);
  });

  test('is not asked about parts that are refused, and gets no parts of a simple command', () => {
    seen.length = 0;
    expect(answer('list | nobody', { secondReading: noting })).not.toBe('parallel');
    expect(answer('list >f', { secondReading: noting })).not.toBe('parallel');
    expect(seen).toEqual([]);
    answer('list a', { secondReading: noting });
    expect(seen).toEqual([
      ['list a', [expect.objectContaining({ text: 'list' }), expect.objectContaining({ text: 'a' })]],
    ]);
  });

  test('can take the yes away: by a no, by anything but true, and by throwing', () => {
    const noes: readonly unknown[] = [false, undefined, 1, 'true', null];
    for (const no of noes) {
      const secondReading = (() => no) as SecondReading;
      expect(answer('list | say', { secondReading })).toBe('environment SECOND_READING "list | say"');
    }
    const throwing: SecondReading = () => {
      throw new Error('made up');
    };
    expect(answer('list | say', { secondReading: throwing })).toBe('environment SECOND_READING "list | say"');
  });
});
