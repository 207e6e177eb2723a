import { describe, expect, test } from 'vitest';
import { KeyedLock } from '../../src/dispatcher/keyed-lock.ts';
import { fileLockKey } from '../../src/dispatcher/lock-keys.ts';
import { StepGate } from '../../src/dispatcher/step-gate.ts';
import { type Owner, toolLocks } from '../../src/dispatcher/tool-locks.ts';
import { eventOf, makeFifos, openGate, parallel, temporaryDirectory, testDispatcher } from '../support/dispatcher.ts';
import { settled } from '../support/locks.ts';

/** What became of a promise so far. */
function followed<T>(promise: Promise<T>): { value?: T; reason?: unknown; isSettled: boolean } {
  const seen: { value?: T; reason?: unknown; isSettled: boolean } = { isSettled: false };
  promise.then(
    (value) => Object.assign(seen, { value, isSettled: true }),
    (reason: unknown) => Object.assign(seen, { reason, isSettled: true }),
  );
  return seen;
}

describe('the lock of the process', () => {
  test('two dispatchers that were given none wait for each other in one directory', async () => {
    const cwd = temporaryDirectory();
    await makeFifos(cwd, 'gate');
    const first = testDispatcher({ cwd }).dispatch(['read x < gate; echo done > made; echo first']);
    await eventOf(first, 'started');
    const second = testDispatcher({ cwd }).dispatch([parallel('cat made')]);
    const { waitsFor } = await eventOf(second, 'waiting');
    expect(waitsFor).toEqual([{ batchId: first.id, commandId: 'c1' }]);
    await openGate(cwd, 'gate');
    expect((await second.done).commands[0]?.stdout).toBe('done\n');
    expect(toolLocks.size).toBe(0);
  });

  test('a command waits for other work that took the key of its directory, or of one around it', async () => {
    const cwd = temporaryDirectory();
    const release = await toolLocks.acquire(fileLockKey(`${cwd}/..`));
    const batch = testDispatcher({ cwd }).dispatch([parallel('echo ran')]);
    const waiters = () => toolLocks.snapshot().flatMap((each) => each.waiters);
    while (waiters().length === 0) await settled();
    expect(waiters()[0]?.label).toEqual({ batchId: batch.id, commandId: 'c1' });
    expect(batch.snapshot().commands[0]?.stdout).toBe('');
    release();
    expect((await batch.done).commands[0]?.stdout).toBe('ran\n');
  });

  test('a command that waits for such work tells so, whether or not it waits for commands too', async () => {
    const cwd = temporaryDirectory();
    await makeFifos(cwd, 'gate');
    const holder = testDispatcher({ cwd }).dispatch([parallel('read x < gate')]);
    await eventOf(holder, 'started');
    const key = { key: fileLockKey(cwd), mode: 'shared' } as const;
    const works = [await toolLocks.acquire(key), await toolLocks.acquire(key, { label: {} as Owner })];
    const writer = testDispatcher({ cwd }).dispatch(['echo ran']);
    const { waitsFor, others } = await eventOf(writer, 'waiting');
    expect({ waitsFor, others }).toEqual({ waitsFor: [{ batchId: holder.id, commandId: 'c1' }], others: 2 });
    const label = { batchId: 'mine', commandId: 'deploy', more: 'left out' };
    const named = toolLocks.acquire(fileLockKey(cwd), { label });
    const reader = testDispatcher({ cwd }).dispatch([parallel('echo after')]);
    expect(await eventOf(reader, 'waiting')).toEqual(
      expect.objectContaining({
        waitsFor: [
          { batchId: writer.id, commandId: 'c1' },
          { batchId: 'mine', commandId: 'deploy' },
        ],
      }),
    );
    expect(await eventOf(reader, 'waiting')).not.toHaveProperty('others');
    await openGate(cwd, 'gate');
    for (const release of works) release();
    expect((await writer.done).commands[0]?.stdout).toBe('ran\n');
    (await named)();
    expect((await reader.done).commands[0]?.stdout).toBe('after\n');
    expect(toolLocks.size).toBe(0);
  });

  test('a dispatcher with a lock of its own does not wait for it', async () => {
    const cwd = temporaryDirectory();
    const release = await toolLocks.acquire(fileLockKey(cwd));
    const batch = testDispatcher({ cwd, lock: new KeyedLock<Owner>() }).dispatch(['echo ran']);
    expect((await batch.done).commands[0]?.stdout).toBe('ran\n');
    release();
    expect(toolLocks.size).toBe(0);
  });
});

describe('the gate of a step', () => {
  test('T15 shares of a step overlap', async () => {
    const gate = new StepGate();
    const leave = await Promise.all([gate.share(), gate.share(), gate.share()]);
    expect(leave).toHaveLength(3);
  });

  test('T16 who wants the step alone waits for those inside and holds back those behind, and the next pass together', async () => {
    const gate = new StepGate();
    const inside = [await gate.share(), await gate.share()];
    const alone = followed(gate.exclusive());
    const behind = [followed(gate.share()), followed(gate.share())];
    inside[0]?.();
    await settled();
    expect([alone, ...behind].map(({ isSettled }) => isSettled)).toEqual([false, false, false]);
    inside[1]?.();
    await settled();
    expect([alone, ...behind].map(({ isSettled }) => isSettled)).toEqual([true, false, false]);
    alone.value?.();
    await settled();
    expect(behind.map(({ isSettled }) => isSettled)).toEqual([true, true]);
  });

  test('T17 T27 an abort in either wait gives the place up with the very reason, and wakes the next', async () => {
    const gate = new StepGate();
    const inside = await gate.share();
    const writer = new AbortController();
    const reader = new AbortController();
    const reason = { any: 'object' };
    const alone = followed(gate.exclusive(writer.signal));
    const gaveUp = followed(gate.share(reader.signal));
    const next = followed(gate.share());
    reader.abort(reason);
    await settled();
    expect([gaveUp.reason, next.isSettled]).toEqual([reason, false]);
    writer.abort(reason);
    await settled();
    expect(alone.reason).toBe(reason);
    expect(gaveUp.reason).toBe(reason);
    expect(next.isSettled).toBe(true);
    inside();
  });

  test('T18 T26 leaving twice lets nobody in twice, and who has given up before never enters', async () => {
    const gate = new StepGate();
    const first = await gate.exclusive();
    const others = [followed(gate.exclusive()), followed(gate.exclusive())];
    first();
    first();
    await settled();
    expect(others.map(({ isSettled }) => isSettled)).toEqual([true, false]);
    await expect(gate.share(AbortSignal.abort('before'))).rejects.toBe('before');
    await expect(gate.exclusive('soon' as unknown as AbortSignal)).rejects.toMatchObject({ code: 'OPTION_INVALID' });
    others[0]?.value?.();
    await settled();
    expect(others[1]?.isSettled).toBe(true);
  });

  test('two gates know nothing of each other', async () => {
    const before = toolLocks.size;
    await new StepGate().exclusive();
    await new StepGate().exclusive();
    expect(toolLocks.size).toBe(before);
  });
});
