import { describe, expect, test } from 'vitest';
import { judge } from '../../src/classifier/classify.ts';
import { exportRules, restoreRules } from '../../src/classifier/rule-set.ts';
import { fileWith, option, PROFILES, ruleSetWith } from '../rules/fixture.ts';

const WHY = 'made up for tests';

const rules = ruleSetWith(
  fileWith({
    binary: 'each',
    only: 'compound',
    command: {
      stdin: 'always',
      options: { '-f': option({ takes: 'path' }) },
      delegates: [
        { command: 'count', exactly: ['-l'], why: WHY },
        { command: 'first', exactly: ['-n', 'NUMBER', '--'], why: WHY },
        { command: 'seek', ends: '--', why: WHY },
        { command: 'mute', ends: '--', why: WHY },
        { command: 'search', ends: '--', why: WHY },
      ],
      after: { list: ['-a'], walk: [] },
      through: { pick: ['-f'] },
    },
  }),
  fileWith({ binary: 'count', command: { options: { '-l': option() }, operands: ['path*'] } }),
  fileWith({
    binary: 'first',
    resources: ['shelf'],
    command: { options: { '-n': option({ takes: 'number' }) }, operands: ['path*'] },
  }),
  fileWith({
    binary: 'seek',
    command: {
      options: { '-f': option({ takes: 'path' }), '-C': option({ takes: 'directory' }) },
      operands: ['text', 'path*'],
      starts: ['pager'],
      effects: ['own-log'],
    },
  }),
  fileWith({ binary: 'search', command: { operands: ['tree*'] } }),
  fileWith({ binary: 'mute', profile: 'quiet', command: { operands: ['text*'] } }),
  fileWith({
    binary: 'list',
    command: {
      options: { '-a': option(), '-p': option({ takes: 'text' }), '-C': option({ takes: 'directory' }) },
      operands: ['path*'],
      globs: true,
    },
  }),
  fileWith({ binary: 'walk', command: { operands: ['path*'] } }),
  fileWith({
    binary: 'pick',
    command: { stdin: 'unless-operand', options: { '-f': option({ takes: 'path' }) }, operands: ['text', 'path*'] },
  }),
  fileWith({ binary: 'say', command: { operands: ['text*'] } }),
);

const asked = (command: string, cwd = '/work') => judge(command, { rules, mode: 'compound', cwd });

function answer(command: string, cwd?: string): string {
  const { verdict } = asked(command, cwd);
  return verdict.kind === 'parallel' ? 'parallel' : `${verdict.reason.code} ${command.slice(...verdict.reason.span)}`;
}

