import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { KeyedLock } from '../../src/dispatcher/keyed-lock.ts';
import type { Owner } from '../../src/dispatcher/tool-locks.ts';
import type { Call, KeyFunction } from '../../src/dispatcher/types.ts';
import {
  allEvents,
  brief,
  comingsAndGoings,
  eventOf,
  makeFifos,
  openGate,
  parallel,
  testDispatcher,
} from '../support/dispatcher.ts';

/** A promise that the test settles. */
function answerLater<Value>(): { readonly given: Promise<Value>; readonly give: (value: Value) => void } {
  let give: (value: Value) => void = () => {};
  const given = new Promise<Value>((resolve) => {
    give = resolve;
  });
  return { given, give };
}

describe('lock keys that a function tells', () => {
  test('a key function that takes 1 s on a serial command with a parallel one behind it: never overtaken', async () => {
    const { dispatch, directory } = testDispatcher();
    const slow: KeyFunction = () => sleep(1000, ['db:orders']);
    const batch = dispatch([
      { command: 'echo written > log', lockKeys: slow },
      parallel('cat log'),
      parallel('cat log'),
    ]);
    const events = await allEvents(batch);
    expect(comingsAndGoings(events).slice(0, 2)).toEqual(['+c1', '-c1']);
    const { commands } = await batch.done;
    expect(commands.map(({ stdout }) => stdout)).toEqual(['', 'written\n', 'written\n']);
    expect(readFileSync(join(directory, 'log'), 'utf8')).toBe('written\n');
    // The time of the function is none of waiting for locks, and none of running.
    expect(commands[0]?.queuedMs).toBeGreaterThan(900);
    expect((commands[0]?.waitedMs ?? 1000) + (commands[0]?.ranMs ?? 1000)).toBeLessThan(900);
  });

  test('while a function works, what runs goes on, what waits starts, and nothing later joins', async () => {
    const { dispatch, directory } = testDispatcher();
    await makeFifos(directory, 'gate');
    const keys = answerLater<readonly string[]>();
    const batch = dispatch(
      [
        parallel('read < gate'),
        parallel('echo second'),
        { command: parallel('echo third'), lockKeys: () => keys.given },
        parallel('echo fourth'),
      ],
      { maxParallel: 1 },
    );
    await eventOf(batch, 'waiting', 'c2');
    await openGate(directory, 'gate');
    await eventOf(batch, 'finished', 'c2');
    expect(batch.snapshot().commands.map(({ state }) => state)).toEqual(['exited', 'exited', 'queued', 'queued']);
    keys.give(['k']);
    expect(comingsAndGoings(await allEvents(batch)).slice(4)).toEqual(['+c3', '-c3', '+c4', '-c4']);
  });

  test('the keys that it tells are held while the command runs, in their modes', async () => {
    const lock = new KeyedLock<Owner>();
    const { dispatch, directory } = testDispatcher({ lock });
    await makeFifos(directory, 'gate');
    const batch = dispatch([
      { command: parallel('read < gate'), lockKeys: () => ['a', { key: 'b', mode: 'shared' }] },
      { command: parallel(':'), lockKeys: async () => [{ key: 'b', mode: 'shared' }] },
      { command: parallel(':'), lockKeys: ['a'] },
    ]);
    await eventOf(batch, 'finished', 'c2');
    expect(await eventOf(batch, 'waiting', 'c3')).toMatchObject({
      waitsFor: [{ batchId: batch.id, commandId: 'c1' }],
    });
    expect(lock.snapshot().find(({ key }) => key === 'a')?.holders).toHaveLength(1);
    await openGate(directory, 'gate');
    expect((await batch.done).commands.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
    expect(lock.size).toBe(0);
  });

  test('the function is called once, in call order, and is told the command as it was checked', async () => {
    const { dispatch, directory } = testDispatcher();
    const calls: Call[] = [];
    const tell: KeyFunction = (call) => {
      calls.push(call);
      return [];
    };
    const batch = dispatch([
      { id: 'one', command: parallel(':'), env: { A: '1' }, stdin: 'in', lockKeys: tell },
      { id: 'two', command: 'true', lockKeys: tell },
    ]);
    await batch.done;
    expect(calls).toEqual([
      {
        ...{ id: 'one', batchId: batch.id, command: parallel(':'), cwd: directory, env: { A: '1' }, stdin: 'in' },
        ...{ lockKeys: tell, verdict: expect.objectContaining({ kind: 'parallel' }), signal: expect.any(AbortSignal) },
      },
      {
        ...{ id: 'two', batchId: batch.id, command: 'true', cwd: directory, env: {}, stdin: null },
        ...{ lockKeys: tell, verdict: expect.objectContaining({ kind: 'serial' }), signal: expect.any(AbortSignal) },
      },
    ]);
    expect(calls.every(Object.isFrozen)).toBe(true);
  });

  test.each<readonly [string, unknown, string]>([
    [
      'throws',
      () => {
        throw new Error('no such table');
      },
      'no such table',
    ],
    ['rejects', () => Promise.reject(new Error('unreachable')), 'unreachable'],
    [
      'throws what is no error',
      () => {
        throw Object.create(null);
      },
      'a value of type object',
    ],
    ['rejects with a text', () => Promise.reject('gone'), 'gone'],
    ['gives nothing', () => undefined, 'Expected lockKeys to be a list of at most 64, got undefined'],
    ['gives a text', () => 'k', 'Expected lockKeys to be a list of at most 64, got "k"'],
    ['gives too many', () => Array(65).fill('k'), 'Expected lockKeys to be a list of at most 64, got an array'],
    ['gives an empty key', () => ['k', ''], 'Expected a key of 1 to 1024 characters, got ""'],
    [
      'gives no mode that there is',
      () => [{ key: 'k', mode: 'write' }],
      'Expected mode to be "shared" or "exclusive", got "write"',
    ],
  ])(
    'T40: a function for lock keys that %s: the call fails, nothing of it runs, the others go on',
    async (_how, lockKeys, why) => {
      const lock = new KeyedLock<Owner>();
      const { dispatch, directory } = testDispatcher({ lock });
      const batch = dispatch([
        parallel('echo before'),
        { command: 'touch ran', lockKeys: lockKeys as KeyFunction },
        'echo behind',
      ]);
      const { commands, state } = await batch.done;
      expect(commands.map(brief)).toEqual([
        { id: 'c1', state: 'exited', exitCode: 0, note: null },
        { id: 'c2', state: 'failed', exitCode: null, note: `Could not tell what the call changes: ${why}` },
        { id: 'c3', state: 'exited', exitCode: 0, note: null },
      ]);
      expect(state).toBe('finished');
      expect(existsSync(join(directory, 'ran'))).toBe(false);
      expect(comingsAndGoings(await allEvents(batch))).not.toContain('+c2');
      expect(lock.size).toBe(0);
    },
  );

  test('a failing function counts as a failure for what stops a batch', async () => {
    const { dispatch } = testDispatcher();
    const lockKeys = () => Promise.reject(new Error('no'));
    const { commands } = await dispatch([{ command: 'true', lockKeys }, 'true'], { onFailure: 'stop' }).done;
    expect(commands.map(brief)[1]).toMatchObject({ state: 'skipped', note: 'Skipped because c1 could not be run' });
  });

  test.each([
    ['a cancellation', 'Aborted before dispatch: enough', 'cancelled'],
    ['the deadline', 'Aborted before dispatch: the batch reached its deadline of 50 ms', 'finished'],
  ])('%s ends a batch whose function never answers, and tells it so', async (how, note, state) => {
    const { open } = testDispatcher();
    let told: AbortSignal | undefined;
    const batch = open(how === 'the deadline' ? { deadlineMs: 50 } : {});
    batch.addAll([
      {
        command: 'true',
        lockKeys: ({ signal }) => {
          told = signal;
          return new Promise(() => {});
        },
      },
      {
        command: 'true',
        lockKeys: () => {
          throw new Error('it was asked after the end');
        },
      },
    ]);
    if (how !== 'the deadline') batch.cancel('enough');
    const result = await batch.done;
    expect(result.commands.map((each) => each.note)).toEqual([note, note]);
    expect(result.state).toBe(state);
    expect(told?.aborted).toBe(true);
  });

  test('an answer that comes after the end changes nothing', async () => {
    const lock = new KeyedLock<Owner>();
    const { open } = testDispatcher({ lock });
    const keys = answerLater<readonly string[]>();
    const batch = open();
    batch.add({ command: 'true', lockKeys: () => keys.given });
    batch.cancel();
    const ended = await batch.done;
    keys.give(['late']);
    await keys.given;
    expect(batch.snapshot()).toEqual(ended);
    expect(lock.size).toBe(0);
  });

  test('a hundred of them in an open batch, some slow, some failing: everything is answered in call order', async () => {
    const { open } = testDispatcher();
    const batch = open();
    const called: number[] = [];
    for (let n = 0; n < 100; n += 1) {
      const lockKeys = async () => {
        called.push(n);
        for (let turns = n % 7; turns > 0; turns -= 1) await new Promise(setImmediate);
        if (n % 10 === 9) throw new Error('now and then');
        return [`k${n % 3}`];
      };
      batch.add({ command: parallel(`echo ${n}`), lockKeys });
    }
    batch.close();
    const { commands } = await batch.done;
    expect(called).toEqual(Array.from({ length: 100 }, (_, n) => n));
    expect(commands.map(({ state, stdout }) => (state === 'failed' ? 'failed' : stdout.trim()))).toEqual(
      Array.from({ length: 100 }, (_, n) => (n % 10 === 9 ? 'failed' : String(n))),
    );
  });

  test('a plan is made without calling it', () => {
    const { plan } = testDispatcher();
    const lockKeys: KeyFunction = () => {
      throw new Error('it was called');
    };
    expect(plan([{ command: 'true', lockKeys }]).groups).toEqual([{ kind: 'serial', commandIds: ['c1'] }]);
  });
});
