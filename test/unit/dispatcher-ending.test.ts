import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { KeyedLock } from '../../src/dispatcher/keyed-lock.ts';
import { MARKER_VARIABLE } from '../../src/dispatcher/process-table.ts';
import type { Owner } from '../../src/dispatcher/tool-locks.ts';
import type { BatchEvent } from '../../src/dispatcher/types.ts';
import {
  allEvents,
  brief,
  comingsAndGoings,
  eventOf,
  isAlive,
  makeFifos,
  openGate,
  parallel,
  readLine,
  testDispatcher,
} from '../support/dispatcher.ts';

/** True when the process whose pid lies in a file lives; a zombie does not. */
const ALIVE = 'grep -qs "^State:.[^ZX]" /proc/$(cat pid)/status';

const GIT = {
  PATH: process.env.PATH ?? '',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  ...{ GIT_AUTHOR_NAME: 't', GIT_AUTHOR_EMAIL: 't@example.org' },
  ...{ GIT_COMMITTER_NAME: 't', GIT_COMMITTER_EMAIL: 't@example.org' },
};

const finishedOf = (events: readonly BatchEvent[], id: string) =>
  events.filter((event) => event.type === 'finished' && event.commandId === id);

describe('a batch that is cancelled', () => {
  test('T12: before anything has started, none runs and all are answered', async () => {
    const { dispatch, directory } = testDispatcher();
    const batch = dispatch([parallel('touch ran'), 'touch ran']);
    batch.cancel();
    const { commands, state } = await batch.done;
    const answer = { state: 'not-started', exitCode: null, note: 'Aborted before dispatch' };
    expect(commands.map(brief)).toEqual([
      { id: 'c1', ...answer },
      { id: 'c2', ...answer },
    ]);
    expect(commands.map(({ ranMs }) => ranMs)).toEqual([null, null]);
    expect(state).toBe('cancelled');
    expect(existsSync(join(directory, 'ran'))).toBe(false);
    expect(comingsAndGoings(await allEvents(batch))).toEqual(['-c1', '-c2']);
  });

  test('T13: amid the pool, what runs is ended, and the rest is answered; every command once', async () => {
    const { dispatch } = testDispatcher();
    const batch = dispatch([parallel('exit 0'), parallel('sleep 1000'), parallel('sleep 1000'), 'true'], {
      maxParallel: 2,
    });
    await eventOf(batch, 'started', 'c3');
    batch.cancel('somebody said so');
    batch.cancel('too late to be heard');
    const events = await allEvents(batch);
    expect((await batch.done).commands.map(brief)).toEqual([
      { id: 'c1', state: 'exited', exitCode: 0, note: null },
      { id: 'c2', state: 'cancelled', exitCode: null, note: 'Cancelled: somebody said so' },
      { id: 'c3', state: 'cancelled', exitCode: null, note: 'Cancelled: somebody said so' },
      { id: 'c4', state: 'not-started', exitCode: null, note: 'Aborted before dispatch: somebody said so' },
    ]);
    for (const id of ['c1', 'c2', 'c3', 'c4']) expect(finishedOf(events, id)).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ type: 'batch-finished', state: 'cancelled' });
  });

  test('D5: a command that waits gives its place up: those behind it in the queue go on', async () => {
    const lock = new KeyedLock<Owner>();
    const { dispatch, directory } = testDispatcher({ lock });
    await makeFifos(directory, 'gate');
    const reader = dispatch([parallel('read < gate')]);
    await eventOf(reader, 'started');
    const writer = dispatch(['touch ran']);
    const other = dispatch([parallel('echo through')]);
    expect(await eventOf(other, 'waiting')).toMatchObject({ waitsFor: [{ batchId: writer.id }] });
    writer.cancel();
    expect((await writer.done).commands[0]).toMatchObject({ state: 'not-started', note: 'Aborted before dispatch' });
    expect((await other.done).commands[0]?.stdout).toBe('through\n');
    await openGate(directory, 'gate');
    await reader.done;
    expect(lock.size).toBe(0);
    expect(existsSync(join(directory, 'ran'))).toBe(false);
  });

  test('after it has ended it stays as it was', async () => {
    const batch = testDispatcher().dispatch([parallel('true')]);
    const result = await batch.done;
    batch.cancel('late');
    expect(batch.snapshot()).toEqual(result);
    expect(result.state).toBe('finished');
  });
});

