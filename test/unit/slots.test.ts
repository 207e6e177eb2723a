import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { ReleaseSlot, SlotPool } from '../../src/dispatcher/slot-pool.ts';
import { createSlots } from '../../src/dispatcher/slots.ts';
import { SignalboxError } from '../../src/errors.ts';

/** Lets every promise that can settle do so: a macrotask comes after all microtasks. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Takes whose order of grants is written down. */
function observed() {
  const log: string[] = [];
  const releases = new Map<string, ReleaseSlot>();
  const take = (pool: SlotPool, label: string, signal?: AbortSignal): void => {
    pool.take(signal).then(
      (release) => {
        log.push(label);
        releases.set(label, release);
      },
      (reason: unknown) => log.push(`${label} rejected: ${String(reason)}`),
    );
  };
  /** Ends the one that started first of those that still run, as long as there is one; gives the order of all starts. */
  const drain = async (): Promise<readonly string[]> => {
    await settled();
    for (let at = 0; at < log.length; at++) {
      releases.get(log[at] as string)?.();
      await settled();
    }
    return log;
  };
  return { log, take, drain, release: (label: string) => releases.get(label)?.() };
}

describe('one pool', () => {
  test('T7 never more than the limit at once, refilled as calls settle, first come first served', async () => {
    const slots = createSlots({ limit: 100 });
    const pool = slots.pool(3);
    let running = 0;
    let most = 0;
    const order: number[] = [];
    const work = async (at: number): Promise<void> => {
      const release = await pool.take();
      order.push(at);
      most = Math.max(most, ++running);
      await settled();
      running--;
      release();
    };
    await Promise.all(Array.from({ length: 50 }, (_, at) => work(at)));
    expect(most).toBe(3);
    expect(order).toEqual(Array.from({ length: 50 }, (_, at) => at));
    expect([slots.inUse, slots.waiting, pool.inUse, pool.waiting]).toEqual([0, 0, 0, 0]);
  });

  test('T8 a limit of one is serial', async () => {
    const pool = createSlots({ limit: 10 }).pool(1);
    const { log, take, release } = observed();
    for (const label of ['a', 'b', 'c']) take(pool, label);
    await settled();
    expect(log).toEqual(['a']);
    release('a');
    await settled();
    expect(log).toEqual(['a', 'b']);
    release('b');
    await settled();
    expect(log).toEqual(['a', 'b', 'c']);
  });

  test('a second release gives nothing back twice', async () => {
    const slots = createSlots({ limit: 1 });
    const pool = slots.pool(1);
    const release = await pool.take();
    release();
    release();
    const { log, take } = observed();
    take(pool, 'a');
    take(pool, 'b');
    await settled();
    release();
    await settled();
    expect(log).toEqual(['a']);
    expect(slots.inUse).toBe(1);
  });

  test('abort of a waiting take gives up its turn, with the very same reason', async () => {
    const slots = createSlots({ limit: 5 });
    const pool = slots.pool(1);
    const controller = new AbortController();
    const release = await pool.take();
    const reason = new Error('mine');
    const doomed = pool.take(controller.signal);
    const next = pool.take();
    expect([pool.waiting, slots.waiting]).toEqual([2, 2]);
    controller.abort(reason);
    await expect(doomed).rejects.toBe(reason);
    expect([pool.waiting, slots.waiting]).toEqual([1, 1]);
    release();
    (await next)();
    expect([slots.inUse, slots.waiting]).toEqual([0, 0]);
  });

  test('an already aborted signal never joins, though a slot is free', async () => {
    const slots = createSlots({ limit: 1 });
    const pool = slots.pool(1);
    await expect(pool.take(AbortSignal.abort('too late'))).rejects.toBe('too late');
    expect([slots.inUse, slots.waiting]).toEqual([0, 0]);
  });

  test('a slot that comes free in the midst of an abort goes to somebody who can use it', async () => {
    const pool = createSlots({ limit: 1 }).pool(1);
    const controller = new AbortController();
    const { log, take } = observed();
    const release = await pool.take();
    // Registered before the pool's own listener, so it runs first.
    controller.signal.addEventListener('abort', release);
    take(pool, 'a', controller.signal);
    take(pool, 'b', controller.signal);
    take(pool, 'c');
    controller.abort('gone');
    await settled();
    expect(log.toSorted()).toEqual(['a rejected: gone', 'b rejected: gone', 'c']);
  });

  test('no listener stays on a signal, and an abort after the grant takes nothing away', async () => {
    const slots = createSlots({ limit: 1 });
    const pool = slots.pool(1);
    const controller = new AbortController();
    const release = await pool.take(controller.signal);
    const second = pool.take(controller.signal);
    release();
    const held = await second;
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    controller.abort();
    expect(slots.inUse).toBe(1);
    held();
    expect(slots.inUse).toBe(0);
  });
});

