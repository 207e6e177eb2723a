import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { KeyedLock } from '../../src/dispatcher/keyed-lock.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

const KEYS = 50_000;
/** One small object kept for every key would be more. */
const ALLOWED_BYTES = KEYS * 24;

/** In every way that a key can be asked for and let go; `npm run bench -- lock` does it with a million. */
async function pass(lock: KeyedLock, at: number): Promise<void> {
  const key = `file:/some/directory/${at}`;
  const outer = await lock.acquire(key);
  const inner = await lock.acquire(key, { lineage: outer.token() });
  const controller = new AbortController();
  const aborted = lock.acquire([key, `k${at}`], controller.signal).catch(() => 'gave up');
  const upgrade = lock.acquire(`file:/some`, { lineage: outer }).catch(() => 'asked for too much');
  const next = lock.acquire(key);
  controller.abort('gave up');
  outer();
  const restated = inner.restate({ key: `l${at}`, mode: 'shared' });
  for (const hold of [await next, await restated]) hold();
  await Promise.all([aborted, upgrade]);
}

test('nothing is kept of fifty thousand distinct keys, held, nested, waited for, given up, restated', async () => {
  const lock = new KeyedLock();
  for (let at = 0; at < 2_000; at++) await pass(lock, at);
  const before = heapBytes();
  for (let at = 0; at < KEYS; at++) await pass(lock, at);
  expect(lock.size).toBe(0);
  expect(lock.snapshot()).toEqual([]);
  expect(heapBytes() - before).toBeLessThan(ALLOWED_BYTES);
});
