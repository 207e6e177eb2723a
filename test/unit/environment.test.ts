import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  baseEnvironment,
  isShellVariable,
  parallelEnvironment,
  serialEnvironment,
} from '../../src/dispatcher/environment.ts';
import { MARKER_VARIABLE, markerValue } from '../../src/dispatcher/process-table.ts';
import { safeEnvironment } from '../../src/dispatcher/safe-environment.ts';
import { temporaryDirectory } from '../support/dispatcher.ts';

const profile = { set: { PAGER: 'cat', QUIET: '1' }, pass: new Set(['PATH', 'HOME', 'LC_ALL', 'QUIET']) };
const identity = { cwd: '/repo', marker: 'm' };
const added = { PWD: '/repo', [MARKER_VARIABLE]: 'm' };

describe('the base environment', () => {
  test('is what the embedder gives, without what makes bash run or switch on something', () => {
    const base = baseEnvironment({
      PATH: '/bin',
      BASH_ENV: '/tmp/x',
      ENV: '/tmp/x',
      SHELLOPTS: 'xtrace',
      BASHOPTS: 'extglob',
      'BASH_FUNC_ls%%': '() { echo gotcha; }',
      'BASH_FUNC_ls()': '() { echo gotcha; }',
      MISSING: undefined,
      EMPTY: '',
      'with.dot': 'kept',
    });
    expect(base).toEqual({ PATH: '/bin', EMPTY: '', 'with.dot': 'kept' });
    expect(Object.isFrozen(base)).toBe(true);
  });

  test('holds nothing that no process can be given', () => {
    expect(baseEnvironment({ A: 'x\0y', '': 'x', 'B=C': 'x', D: 'd' })).toEqual({ D: 'd' });
  });

  test.each([
    ['BASH_ENV', './startup.sh', 'true'],
    ['SHELLOPTS', 'xtrace', 'true'],
    ['BASHOPTS', 'extglob', 'true'],
    ['BASH_FUNC_pwd%%', '() { echo called; }', 'pwd'],
  ])('bash itself acts on %s, which is why it is taken away', (name, value, text) => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'startup.sh'), 'echo started\n');
    const answers = (given: Record<string, string>) =>
      execFileSync('bash', ['--noprofile', '--norc', '-c', `{ shopt; set -o; ${text}; } 2>&1`], {
        env: { PATH: process.env.PATH, ...given },
        cwd: directory,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      });
    const given = { [name]: value };
    const plain = answers({});
    expect(answers(given)).not.toBe(plain);
    expect(answers(baseEnvironment(given))).toBe(plain);
    expect(isShellVariable(name)).toBe(true);
  });
});

describe('what a command gets', () => {
  const base = baseEnvironment({
    PATH: '/bin',
    HOME: '/h',
    SECRET: 's',
    PAGER: 'less',
    OLDPWD: '/old',
    PWD: '/elsewhere',
  });

  test('serial: the base and the caller’s variables', () => {
    expect(serialEnvironment(base, { SECRET: 'mine', NEW: 'n' }, identity)).toEqual({
      ...{ PATH: '/bin', HOME: '/h', SECRET: 'mine', PAGER: 'less', OLDPWD: '/old', NEW: 'n' },
      ...added,
    });
  });

  test('parallel: the names its profile hands over, then what the profile sets', () => {
    expect(parallelEnvironment(base, {}, { profile, whole: false, set: {} }, identity)).toEqual({
      ...{ PATH: '/bin', HOME: '/h', PAGER: 'cat', QUIET: '1' },
      ...added,
    });
  });

  test('parallel: the caller’s variables, and last the command’s own assignments', () => {
    const environment = parallelEnvironment(
      base,
      { HOME: '/caller' },
      { profile, whole: false, set: { TZ: 'UTC' } },
      identity,
    );
    expect(environment).toMatchObject({ HOME: '/caller', TZ: 'UTC', PAGER: 'cat' });
  });

  test('parallel, where the rule shows the environment: the whole base', () => {
    const environment = parallelEnvironment(base, {}, { profile, whole: true, set: {} }, identity);
    expect(environment).toMatchObject({ SECRET: 's', PAGER: 'cat', PWD: '/repo' });
  });

  test('the text in bash: characters are UTF-8, and every other category is as before', () => {
    const inBash = (given: Record<string, string>, pass: readonly string[]) =>
      parallelEnvironment(given, {}, { profile: { set: {}, pass: new Set(pass) }, whole: false, set: null }, identity);
    expect(inBash({ LANG: 'de_DE' }, ['LANG'])).toEqual({ LANG: 'de_DE', LC_CTYPE: 'C.UTF-8', ...added });
    expect(inBash({ LANG: 'de_DE', LC_ALL: 'C', LC_TIME: 'fr_FR' }, ['LANG', 'LC_ALL', 'LC_TIME'])).toEqual({
      ...{ LANG: 'C', LC_CTYPE: 'C.UTF-8' },
      ...added,
    });
    expect(inBash({ LC_ALL: '', LC_TIME: 'fr_FR' }, ['LC_ALL', 'LC_TIME'])).toEqual({
      ...{ LC_TIME: 'fr_FR', LC_CTYPE: 'C.UTF-8' },
      ...added,
    });
  });

  test('a library caller who runs the command gets the same', () => {
    expect(safeEnvironment(profile, { PATH: '/bin', SECRET: 's', BASH_ENV: 'x' })).toEqual({
      PATH: '/bin',
      PAGER: 'cat',
      QUIET: '1',
    });
  });

  test('names from Object.prototype are no variables', () => {
    const odd = { set: {}, pass: new Set(['constructor', '__proto__', 'toString']) };
    expect(safeEnvironment(odd, {})).toEqual({});
  });

  test('the marker keeps those of the commands around it', () => {
    expect(markerValue(undefined, 'inner')).toBe('inner');
    expect(markerValue('', 'inner')).toBe('inner');
    expect(markerValue('outer', 'inner')).toBe('outer:inner');
  });
});