describe('names that a command behind a pipe opens', () => {
  test('come from a listing, and through what passes some of them on', () => {
    for (const feed of [
      'list',
      'list src',
      'walk | pick a',
      'list | pick a | pick b',
      'say; list',
      'cd src && list',
      'list 2>/dev/null',
    ]) {
      expect([feed, answer(`${feed} | each count -l`)]).toEqual([feed, 'parallel']);
    }
  });

  test('come from nothing else', () => {
    const refused = {
      'say a | each count -l': 'say a',
      'list | say a | each count -l': 'say a',
      'pick a b | each count -l': 'pick a b',
      'list | pick a b | each count -l': 'pick a b',
      'list | each count -l | each count -l': 'each count -l',
      'list -p /dev/x | each count -l': 'list -p /dev/x',
      'list | pick x/proc/1 | each count -l': 'pick x/proc/1',
      'list -p sys/x | each count -l': 'list -p sys/x',
      'list / | each count -l': 'list /',
      'list .. | each count -l': 'list ..',
      'list -C / | each count -l': 'list -C /',
      'cd / && list | each count -l': 'list',
      'list 2>&1 | each count -l': 'list',
      'list -p x | each count -l': 'list -p x',
      'list -a -p x | each count -l': 'list -a -p x',
      'list ~/x | each count -l': 'list ~/x',
      'list | pick -f b a | each count -l': 'pick -f b a',
    };
    for (const [command, stage] of Object.entries(refused)) {
      expect([command, answer(command)]).toEqual([command, `NAMES_REFUSED ${stage}`]);
    }
    expect(answer('list | each count -l', '/')).toBe('NAMES_REFUSED list');
    expect(answer('cd work && list | each count -l', '/')).toBe('parallel');
    expect(answer('cd work && list | each count -l; say', '/')).toBe('NAMES_REFUSED list');
  });

  test('are opened by the listed commands, spelled as they are listed', () => {
    for (const command of ['first -n 3 --', 'first -n 0 --', 'seek a --', 'seek -f b a --']) {
      expect([command, answer(`list | each ${command}`)]).toEqual([command, 'parallel']);
    }
    for (const command of [
      'first -n x --',
      'first -n 3',
      'first -n --',
      'first -n3 --',
      'count',
      'seek a',
      'seek -- a',
      'seek -f --',
      'seek -- a --',
    ]) {
      expect(answer(`list | each ${command}`)).toMatch(
        /^(DELEGATE_REFUSED|OPERAND_MISSING|OPERAND_REFUSED|VALUE_REFUSED|OPTION_VALUE_MISSING)/,
      );
    }
    // What is below a listed name may be anything.
    expect(answer('list | each search --')).toBe('DELEGATE_REFUSED --');
    expect(answer('each count -l')).toBe('COMPOUND_ONLY each');
    expect(answer('each count -l </dev/null')).toBe('COMPOUND_ONLY each');
  });

  test('a command that is never handed names is explained where its name is known', () => {
    const noted = restoreRules({ ...exportRules(rules), never: { wipe: 'removes files' } });
    const ask = (command: string) => judge(command, { rules: noted, mode: 'compound', cwd: '/work' }).verdict;
    expect(ask('list | each wipe')).toMatchObject({
      reason: {
        code: 'DELEGATE_REFUSED',
        knowledge: 'known-unsafe',
        message: expect.stringContaining('removes files'),
      },
    });
    for (const name of ['nobody', "'wipe'"]) {
      expect(ask(`list | each ${name}`)).toMatchObject({
        reason: { code: 'DELEGATE_REFUSED', knowledge: 'unrecognised' },
      });
    }
  });

  test('what the command behind names, starts and does is told of the whole', () => {
    const judgement = asked('list a | each -f b seek -f c -C d x --');
    expect(judgement).toMatchObject({
      paths: ['a', 'b', 'c', '.'].map((text) => ({ text, walked: true })),
      directories: ['d'],
      programs: ['list', 'each'],
      starts: ['seek', 'pager'],
      verdict: {
        kind: 'parallel',
        rule: [{ path: 'list' }, { path: 'each' }, { path: 'seek' }],
        effects: ['reads-files', 'own-log'],
        parts: [{ rule: [{ path: 'list' }] }, { rule: [{ path: 'each' }, { path: 'seek' }], stdin: 'pipe' }],
      },
    });
    expect(judgement.paths).toHaveLength(4);
    expect(asked('list | each first -n 3 --').resources).toEqual(['shelf']);
    expect(asked('list | each mute --').verdict).toMatchObject({ profile: 'quiet' });
  });
});

test('a command behind whose environment contradicts makes it serial; one that a user loosened shows', () => {
  const files = [
    fileWith({
      binary: 'each',
      only: 'compound',
      profile: 'quiet',
      command: {
        stdin: 'always',
        delegates: [
          { command: 'loud', ends: '--', why: WHY },
          { command: 'loose', ends: '--', why: WHY },
        ],
        after: { list: [] },
      },
    }),
    fileWith({ binary: 'loud', profile: 'loud' }),
    fileWith({
      binary: 'loose',
      command: { options: { '-x': option({ override: true as const }) }, operands: ['text*'] },
    }),
    fileWith({ binary: 'list' }),
  ];
  const loud = { why: WHY, set: { QUIET: '0' }, pass: [] };
  const given = restoreRules({
    format: 1,
    hash: 'sha256:made-up',
    profiles: { ...PROFILES, profiles: { ...PROFILES.profiles, loud } },
    never: {},
    files: files.map((file) => ({ origin: 'built-in' as const, file })),
    experimental: [],
  });
  const verdictOf = (command: string) => judge(command, { rules: given, mode: 'compound' }).verdict;
  expect(verdictOf('list | each loud --')).toMatchObject({ reason: { code: 'PROFILES_CONTRADICT', span: [7, 19] } });
  expect(verdictOf('list | each loose -x --')).toMatchObject({
    rule: [{ path: 'list' }, { path: 'each', origin: 'built-in' }, { path: 'loose', origin: 'override' }],
  });
  expect(verdictOf('loose -x; list')).toMatchObject({ parts: [{ rule: [{ origin: 'override' }] }, {}] });
});

