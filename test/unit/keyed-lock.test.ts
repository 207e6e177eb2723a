import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { Held } from '../../src/dispatcher/acquire-options.ts';
import { KeyedLock } from '../../src/dispatcher/keyed-lock.ts';
import type { LockRequest } from '../../src/dispatcher/types.ts';
import { SignalboxError } from '../../src/errors.ts';
import { settled, shared } from '../support/locks.ts';

const exclusive = (key: string): LockRequest => ({ key, mode: 'exclusive' });

/** A lock whose grants and rejections are written down in the order in which callers see them. */
function observed() {
  const lock = new KeyedLock();
  const log: string[] = [];
  const holds = new Map<string, Held>();
  const ask = (label: string, requests: LockRequest | readonly LockRequest[], signal?: AbortSignal): void => {
    lock.acquire(requests, { label, signal }).then(
      (held) => {
        holds.set(label, held);
        log.push(label);
      },
      (reason: unknown) => log.push(`${label} rejected: ${String(reason)}`),
    );
  };
  const release = (label: string): void => holds.get(label)?.();
  return { lock, log, ask, release };
}

const names = (lock: KeyedLock, key: string) => {
  const found = lock.snapshot().find((each) => each.key === key);
  return { holders: found?.holders.map(({ label }) => label), waiters: found?.waiters.map(({ label }) => label) };
};

describe('modes and order', () => {
  test('T15 shares overlap', async () => {
    const { lock, log, ask, release } = observed();
    ask('a', shared('k'));
    ask('b', shared('k'));
    await settled();
    expect(log).toEqual(['a', 'b']);
    release('a');
    expect(names(lock, 'k')).toEqual({ holders: ['b'], waiters: [] });
    release('b');
    expect(lock.size).toBe(0);
  });

  test('T16 an exclusive acquire waits for shares and holds back later shares', async () => {
    const { lock, log, ask, release } = observed();
    ask('r1', shared('k'));
    ask('r2', shared('k'));
    ask('w', exclusive('k'));
    ask('r3', shared('k'));
    await settled();
    expect(log).toEqual(['r1', 'r2']);
    release('r1');
    await settled();
    expect(log).toEqual(['r1', 'r2']);
    release('r2');
    await settled();
    expect(log).toEqual(['r1', 'r2', 'w']);
    release('w');
    await settled();
    expect(log).toEqual(['r1', 'r2', 'w', 'r3']);
    release('r3');
    expect(lock.size).toBe(0);
  });

  test('D9 a hundred readers, a writer, a hundred readers: the writer runs after the first hundred and before the rest', async () => {
    const { lock, log, ask, release } = observed();
    const first = Array.from({ length: 100 }, (_, at) => `r${at}`);
    const second = Array.from({ length: 100 }, (_, at) => `s${at}`);
    for (const name of first) ask(name, shared('k'));
    ask('w', exclusive('k'));
    for (const name of second) ask(name, shared('k'));
    await settled();
    expect(log).toEqual(first);
    for (const name of first) {
      expect(log).not.toContain('w');
      release(name);
      await settled();
    }
    expect(log).toEqual([...first, 'w']);
    release('w');
    await settled();
    expect(log).toEqual([...first, 'w', ...second]);
    for (const name of second) release(name);
    expect(lock.size).toBe(0);
  });

  test('T19 one key is granted first come, first served, a hundred deep', async () => {
    const { lock, log, ask, release } = observed();
    const order = Array.from({ length: 100 }, (_, at) => `w${at}`);
    for (const name of order) ask(name, 'k');
    for (const name of order) {
      await settled();
      expect(log.at(-1)).toBe(name);
      expect(names(lock, 'k').holders).toEqual([name]);
      release(name);
    }
    expect(log).toEqual(order);
    expect(lock.size).toBe(0);
  });

  test('T20 different keys overlap', async () => {
    const { log, ask } = observed();
    ask('a', 'k');
    ask('b', 'l');
    ask('c', ['m', shared('n')]);
    await settled();
    expect(log).toEqual(['a', 'b', 'c']);
  });

  test('a bare key is exclusive, and so is a request without a mode', () => {
    const lock = new KeyedLock();
    const held = lock.tryAcquire(['k', { key: 'l' }]);
    expect(held).not.toBeNull();
    expect(lock.tryAcquire(shared('k'))).toBeNull();
    expect(lock.tryAcquire(shared('l'))).toBeNull();
  });
});

