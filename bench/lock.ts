import type { Held } from '../src/dispatcher/acquire-options.ts';
import { KeyedLock } from '../src/dispatcher/keyed-lock.ts';
import type { LockRequest } from '../src/dispatcher/types.ts';

/*
 * What the lock costs. `npx tsx bench/lock.ts` prints the table; with `node --expose-gc --import tsx bench/lock.ts` the
 * heap figures are exact instead of as the collector happened to leave them. The best of several rounds is shown: the
 * others say more about the machine's other work.
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

function heapMegabytes(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1_048_576;
}

async function manyKeys(keys: number): Promise<readonly Row[]> {
  const lock = new KeyedLock();
  const before = heapMegabytes();
  const start = process.hrtime.bigint();
  let holds: Held[] = [];
  for (let at = 0; at < keys; at++) holds.push(await lock.acquire(`file:/some/directory/${at}`));
  const acquired = since(start) / keys;
  const held = heapMegabytes();
  const releasing = process.hrtime.bigint();
  for (const release of holds) release();
  const released = since(releasing) / keys;
  holds = [];
  const after = heapMegabytes();
  const count = keys.toLocaleString('en');
  return [
    { what: `${count} keys at once: acquire each, release each`, figure: `${ns(acquired)}, ${ns(released)}` },
    { what: 'heap for one held key', figure: `${Math.round(((held - before) * 1_048_576) / keys)} bytes` },
    {
      what: `heap before, held, after (${lock.size} keys kept)`,
      figure: `${[before, held, after].map(Math.round).join(', ')} MB`,
    },
  ];
}

const ns = (value: number): string => (value < 1_000 ? `${Math.round(value)} ns` : `${(value / 1_000).toFixed(2)} µs`);
const perSecond = (value: number): string => `${ns(value)} (${(1_000 / value).toFixed(2)} M/s)`;

async function measure(): Promise<readonly Row[]> {
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
  rows.push(...(await manyKeys(1_000_000)));
  return rows;
}

/** Measures everything and prints the table; takes some ten seconds. */
export async function benchLock(): Promise<void> {
  const rows = await measure();
  const width = Math.max(...rows.map(({ what }) => what.length));
  console.log(
    `KeyedLock on Node ${process.versions.node}, ${globalThis.gc === undefined ? 'without' : 'with'} --expose-gc`,
  );
  for (const { what, figure } of rows) console.log(`${what.padEnd(width)}  ${figure}`);
}

if (process.argv[1] === import.meta.filename) await benchLock();
