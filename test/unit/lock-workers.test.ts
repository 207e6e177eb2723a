import { once } from 'node:events';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { afterEach, describe, expect, test } from 'vitest';
import type { Held } from '../../src/dispatcher/acquire-options.ts';
import { KeyedLock } from '../../src/dispatcher/keyed-lock.ts';
import type { LockRequest } from '../../src/dispatcher/types.ts';
import { settled, shared } from '../support/locks.ts';

/*
 * A hold cannot go to another thread, its token can: a worker sends it through its port with the keys that it wants, and
 * the thread of the lock asks on its behalf.
 */

type Ask = { readonly id: number; readonly keys: LockRequest | readonly LockRequest[]; readonly token: string | null };

/** Passes on what it is told to ask for, and tells what came of it; `release` gives back what it was given. */
const WORKER = `
  const { parentPort, workerData } = require('node:worker_threads');
  const lock = workerData.port;
  parentPort.on('message', (message) => lock.postMessage(message));
  lock.on('message', (answer) => parentPort.postMessage(answer));
`;

type Answer = { readonly id: number; readonly granted?: number; readonly refused?: string };

const workers: Worker[] = [];

afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.terminate()));
});

/** Answers what comes through a port from this lock. */
function serve(lock: KeyedLock, port: MessagePort): void {
  const holds = new Map<number, Held>();
  port.on('message', async (data: Ask | { readonly release: number }) => {
    if ('release' in data) {
      holds.get(data.release)?.();
      return;
    }
    const { id, keys, token } = data;
    try {
      const hold = await lock.acquire(keys, { lineage: token, label: `worker ${id}` });
      holds.set(id, hold);
      port.postMessage({ id, granted: hold.ticket } satisfies Answer);
    } catch (error) {
      port.postMessage({ id, refused: (error as { code: string }).code } satisfies Answer);
    }
  });
}

/** A worker of its own thread, which asks this lock. */
function startWorker(lock: KeyedLock) {
  const { port1, port2 } = new MessageChannel();
  serve(lock, port1);
  const worker = new Worker(WORKER, { eval: true, workerData: { port: port2 }, transferList: [port2] });
  workers.push(worker);
  let count = 0;
  const ask = async (keys: Ask['keys'], token: string | null): Promise<Answer> => {
    const id = ++count;
    worker.postMessage({ id, keys, token } satisfies Ask);
    for (;;) {
      const [answer] = (await once(worker, 'message')) as [Answer];
      if (answer.id === id) return answer;
    }
  };
  return { ask, release: (id: number) => worker.postMessage({ release: id }) };
}

/** Until somebody waits for this key, also inside of a hold. */
async function someoneWaits(lock: KeyedLock, key: string): Promise<void> {
  while (!lock.snapshot().some((each) => each.key === key && each.waiters.length > 0)) await settled();
}

const isFree = async (lock: KeyedLock): Promise<void> => {
  while (lock.size > 0) await settled();
};

describe('a token that another thread sends', () => {
  test('asks as a descendant of its hold, where a stranger waits, and for no more than the hold has', async () => {
    const lock = new KeyedLock();
    const worker = startWorker(lock);
    const outer = await lock.acquire(['file:/a', shared('file:/b')], { label: 'outer' });
    const inside = await worker.ask('file:/a/b', outer.token());
    expect(inside).toEqual({ id: 1, granted: 2 });
    expect(await worker.ask('file:/b', outer.token())).toEqual({ id: 2, refused: 'LOCK_UPGRADE' });
    const stranger = worker.ask('file:/a/b', null);
    await someoneWaits(lock, 'file:/a');
    outer();
    worker.release(1);
    expect(await stranger).toEqual({ id: 3, granted: 3 });
    worker.release(3);
    await isFree(lock);
  });

  test('two workers inside of one hold exclude each other', async () => {
    const lock = new KeyedLock();
    const [one, other] = [startWorker(lock), startWorker(lock)];
    const outer = await lock.acquire('k', { label: 'outer' });
    expect(await one.ask('k', outer.token())).toHaveProperty('granted');
    const second = other.ask('k', outer.token());
    await someoneWaits(lock, 'k');
    expect(lock.snapshot().find(({ inside }) => inside !== null)).toMatchObject({
      inside: { label: 'outer' },
      holders: [{ label: 'worker 1', ticket: 2 }],
      waiters: [{ ticket: 3 }],
    });
    one.release(1);
    expect(await second).toEqual({ id: 1, granted: 3 });
    other.release(1);
    outer();
    await isFree(lock);
  });

  test('is worth nothing once the hold is over: the worker waits like any other', async () => {
    const lock = new KeyedLock();
    const worker = startWorker(lock);
    const outer = await lock.acquire('k');
    const token = outer.token();
    outer();
    const next = await lock.acquire('k', { label: 'next' });
    const late = worker.ask('k', token);
    await someoneWaits(lock, 'k');
    next();
    expect(await late).toHaveProperty('granted');
    worker.release(1);
    await isFree(lock);
  });
});
