import { fc, test as prop } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { classify } from '../../src/classifier/classify.ts';
import type { Verdict } from '../../src/classifier/verdict.ts';
import { profilesOf } from '../../src/dispatcher/profiles.ts';
import { loadRules } from '../../src/rules/load.ts';

/**
 * Variables in front of a command, and variables that a caller sets for it: exactly the listed names with exactly the listed
 * values pass, in any number and order; everything else is serial, with a code and the name.
 */

const rules = loadRules();
const ask = (command: string, env?: Readonly<Record<string, string>>): Verdict =>
  classify(command, { rules, cwd: '/repo', ...(env === undefined ? {} : { env }) });
const codeOf = (verdict: Verdict): string => (verdict.kind === 'serial' ? verdict.reason.code : verdict.kind);

/** The list of the product, written out: a value more is a decision, and goes in here. */
const LISTED: Readonly<Record<string, readonly string[]>> = {
  LC_ALL: ['C', 'C.UTF-8', 'POSIX'],
  LANG: ['C', 'C.UTF-8', 'POSIX'],
  TZ: ['UTC'],
  NO_COLOR: ['1'],
  CI: ['1'],
  PAGER: ['cat'],
  GIT_PAGER: ['cat'],
};
const pairs = Object.entries(LISTED).flatMap(([name, values]) => values.map((value) => [name, value] as const));

test('the rules list these values and no others', () => {
  expect(rules.profiles.assignments).toEqual(LISTED);
});

/** Values that look like a listed one, for every name. */
function near(name: string, value: string): readonly string[] {
  const variants = [
    ...[value.toLowerCase(), value.toUpperCase(), `${value} `, ` ${value}`, `${value}.`, `${value}${value}`],
    ...[
      '',
      '0',
      'true',
      'yes',
      '1.0',
      '01',
      '+1',
      'C.utf8',
      'C.UTF8',
      'c.UTF-8',
      'en_US.UTF-8',
      'POSIX.UTF-8',
      'Posix',
    ],
    ...[
      'UTC0',
      'utc',
      'Europe/Berlin',
      ':UTC',
      '/etc/localtime',
      '/dev/zero',
      '/bin/cat',
      'cat -A',
      'less',
      './cat',
      'CAT',
    ],
    ...[value.slice(0, -1), `${value}\u00e9`],
  ];
  return [...new Set(variants)].filter((each) => !LISTED[name]?.includes(each));
}

/** Names that look like a listed one. */
function alike(name: string): readonly string[] {
  const variants = [
    name.toLowerCase(),
    `${name}_`,
    `_${name}`,
    name.slice(0, -1),
    `${name}X`,
    `${name[0]}${name.slice(1).toLowerCase()}`,
  ];
  return [...new Set(variants)].filter((each) => each !== '' && !Object.hasOwn(LISTED, each));
}

const STEERING = [
  ...[
    'LD_PRELOAD',
    'LD_LIBRARY_PATH',
    'PATH',
    'IFS',
    'BASH_ENV',
    'ENV',
    'HOME',
    'TMPDIR',
    'LC_CTYPE',
    'LC_MESSAGES',
    'LANGUAGE',
  ],
  ...[
    'GIT_EXTERNAL_DIFF',
    'GIT_DIR',
    'GIT_SSH_COMMAND',
    'GIT_CONFIG_COUNT',
    'GIT_ALLOW_PROTOCOL',
    'NODE_OPTIONS',
    'TAR_OPTIONS',
  ],
  ...[
    'GREP_OPTIONS',
    'LESSOPEN',
    'MANPAGER',
    'SYSTEMD_PAGER',
    'RIPGREP_CONFIG_PATH',
    'FORCE_COLOR',
    'CLICOLOR',
    'TERM',
    'EDITOR',
  ],
  ...[
    'DOCKER_HOST',
    'KUBECONFIG',
    'AWS_PROFILE',
    'PYTHONPATH',
    'PERL5OPT',
    'POSIXLY_CORRECT',
    'CDPATH',
    'PS4',
    'x',
    '_',
    'A',
  ],
];