describe('several pools', () => {
  test('all of them together never exceed the limit of the process', async () => {
    const slots = createSlots({ limit: 4 });
    let running = 0;
    let most = 0;
    const work = async (pool: SlotPool): Promise<void> => {
      const release = await pool.take();
      most = Math.max(most, ++running);
      expect(slots.inUse).toBeLessThanOrEqual(4);
      expect(pool.inUse).toBeLessThanOrEqual(3);
      await settled();
      running--;
      release();
    };
    const pools = Array.from({ length: 5 }, () => slots.pool(3));
    await Promise.all(pools.flatMap((pool) => Array.from({ length: 20 }, () => work(pool))));
    expect(most).toBe(4);
    expect([slots.inUse, slots.waiting]).toEqual([0, 0]);
  });

  test('batches take turns: a late batch of three is not held up by the hundred of an early one', async () => {
    const slots = createSlots({ limit: 2 });
    const [large, small] = [slots.pool(10), slots.pool(10)];
    const { take, drain } = observed();
    for (let at = 0; at < 100; at++) take(large, `L${at}`);
    for (let at = 0; at < 3; at++) take(small, `s${at}`);
    const order = await drain();
    expect(order.slice(0, 9)).toEqual(['L0', 'L1', 'L2', 's0', 'L3', 's1', 'L4', 's2', 'L5']);
    expect(order).toHaveLength(103);
    expect([slots.inUse, slots.waiting]).toEqual([0, 0]);
  });

  test('turns go round among three', async () => {
    const slots = createSlots({ limit: 1 });
    const { take, drain } = observed();
    const pools = ['a', 'b', 'c'].map((name) => ({ name, pool: slots.pool(5) }));
    for (const { name, pool } of pools) for (let at = 0; at < 3; at++) take(pool, `${name}${at}`);
    expect(await drain()).toEqual(['a0', 'a1', 'b0', 'c0', 'a2', 'b1', 'c1', 'b2', 'c2']);
  });

  test('a batch at its own limit does not use its turn, and gets it back when it has room', async () => {
    const slots = createSlots({ limit: 3 });
    const [narrow, wide] = [slots.pool(1), slots.pool(10)];
    const { log, take, release } = observed();
    for (const label of ['n0', 'n1']) take(narrow, label);
    for (const label of ['w0', 'w1', 'w2', 'w3']) take(wide, label);
    await settled();
    expect(log).toEqual(['n0', 'w0', 'w1']);
    release('w0');
    await settled();
    // n1 came first, but its batch has its one slot.
    expect(log).toEqual(['n0', 'w0', 'w1', 'w2']);
    release('n0');
    await settled();
    release('w1');
    await settled();
    expect(log).toEqual(['n0', 'w0', 'w1', 'w2', 'w3', 'n1']);
  });

  test('a batch whose last waiting take is aborted loses its turn to the next', async () => {
    const slots = createSlots({ limit: 1 });
    // The first batch has room of its own, so that it stands in line for the slot of the process.
    const [one, two] = [slots.pool(2), slots.pool(1)];
    const { log, take, release } = observed();
    const controller = new AbortController();
    take(one, 'a');
    take(one, 'doomed', controller.signal);
    take(two, 'b');
    await settled();
    controller.abort('no');
    release('a');
    await settled();
    expect(log).toEqual(['a', 'doomed rejected: no', 'b']);
    release('b');
    expect([slots.inUse, slots.waiting, one.waiting, two.waiting]).toEqual([0, 0, 0, 0]);
  });
});