describe('a listing', () => {
  const picking = ruleSetWith(
    fileWith({
      binary: 'each',
      only: 'compound',
      command: {
        stdin: 'always',
        delegates: [
          { command: 'count', exactly: ['-l'], after: ['list'], why: WHY },
          { command: 'count', exactly: ['-l', '--'], why: WHY },
        ],
        after: {
          list: ['-a', { '-t': ['f', 'd'], '-c': ['x'] }],
          walk: ['\\(', '\\)', '!', '-o', '-n', { '-t': ['f'] }],
          place: ['-d'],
        },
        through: { pick: [] },
        headings: { place: ['-d'] },
      },
    }),
    fileWith({ binary: 'count', command: { options: { '-l': option() }, operands: ['path*'] } }),
    fileWith({
      binary: 'list',
      command: {
        options: {
          '-a': option(),
          '-t, --type': option({ takes: 'word' }),
          '-c': option({ takes: 'word', optional: true as const }),
        },
        operands: ['path*'],
      },
    }),
    fileWith({
      binary: 'walk',
      syntax: 'words',
      command: {
        options: { '!; \\(; \\); -o; -n': option(), '-t': option({ takes: 'word' }) },
        expression: {
          open: ['\\('],
          close: ['\\)'],
          not: ['!'],
          join: ['-o'],
          implicitJoin: true,
          operandsFirst: true,
        },
        operands: ['path*'],
      },
    }),
    fileWith({ binary: 'place', command: { options: { '-d': option() }, operands: ['path*'], globs: true } }),
    fileWith({ binary: 'pick', command: { stdin: 'unless-operand', operands: ['text', 'path*'] } }),
  );
  const isParallel = (command: string): boolean =>
    judge(command, { rules: picking, mode: 'compound', cwd: '/work' }).verdict.kind === 'parallel';
  const isFed = (stage: string): boolean => isParallel(`${stage} | each count -l --`);

  test('may have a listed option with the listed values only, however they are given', () => {
    for (const stage of ['list -t f', 'list -tf -td', 'list --type=d', 'list -a -t f', 'list -cx', 'list -t f a']) {
      expect([stage, isFed(stage)]).toEqual([stage, true]);
    }
    for (const stage of ['list -t p', 'list -tf -tp', 'list --type=p', 'list --type p', 'list -c', 'list -cy']) {
      expect([stage, isFed(stage)]).toEqual([stage, false]);
    }
  });

  test('finds what such an option says, not what it leaves', () => {
    const fed = [
      '-t f',
      '-n -o -t f',
      '-t f ! -n',
      '-t f \\( -n -o -n \\)',
      '\\( -t f \\) \\( -n -o -n \\)',
      '! -n -o -n',
    ];
    for (const expression of fed) expect([expression, isFed(`walk . ${expression}`)]).toEqual([expression, true]);
    for (const expression of [
      '! -t f',
      '! \\( -t f \\)',
      '! \\( -n \\) -t f',
      '-t f -o -n',
      '\\( -t f \\) -o -n',
      '\\( -t f -o -n \\)',
      '-t f \\( -n \\) -o -n',
      '-t f \\( -n -o -n \\) -o -n',
      '\\( -n \\) -t f -o -n',
    ]) {
      expect([expression, isFed(`walk . ${expression}`)]).toEqual([expression, false]);
    }
  });

  test('names places that are one name to who reads them', () => {
    expect(isFed('list a b')).toBe(true);
    for (const name of ["'a b'", 'a\\ b', "'a\\b'", '"a\'b"', "'a\"b'"]) {
      for (const stage of [`list ${name}`, `list a ${name}`, `walk ${name} -n`]) {
        expect([stage, isFed(stage)]).toEqual([stage, false]);
      }
    }
  });

  test('prints no headings', () => {
    for (const stage of ['place', 'place a', 'place -d a b', 'place -d a*'])
      expect([stage, isFed(stage)]).toEqual([stage, true]);
    for (const stage of ['place a b', 'place a*']) expect([stage, isFed(stage)]).toEqual([stage, false]);
  });

  test('may be the only one behind which a command takes names, with nothing between them', () => {
    expect(isParallel('list | each count -l')).toBe(true);
    expect(isParallel('list | pick a | each count -l')).toBe(false);
    for (const through of ['', ' | pick a']) {
      expect(isParallel(`walk${through} | each count -l`)).toBe(false);
      expect(isParallel(`walk${through} | each count -l --`)).toBe(true);
    }
  });
});