describe('time', () => {
  test('D6, T28: a time-out is told at once, and the key is free only when the process group is gone', async () => {
    const lock = new KeyedLock<Owner>();
    const { dispatch, directory } = testDispatcher({ lock, limits: { graceMs: 300 } });
    await makeFifos(directory, 'ready');
    const stubborn = "trap '' TERM; echo $$ > pid; echo > ready; while :; do sleep 1000; done";
    const first = dispatch([{ command: stubborn, timeoutMs: 1000 }]);
    await readLine(directory, 'ready');
    const second = dispatch([`${ALIVE} && echo overlap; echo done`]);
    const [result] = (await first.done).commands;
    expect(result).toMatchObject({ state: 'timed-out', exitCode: null, note: 'Timed out after 1000 ms' });
    expect(isAlive(Number(readFileSync(join(directory, 'pid'), 'utf8')))).toBe(true);
    expect(second.snapshot().commands[0]?.state).toBe('waiting');
    expect((await second.done).commands[0]?.stdout).toBe('done\n');
  });

  test('T37, D15: waiting counts neither as running nor towards the time limit of a command', async () => {
    let clock = 0;
    const { dispatch, directory } = testDispatcher({ now: () => clock });
    await makeFifos(directory, 'gate', 'ready');
    const batch = dispatch(['echo > ready; read < gate', { command: 'echo ran', timeoutMs: 5000 }]);
    await readLine(directory, 'ready');
    clock = 3_600_000;
    await openGate(directory, 'gate');
    const { commands } = await batch.done;
    expect(commands[1]).toMatchObject({ state: 'exited', stdout: 'ran\n', waitedMs: 3_600_000, ranMs: 0, queuedMs: 0 });
    expect(commands[0]).toMatchObject({ ranMs: 3_600_000, waitedMs: 0 });
  });

  test('T37: the time limit begins with the run: one that waited for longer than that is not timed out', async () => {
    const { dispatch } = testDispatcher();
    const { commands } = await dispatch(['sleep 2.5', { command: 'echo ran', timeoutMs: 2_000 }]).done;
    expect(commands.map(brief)).toMatchObject([{ state: 'exited' }, { state: 'exited', exitCode: 0, note: null }]);
    expect(commands[1]?.waitedMs).toBeGreaterThan(2_000);
  });

  test('T38: waiting counts towards the deadline of the batch', async () => {
    const { dispatch, directory } = testDispatcher();
    await makeFifos(directory, 'gate');
    const first = dispatch([parallel('read < gate')]);
    await eventOf(first, 'started');
    const second = dispatch(['touch ran', parallel('touch ran')], { deadlineMs: 50 });
    const answer = {
      state: 'not-started',
      exitCode: null,
      note: 'Aborted before dispatch: the batch reached its deadline of 50 ms',
    };
    const { commands, state } = await second.done;
    expect(commands.map(brief)).toEqual([
      { id: 'c1', ...answer },
      { id: 'c2', ...answer },
    ]);
    expect(state).toBe('finished');
    await openGate(directory, 'gate');
    await first.done;
    expect(existsSync(join(directory, 'ran'))).toBe(false);
  });

  test('at the deadline what runs is ended, and an open batch takes no more', async () => {
    const batch = testDispatcher().open({ deadlineMs: 200 });
    batch.add('sleep 1000');
    const { commands, state } = await batch.done;
    expect(commands.map(brief)).toEqual([
      { id: 'c1', state: 'timed-out', exitCode: null, note: 'The batch reached its deadline of 200 ms' },
    ]);
    expect(state).toBe('finished');
    expect(() => batch.add('true')).toThrowError(expect.objectContaining({ code: 'BATCH_CLOSED' }));
  });
});

describe('processes that outlive their command', () => {
  test('D21: the result comes when the shell exits, and the next starts when the rest is gone', async () => {
    const { dispatch, directory } = testDispatcher({ limits: { drainMs: 20 } });
    const batch = dispatch(['sleep 1000 & echo $! > pid; echo done', `${ALIVE} && echo overlap; echo next`]);
    const { commands } = await batch.done;
    expect(commands.map(({ stdout }) => stdout)).toEqual(['done\n', 'next\n']);
    expect(commands[0]).toMatchObject({
      ...{ state: 'exited', exitCode: 0, orphans: [], note: 'It left a process running, which was ended' },
    });
    expect(isAlive(Number(readFileSync(join(directory, 'pid'), 'utf8')))).toBe(false);
  });

  test('kept by policy: the result names them, and the next does not wait', async () => {
    const { dispatch, directory } = testDispatcher({ orphans: 'keep', limits: { drainMs: 20 } });
    const batch = dispatch(['sleep 1000 & echo $! > pid', `${ALIVE} && echo overlap`]);
    const { commands } = await batch.done;
    const pid = Number(readFileSync(join(directory, 'pid'), 'utf8'));
    expect(commands[0]).toMatchObject({ exitCode: 0, orphans: [pid], note: 'It left processes running' });
    expect(commands[1]?.stdout).toBe('overlap\n');
    process.kill(pid, 'SIGKILL');
  });
});

