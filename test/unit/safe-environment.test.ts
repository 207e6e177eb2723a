import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fc, test as prop } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { classify } from '../../src/classifier/classify.ts';
import { safeEnvironment as withRules } from '../../src/dispatcher/safe-environment.ts';
import { loadRules, profilesOf, safeEnvironment } from '../../src/index.ts';
import { temporaryDirectory } from '../support/dispatcher.ts';

const rules = loadRules();
const table = profilesOf(rules);
const names = [...table.keys()];

/** What the facts say a dispatcher must take away, and what else steers a program. */
const HOSTILE = [
  ...['BASH_ENV', 'ENV', 'SHELLOPTS', 'BASHOPTS', 'PS4', 'IFS', 'CDPATH', 'GLOBIGNORE', 'PROMPT_COMMAND'],
  ...['BASH_FUNC_ls%%', 'LD_PRELOAD', 'LD_LIBRARY_PATH', 'LD_AUDIT', 'DYLD_INSERT_LIBRARIES', 'POSIXLY_CORRECT'],
  ...['TAR_OPTIONS', 'GREP_OPTIONS', 'LESS', 'LESSOPEN', 'LESSCLOSE', 'MANPAGER', 'MANOPT', 'RIPGREP_CONFIG_PATH'],
  ...['FD_OPTIONS', 'FZF_DEFAULT_COMMAND', 'BAT_PAGER', 'BAT_CONFIG_PATH', 'NODE_OPTIONS', 'NODE_PATH'],
  ...['PYTHONSTARTUP', 'PYTHONPATH', 'PYTHONINSPECT', 'PERL5OPT', 'PERL5LIB', 'RUBYOPT', 'RUSTC_WRAPPER', 'RUSTFLAGS'],
  ...['GOFLAGS', 'MAKEFLAGS', 'JAVA_TOOL_OPTIONS', 'npm_config_script_shell', 'NPM_CONFIG_GIT', 'YARN_RC_FILENAME'],
  ...['DOCKER_CLI_PLUGIN_EXTRA_DIRS', 'COMPOSE_FILE', 'KUBECTL_EXTERNAL_DIFF', 'KUBE_EDITOR', 'AWS_PAGER'],
  ...['HELM_PLUGINS', 'TF_CLI_ARGS', 'TF_CLI_CONFIG_FILE', 'GH_BROWSER', 'GH_CONFIG_DIR', 'PSQLRC', 'CURL_HOME'],
  ...[
    'WGETRC',
    'OPENSSL_CONF',
    'OPENSSL_ENGINES',
    'SSH_ASKPASS',
    'GIT_EXTERNAL_DIFF',
    'GIT_SSH_COMMAND',
    'GIT_ASKPASS',
  ],
  ...['GIT_PROXY_COMMAND', 'GIT_EDITOR', 'GIT_SEQUENCE_EDITOR', 'GIT_CONFIG_PARAMETERS', 'GIT_EXEC_PATH', 'GIT_DIR'],
];