describe('a pool inside of a slot', () => {
  test('runs on it, one at a time, and on slots of the process besides', async () => {
    const slots = createSlots({ limit: 2 });
    const outer = await slots.pool(1).take();
    const pool = slots.pool(10, outer);
    const { log, take, release } = observed();
    for (const label of ['a', 'b', 'c', 'd']) take(pool, label);
    await settled();
    expect(log).toEqual(['a', 'b']);
    expect([slots.inUse, slots.waiting, pool.inUse]).toEqual([2, 2, 2]);
    release('a');
    await settled();
    expect(log).toEqual(['a', 'b', 'c']);
    // Given back while somebody runs on it, it is free when that one ends.
    outer();
    await settled();
    expect([log.length, slots.inUse]).toEqual([3, 2]);
    release('c');
    await settled();
    expect(log).toEqual(['a', 'b', 'c', 'd']);
    release('b');
    release('d');
    expect([slots.inUse, slots.waiting]).toEqual([0, 0]);
  });

  test('one whose slot is given back is a pool like any other', async () => {
    const slots = createSlots({ limit: 1 });
    const outer = await slots.pool(1).take();
    const pool = slots.pool(10, outer);
    outer();
    const { log, take } = observed();
    take(pool, 'a');
    take(pool, 'b');
    await settled();
    expect([log, slots.inUse, slots.waiting]).toEqual([['a'], 1, 1]);
  });

  test('an idle slot is lent to anybody, not before the next turn of the loop, and not once it is not idle', async () => {
    const slots = createSlots({ limit: 1 });
    const outer = await slots.pool(1).take();
    const { log, take, release } = observed();
    const stranger = slots.pool(1);
    take(stranger, 'a');
    outer.idle()();
    await settled();
    await settled();
    expect(log).toEqual([]);
    const goOn = outer.idle();
    await Promise.resolve();
    expect(log).toEqual([]);
    await settled();
    expect([log, slots.inUse]).toEqual([['a'], 1]);
    goOn();
    goOn();
    take(stranger, 'b');
    release('a');
    await settled();
    await settled();
    expect(log).toEqual(['a']);
    outer();
    await settled();
    expect(log).toEqual(['a', 'b']);
  });

  test('whoever is inside of an idle slot is served before strangers', async () => {
    const slots = createSlots({ limit: 1 });
    const outer = await slots.pool(1).take();
    const { log, take, release } = observed();
    const inner = slots.pool(1, outer);
    for (const label of ['i0', 'i1']) take(inner, label);
    take(slots.pool(1), 's');
    outer.idle();
    await settled();
    await settled();
    release('i0');
    await settled();
    expect(log).toEqual(['i0', 'i1']);
    release('i1');
    await settled();
    await settled();
    expect(log).toEqual(['i0', 'i1', 's']);
  });

  test.each([
    ['of other slots', async () => createSlots({ limit: 1 }).pool(1).take()],
    ['a function', async () => () => {}],
    ['null', async () => null],
  ])('%s is refused', async (_, given) => {
    const inside = (await given()) as ReleaseSlot;
    expect(() => createSlots({ limit: 1 }).pool(1, inside)).toThrow(
      expect.objectContaining({ code: 'OPTION_INVALID' }),
    );
  });
});

describe('bad input', () => {
  test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '3', null, undefined])(
    'a limit of %s is refused',
    (limit) => {
      const caught = (fn: () => unknown): unknown => {
        try {
          return fn();
        } catch (error) {
          return error;
        }
      };
      for (const error of [
        caught(() => createSlots({ limit: limit as number })),
        caught(() => createSlots({ limit: 1 }).pool(limit as number)),
      ]) {
        expect(error).toBeInstanceOf(SignalboxError);
        expect(error).toMatchObject({ code: 'OPTION_INVALID' });
      }
    },
  );

  test('a signal that is none rejects', async () => {
    const slots = createSlots({ limit: 1 });
    await expect(slots.pool(1).take({} as AbortSignal)).rejects.toMatchObject({ code: 'OPTION_INVALID' });
    await expect(slots.pool(1).take(null as unknown as AbortSignal)).rejects.toMatchObject({ code: 'OPTION_INVALID' });
    expect(slots.inUse).toBe(0);
  });
});