describe('sets of keys', () => {
  test('T21 [a, b] against [b, a] never deadlocks', async () => {
    const lock = new KeyedLock();
    let inside = 0;
    const work = async (): Promise<void> => {
      expect(++inside).toBe(1);
      await settled();
      inside--;
    };
    const runs = Array.from({ length: 40 }, (_, at) => lock.run(at % 2 === 0 ? ['a', 'b'] : ['b', 'a'], work));
    await Promise.all(runs);
    expect(lock.size).toBe(0);
  });

  test('T22 a key named twice counts once, in the stronger mode, whichever comes first', async () => {
    for (const pair of [
      [shared('k'), exclusive('k')],
      [exclusive('k'), shared('k')],
      ['k', 'k', shared('k')],
    ]) {
      const lock = new KeyedLock();
      const held = await lock.acquire(pair);
      expect(lock.snapshot()[0]).toMatchObject({ key: 'k', holders: [{ mode: 'exclusive' }], waiters: [] });
      held();
      expect(lock.size).toBe(0);
    }
  });

  test('T22 twice shared stays shared, and many keys are read as few are', async () => {
    const lock = new KeyedLock();
    await lock.acquire([shared('k'), shared('k')]);
    expect(lock.tryAcquire(shared('k'))).not.toBeNull();
    const many = Array.from({ length: 300 }, (_, at) => shared(`many ${at % 100}`));
    const held = await lock.acquire([...many, 'many 7']);
    expect(lock.size).toBe(101);
    expect(lock.tryAcquire(shared('many 8'))).not.toBeNull();
    expect(lock.tryAcquire(shared('many 7'))).toBeNull();
    held();
    expect(lock.size).toBe(2);
  });

  test('T23 an empty set is granted at once, and keeps nothing', async () => {
    const lock = new KeyedLock();
    const held = await lock.acquire([]);
    expect(lock.size).toBe(0);
    held();
    expect(lock.tryAcquire([])).not.toBeNull();
  });

  test('T24 a waiter for [a, b] keeps its place in both', async () => {
    const { log, ask, release } = observed();
    ask('on a', 'a');
    ask('both', ['a', 'b']);
    ask('after', 'b');
    ask('shared after', shared('b'));
    await settled();
    // b is free, but the one that waits for both came first.
    expect(log).toEqual(['on a']);
    release('on a');
    await settled();
    expect(log).toEqual(['on a', 'both']);
    release('both');
    await settled();
    expect(log).toEqual(['on a', 'both', 'after']);
  });

  test('when one release lets several start, they start in the order of their tickets', async () => {
    const { log, ask, release } = observed();
    ask('holder', ['a', 'b', 'c']);
    ask('first', 'c');
    ask('second', 'b');
    ask('third', 'a');
    await settled();
    release('holder');
    await settled();
    expect(log).toEqual(['holder', 'first', 'second', 'third']);
  });

  test('keys named like parts of an object are ordinary keys', async () => {
    const lock = new KeyedLock();
    const keys = ['__proto__', 'hasOwnProperty', 'constructor', 'toString', 'prototype', ''];
    const first = await lock.acquire(keys.slice(0, 3));
    const second = await lock.acquire(keys.slice(3));
    expect(lock.size).toBe(6);
    for (const key of keys) expect(lock.tryAcquire(key)).toBeNull();
    first();
    for (const key of keys.slice(0, 3)) expect(lock.tryAcquire(key)).not.toBeNull();
    for (const key of keys.slice(3)) expect(lock.tryAcquire(key)).toBeNull();
    second();
    expect(lock.size).toBe(3);
  });
});

