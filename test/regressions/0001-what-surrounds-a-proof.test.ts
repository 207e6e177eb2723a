/**
 * Report: with a program of the workspace first on PATH, `egrep`, `git submodule status` and `npm ls` ran it although
 * their own names were found in a trusted place; `ls -l` hung when the caller set TZ to a FIFO; `rg x link` read the
 * kernel's files where the link led to the root; git answered for another repository than GIT_DIR named.
 */
import { chmodSync, copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { BatchOptions, CommandInput, DispatcherOptions } from '../../src/dispatcher/index.ts';
import { createDispatcher } from '../../src/dispatcher/index.ts';
import { loadRules } from '../../src/rules/load.ts';
import { temporaryDirectory } from '../support/dispatcher.ts';

const rules = loadRules();

/** The codes of what would not be parallel, null for what would. */
function codesOf(
  options: Partial<DispatcherOptions>,
  commands: readonly (string | CommandInput)[],
  settings: BatchOptions = {},
): readonly (string | null)[] {
  const environment = { PATH: process.env.PATH, HOME: '/nonexistent', ...options.environment };
  const dispatcher = createDispatcher({ rules, ...options, environment });
  return dispatcher
    .plan(commands, settings)
    .commands.map(({ verdict }) => (verdict.kind === 'parallel' ? null : verdict.reason.code));
}

/** A directory whose `bin` holds programs of these names. */
function workspaceWith(...names: readonly string[]): { readonly cwd: string; readonly PATH: string } {
  const cwd = temporaryDirectory();
  mkdirSync(join(cwd, 'bin'), { mode: 0o755 });
  for (const name of names) writeFileSync(join(cwd, 'bin', name), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  return { cwd, PATH: `${join(cwd, 'bin')}:${process.env.PATH}` };
}

describe('the programs that a proved program starts', () => {
  test('are looked up as it is, by the names in its rule', () => {
    const { cwd, PATH } = workspaceWith('grep', 'sed');
    const commands = ['egrep x f', 'git submodule status', 'git log', 'cat f'];
    // Which of them a subcommand reaches is not asked: one that the file names is enough.
    expect(codesOf({ cwd, environment: { PATH } }, commands)).toEqual([
      ...['PROGRAM_UNTRUSTED', 'PROGRAM_UNTRUSTED', 'PROGRAM_UNTRUSTED', null],
    ]);
    expect(codesOf({ cwd }, commands)).toEqual([null, null, null, null]);
  });

  test('and by the first line of a script', () => {
    const { cwd } = workspaceWith('interpreter');
    const tools = temporaryDirectory();
    writeFileSync(join(tools, 'cat'), '#!/usr/bin/env interpreter\n', { mode: 0o755 });
    copyFileSync('/bin/cat', join(tools, 'tac'));
    chmodSync(tools, 0o755);
    const PATH = `${tools}:${join(cwd, 'bin')}:${process.env.PATH}`;
    expect(codesOf({ cwd, environment: { PATH } }, ['cat f', 'head f'])).toEqual(['PROGRAM_UNTRUSTED', null]);
  });
});

describe('a variable of the caller', () => {
  test('does not choose where a proved program looks', () => {
    const command = 'ls -l';
    for (const [name, value] of Object.entries({ TZ: '/tmp/fifo', HOME: '/tmp', XDG_CONFIG_HOME: '.', PATH: '.' })) {
      expect([name, ...codesOf({}, [{ command, env: { [name]: value } }])]).toEqual([name, 'VARIABLE_UNKNOWN']);
    }
    for (const [name, command] of [
      ['DOCKER_CONFIG', 'docker ps'],
      ['DOCKER_HOST', 'docker ps'],
      ['KUBECONFIG', 'kubectl get pods'],
      ['NODE_EXTRA_CA_CERTS', 'npm view x'],
    ] as const) {
      expect([name, ...codesOf({}, [{ command, env: { [name]: './here' } }])]).toEqual([name, 'VARIABLE_UNKNOWN']);
    }
  });

  test('that repeats what the base says changes nothing', () => {
    const env = { HOME: '/nonexistent', TZ: 'UTC' };
    expect(codesOf({}, [{ command: 'ls -l', env }])).toEqual([null]);
  });
});

describe('a variable of the base that would make the program answer something else', () => {
  test.each(['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_CONFIG_COUNT', 'GIT_CONFIG_GLOBAL'])('%s', (name) => {
    const environment = { [name]: '0' };
    expect(codesOf({ environment }, ['git log', 'git config -l', 'ls'])).toEqual([
      ...['VARIABLE_UNKNOWN', 'VARIABLE_UNKNOWN', null],
    ]);
  });

  test('a whole family by its beginning', () => {
    expect(codesOf({ environment: { npm_config_registry: 'x' } }, ['npm view x', 'ls'])).toEqual([
      ...['VARIABLE_UNKNOWN', null],
    ]);
  });
});

describe('a link to the root', () => {
  test('is not walked, and may be listed', () => {
    const cwd = temporaryDirectory();
    symlinkSync('/', join(cwd, 'root'));
    const commands = ['rg x root', 'rg x ./root/.', 'grep -r x root', 'grep -r x r*', 'ls root', 'ls /'];
    expect(codesOf({ cwd }, commands)).toEqual([
      ...['OPERAND_NOT_REGULAR', 'OPERAND_NOT_REGULAR', 'OPERAND_NOT_REGULAR', 'OPERAND_NOT_REGULAR', null, null],
    ]);
  });
});

describe('settings of the user', () => {
  test('are printed as they are: nothing is set for what prints them', () => {
    const dispatcher = createDispatcher({ rules, environment: { PATH: process.env.PATH } });
    const { commands } = dispatcher.plan([
      'git config core.hooksPath',
      'git rev-parse --git-path hooks',
      'git config -l',
    ]);
    for (const { verdict } of commands) {
      expect(verdict.kind).toBe('parallel');
      const set = verdict.kind === 'parallel' && verdict.run.form === 'argv' ? verdict.run.env : {};
      expect(Object.values(set)).not.toContain('core.hooksPath');
    }
  });
});

describe('a text that begins with a dash or a plus', () => {
  test.each(['-x', '--version', '-i', '+x', '- ls'])('%s is a command to bash, not an option', async (command) => {
    const dispatcher = createDispatcher({ rules, cwd: temporaryDirectory() });
    const [result] = (await dispatcher.dispatch([command]).done).commands;
    expect(result).toMatchObject({ state: 'exited', exitCode: 127 });
    expect(result?.stderr).toContain('command not found');
    await dispatcher.shutdown();
  });
});
