import { spawn as nodeSpawn, spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Judge } from '../../src/classifier/judgement.ts';
import { KeyedLock } from '../../src/dispatcher/keyed-lock.ts';
import type { DispatcherOptions } from '../../src/dispatcher/options.ts';
import { probePlatform } from '../../src/dispatcher/platform.ts';
import type { Spawn } from '../../src/dispatcher/runner.ts';
import { createSlots } from '../../src/dispatcher/slots.ts';
import type { Owner } from '../../src/dispatcher/tool-locks.ts';
import {
  allEvents,
  judgeByMark,
  judgementOf,
  parallel,
  temporaryDirectory,
  testDispatcher,
  verdictOf,
} from '../support/dispatcher.ts';

const realSpawn = nodeSpawn as unknown as Spawn;
const bash = probePlatform().bash as string;

/** Calls `tool …` a proved program, and what is marked parallel. */
const judge: Judge = (command, ...rest) =>
  command.startsWith('tool')
    ? judgementOf(verdictOf('parallel', { form: 'argv', argv: command.split(' '), env: {} }))
    : judgeByMark(command, ...rest);

/** A dispatcher in which something happens right before each start, when everything has been judged. */
function faulty(atStart: (file: string) => void, options: Partial<DispatcherOptions> = {}) {
  const [lock, slots] = [new KeyedLock<Owner>(), createSlots({ limit: 4 })];
  const spawn: Spawn = (file, args, how) => {
    atStart(file);
    return realSpawn(file, args, how);
  };
  const expectIdle = (): void => expect([lock.size, slots.inUse, slots.waiting]).toEqual([0, 0, 0]);
  return { ...testDispatcher({ judge, lock, slots, spawn, ...options }), expectIdle };
}

describe('between judgement and start', () => {
  function programs() {
    const top = temporaryDirectory();
    const [bin, work] = [join(top, 'bin'), join(top, 'work')];
    for (const each of [bin, work]) mkdirSync(each, { mode: 0o755 });
    const tool = join(bin, 'tool');
    writeFileSync(tool, '#!/bin/sh\necho ran "$@"\n', { mode: 0o755 });
    return { bin, work, tool };
  }

  test.each<[string, number, (tool: string) => void]>([
    ['a program vanishes', 127, (tool) => rmSync(tool, { force: true })],
    ['a program loses its bit', 126, (tool) => existsSync(tool) && chmodSync(tool, 0o644)],
    [
      'a program becomes a directory',
      127,
      (tool) => {
        rmSync(tool, { recursive: true, force: true });
        mkdirSync(tool);
      },
    ],
    [
      'the interpreter of a program is another one, which is missing',
      127,
      (tool) => writeFileSync(tool, '#!/nowhere/sh\n'),
    ],
  ])('%s: bash’s own words and code, once, and the others go on', async (_, code, change) => {
    const { bin, work, tool } = programs();
    let isTaken = false;
    const { dispatch, expectIdle } = faulty(
      (file) => {
        if (file !== tool || isTaken) return;
        isTaken = true;
        change(tool);
      },
      { environment: { PATH: bin }, cwd: work },
    );
    const batch = dispatch(['tool a', 'echo next', parallel('echo last')]);
    const { commands } = await batch.done;
    expect(isTaken).toBe(true);
    const args = ['--noprofile', '--norc', '-c', 'tool a'];
    const asked = spawnSync(bash, args, { argv0: 'bash', env: { PATH: bin }, cwd: work, encoding: 'utf8' });
    expect(commands[0]).toMatchObject({ state: 'exited', exitCode: asked.status, stdout: '', stderr: asked.stderr });
    expect([asked.status, commands[0]?.verdict.kind]).toEqual([code, 'parallel']);
    expect(commands.slice(1).map(({ stdout }) => stdout)).toEqual(['next\n', 'last\n']);
    const told = (await allEvents(batch)).flatMap((event) =>
      'commandId' in event && event.commandId === 'c1' ? [event.type] : [],
    );
    expect(told.filter((type) => type === 'started' || type === 'finished')).toEqual(['started', 'finished']);
    expectIdle();
  });

  test.each<[string, string, (copy: string) => void]>([
    ['vanishes', 'ENOENT', (copy) => rmSync(copy)],
    ['loses its bit', 'EACCES', (copy) => chmodSync(copy, 0o644)],
  ])('bash itself %s: failed, by name of the error, and when it is back all goes on', async (_, code, change) => {
    const copy = join(temporaryDirectory(), 'bash');
    copyFileSync(bash, copy);
    let starts = 0;
    const { dispatch, expectIdle } = faulty(
      () => {
        starts += 1;
        if (starts === 1) change(copy);
      },
      { bash: copy },
    );
    const { commands, state } = await dispatch(['echo a', parallel('echo b')]).done;
    for (const command of commands) {
      expect(command).toMatchObject({ state: 'failed', exitCode: null, signal: null, stdout: '', ranMs: null });
      expect(command.note).toContain(code);
    }
    expect([state, starts]).toEqual(['finished', 2]);
    expectIdle();
    copyFileSync(bash, copy);
    chmodSync(copy, 0o755);
    expect((await dispatch(['echo a']).done).commands[0]).toMatchObject({ state: 'exited', stdout: 'a\n' });
    expectIdle();
  });
});