describe('release', () => {
  test('T18 a second release does nothing', async () => {
    const lock = new KeyedLock();
    const first = await lock.acquire('k');
    const second = lock.acquire('k');
    const third = lock.acquire('k');
    first();
    first();
    const held = await second;
    first();
    expect(lock.snapshot()[0]).toMatchObject({ holders: [{ ticket: held.ticket }], waiters: [{ ticket: 3 }] });
    held();
    (await third)();
    expect(lock.size).toBe(0);
  });

  test('T36 nothing is kept when idle, neither keys nor listeners', async () => {
    const lock = new KeyedLock();
    const { signal } = new AbortController();
    const holds = Array.from({ length: 50 }, (_, at) => lock.acquire([`k${at % 5}`, shared('all')], signal));
    expect(lock.size).toBe(6);
    for (const hold of holds) (await hold)();
    expect(lock.size).toBe(0);
    expect(lock.snapshot()).toEqual([]);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  test('a hold carries its ticket and its label', async () => {
    const lock = new KeyedLock<{ command: string }>();
    const label = { command: 'c1' };
    const early = lock.draw();
    const held = await lock.acquire('k', { label, ticket: early });
    expect(held.ticket).toBe(early);
    expect(held.label).toBe(label);
    expect(lock.tryAcquire('l')?.label).toBeUndefined();
    expect(lock.tryAcquire('m', { label })?.label).toBe(label);
  });

  test('run releases when the work returns, throws or rejects, and gives its result', async () => {
    const lock = new KeyedLock();
    const seen = await lock.run('k', (held) => [held.ticket, lock.size]);
    expect(seen).toEqual([1, 1]);
    const fault = new Error('the work failed');
    const thrower = lock.run('k', () => {
      throw fault;
    });
    await expect(thrower).rejects.toBe(fault);
    await expect(lock.run(['k', 'l'], () => Promise.reject(fault))).rejects.toBe(fault);
    expect(lock.size).toBe(0);
  });

  test('run does not call the work when the acquire was given up', async () => {
    const lock = new KeyedLock();
    const controller = new AbortController();
    const held = await lock.acquire('k');
    const calls: string[] = [];
    const run = lock.run('k', () => calls.push('called'), controller.signal);
    controller.abort('no more');
    await expect(run).rejects.toBe('no more');
    held();
    expect(calls).toEqual([]);
    expect(lock.size).toBe(0);
  });
});

describe('tryAcquire', () => {
  test('never overtakes a waiter', async () => {
    const lock = new KeyedLock();
    const reader = await lock.acquire(shared('k'));
    expect(lock.tryAcquire('k')).toBeNull();
    const writer = lock.acquire('k');
    expect(lock.tryAcquire(shared('k'))).toBeNull();
    reader();
    (await writer)();
    expect(lock.tryAcquire(shared('k'))).not.toBeNull();
  });

  test('respects a place reserved by one that waits for another key, and passes where the modes agree', async () => {
    const lock = new KeyedLock();
    await lock.acquire('a');
    void lock.acquire(['a', shared('b')]);
    expect(lock.tryAcquire('b')).toBeNull();
    expect(lock.tryAcquire(shared('b'))).not.toBeNull();
  });

  test('a refused try leaves no trace in any of its keys', async () => {
    const lock = new KeyedLock();
    const held = await lock.acquire('b');
    const before = lock.snapshot();
    expect(lock.tryAcquire(['a', 'b', 'c'])).toBeNull();
    expect(lock.snapshot().map(({ key }) => key)).toEqual(before.map(({ key }) => key));
    held();
    expect(lock.size).toBe(0);
  });
});

describe('bad input', () => {
  const bad: readonly (readonly [string, unknown])[] = [
    ['a number', 7],
    ['null', null],
    ['undefined', undefined],
    ['a symbol', Symbol('k')],
    ['an object without a key', {}],
    ['a key that is no string', { key: 7 }],
    ['an unknown mode', { key: 'k', mode: 'upgrade' }],
    ['a mode from the prototype', { key: 'k', mode: 'constructor' }],
    ['a mode of null', { key: 'k', mode: null }],
    ['a list with a bad member', ['k', 7]],
    ['a list with a hole', Object.assign(['k'], { length: 2 })],
    ['a list in a list', ['k', ['l']]],
  ];

  test.each(bad)('%s: acquire rejects, tryAcquire throws, nothing is kept', async (_, requests) => {
    const lock = new KeyedLock();
    const acquired = lock.acquire(requests as LockRequest);
    await expect(acquired).rejects.toBeInstanceOf(SignalboxError);
    await expect(acquired).rejects.toMatchObject({ code: 'OPTION_INVALID' });
    expect(() => lock.tryAcquire(requests as LockRequest)).toThrow(SignalboxError);
    expect(lock.size).toBe(0);
  });

  const badOptions: readonly (readonly [string, unknown])[] = [
    ['null', null],
    ['a number', 5],
    ['a signal that is none', { signal: {} }],
    ['a null signal', { signal: null }],
    ['a ticket of zero', { ticket: 0 }],
    ['a ticket not drawn yet', { ticket: 2 }],
    ['a ticket between two', { ticket: 0.5 }],
    ['a ticket that is no number', { ticket: '1' }],
    ['a ticket that is not even finite', { ticket: Number.NaN }],
    ['a callback that is none', { onWait: 'soon' }],
  ];

  test.each(badOptions)('%s as options: acquire rejects, nothing is kept', async (_, options) => {
    const lock = new KeyedLock();
    lock.draw();
    await expect(lock.acquire('k', options as AbortSignal)).rejects.toMatchObject({ code: 'OPTION_INVALID' });
    expect(lock.size).toBe(0);
  });

  test('the message says which request of the list is wrong and what came', async () => {
    const acquired = new KeyedLock().acquire(['k', { key: 'l', mode: 'wild' as 'shared' }]);
    await expect(acquired).rejects.toThrow(
      `Expected the mode of lock request 1 to be 'shared', 'exclusive', 'intention-shared' or 'intention-exclusive', got "wild"`,
    );
  });
});