describe('in front of a command', () => {
  test.each(pairs)('%s=%s passes, and is what the run sets', (name, value) => {
    const verdict = ask(`${name}=${value} git log -1`);
    expect(verdict).toMatchObject({ run: { form: 'argv', argv: ['git', 'log', '-1'], env: { [name]: value } } });
  });

  test.each(pairs)('%s=%s passes only as it is listed, without quotes', (name, value) => {
    const spellings = [`${name}='${value}'`, `${name}="${value}"`, `${name}=''${value}`, `${name}=\\${value}`];
    for (const text of spellings) expect(codeOf(ask(`${text} git log -1`)), text).toBe('TEXT_ASSIGNMENT');
  });

  const wrong = pairs.flatMap(([name, value]) => near(name, value).map((each) => [name, each] as const));
  test.each([...new Map(wrong.map((each) => [each.join('='), each])).values()])('%s=%j is serial', (name, value) => {
    const text = /^[A-Za-z0-9_./:+-]*$/.test(value) ? value : `'${value}'`;
    for (const command of [`${name}=${text} ls`, `${name}=${text} git log -1`]) {
      expect(codeOf(ask(command)), command).toBe('TEXT_ASSIGNMENT');
    }
  });

  const others = [...new Set([...Object.keys(LISTED).flatMap(alike), ...STEERING])];
  test.each(others)('%s is serial with any value, and the message names it', (name) => {
    for (const value of ['', '1', 'C', 'cat', 'UTC', 'C.UTF-8', './x']) {
      const verdict = ask(`${name}=${value} ls`);
      expect(verdict, value).toMatchObject({ kind: 'serial', reason: { code: 'TEXT_ASSIGNMENT' } });
      if (verdict.kind === 'serial') {
        const [start, end] = verdict.reason.span;
        expect(`${name}=${value} ls`.slice(start, end)).toContain(`${name}=`);
        expect(verdict.reason.message).toContain(`${name}=`);
      }
    }
  });

  test.each([
    'LC_ALL=C NO_COLOR=1 ls',
    'NO_COLOR=1 LC_ALL=C ls',
    'CI=1 TZ=UTC LANG=POSIX PAGER=cat GIT_PAGER=cat git log -1',
    'TZ=UTC TZ=UTC date',
    'LC_ALL=C LC_ALL=POSIX sort f',
    'LC_ALL=C  ls',
    'LC_ALL=C\tls',
  ])('%j: any number passes, and the last of a name counts', (command) => {
    expect(codeOf(ask(command))).toBe('parallel');
  });

  test('the last of a name is what the run sets', () => {
    expect(ask('LC_ALL=C LC_ALL=POSIX sort f')).toMatchObject({ run: { env: { LC_ALL: 'POSIX' } } });
  });

  test.each([
    ['A=1 B=2 ls', 'TEXT_ASSIGNMENT'],
    ['LC_ALL=C A=1 ls', 'TEXT_ASSIGNMENT'],
    ['A=1 LC_ALL=C ls', 'TEXT_ASSIGNMENT'],
    ['LC_ALL=C LC_ALL=x ls', 'TEXT_ASSIGNMENT'],
    ['LC_ALL=x LC_ALL=C ls', 'TEXT_ASSIGNMENT'],
    ['LC_ALL= ls', 'TEXT_ASSIGNMENT'],
    ['LC_ALL+=C ls', 'TEXT_ASSIGNMENT'],
    ['LC_ALL[0]=C ls', 'TEXT_ASSIGNMENT'],
    ['LC_ALL=C', 'TEXT_ASSIGNMENT'],
    ['LC_ALL=C NO_COLOR=1', 'TEXT_ASSIGNMENT'],
    ['LC_ALL=$x ls', 'TEXT_EXPANSION'],
    ['LC_ALL="$x" ls', 'TEXT_EXPANSION'],
    ['LC_ALL=$(x) ls', 'TEXT_EXPANSION'],
    ['LC_ALL=`x` ls', 'TEXT_EXPANSION'],
    ['LC_ALL=C; ls', 'TEXT_OPERATOR'],
    ['LC_ALL=C && ls', 'TEXT_OPERATOR'],
    ['LC_ALL=~ ls', 'TEXT_TILDE'],
    ['LC_ALL=C rm x', 'COMMAND_REFUSED'],
    ['LC_ALL=C env ls', 'OPERAND_UNEXPECTED'],
    ['LC_ALL=C sort -o f f', 'OPTION_UNKNOWN'],
    ['LC_ALL=C nobody', 'COMMAND_UNKNOWN'],
    ['env LC_ALL=C ls', 'OPERAND_UNEXPECTED'],
    ['export LC_ALL=C', 'COMMAND_REFUSED'],
    ['"LC_ALL=C" ls', 'COMMAND_NOT_PLAIN'],
    ['LC_ALL"=C" ls', 'COMMAND_NOT_PLAIN'],
    ['LC_ALL\\=C ls', 'COMMAND_NOT_PLAIN'],
    ['LC_ALL =C ls', 'COMMAND_UNKNOWN'],
    ['1A=C ls', 'TEXT_ASSIGNMENT'],
  ])('%j is serial: %s', (command, code) => {
    expect(codeOf(ask(command))).toBe(code);
  });

  test('behind the command it is a word like any other', () => {
    expect(ask('echo LC_ALL=x')).toMatchObject({ kind: 'parallel' });
    expect(ask('ls LC_ALL=x')).toMatchObject({ kind: 'parallel', run: { argv: ['ls', 'LC_ALL=x'] } });
  });

  const listed = fc.constantFrom(...pairs).map(([name, value]) => `${name}=${value}`);
  prop.prop([fc.array(listed, { minLength: 1, maxLength: 6 })])(
    'listed ones in any number and order stay parallel',
    (all) => {
      expect(codeOf(ask(`${all.join(' ')} git status`))).toBe('parallel');
    },
  );

  const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,8}$/);
  const value = fc.stringMatching(/^[A-Za-z0-9_./:@%,-]{0,8}$/);
  prop.prop([fc.array(listed, { maxLength: 3 }), name, value, fc.array(listed, { maxLength: 3 })])(
    'one that is not listed makes it serial, wherever it stands among them',
    (before, other, text, after) => {
      fc.pre(!LISTED[other]?.includes(text));
      const command = [...before, `${other}=${text}`, ...after, 'git status'].join(' ');
      expect(codeOf(ask(command))).toBe('TEXT_ASSIGNMENT');
    },
  );
});

