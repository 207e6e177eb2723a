import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { Held } from '../../src/dispatcher/acquire-options.ts';
import { KeyedLock } from '../../src/dispatcher/keyed-lock.ts';
import { settled, shared } from '../support/locks.ts';

/** What became of a promise so far. */
function watched<T>(promise: Promise<T>): { value?: T; reason?: unknown; isSettled: boolean } {
  const seen: { value?: T; reason?: unknown; isSettled: boolean } = { isSettled: false };
  promise.then(
    (value) => Object.assign(seen, { value, isSettled: true }),
    (reason: unknown) => Object.assign(seen, { reason, isSettled: true }),
  );
  return seen;
}

const labels = (lock: KeyedLock, key: string) => {
  const found = lock.snapshot().find((each) => each.key === key);
  return [found?.holders.map(({ label }) => label) ?? [], found?.waiters.map(({ label }) => label) ?? []];
};

describe('abort', () => {
  test('T17 abort of a waiting writer lets the readers behind it through', async () => {
    const lock = new KeyedLock();
    await lock.acquire(shared('k'), { label: 'reader' });
    const controller = new AbortController();
    const writer = watched(lock.acquire('k', { signal: controller.signal, label: 'writer' }));
    const later = watched(lock.acquire(shared('k'), { label: 'later' }));
    await settled();
    expect(later.isSettled).toBe(false);
    controller.abort('given up');
    // The turn passes in the same step, not a tick later.
    expect(labels(lock, 'k')).toEqual([['reader', 'later'], []]);
    await settled();
    expect(writer).toEqual({ isSettled: true, reason: 'given up' });
    expect(later.isSettled).toBe(true);
  });

  test('T17 abort of a waiting reader leaves the order of the others', async () => {
    const lock = new KeyedLock();
    const holder = await lock.acquire('k', { label: 'holder' });
    const controller = new AbortController();
    const reader = watched(lock.acquire(shared('k'), { signal: controller.signal }));
    void lock.acquire('k', { label: 'w1' });
    void lock.acquire('k', { label: 'w2' });
    controller.abort();
    holder();
    await settled();
    expect(reader.reason).toBe(controller.signal.reason);
    expect(labels(lock, 'k')).toEqual([['w1'], ['w2']]);
  });

  test('T25 abort of a middle waiter lets the next pair run', async () => {
    const lock = new KeyedLock();
    const a = await lock.acquire('a');
    const controller = new AbortController();
    const middle = watched(lock.acquire(['a', 'b', 'c'], controller.signal));
    const pair = [watched(lock.acquire('b')), watched(lock.acquire('c'))];
    await settled();
    expect(pair.map(({ isSettled }) => isSettled)).toEqual([false, false]);
    controller.abort('middle');
    await settled();
    expect(middle.reason).toBe('middle');
    expect(pair.map(({ isSettled }) => isSettled)).toEqual([true, true]);
    a();
    for (const { value } of pair) value?.();
    expect(lock.size).toBe(0);
  });

  test('T26 an already aborted signal never enqueues, not even for a free key or for none', async () => {
    const lock = new KeyedLock();
    const signal = AbortSignal.abort('too late');
    await expect(lock.acquire('free', signal)).rejects.toBe('too late');
    await expect(lock.acquire([], signal)).rejects.toBe('too late');
    expect(lock.size).toBe(0);
    const held = await lock.acquire('k');
    const refused = lock.acquire('k', { signal });
    expect(labels(lock, 'k')[1]).toEqual([]);
    await expect(refused).rejects.toBe('too late');
    held();
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  test('T27 the abort reason is the very same object', async () => {
    const lock = new KeyedLock();
    await lock.acquire('k');
    for (const reason of [new Error('mine'), { any: 'object' }, null, 0, undefined]) {
      const controller = new AbortController();
      const waiting = watched(lock.acquire('k', controller.signal));
      controller.abort(reason);
      await settled();
      expect(waiting.isSettled).toBe(true);
      expect(waiting.reason).toBe(controller.signal.reason);
      if (reason !== undefined) expect(waiting.reason).toBe(reason);
    }
  });

  test('an abort after the grant takes nothing away', async () => {
    const lock = new KeyedLock();
    const first = await lock.acquire('k');
    const controller = new AbortController();
    const second = lock.acquire('k', { signal: controller.signal, label: 'second' });
    first();
    controller.abort();
    const held = await second;
    expect(labels(lock, 'k')).toEqual([['second'], []]);
    held();
    expect(lock.size).toBe(0);
  });

  test('waiters of one signal leave together: none is granted under a signal that is gone', async () => {
    const lock = new KeyedLock();
    await lock.acquire(shared('k'), { label: 'holder' });
    const controller = new AbortController();
    const { signal } = controller;
    // Without care the first one's leaving would let the second in, in the midst of the abort.
    const doomed = [
      watched(lock.acquire('k', signal)),
      watched(lock.acquire([shared('k'), 'other'], signal)),
      watched(lock.acquire(shared('k'), signal)),
    ];
    const apart = watched(lock.acquire([shared('k'), 'other'], { label: 'apart' }));
    controller.abort('all of you');
    await settled();
    for (const each of doomed) expect(each).toEqual({ isSettled: true, reason: 'all of you' });
    expect(apart.isSettled).toBe(true);
    expect(labels(lock, 'k')).toEqual([['holder', 'apart'], []]);
    expect(labels(lock, 'other')).toEqual([['apart'], []]);
  });

  test('a release from within a listener of the same signal grants nothing to its waiters', async () => {
    const lock = new KeyedLock();
    const controller = new AbortController();
    const held = await lock.acquire('k');
    // Registered before the lock's own listener, so it runs first.
    controller.signal.addEventListener('abort', () => held());
    const doomed = [watched(lock.acquire('k', controller.signal)), watched(lock.acquire('k', controller.signal))];
    const other = watched(lock.acquire('k'));
    controller.abort('gone');
    await settled();
    expect(doomed).toEqual([
      { isSettled: true, reason: 'gone' },
      { isSettled: true, reason: 'gone' },
    ]);
    expect(other.isSettled).toBe(true);
  });

  test('D13 ten thousand waiters on one key, all aborted: one listener a signal, nothing left', async () => {
    const lock = new KeyedLock();
    const held = await lock.acquire('k');
    const all = new AbortController();
    const own = Array.from({ length: 5_000 }, () => new AbortController());
    const waiting = own.flatMap(({ signal }) => [lock.acquire('k', signal), lock.acquire(['k', 'l'], all.signal)]);
    const outcome = Promise.allSettled(waiting);
    expect(labels(lock, 'k')[1]).toHaveLength(10_000);
    expect(getEventListeners(all.signal, 'abort')).toHaveLength(1);
    all.abort('all');
    expect(labels(lock, 'k')[1]).toHaveLength(5_000);
    for (const controller of own) controller.abort('own');
    const reasons = (await outcome).map((each) => (each.status === 'rejected' ? each.reason : each.value));
    expect(new Set(reasons)).toEqual(new Set(['own', 'all']));
    expect(labels(lock, 'k')[1]).toEqual([]);
    held();
    expect(lock.size).toBe(0);
    for (const { signal } of [all, ...own]) expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});

describe('tickets', () => {
  test('an acquire with an earlier ticket goes before the waiters that drew later', async () => {
    const lock = new KeyedLock();
    const early = lock.draw();
    const holder = await lock.acquire('k', { label: 'holder' });
    void lock.acquire('k', { label: 'later' });
    void lock.acquire('k', { label: 'early', ticket: early });
    expect(labels(lock, 'k')).toEqual([['holder'], ['early', 'later']]);
    holder();
    expect(labels(lock, 'k')).toEqual([['early'], ['later']]);
  });

  test('it never revokes a granted hold', async () => {
    const lock = new KeyedLock();
    const early = lock.draw();
    const later = await lock.acquire(['k', shared('l')], { label: 'later' });
    const waiting = watched(lock.acquire(['k', 'l'], { label: 'early', ticket: early }));
    await settled();
    expect(waiting.isSettled).toBe(false);
    later();
    await settled();
    expect(waiting.isSettled).toBe(true);
  });

  test('it goes before one that has its turn here and waits elsewhere, so that two keys are had in one order', async () => {
    const lock = new KeyedLock();
    const early = lock.draw();
    const b = await lock.acquire('b');
    const later = watched(lock.acquire(['a', 'b']));
    const waiting = watched(lock.acquire(['a', 'b'], { ticket: early }));
    b();
    await settled();
    // Had it stood behind on a, where the later one was first, and ahead on b, both would wait for ever.
    expect([waiting.isSettled, later.isSettled]).toEqual([true, false]);
    waiting.value?.();
    await settled();
    expect(later.isSettled).toBe(true);
    later.value?.();
    expect(lock.size).toBe(0);
  });

  test('an early reader passes a later writer that waits for readers, and readers with their turn keep it', async () => {
    const lock = new KeyedLock();
    const early = lock.draw();
    const reader = await lock.acquire(shared('k'), { label: 'reader' });
    await lock.acquire('l', { label: 'on l' });
    void lock.acquire([shared('k'), 'l'], { label: 'half' });
    void lock.acquire('k', { label: 'writer' });
    void lock.acquire(shared('k'), { label: 'early', ticket: early });
    expect(labels(lock, 'k')).toEqual([
      ['reader', 'early'],
      ['half', 'writer'],
    ]);
    // "half" still reserves its place: with both readers gone the writer must not be let in before it.
    reader();
    expect(labels(lock, 'k')).toEqual([['early'], ['half', 'writer']]);
  });

  test('the same ticket twice is served in order of joining', async () => {
    const lock = new KeyedLock();
    const ticket = lock.draw();
    const holder = await lock.acquire('k');
    void lock.acquire('k', { label: 'drawn later' });
    void lock.acquire('k', { label: 'one', ticket });
    void lock.acquire('k', { label: 'two', ticket });
    holder();
    expect(labels(lock, 'k')).toEqual([['one'], ['two', 'drawn later']]);
  });

  test('tickets count up by one from 1, drawn or taken by an acquire', async () => {
    const lock = new KeyedLock();
    expect(lock.draw()).toBe(1);
    expect((await lock.acquire('a')).ticket).toBe(2);
    expect(lock.tryAcquire('b')?.ticket).toBe(3);
    expect((await lock.acquire('c', { ticket: 1 })).ticket).toBe(1);
    expect(lock.draw()).toBe(4);
  });
});

describe('onWait', () => {
  const collect = (into: unknown[][]) => (blockers: readonly { label: string | undefined; ticket: number }[]) =>
    into.push([...blockers]);

  test('names the conflicting holders and the conflicting waiters ahead, once each, in ticket order', async () => {
    const lock = new KeyedLock();
    const early = lock.draw();
    await lock.acquire([shared('k'), 'l'], { label: 'reader and l' });
    await lock.acquire('beside', { label: 'beside' });
    void lock.acquire('k', { label: 'writer' });
    void lock.acquire(shared('k'), { label: 'later reader' });
    const calls: unknown[][] = [];
    void lock.acquire(['k', 'l'], { label: 'me', onWait: collect(calls) });
    void lock.acquire(shared('k'), { onWait: collect(calls) });
    void lock.acquire('k', { ticket: early, onWait: collect(calls) });
    expect(calls).toEqual([
      [
        { label: 'reader and l', ticket: 2 },
        { label: 'writer', ticket: 4 },
        { label: 'later reader', ticket: 5 },
      ],
      [
        { label: 'writer', ticket: 4 },
        { label: 'me', ticket: 6 },
      ],
      [{ label: 'reader and l', ticket: 2 }],
    ]);
  });

  test('is not called when the keys can be had at once, nor again when the wait goes on', async () => {
    const lock = new KeyedLock();
    const calls: unknown[][] = [];
    const onWait = collect(calls);
    const first = await lock.acquire('k', { onWait });
    const second = lock.acquire('k', { onWait });
    const third = lock.acquire('k', { onWait });
    expect(calls).toHaveLength(2);
    first();
    (await second)();
    (await third)();
    expect(calls).toHaveLength(2);
  });

  test('one that throws gives up the place, and its error is the rejection', async () => {
    const lock = new KeyedLock();
    const held = await lock.acquire('k', { label: 'holder' });
    const fault = new Error('cannot tell');
    const doomed = lock.acquire(['k', 'free'], {
      onWait: () => {
        throw fault;
      },
    });
    expect(labels(lock, 'k')).toEqual([['holder'], []]);
    await expect(doomed).rejects.toBe(fault);
    held();
    expect(lock.size).toBe(0);
  });

  test('may release what stood in the way', async () => {
    const lock = new KeyedLock();
    const held = await lock.acquire('k');
    const second = await lock.acquire('k', { label: 'second', onWait: () => held() });
    expect(labels(lock, 'k')).toEqual([['second'], []]);
    second();
    expect(lock.size).toBe(0);
  });

  test('may abort the very acquire', async () => {
    const lock = new KeyedLock();
    const held = await lock.acquire('k');
    const controller = new AbortController();
    const { signal } = controller;
    const doomed = lock.acquire('k', { signal, onWait: () => controller.abort('changed my mind') });
    await expect(doomed).rejects.toBe('changed my mind');
    expect(labels(lock, 'k')[1]).toEqual([]);
    held();
    expect(lock.size).toBe(0);
  });

  test('that throws after it made the grant possible holds nothing', async () => {
    const lock = new KeyedLock();
    const held = await lock.acquire('k');
    const doomed = lock.acquire('k', {
      onWait: () => {
        held();
        throw new Error('after the grant');
      },
    });
    await expect(doomed).rejects.toThrow('after the grant');
    expect(lock.size).toBe(0);
  });
});

describe('snapshot', () => {
  test('names holders and waiters of each key with label, ticket, mode and age by the clock that was given', async () => {
    let now = 1_000;
    const lock = new KeyedLock({ now: () => now });
    const holder = await lock.acquire(['a', shared('b')], { label: 'holder' });
    now = 1_250;
    const waiter = lock.acquire(shared('a'), { label: 'waiter' });
    now = 1_300;
    expect(lock.snapshot()).toEqual([
      {
        key: 'a',
        inside: null,
        holders: [{ label: 'holder', ticket: 1, mode: 'exclusive', ageMs: 300 }],
        waiters: [{ label: 'waiter', ticket: 2, mode: 'shared', ageMs: 50 }],
      },
      { key: 'b', inside: null, holders: [{ label: 'holder', ticket: 1, mode: 'shared', ageMs: 300 }], waiters: [] },
    ]);
    now = 1_500;
    holder();
    now = 1_510;
    // A holder's age counts from its grant, however long it waited.
    expect(lock.snapshot()).toEqual([
      { key: 'a', inside: null, holders: [{ label: 'waiter', ticket: 2, mode: 'shared', ageMs: 10 }], waiters: [] },
    ]);
    (await waiter)();
    expect(lock.snapshot()).toEqual([]);
  });

  test('is a copy: what happens later does not change it', async () => {
    const lock = new KeyedLock();
    const held: Held = await lock.acquire('k');
    const taken = lock.snapshot();
    held();
    expect(taken).toHaveLength(1);
    expect(taken[0]?.holders).toHaveLength(1);
  });
});