describe('the environment of a proved command', () => {
  test.each(names)('%s hands over nothing that steers a program, and sets what it says', (name) => {
    const given = Object.fromEntries([...HOSTILE, 'PATH', 'HOME'].map((each) => [each, '/tmp/x']));
    const environment = safeEnvironment(name, given);
    expect(HOSTILE.filter((each) => environment[each] === '/tmp/x')).toEqual([]);
    expect(environment).toMatchObject({ PATH: '/tmp/x', HOME: '/tmp/x', ...table.get(name)?.set });
  });

  prop.prop([
    fc.subarray(names, { minLength: 1 }),
    fc.dictionary(fc.oneof(fc.constantFrom(...HOSTILE), fc.string()), fc.oneof(fc.string(), fc.constant(undefined))),
  ])('holds what its profiles set and names that they hand over, nothing else, and changes nothing', (some, given) => {
    const before = structuredClone(given);
    const profile = table.get(some[0] ?? '');
    const environment = safeEnvironment(some[0] ?? '', given);
    for (const [name, value] of Object.entries(environment)) {
      if (profile?.set[name] === value) continue;
      expect(profile?.pass.has(name)).toBe(true);
      expect(value).toBe(given[name]);
    }
    expect(given).toEqual(before);
    expect(Object.isFrozen(environment)).toBe(true);
  });

  test('of a compound is that of all its profiles', () => {
    const given = { PATH: '/bin', DOCKER_HOST: 'tcp://x', KUBECONFIG: '/k', SECRET: 's' };
    expect(safeEnvironment('docker+kubectl', given)).toEqual({
      ...{ PATH: '/bin', DOCKER_HOST: 'tcp://x', KUBECONFIG: '/k' },
      ...table.get('docker')?.set,
      ...table.get('kubectl')?.set,
    });
    expect(safeEnvironment('git+rg', given)).toMatchObject({ PATH: '/bin', GIT_OPTIONAL_LOCKS: '0' });
  });

  test('is made from the name that the verdict of a compound carries', () => {
    const verdict = classify('git log -1 | rg x; docker ps', { rules, cwd: '/repo', mode: 'compound' });
    if (verdict.kind !== 'parallel') throw new Error(`Expected a proof, got ${verdict.reason.code}`);
    expect(verdict.profile).toBe('docker+git+rg');
    const environment = safeEnvironment(verdict.profile, { PATH: '/bin', GIT_DIR: '/x' }, { form: verdict.run.form });
    expect(environment).toMatchObject({ GIT_OPTIONAL_LOCKS: '0', DOCKER_CLI_HINTS: 'false', LC_CTYPE: 'C.UTF-8' });
    expect(environment).not.toHaveProperty('GIT_DIR');
  });

  test('takes a profile itself, and then needs no rules', () => {
    const profile = { set: { A: '1' }, pass: new Set(['PATH']) };
    expect(withRules(profile, { PATH: '/bin', B: '2' })).toEqual({ PATH: '/bin', A: '1' });
  });

  test('where bash reads the text, characters are UTF-8', () => {
    const given = { PATH: '/bin', LC_ALL: 'de_DE' };
    expect(safeEnvironment('generic', given)).toEqual(given);
    expect(safeEnvironment('generic', given, { form: 'argv' })).toEqual(given);
    expect(safeEnvironment('generic', given, { form: 'bash' })).toEqual({
      ...{ PATH: '/bin', LANG: 'de_DE', LC_CTYPE: 'C.UTF-8' },
    });
  });

  test.each([
    '',
    'nobody',
    'git+',
    '+git',
    'git+nobody',
    'git npm',
    'GIT',
    '__proto__',
    'constructor',
    'git+git-names',
  ])('%j is the profile of no verdict', (name) => {
    expect(() => safeEnvironment(name, {})).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
  });

  test('a name without rules is misuse of the entry that has none', () => {
    expect(() => withRules('git', {})).toThrow(
      expect.objectContaining({ code: 'OPTION_INVALID', message: expect.stringContaining('rules') }),
    );
    expect(withRules('git', {}, { rules })).toEqual(safeEnvironment('git', {}));
  });

  test('a form that is none is misuse', () => {
    const form = 'sh' as unknown as 'bash';
    expect(() => safeEnvironment('git', {}, { form })).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
  });
});

test('git runs no program that the surroundings name', () => {
  const top = temporaryDirectory();
  const marker = join(top, 'ran');
  const program = join(top, 'program.sh');
  writeFileSync(program, `#!/bin/sh\n: > '${marker}'\n`);
  chmodSync(program, 0o755);
  const work = temporaryDirectory();
  const home = { PATH: process.env.PATH, HOME: top, GIT_CONFIG_NOSYSTEM: '1' };
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args], { cwd: work, env: home });
  git('init', '-q');
  writeFileSync(join(work, 'a.txt'), 'one\n');
  git('add', '.');
  git('commit', '-q', '-m', 'first');
  appendFileSync(join(work, 'a.txt'), 'two\n');

  const verdict = classify('git diff', { rules, cwd: work });
  if (verdict.kind !== 'parallel' || verdict.run.form !== 'argv') throw new Error('Expected a proved program');
  const [name = '', ...args] = verdict.run.argv;
  const surroundings = { ...home, GIT_EXTERNAL_DIFF: program, GIT_PAGER: program, PAGER: program };
  const run = (env: Readonly<Record<string, string | undefined>>) =>
    execFileSync(name, args, { cwd: work, encoding: 'utf8', env: { ...env } });

  expect(run({ ...safeEnvironment(verdict.profile, surroundings), ...verdict.run.env })).toContain('+two');
  expect(existsSync(marker)).toBe(false);
  // The same surroundings, handed over as they are, do run it: the test would notice.
  run(surroundings);
  expect(existsSync(marker)).toBe(true);
});
