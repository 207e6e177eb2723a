import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Held } from '../src/dispatcher/acquire-options.ts';
import { KeyedLock } from '../src/dispatcher/keyed-lock.ts';
import type { LockRequest } from '../src/dispatcher/types.ts';
import { compareLocks } from './lock-comparison.ts';

/*
 * What the lock costs: beside three others, held to bars, then by itself. The best of several rounds is shown: the others
 * say more about the machine's other work.
 */

const ROUNDS = 5;

type Row = { readonly what: string; readonly figure: string };

async function bestOf(rounds: number, run: () => Promise<number>): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) best = Math.min(best, await run());
  return best;
}

/** Nanoseconds since an earlier reading. */
const since = (start: bigint): number => Number(process.hrtime.bigint() - start);

async function uncontended(requests: LockRequest | readonly LockRequest[]): Promise<number> {
  const lock = new KeyedLock();
  const count = 200_000;
  return bestOf(ROUNDS, async () => {
    const start = process.hrtime.bigint();
    for (let at = 0; at < count; at++) {
      const release = await lock.acquire(requests);
      release();
    }
    return since(start) / count;
  });
}

/** Nanoseconds a waiter: joining, and being granted, resumed and released behind all those before. */
async function queue(waiters: number, mode: 'exclusive' | 'shared'): Promise<{ join: number; serve: number }> {
  let join = Number.POSITIVE_INFINITY;
  const serve = await bestOf(ROUNDS, async () => {
    const lock = new KeyedLock();
    const first = await lock.acquire('key');
    const joining = process.hrtime.bigint();
    const waits: Promise<void>[] = [];
    for (let at = 0; at < waiters; at++) waits.push(lock.acquire({ key: 'key', mode }).then((release) => release()));
    join = Math.min(join, since(joining) / waiters);
    const serving = process.hrtime.bigint();
    first();
    await Promise.all(waits);
    return since(serving) / waiters;
  });
  return { join, serve };
}

/** Nanoseconds for one waiter in the middle of the queue to give up. */
async function abortMiddle(waiters: number): Promise<number> {
  return bestOf(ROUNDS, async () => {
    const lock = new KeyedLock();
    const first = await lock.acquire('key');
    const middle: AbortController[] = [];
    const waits: Promise<unknown>[] = [];
    for (let at = 0; at < waiters; at++) {
      const controller = new AbortController();
      const isMiddle = Math.abs(at - waiters / 2) < 500;
      if (isMiddle) middle.push(controller);
      waits.push(lock.acquire('key', isMiddle ? controller.signal : undefined).then((release) => release(), String));
    }
    const start = process.hrtime.bigint();
    for (const controller of middle) controller.abort('enough');
    const each = since(start) / middle.length;
    first();
    await Promise.all(waits);
    return each;
  });
}

/** Nanoseconds a waiter when all abort at once, through one signal that they share. */
async function abortAll(waiters: number): Promise<number> {
  return bestOf(ROUNDS, async () => {
    const lock = new KeyedLock();
    const first = await lock.acquire('key');
    const { signal, abort } = controllerOf();
    const start = process.hrtime.bigint();
    const waits: Promise<unknown>[] = [];
    for (let at = 0; at < waiters; at++) waits.push(lock.acquire('key', signal).catch(() => null));
    abort();
    await Promise.all(waits);
    const each = since(start) / waiters;
    first();
    return each;
  });
}

function controllerOf(): { signal: AbortSignal; abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort('all of you') };
}

/** More than this at the end would be keys that were kept: a million of one byte each. */
const KEPT_MEGABYTES = 1;

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

function heapMegabytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed / 1_048_576;
}

const HELD_KEYS = 100_000;
const PASSED_KEYS = 1_000_000;

/** What a held key takes, and that a million keys one after the other leave nothing. */
async function manyKeys(): Promise<{ readonly rows: readonly Row[]; readonly isEmpty: boolean }> {
  const lock = new KeyedLock();
  const before = heapMegabytes();
  let holds: Held[] = [];
  for (let at = 0; at < HELD_KEYS; at++) holds.push(await lock.acquire(`file:/some/directory/${at}`));
  const held = heapMegabytes();
  for (const release of holds) release();
  holds = [];
  const start = process.hrtime.bigint();
  for (let at = 0; at < PASSED_KEYS; at++) (await lock.acquire(`file:/some/directory/${at}`))();
  const each = since(start) / PASSED_KEYS;
  const after = heapMegabytes();
  return {
    rows: [
      { what: 'heap for one held path key', figure: `${Math.round(((held - before) * 1_048_576) / HELD_KEYS)} bytes` },
      { what: 'a million path keys, one after the other, each', figure: ns(each) },
      {
        what: `heap before and after them (${lock.size} keys kept)`,
        figure: `${before.toFixed(1)}, ${after.toFixed(1)} MB`,
      },
    ],
    isEmpty: lock.size === 0 && after - before < KEPT_MEGABYTES,
  };
}

const ns = (value: number): string => (value < 1_000 ? `${Math.round(value)} ns` : `${(value / 1_000).toFixed(2)} µs`);
const perSecond = (value: number): string => `${ns(value)} (${(1_000 / value).toFixed(2)} M/s)`;

async function measure(): Promise<{ readonly rows: readonly Row[]; readonly isEmpty: boolean }> {
  const rows: Row[] = [];
  const four = ['file:/a', 'file:/b', 'file:/c', { key: 'file:/d', mode: 'shared' }] as const;
  rows.push({ what: 'acquire and release one free key', figure: perSecond(await uncontended('file:/a')) });
  rows.push({ what: 'acquire and release four free keys', figure: perSecond(await uncontended(four)) });
  for (const waiters of [1_000, 10_000, 50_000]) {
    const { join, serve } = await queue(waiters, 'exclusive');
    const count = waiters.toLocaleString('en');
    rows.push({ what: `${count} writers wait: join each, serve each`, figure: `${ns(join)}, ${ns(serve)}` });
  }
  const readers = await queue(50_000, 'shared');
  rows.push({
    what: '50,000 readers wait: join each, serve each',
    figure: `${ns(readers.join)}, ${ns(readers.serve)}`,
  });
  for (const waiters of [2_000, 50_000]) {
    const count = waiters.toLocaleString('en');
    rows.push({ what: `abort one in the middle of ${count}`, figure: ns(await abortMiddle(waiters)) });
  }
  for (const waiters of [10_000, 50_000]) {
    const count = waiters.toLocaleString('en');
    rows.push({ what: `${count} join and all abort by one signal, each`, figure: ns(await abortAll(waiters)) });
  }
  const keys = await manyKeys();
  rows.push(...keys.rows);
  return { rows, isEmpty: keys.isEmpty };
}

/** Measures everything, prints the tables and whether each bar is met; takes about a minute. */
export async function benchLock(): Promise<void> {
  const isAhead = await compareLocks();
  const { rows, isEmpty } = await measure();
  const width = Math.max(...rows.map(({ what }) => what.length));
  console.log('\nKeyedLock alone, by the clock\n');
  for (const { what, figure } of rows) console.log(`${what.padEnd(width)}  ${figure}`);
  console.log(`\n${isEmpty ? 'met   ' : 'MISSED'} nothing is kept of a million keys`);
  if (!isAhead || !isEmpty) process.exitCode = 1;
}

if (process.argv[1] === import.meta.filename) await benchLock();