describe('set by the caller for one command', () => {
  test.each(pairs)('%s=%s passes', (name, value) => {
    for (const command of ['ls', 'git log -1', 'npm ls', 'docker ps']) {
      const set = profilesOf(rules).get(profileOf(command))?.set ?? {};
      // What the profile sets otherwise cannot be what the caller wanted; the dispatcher says so.
      if (Object.hasOwn(set, name) && set[name] !== value) continue;
      expect(codeOf(ask(command, { [name]: value })), command).toBe('parallel');
    }
  });

  const wrong = pairs.flatMap(([name, value]) =>
    [...near(name, value), `${value}\n`].map((each) => [name, each] as const),
  );
  test.each([...new Map(wrong.map((each) => [each.join('='), each])).values()])(
    '%s=%j is serial, and named',
    (name, value) => {
      const verdict = ask('ls', { [name]: value });
      expect(verdict).toMatchObject({ kind: 'serial', reason: { check: 'environment', code: 'VARIABLE_UNKNOWN' } });
      if (verdict.kind === 'serial') expect(verdict.reason.message).toContain(name);
    },
  );

  test.each([...new Set([...Object.keys(LISTED).flatMap(alike), ...STEERING])])(
    '%s is serial with any value, and named',
    (name) => {
      for (const value of ['', 'C', 'cat', './x', '/dev/zero']) {
        const verdict = ask('ls', { [name]: value });
        expect(codeOf(verdict), value).toBe('VARIABLE_UNKNOWN');
        if (verdict.kind === 'serial') expect(verdict.reason.message).toContain(name);
      }
    },
  );

  test('a name that the profile hands over is no exception', () => {
    for (const [name, { pass, set }] of profilesOf(rules)) {
      const command = COMMANDS[name];
      if (command === undefined) continue;
      for (const variable of pass) {
        if (Object.hasOwn(LISTED, variable) || Object.hasOwn(set, variable)) continue;
        expect(codeOf(ask(command, { [variable]: '/tmp/x' })), `${name} ${variable}`).toBe('VARIABLE_UNKNOWN');
      }
    }
  });

  test('what the profile sets passes with exactly that value', () => {
    for (const [name, { set }] of profilesOf(rules)) {
      const command = COMMANDS[name];
      if (command === undefined) continue;
      for (const [variable, value] of Object.entries(set)) {
        expect(codeOf(ask(command, { [variable]: value })), `${name} ${variable}`).toBe('parallel');
        if (LISTED[variable]?.includes('x')) continue;
        expect(codeOf(ask(command, { [variable]: 'x' })), `${name} ${variable}`).toBe('VARIABLE_UNKNOWN');
      }
    }
  });

  test.each<[Readonly<Record<string, string>>, string]>([
    [{}, 'parallel'],
    [{ LC_ALL: 'C', CI: '1' }, 'parallel'],
    [{ LC_ALL: 'C', A: '1' }, 'VARIABLE_UNKNOWN'],
    [{ A: '1', LC_ALL: 'C' }, 'VARIABLE_UNKNOWN'],
    [{ A: '' }, 'VARIABLE_UNKNOWN'],
    [{ '': 'C' }, 'VARIABLE_UNKNOWN'],
    [{ 'LC_ALL=C': 'C' }, 'VARIABLE_UNKNOWN'],
    [{ constructor: 'C' }, 'VARIABLE_UNKNOWN'],
    [{ toString: 'C' }, 'VARIABLE_UNKNOWN'],
    [JSON.parse('{"__proto__":"C"}'), 'VARIABLE_UNKNOWN'],
    [{ GIT_OPTIONAL_LOCKS: '0' }, 'parallel'],
    [{ GIT_OPTIONAL_LOCKS: '1' }, 'VARIABLE_UNKNOWN'],
    [{ git_optional_locks: '0' }, 'VARIABLE_UNKNOWN'],
  ])('%j beside git status: %s', (env, code) => {
    expect(codeOf(ask('git status', env))).toBe(code);
  });

  test('what stands before the command does not excuse what the caller sets, nor the other way round', () => {
    expect(codeOf(ask('LC_ALL=C ls', { A: '1' }))).toBe('VARIABLE_UNKNOWN');
    expect(codeOf(ask('A=1 ls', { LC_ALL: 'C' }))).toBe('TEXT_ASSIGNMENT');
    expect(codeOf(ask('LC_ALL=C ls', { LC_ALL: 'POSIX' }))).toBe('parallel');
  });

  test('a text that is serial for a reason of its own keeps it', () => {
    expect(codeOf(ask('rm x', { A: '1' }))).toBe('COMMAND_REFUSED');
  });
});

/** One command for each profile that is here. */
const COMMANDS: Readonly<Record<string, string>> = {
  generic: 'ls',
  git: 'git status',
  'git-settings': 'git config --list',
  npm: 'npm ls',
  docker: 'docker ps',
  kubectl: 'kubectl get pods',
  rg: 'rg x',
  systemd: 'systemctl status x',
  gh: 'gh pr list',
  helm: 'helm list',
  go: 'go version',
  rust: 'rustc --version',
  terraform: 'terraform fmt -check',
};

function profileOf(command: string): string {
  const verdict = ask(command);
  return verdict.kind === 'parallel' ? verdict.profile : '';
}