describe('what the system refuses at a start', () => {
  test.each([
    ['EAGAIN', /no more processes/],
    ['EMFILE', /no file descriptor/],
    ['ENFILE', /no file descriptor/],
    ['ENOMEM', /no memory/],
    ['E2BIG', /longer, with its environment/],
    ['EIO', /It could not be started: spawn EIO/],
  ])('%s: one clear answer, the keys are free, and the next command runs', async (code, words) => {
    let isRefused = true;
    const { dispatch, expectIdle } = faulty(() => {
      if (isRefused) throw Object.assign(new Error(`spawn ${code}`), { code });
    });
    const batch = dispatch([parallel('echo a'), 'echo b']);
    const { commands } = await batch.done;
    for (const command of commands) {
      expect(command).toMatchObject({
        state: 'failed',
        exitCode: null,
        stdout: '',
        note: expect.stringMatching(words),
      });
    }
    expect((await allEvents(batch)).filter(({ type }) => type === 'finished')).toHaveLength(2);
    expectIdle();
    isRefused = false;
    const after = await dispatch([parallel('echo a'), 'echo b']).done;
    expect(after.commands.map(({ stdout }) => stdout)).toEqual(['a\n', 'b\n']);
    expectIdle();
  });

  test('short of descriptors for a moment it is started a second time, and no third', async () => {
    let starts = 0;
    const { dispatch, expectIdle } = faulty(() => {
      starts += 1;
      if (starts === 1 || starts > 2) throw Object.assign(new Error('spawn EMFILE'), { code: 'EMFILE' });
    });
    expect((await dispatch(['echo a']).done).commands[0]).toMatchObject({ state: 'exited', stdout: 'a\n' });
    expect((await dispatch(['echo a']).done).commands[0]).toMatchObject({ state: 'failed' });
    expect(starts).toBe(4);
    expectIdle();
  });

  test('a failure counts for the rest of the batch as one of a command does', async () => {
    const { dispatch } = faulty(() => {
      throw Object.assign(new Error('spawn EAGAIN'), { code: 'EAGAIN' });
    });
    const { commands } = await dispatch(['echo a', 'echo b'], { onFailure: 'stop' }).done;
    expect(commands[1]).toMatchObject({ state: 'skipped', note: 'Skipped because c1 could not be run' });
  });
});

describe('text for standard input that nobody reads to its end', () => {
  const stdin = 'x'.repeat(4_000_000);

  test.each([
    ['closes it at once', 'exec <&-; echo done', 'done\n'],
    ['ends at once', 'echo done', 'done\n'],
    ['reads the first byte', 'head -c 1; echo', 'x\n'],
    ['is killed while it is fed', 'head -c 1; kill -9 $$', 'x'],
  ])('a command that %s is its own affair', async (_, text, stdout) => {
    const lock = new KeyedLock<Owner>();
    const { dispatch } = testDispatcher({ lock });
    const { commands } = await dispatch([
      { command: text, stdin },
      { command: 'wc -c', stdin },
    ]).done;
    expect(commands[0]).toMatchObject({ state: 'exited', stdout, stderr: '', note: null });
    expect(commands[1]).toMatchObject({ state: 'exited', exitCode: 0, stdout: '4000000\n' });
    expect(lock.size).toBe(0);
  });
});
