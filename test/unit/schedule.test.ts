import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { isCallSafe } from '../../src/dispatcher/call-safety.ts';
import { KeyedLock } from '../../src/dispatcher/keyed-lock.ts';
import { type ScheduleOptions, schedule } from '../../src/dispatcher/schedule.ts';
import { type Owner, toolLocks } from '../../src/dispatcher/tool-locks.ts';
import { settled } from '../support/locks.ts';

/** Calls that end when they are told to, and what happened to them in order. */
class Calls {
  readonly log: string[] = [];
  readonly #ends = new Map<number, (value: string | Error) => void>();

  readonly run = async (index: number): Promise<string> => {
    this.log.push(`+${index}`);
    const value = await new Promise<string | Error>((resolve) => this.#ends.set(index, resolve));
    this.log.push(`-${index}`);
    if (value instanceof Error) throw value;
    return value;
  };

  get running(): readonly number[] {
    return [...this.#ends.keys()];
  }

  async end(index: number, value: string | Error = `value ${index}`): Promise<void> {
    this.#ends.get(index)?.(value);
    this.#ends.delete(index);
    await settled();
  }

  async endAll(): Promise<void> {
    while (this.#ends.size > 0) for (const index of this.running) await this.end(index);
  }
}

const safeOf = (pattern: string) => (index: number) => pattern[index] === 'p';
const finished = (index: number) => ({ state: 'finished', value: `value ${index}` });

async function begun(options: Omit<ScheduleOptions<string>, 'run'>) {
  const calls = new Calls();
  const ended = schedule({ run: calls.run, ...options });
  // Whoever awaits it sees the reason; that nobody has yet is no fault.
  ended.catch(() => undefined);
  await settled();
  return { calls, ended };
}

/** The groups in which calls ran, each ended only when nothing more starts. */
async function groupsOf(safe: ScheduleOptions<string>['safe'], count: number): Promise<readonly string[]> {
  const { calls, ended } = await begun({ count, safe });
  const groups: string[] = [];
  while (calls.running.length > 0) {
    groups.push(calls.running.join(' '));
    for (const index of calls.running) await calls.end(index);
  }
  await ended;
  return groups;
}

let unhandled: unknown[] = [];
const note = (reason: unknown): number => unhandled.push(reason);
beforeEach(() => {
  unhandled = [];
  process.on('unhandledRejection', note);
});
afterEach(() => {
  process.off('unhandledRejection', note);
  vi.unstubAllEnvs();
  expect(unhandled).toEqual([]);
  expect(toolLocks.size).toBe(0);
});

describe('whether a call is safe', () => {
  test('T1 a word or a function says it, of every call or of one', async () => {
    expect(isCallSafe({ isConcurrencySafe: true }, {})).toBe(true);
    expect(isCallSafe({ isConcurrencySafe: false }, {})).toBe(false);
    expect(isCallSafe({ isConcurrencySafe: () => true }, {})).toBe(true);
    expect(isCallSafe({ isConcurrencySafe: () => false }, {})).toBe(false);
    expect(await groupsOf(true, 3)).toEqual(['0 1 2']);
    expect(await groupsOf(false, 3)).toEqual(['0', '1', '2']);
    expect(await groupsOf((index) => index > 0, 3)).toEqual(['0', '1 2']);
  });

  test('T2 the function gets parsed arguments, and what does not parse is serial', () => {
    const given: unknown[] = [];
    const isConcurrencySafe = (args: unknown): boolean => given.push(args) > 0;
    expect(isCallSafe({ isConcurrencySafe }, '{"path":"a"}')).toBe(true);
    expect(isCallSafe({ isConcurrencySafe }, { path: 'b' })).toBe(true);
    for (const broken of ['', '{', "{'path':1}", 'undefined']) {
      expect([broken, isCallSafe({ isConcurrencySafe }, broken)]).toEqual([broken, false]);
      expect([broken, isCallSafe({ isConcurrencySafe: true }, broken)]).toEqual([broken, false]);
    }
    expect(given).toEqual([{ path: 'a' }, { path: 'b' }]);
    const parse = (text: unknown): { readonly n: number } => {
      if (text !== 'three') throw new Error('no number');
      return { n: 3 };
    };
    expect(isCallSafe({ parse, isConcurrencySafe: ({ n }) => n === 3 }, 'three')).toBe(true);
    expect(isCallSafe({ parse, isConcurrencySafe: () => true }, 'four')).toBe(false);
  });

  test('T3 a check that throws is serial', async () => {
    const throws = (): never => {
      throw new Error('broken');
    };
    expect(isCallSafe({ isConcurrencySafe: throws }, {})).toBe(false);
    expect(isCallSafe({ isConcurrencySafe: (args: { a: { b: boolean } }) => args.a.b }, {})).toBe(false);
    const hidden = Object.defineProperty({}, 'isConcurrencySafe', { get: throws });
    expect(isCallSafe(hidden, {})).toBe(false);
    expect(await groupsOf(throws, 2)).toEqual(['0', '1']);
  });

  test('T4 what is truthy and not true is serial, also where it is promised', async () => {
    for (const answer of [1, 'true', {}, [], Promise.resolve(true), new Boolean(true)] as unknown as boolean[]) {
      expect(isCallSafe({ isConcurrencySafe: answer }, {})).toBe(false);
      expect(isCallSafe({ isConcurrencySafe: () => answer }, {})).toBe(false);
      expect(isCallSafe({ annotations: { readOnlyHint: answer } }, {})).toBe(false);
      expect(await groupsOf(() => answer, 2)).toEqual(['0', '1']);
    }
  });

  test('T5 without a word the read-only hint counts, and without a hint it is serial, as is a tool that nobody knows', () => {
    const hint = { annotations: { readOnlyHint: true } };
    expect(isCallSafe(hint, {})).toBe(true);
    expect(isCallSafe(hint, '{')).toBe(false);
    expect(isCallSafe({ ...hint, isConcurrencySafe: false }, {})).toBe(false);
    expect(isCallSafe({ annotations: { readOnlyHint: false }, isConcurrencySafe: true }, {})).toBe(true);
    for (const nothing of [{}, { annotations: {} }, { annotations: { readOnlyHint: false } }, null, undefined]) {
      expect(isCallSafe(nothing, {})).toBe(false);
    }
    expect(isCallSafe('bash' as never, {})).toBe(false);
  });
});

describe('a schedule', () => {
  test('runs [p, p, s, p] as three groups', async () => {
    expect(await groupsOf(safeOf('ppsp'), 4)).toEqual(['0 1', '2', '3']);
    expect(await groupsOf(safeOf('sspps'), 5)).toEqual(['0', '1', '2 3', '4']);
  });

  test('never runs more than it may at once, and refills as calls settle', async () => {
    const { calls, ended } = await begun({ count: 5, safe: true, maxParallel: 2 });
    expect(calls.running).toEqual([0, 1]);
    await calls.end(1);
    expect(calls.running).toEqual([0, 2]);
    await calls.end(2);
    expect(calls.running).toEqual([0, 3]);
    await calls.endAll();
    expect(await ended).toEqual([0, 1, 2, 3, 4].map(finished));
  });

  test('at one at a time is serial', async () => {
    const { calls, ended } = await begun({ count: 3, safe: true, maxParallel: 1 });
    await calls.endAll();
    await ended;
    expect(calls.log).toEqual(['+0', '-0', '+1', '-1', '+2', '-2']);
  });

  test('of a thousand calls joins only so many at once, and runs all', async () => {
    const waiters: number[] = [];
    const results = await schedule({
      count: 1000,
      safe: true,
      maxParallel: 3,
      run: (index) => {
        waiters.push(toolLocks.snapshot().reduce((sum, { holders }) => sum + holders.length, 0));
        return index;
      },
    });
    expect(results.map((each) => each.state === 'finished' && each.value)).toEqual(results.map((_, index) => index));
    expect(Math.max(...waiters)).toBeLessThanOrEqual(3 + 12);
  });

  test('takes ten at once, or what SIGNALBOX_MAX_PARALLEL says', async () => {
    const { calls, ended } = await begun({ count: 20, safe: true });
    expect(calls.running).toHaveLength(10);
    await calls.endAll();
    await ended;
    vi.stubEnv('SIGNALBOX_MAX_PARALLEL', '4');
    const four = await begun({ count: 20, safe: true });
    expect(four.calls.running).toHaveLength(4);
    await four.calls.endAll();
    await four.ended;
  });

  test('gives results in call order when the last ends first', async () => {
    const { calls, ended } = await begun({ count: 3, safe: true });
    for (const index of [2, 1, 0]) await calls.end(index);
    expect(await ended).toEqual([0, 1, 2].map(finished));
  });

  test('that was aborted before starts nothing and answers all', async () => {
    const calls = new Calls();
    const results = await schedule({ count: 2, safe: true, run: calls.run, signal: AbortSignal.abort() });
    expect(results).toEqual([0, 1].map(() => ({ state: 'not-started', note: 'Aborted before dispatch' })));
    expect(calls.log).toEqual([]);
  });

  test('that is aborted tells those that run, lets them settle, and answers the rest', async () => {
    const abort = new AbortController();
    const signals: AbortSignal[] = [];
    const calls = new Calls();
    const ended = schedule({
      ...{ count: 4, safe: safeOf('ppps'), maxParallel: 2, signal: abort.signal },
      run: (index, { signal }) => {
        signals.push(signal);
        return calls.run(index);
      },
    });
    await settled();
    abort.abort(new Error('enough'));
    await settled();
    expect(signals.map(({ aborted, reason }) => [aborted, reason.message])).toEqual([
      [true, 'enough'],
      [true, 'enough'],
    ]);
    expect(calls.running).toEqual([0, 1]);
    await calls.endAll();
    const never = { state: 'not-started', note: 'Aborted before dispatch' };
    expect(await ended).toEqual([finished(0), finished(1), never, never]);
  });

  test('leaves no listener at the signal', async () => {
    const { signal } = new AbortController();
    const [add, remove] = [vi.spyOn(signal, 'addEventListener'), vi.spyOn(signal, 'removeEventListener')];
    await schedule({ count: 3, safe: true, run: () => 1, signal });
    expect(add).toHaveBeenCalledTimes(1);
    expect(remove).toHaveBeenCalledTimes(1);
  });

  test('starts nothing more when an outcome stops it; what runs goes on', async () => {
    const { calls, ended } = await begun({
      ...{ count: 4, safe: true, maxParallel: 2 },
      stops: (value, index) => value === 'denied' && index === 1,
    });
    await calls.end(1, 'denied');
    expect(calls.running).toEqual([0]);
    await calls.endAll();
    const skipped = { state: 'not-started', note: 'Skipped because call 1 stopped the schedule' };
    expect(await ended).toEqual([finished(0), { state: 'finished', value: 'denied' }, skipped, skipped]);
  });

  test('T14 the first that throws rejects it at once; what runs goes on, none starts, nobody hears of a second', async () => {
    const { calls, ended } = await begun({ count: 4, safe: true, maxParallel: 2 });
    const first = new Error('first');
    await calls.end(0, first);
    await expect(ended).rejects.toBe(first);
    expect(calls.running).toEqual([1]);
    await calls.end(1, new Error('second'));
    expect(calls.log).toEqual(['+0', '+1', '-0', '-1']);
    const thrown = schedule({ count: 1, safe: true, run: () => Promise.reject('a word') });
    await expect(thrown).rejects.toBe('a word');
    const stop = schedule({
      ...{ count: 2, safe: false, run: () => 'value' },
      stops: () => {
        throw first;
      },
    });
    await expect(stop).rejects.toBe(first);
  });

  test('of nothing is over at once', async () => {
    expect(await schedule({ count: 0, safe: true, run: () => 1 })).toEqual([]);
  });

  test('a serial call is not overtaken by safe ones behind it', async () => {
    const { calls, ended } = await begun({ count: 3, safe: safeOf('psp') });
    expect(calls.running).toEqual([0]);
    await calls.end(0);
    expect(calls.running).toEqual([1]);
    await calls.endAll();
    await ended;
  });
});

describe('what calls change', () => {
  test('never overlaps a holder of such a key, in two schedules or outside of them', async () => {
    const lock = new KeyedLock<Owner>();
    const release = await lock.acquire('notes');
    const both = await Promise.all(
      [1, 2].map(() => begun({ count: 2, safe: true, lock, lockKeys: (index) => (index === 0 ? ['notes'] : []) })),
    );
    expect(both.map(({ calls }) => calls.running)).toEqual([[1], [1]]);
    release();
    await settled();
    expect(both.map(({ calls }) => calls.running)).toEqual([[1, 0], [1]]);
    await both[0]?.calls.endAll();
    expect(both[1]?.calls.running).toEqual([1, 0]);
    await both[1]?.calls.endAll();
    await Promise.all(both.map(({ ended }) => ended));
    expect(lock.size).toBe(0);
  });

  test('a call of which that cannot be told fails, does not run, and holds nobody up', async () => {
    const { calls, ended } = await begun({
      ...{ count: 3, safe: safeOf('psp') },
      lockKeys: (index) => {
        if (index === 1) throw new Error('no such file');
        return index === 2 ? (['', 'x'] as string[]) : [];
      },
    });
    await calls.endAll();
    const note = 'Could not tell what the call changes: ';
    expect(await ended).toEqual([
      finished(0),
      { state: 'failed', note: `${note}no such file` },
      { state: 'failed', note: `${note}Expected a key of 1 to 1024 characters, got ""` },
    ]);
    expect(calls.log).toEqual(['+0', '-0']);
  });

  test('work inside of a call takes more without waiting for itself', async () => {
    const results = await schedule({
      ...{ count: 2, safe: false, lockKeys: () => ['file:/project'] },
      run: (index, { held }) => held.run('file:/project/a', () => index),
    });
    expect(results).toEqual([0, 1].map((value) => ({ state: 'finished', value })));
  });
});

const run = (): number => 1;

test.each<[unknown, string]>([
  [{}, 'count'],
  [{ count: -1 }, 'count to be an integer from 0 to 1000000, got -1'],
  [{ count: 1.5 }, 'count'],
  [{ count: 1, safe: 'yes' }, 'safe to be a boolean or a function, got "yes"'],
  [{ count: 1, safe: true }, 'run to be a function, got undefined'],
  [{ count: 1, safe: true, run, maxParallel: 0 }, 'maxParallel to be an integer from 1 to 256, got 0'],
  [{ count: 1, safe: true, run, stops: true }, 'stops to be a function'],
  [{ count: 1, safe: true, run, lockKeys: ['a'] }, 'lockKeys to be a function, got an array'],
  [{ count: 1, safe: true, run, signal: {} }, 'signal to be an AbortSignal'],
  [{ count: 1, safe: true, run, lock: {} }, 'lock to be a KeyedLock'],
  [{ count: 1, safe: true, run, limit: 3 }, 'limit'],
  [null, 'the options of schedule to be an object'],
])('misuse is told before anything runs: %j', async (options, message) => {
  await expect(schedule(options as never)).rejects.toMatchObject({
    code: 'OPTION_INVALID',
    message: expect.stringContaining(message),
  });
});