describe('names that end with NUL', () => {
  const ended = ruleSetWith(
    fileWith({
      binary: 'each',
      only: 'compound',
      command: {
        stdin: 'always',
        options: { '-0, --null; -n': option() },
        delegates: [
          { command: 'count', exactly: ['--'], why: WHY },
          { command: 'count', exactly: ['-l'], without: ['-n'], why: WHY },
        ],
        after: { list: ['-0', '-p'], walk: ['-0'] },
        through: { pick: ['-z'], tell: ['-z'] },
        nul: {
          each: { with: ['-0'] },
          list: { with: ['-0'], unless: ['-p'] },
          pick: { with: ['-z'] },
        },
      },
    }),
    fileWith({ binary: 'count', command: { options: { '-l': option() }, operands: ['path*'] } }),
    fileWith({ binary: 'list', command: { options: { '-0; -p': option() }, operands: ['path*'] } }),
    fileWith({ binary: 'walk', command: { options: { '-0': option() }, operands: ['path*'] } }),
    fileWith({
      binary: 'pick',
      command: { stdin: 'unless-operand', options: { '-z': option() }, operands: ['path*'] },
    }),
    fileWith({
      binary: 'tell',
      command: { stdin: 'unless-operand', options: { '-z': option() }, operands: ['path*'] },
    }),
  );
  const read = (command: string): string => {
    const { verdict } = judge(command, { rules: ended, mode: 'compound', cwd: '/work' });
    return verdict.kind === 'parallel' ? 'parallel' : `${verdict.reason.code} ${command.slice(...verdict.reason.span)}`;
  };

  test('do so in all stages, or in none', () => {
    for (const fine of [
      'list | each count --',
      'list -p | each count --',
      'list | pick | tell | each count --',
      'list -0 | each -0 count --',
      'list -0 | each --null count --',
      'list -0 | pick -z | each -0 count --',
    ]) {
      expect([fine, read(fine)]).toEqual([fine, 'parallel']);
    }
    const refused = {
      'list -0 | each count --': 'list -0',
      'list | each -0 count --': 'list',
      'list -0 | pick | each -0 count --': 'pick',
      'list | pick -z | each count --': 'pick -z',
      'list | pick -z | each -0 count --': 'list',
      'list -0 | pick -z | each count --': 'list -0',
    };
    for (const [command, stage] of Object.entries(refused)) {
      expect([command, read(command)]).toEqual([command, `NAMES_REFUSED ${stage}`]);
    }
  });

  test('are not taken from who ends some with a newline, or of whom nobody says how', () => {
    expect(read('list -0 -p | each -0 count --')).toBe('NAMES_REFUSED list -0 -p');
    expect(read('list -0 -p | each count --')).toBe('NAMES_REFUSED list -0 -p');
    expect(read('walk -0 | each -0 count --')).toBe('NAMES_REFUSED walk -0');
    expect(read('list -0 | tell -z | each -0 count --')).toBe('NAMES_REFUSED tell -z');
  });

  test('a command may ask that names come without an option of who hands them on', () => {
    expect(read('list | each count -l')).toBe('parallel');
    expect(read('list | each -n count --')).toBe('parallel');
    expect(read('list | each -n count -l')).toBe('DELEGATE_REFUSED -l');
  });
});
