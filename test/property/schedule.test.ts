import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { KeyedLock } from '../../src/dispatcher/keyed-lock.ts';
import { schedule } from '../../src/dispatcher/schedule.ts';
import type { Owner } from '../../src/dispatcher/tool-locks.ts';

/** One call: whether it is safe, and which key it changes, if any. */
const call = fc.record({
  isSafe: fc.boolean(),
  key: fc.option(fc.constantFrom('a', 'b'), { nil: null }),
});

type Moment = { readonly kind: 'start' | 'end'; readonly index: number };

/** Whether two calls may never run at once. */
function conflict(one: { isSafe: boolean; key: string | null }, other: typeof one): boolean {
  return !one.isSafe || !other.isSafe || (one.key !== null && one.key === other.key);
}

test.prop([fc.array(call, { maxLength: 14 }), fc.integer({ min: 1, max: 5 }), fc.scheduler()], { numRuns: 1_000 })(
  'however calls end, none runs beside one it must not meet, none overtakes such a one, and all run once',
  async (calls, maxParallel, scheduler) => {
    const lock = new KeyedLock<Owner>();
    const moments: Moment[] = [];
    let running = 0;
    const ended = schedule({
      ...{ count: calls.length, lock, maxParallel },
      safe: (index) => calls[index]!.isSafe,
      lockKeys: (index) => (calls[index]!.key === null ? [] : [calls[index]!.key]),
      run: async (index) => {
        moments.push({ kind: 'start', index });
        running += 1;
        expect(running).toBeLessThanOrEqual(maxParallel);
        await scheduler.schedule(Promise.resolve(), `call ${index}`);
        running -= 1;
        moments.push({ kind: 'end', index });
        return index;
      },
    });
    let results: Awaited<typeof ended> | null = null;
    void ended.then((value) => {
      results = value;
    });
    await scheduler.waitFor(ended);
    expect(results).toEqual(calls.map((_, value) => ({ state: 'finished', value })));
    const placeOf = (kind: Moment['kind'], index: number): number =>
      moments.findIndex((moment) => moment.kind === kind && moment.index === index);
    expect(moments).toHaveLength(calls.length * 2);
    for (const [later, one] of calls.entries()) {
      for (const [earlier, other] of calls.slice(0, later).entries()) {
        if (conflict(one, other)) expect(placeOf('end', earlier)).toBeLessThan(placeOf('start', later));
      }
    }
    expect(lock.size).toBe(0);
  },
);

test.prop([fc.array(call, { minLength: 1, maxLength: 10 }), fc.nat(), fc.integer({ min: 1, max: 3 }), fc.scheduler()])(
  'however calls end, an abort or a stop lets those that run settle, and every other is told that it never started',
  async (calls, at, maxParallel, scheduler) => {
    const last = at % calls.length;
    const abort = new AbortController();
    const started = new Set<number>();
    const ended = schedule({
      ...{ count: calls.length, lock: new KeyedLock<Owner>(), maxParallel, signal: abort.signal },
      safe: (index) => calls[index]!.isSafe,
      stops: (_, index) => index === last && calls[index]!.key === null,
      run: async (index) => {
        started.add(index);
        if (index === last && calls[index]!.key !== null) abort.abort();
        await scheduler.schedule(Promise.resolve(), `call ${index}`);
        return index;
      },
    });
    const results = await scheduler.waitFor(ended);
    for (const [index, result] of results.entries()) {
      expect(result.state).toBe(started.has(index) ? 'finished' : 'not-started');
    }
    expect(started.has(last)).toBe(true);
  },
);