describe('git that is ended while it has its lock file', () => {
  test.each(['cancelled', 'timed out'])('D17: %s, it leaves no index.lock, and the next one can write', async (how) => {
    const { dispatch, directory } = testDispatcher({ limits: { graceMs: 30_000 }, environment: GIT });
    const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: directory, env: GIT });
    git('init', '-q');
    await makeFifos(directory, 'ready');
    // It runs while git holds the lock of the index.
    const hook = join(directory, '.git/hooks/pre-commit');
    mkdirSync(join(directory, '.git/hooks'), { recursive: true });
    writeFileSync(hook, '#!/bin/sh\ntest -e first || exit 0\nrm first; echo > ready; sleep 1000\n', { mode: 0o755 });
    for (const name of ['first', 'file']) writeFileSync(join(directory, name), name);
    git('add', 'file');
    const timeoutMs = how === 'cancelled' ? 600_000 : 3_000;
    const batch = dispatch([{ command: 'git commit -q -m one file', timeoutMs }]);
    await readLine(directory, 'ready');
    expect(existsSync(join(directory, '.git/index.lock'))).toBe(true);
    if (how === 'cancelled') batch.cancel();
    const [ended] = (await batch.done).commands;
    expect(ended?.state).toBe(how === 'cancelled' ? 'cancelled' : 'timed-out');
    const { commands } = await dispatch([
      'test ! -e .git/index.lock',
      'git commit -q -m one file && git log --format=%s',
    ]).done;
    expect(commands.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    expect(commands[1]?.stdout).toBe('one\n');
  });
});

describe('a Signalbox inside a command of another', () => {
  test('its commands carry both markers, so that the outer one finds them too', async () => {
    const before = process.env[MARKER_VARIABLE];
    process.env[MARKER_VARIABLE] = 'outer-marker';
    const { dispatch } = testDispatcher({ environment: { PATH: process.env.PATH } });
    if (before === undefined) delete process.env[MARKER_VARIABLE];
    else process.env[MARKER_VARIABLE] = before;
    const { commands } = await dispatch([parallel(`echo $${MARKER_VARIABLE}`), `echo $${MARKER_VARIABLE}`]).done;
    for (const { stdout } of commands) expect(stdout).toMatch(/^outer-marker:[0-9a-f-]{36}\n$/);
  });
});

describe('shutting down', () => {
  test('D16: nothing starts any more, what runs may finish, the rest is not started', async () => {
    const { dispatch, open, shutdown, directory } = testDispatcher();
    await makeFifos(directory, 'gate');
    const batch = dispatch(['read < gate; echo finished', 'touch ran', parallel('touch ran')]);
    await eventOf(batch, 'started', 'c1');
    const over = shutdown({ graceMs: 60_000 });
    expect(() => open()).toThrowError(expect.objectContaining({ code: 'SHUTTING_DOWN' }));
    expect(() => dispatch(['true'])).toThrowError(expect.objectContaining({ code: 'SHUTTING_DOWN' }));
    await openGate(directory, 'gate');
    await over;
    const answer = { state: 'not-started', exitCode: null, note: 'Aborted before dispatch: the dispatcher shuts down' };
    const { commands, state } = await batch.done;
    expect(commands.map(brief)).toEqual([
      { id: 'c1', state: 'exited', exitCode: 0, note: null },
      { id: 'c2', ...answer },
      { id: 'c3', ...answer },
    ]);
    expect(state).toBe('cancelled');
    expect(existsSync(join(directory, 'ran'))).toBe(false);
  });

  test('what has not finished in time is ended, and nothing of it is left', async () => {
    const { open, shutdown, directory } = testDispatcher({ limits: { graceMs: 20 } });
    await makeFifos(directory, 'ready');
    const batch = open();
    batch.add("trap '' TERM; echo $$ > pid; echo > ready; while :; do sleep 1000; done");
    await readLine(directory, 'ready');
    await shutdown({ graceMs: 0 });
    expect((await batch.done).commands.map(brief)).toEqual([
      { id: 'c1', state: 'cancelled', exitCode: null, note: 'Cancelled: the dispatcher shuts down' },
    ]);
    expect(isAlive(Number(readFileSync(join(directory, 'pid'), 'utf8')))).toBe(false);
    expect(() => batch.add('true')).toThrowError(expect.objectContaining({ code: 'SHUTTING_DOWN' }));
    await shutdown();
  });

  test('a time that is none is refused', async () => {
    await expect(testDispatcher().shutdown({ graceMs: -1 })).rejects.toMatchObject({ code: 'OPTION_INVALID' });
  });
});

describe('batches that can be asked for', () => {
  test('all that run, and of those that have ended the newest, for a time', async () => {
    let clock = 0;
    const retention = { maxBatches: 2, maxAgeMs: 1000 };
    const { dispatch, open, get, batches } = testDispatcher({ now: () => clock, retention });
    const running = open();
    const ended = [];
    for (let index = 0; index < 3; index += 1) {
      const batch = dispatch([parallel('true')]);
      ended.push(batch);
      await batch.done;
    }
    expect(batches().map(({ id }) => id)).toEqual([running.id, ended[1]?.id, ended[2]?.id]);
    expect(get(ended[2]?.id as string)).toBe(ended[2]);
    expect(get(ended[0]?.id as string)).toBeUndefined();
    clock = 1001;
    expect(batches().map(({ id }) => id)).toEqual([running.id]);
    expect(get('constructor')).toBeUndefined();
    running.close();
  });
});
