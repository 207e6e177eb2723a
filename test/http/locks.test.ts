import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { KeyedLock } from '../../src/dispatcher/keyed-lock.ts';
import type { Owner } from '../../src/dispatcher/tool-locks.ts';
import { locks } from '../../src/http/lock-answer.ts';
import { MAX_BLOCKERS, MAX_KEYS, MAX_PARTIES, MAX_WAITS, viewOf } from '../../src/http/lock-view.ts';
import { startService, until } from './service.ts';

const BLOCKER = 'while [ ! -e go ]; do sleep 0.02; done';

test('/locks tells who holds, who waits for whom and how long, over batches, and no text of a command', async () => {
  const service = await startService();
  const first = await service.run({
    commands: [{ id: 'build', command: `${BLOCKER} # secret-text`, lockKeys: ['k'] }],
  });
  const second = await service.run({
    commands: [
      { id: 'test', command: 'touch a # secret-text' },
      { id: 'list', command: 'ls' },
    ],
  });
  const look = async () => locks.parse((await service.call('/locks')).json);
  // Other services of this process take keys of the same lock.
  const mine = ({ batchId }: { batchId: string | null }) => batchId === first.id || batchId === second.id;
  await until(async () => (await look()).waits.filter(mine).length === 2);
  const seen = await look();
  const build = { batchId: first.id, commandId: 'build' };
  const [test, list] = seen.waits.filter(mine);
  expect(test).toMatchObject({ batchId: second.id, commandId: 'test', waitsFor: [build], andMore: false });
  expect(list).toMatchObject({ commandId: 'list' });
  expect(list?.waitsFor).toEqual(expect.arrayContaining([build, { batchId: second.id, commandId: 'test' }]));
  expect(test?.waitingMs).toBeGreaterThanOrEqual(0);
  const key = seen.keys.find((each) => each.key === 'k');
  expect(key?.holders).toMatchObject([{ ...build, mode: 'exclusive' }]);
  expect(JSON.stringify(seen)).not.toContain('secret-text');
  writeFileSync(join(service.root, 'go'), '');
  await service.call(`/batches/${second.id}`, { headers: { prefer: 'wait=30' } });
  await until(async () => !(await look()).keys.some(({ holders }) => holders.some(mine)));
});

describe('the view of a lock', () => {
  const owner = (batchId: string, commandId: string): Owner => ({ batchId, commandId });

  test('is bounded, says what it leaves out, and shows first what is waited for longest', async () => {
    let at = 0;
    const lock = new KeyedLock<Owner>({ now: () => at });
    const quiet = Array.from({ length: MAX_KEYS + 50 }, (_, index) => `quiet${index}`);
    await lock.acquire([...quiet, 'busy', 'x'.repeat(10_000)], { label: owner('b', 'holder') });
    const stop = new AbortController();
    const waiting = Array.from({ length: MAX_WAITS + 100 }, (_, index) => {
      at += 1;
      return lock.acquire('busy', { label: owner('w', `c${index}`), signal: stop.signal }).catch(() => undefined);
    });
    const view = viewOf(lock.snapshot());
    expect(view.keys).toHaveLength(MAX_KEYS);
    expect(view.moreKeys).toBe(52);
    const [busy] = view.keys;
    expect(busy?.key).toBe('busy');
    expect(busy?.waiters).toHaveLength(MAX_PARTIES);
    expect(busy?.moreWaiters).toBe(waiting.length - MAX_PARTIES);
    expect(view.waits).toHaveLength(MAX_WAITS);
    expect(view.moreWaits).toBe(100);
    expect(view.waits[0]).toMatchObject({ commandId: 'c0', waitsFor: [owner('b', 'holder')], andMore: false });
    expect(view.waits[100]?.waitsFor).toHaveLength(MAX_BLOCKERS);
    expect(view.waits[100]?.andMore).toBe(true);
    expect(JSON.stringify(view).length).toBeLessThan(500_000);
    stop.abort();
    await Promise.all(waiting);
    expect(viewOf(lock.snapshot()).waits).toEqual([]);
  });

  test('names nobody as in the way whose mode goes with what is asked for', async () => {
    const lock = new KeyedLock<Owner>();
    await lock.acquire({ key: 'k', mode: 'shared' }, { label: owner('b', 'reader') });
    const stop = new AbortController();
    const lost = (label: string, mode: 'shared' | 'exclusive') =>
      lock.acquire({ key: 'k', mode }, { label: owner('b', label), signal: stop.signal }).catch(() => undefined);
    const waiting = [lost('writer', 'exclusive'), lost('late', 'shared')];
    const waits = Object.fromEntries(
      viewOf(lock.snapshot()).waits.map(({ commandId, waitsFor }) => [
        commandId,
        waitsFor.map((each) => each.commandId),
      ]),
    );
    expect(waits).toEqual({ writer: ['reader'], late: ['writer'] });
    stop.abort();
    await Promise.all(waiting);
  });

  test('tells work that is no command without a name', async () => {
    const lock = new KeyedLock<Owner>();
    await lock.acquire('k', {});
    const view = viewOf(lock.snapshot());
    expect(view.keys[0]?.holders).toMatchObject([{ batchId: null, commandId: null, mode: 'exclusive' }]);
    expect(locks.safeParse(view).success).toBe(true);
  });
});
