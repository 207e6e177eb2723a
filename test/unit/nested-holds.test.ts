import { describe, expect, test } from 'vitest';
import type { Held } from '../../src/dispatcher/acquire-options.ts';
import { KeyedLock } from '../../src/dispatcher/keyed-lock.ts';
import type { LockRequest } from '../../src/dispatcher/types.ts';
import { followed, settled, shared } from '../support/locks.ts';

describe('inside of a hold', () => {
  test('T29 the same key is had at once, also below a directory and in a weaker mode', async () => {
    const lock = new KeyedLock();
    const outer = await lock.acquire(['k', 'file:/a']);
    for (const key of ['k', 'file:/a', 'file:/a/b/c', shared('k'), shared('file:/a/b')]) {
      expect(await outer.run(key, () => 'ran')).toBe('ran');
    }
    outer();
    expect(lock.size).toBe(0);
  });

  test('D10 it does not wait for itself, though others wait for what it has', async () => {
    const lock = new KeyedLock();
    const outer = await lock.acquire('file:/a');
    const stranger = followed(lock.acquire('file:/a/b'));
    await outer.run('file:/a/b', async (inner) => {
      await settled();
      expect(stranger.hold).toBeNull();
      // Deeper still, for the same key.
      expect(await inner.run(shared('file:/a/b'), () => 'deep')).toBe('deep');
    });
    await settled();
    expect(stranger.hold).toBeNull();
    outer();
    await settled();
    expect(stranger.hold).not.toBeNull();
  });

  test('T30 work that is left behind waits like any other once the hold is over', async () => {
    const lock = new KeyedLock();
    const outer = await lock.acquire('k');
    outer();
    const next = await lock.acquire('k');
    const late = followed(lock.acquire('k', { lineage: outer }));
    await settled();
    expect(late.hold).toBeNull();
    next();
    await settled();
    expect(late.hold).not.toBeNull();
  });

  test('T30 a hold that ends while its own still waits leaves them in the order of all tickets', async () => {
    const lock = new KeyedLock();
    const outer = await lock.acquire('k');
    const first = await lock.acquire('k', { lineage: outer });
    const stranger = followed(lock.acquire('k'));
    const second = followed(lock.acquire('k', { lineage: outer }));
    outer();
    await settled();
    expect([stranger.hold, second.hold]).toEqual([null, null]);
    first();
    await settled();
    expect(stranger.hold).not.toBeNull();
    expect(second.hold).toBeNull();
    stranger.hold?.();
    await settled();
    expect(second.hold).not.toBeNull();
  });

  test('T31 two siblings are not inside of each other', async () => {
    const lock = new KeyedLock();
    const outer = await lock.acquire('k');
    let inside = 0;
    const work = async (): Promise<void> => {
      expect(++inside).toBe(1);
      await settled();
      inside--;
    };
    await Promise.all([outer.run('k', work), outer.run('k', work), outer.run('k', work)]);
    outer();
    expect(lock.size).toBe(0);
  });

  test('two siblings wait for each other below a directory that the hold around them has', async () => {
    const lock = new KeyedLock();
    const outer = await lock.acquire('file:/a');
    const one = await lock.acquire('file:/a/b', { lineage: outer });
    const other = followed(lock.acquire('file:/a', { lineage: outer }));
    const beside = followed(lock.acquire('file:/a/c', { lineage: outer }));
    await settled();
    expect(other.hold).toBeNull();
    // Later than the one that wants the whole directory.
    expect(beside.hold).toBeNull();
    one();
    await settled();
    expect(other.hold).not.toBeNull();
    expect(beside.hold).toBeNull();
  });

  test('keys that nobody around it holds are asked for as by anybody', async () => {
    const lock = new KeyedLock();
    const outer = await lock.acquire('k');
    const held = await lock.acquire('l');
    const inner = followed(lock.acquire(['k', 'l'], { lineage: outer }));
    await settled();
    expect(inner.hold).toBeNull();
    held();
    await settled();
    expect(inner.hold).not.toBeNull();
  });
});

describe('what would never end', () => {
  const crossed = async () => {
    const lock = new KeyedLock();
    const [a, b] = [await lock.acquire('a', { label: 'A' }), await lock.acquire('b', { label: 'B' })];
    const first = followed(lock.acquire('b', { lineage: a, label: 'A wants b' }));
    return { lock, a, b, first };
  };

  test('T32 D11 of two that want each other’s key exactly the later fails, and the other completes', async () => {
    const { lock, a, b, first } = await crossed();
    const second = lock.acquire('a', { lineage: b, label: 'B wants a' });
    await expect(second).rejects.toMatchObject({ code: 'LOCK_CYCLE' });
    await expect(second).rejects.toThrow(
      /ticket 4 \(B wants a\) waits for 1 \(A\) waits for 3 \(A wants b\) waits for 2 \(B\) waits for 4/,
    );
    expect(first.hold).toBeNull();
    b();
    await settled();
    expect(first.hold).not.toBeNull();
    a();
  });

  test('T33 both keys can be used afterwards, and no edge is left', async () => {
    const { lock, a, b, first } = await crossed();
    await expect(lock.acquire('a', { lineage: b })).rejects.toMatchObject({ code: 'LOCK_CYCLE' });
    b();
    await settled();
    first.hold?.();
    a();
    expect(lock.size).toBe(0);
    // The same again in the other order is no circle now.
    const c = await lock.acquire('b');
    const waiting = followed(lock.acquire('b', { lineage: await lock.acquire('a') }));
    await settled();
    expect(waiting).toMatchObject({ hold: null, isSettled: false });
    c();
    await settled();
    expect(waiting.hold).not.toBeNull();
  });

  test('T34 a circle of three is seen when it closes', async () => {
    const lock = new KeyedLock();
    const holds = await Promise.all(['a', 'b', 'c'].map((key) => lock.acquire(key)));
    const [a, b, c] = holds as [Held, Held, Held];
    const waits = [followed(lock.acquire('b', { lineage: a })), followed(lock.acquire('c', { lineage: b }))];
    await settled();
    expect(waits.map(({ isSettled }) => isSettled)).toEqual([false, false]);
    await expect(lock.acquire('a', { lineage: c })).rejects.toMatchObject({ code: 'LOCK_CYCLE' });
    c();
    await settled();
    expect(waits[1]?.hold).not.toBeNull();
  });

  test('a circle through one that only waits is seen as well', async () => {
    const lock = new KeyedLock();
    const reader = await lock.acquire(shared('k'));
    const writer = followed(lock.acquire(['k', 'l']));
    // It would stand behind the writer, which waits for the hold around it.
    await expect(lock.acquire('l', { lineage: reader })).rejects.toMatchObject({ code: 'LOCK_CYCLE' });
    reader();
    await settled();
    expect(writer.hold).not.toBeNull();
  });

  test('T35 a task that was left behind leaves no edge when it ends, nor when the hold around it does', async () => {
    const lock = new KeyedLock();
    const [a, b] = [await lock.acquire('a'), await lock.acquire('b')];
    const controller = new AbortController();
    const detached = lock.acquire('b', { lineage: a, signal: controller.signal }).catch(() => 'given up');
    controller.abort();
    await detached;
    const back = followed(lock.acquire('a', { lineage: b }));
    await settled();
    expect(back).toMatchObject({ hold: null, isSettled: false });
    a();
    await settled();
    back.hold?.();
    const again = await lock.acquire('a');
    const left = followed(lock.acquire('b', { lineage: again }));
    again();
    const other = followed(lock.acquire('a', { lineage: b }));
    await settled();
    expect(other.hold).not.toBeNull();
    expect(left).toMatchObject({ hold: null, isSettled: false });
  });

  test('D12 a shared holder that asks for more fails at once, by name of key and mode, and keeps what it has', async () => {
    const lock = new KeyedLock();
    const reader = await lock.acquire(shared('file:/a'));
    for (const key of ['file:/a', 'file:/a/b', 'file:/other']) {
      await expect(lock.acquire(key, { lineage: reader })).rejects.toMatchObject({ code: 'LOCK_UPGRADE' });
    }
    await expect(lock.acquire('file:/a', { lineage: reader })).rejects.toThrow(
      /exclusive on "file:\/a".*shared \(ticket 1\)/,
    );
    expect(() => lock.tryAcquire('file:/a', { lineage: reader })).toThrow(/LOCK_UPGRADE|no more than/);
    expect(lock.tryAcquire('file:/a')).toBeNull();
    reader();
    expect(lock.size).toBe(0);
  });
});

describe('lineage', () => {
  test('a token stands for a hold, and for nothing once that is over', async () => {
    const lock = new KeyedLock();
    const outer = await lock.acquire('k');
    const token = outer.token();
    expect(outer.token()).toBe(token);
    (await lock.acquire('k', { lineage: token }))();
    outer();
    expect(outer.token()).toBe(token);
    const next = await lock.acquire('k');
    const late = followed(lock.acquire('k', { lineage: token }));
    await settled();
    expect(late.hold).toBeNull();
    next();
    await settled();
    late.hold?.();
    expect(lock.size).toBe(0);
  });

  test.each([
    ['a hold of another lock', async () => new KeyedLock().acquire('k')],
    ['a function that is no hold', async () => () => {}],
    ['a number', async () => 7],
    ['an object', async () => ({})],
  ])('%s is refused', async (_, given) => {
    const lock = new KeyedLock();
    const lineage = (await given()) as Held;
    await expect(lock.acquire('k', { lineage })).rejects.toMatchObject({ code: 'OPTION_INVALID' });
    expect(lock.size).toBe(0);
  });

  test('is followed by itself only where asked for, through awaits, and can be left', async () => {
    const lock = new KeyedLock({ implicit: true });
    const log: string[] = [];
    await lock.run('k', async () => {
      await settled();
      await lock.run('k', () => log.push('inside'));
      const outside = followed(lock.acquire('k', { lineage: null }));
      await settled();
      log.push(outside.hold === null ? 'outside waits' : 'outside passed');
    });
    expect(log).toEqual(['inside', 'outside waits']);

    const explicit = new KeyedLock();
    await explicit.run('k', async () => {
      const inner = followed(explicit.acquire('k'));
      await settled();
      expect(inner.hold).toBeNull();
    });
  });

  test('ten holds deep each passes all those around it', async () => {
    const lock = new KeyedLock();
    const dive = (depth: number, around: Held | null): Promise<number> =>
      lock.run('k', (held) => (depth === 10 ? depth : dive(depth + 1, held)), { lineage: around });
    expect(await dive(1, null)).toBe(10);
    expect(lock.size).toBe(0);
  });
});

describe('restate', () => {
  test('queues again at the same ticket, before those who came later', async () => {
    const lock = new KeyedLock();
    const held = await lock.acquire(shared('k'), { label: 'first' });
    const beside = await lock.acquire(shared('k'));
    const writer = followed(lock.acquire('k'));
    const restated = followed(held.restate('k'));
    await settled();
    expect([restated.hold, writer.hold]).toEqual([null, null]);
    beside();
    await settled();
    expect(restated.hold?.ticket).toBe(held.ticket);
    expect(restated.hold?.label).toBe('first');
    expect(writer.hold).toBeNull();
    // The old one is over: releasing it again takes nothing from anybody.
    held();
    expect(lock.tryAcquire(shared('k'))).toBeNull();
    restated.hold?.();
    await settled();
    expect(writer.hold).not.toBeNull();
  });

  test('what cannot be asked for leaves the hold as it was; a released one cannot be restated', async () => {
    const lock = new KeyedLock();
    const outer = await lock.acquire(shared('k'));
    const held = await lock.acquire(shared('k'), { lineage: outer });
    const gone = AbortSignal.abort('no more');
    await expect(held.restate(7 as unknown as string)).rejects.toMatchObject({ code: 'OPTION_INVALID' });
    await expect(held.restate('k')).rejects.toMatchObject({ code: 'LOCK_UPGRADE' });
    await expect(held.restate(shared('k'), { signal: gone })).rejects.toBe('no more');
    expect(lock.snapshot().map(({ holders }) => holders.length)).toEqual([1, 1]);
    held();
    await expect(held.restate(shared('k'))).rejects.toMatchObject({ code: 'OPTION_INVALID' });
    outer();
    expect(lock.size).toBe(0);
  });
});

describe('path keys', () => {
  const overlap = async (one: LockRequest | readonly LockRequest[], other: LockRequest | readonly LockRequest[]) => {
    const lock = new KeyedLock();
    await lock.acquire(one);
    return lock.tryAcquire(other) !== null;
  };

  test.each<[LockRequest | readonly LockRequest[], LockRequest | readonly LockRequest[], boolean]>([
    ['file:/a', 'file:/a/b', false],
    ['file:/a/b', 'file:/a', false],
    ['file:/', 'file:/a/b', false],
    ['file:/a/b', 'file:/', false],
    [shared('file:/a'), 'file:/a/b', false],
    ['file:/a/b', shared('file:/a'), false],
    [shared('file:/a'), shared('file:/a/b'), true],
    ['file:/a/b', 'file:/a/c', true],
    ['file:/a/b', shared('file:/a/c'), true],
    ['file:/a', 'file:/ab', true],
    ['file:/a/b', 'file:/a/bc', true],
    ['a', 'a/b', true],
    ['other:/a', 'other:/a/b', true],
    [[shared('file:/a'), 'file:/a/b'], shared('file:/a/c'), true],
    [[shared('file:/a'), 'file:/a/b'], 'file:/a/c', false],
    [[shared('file:/a'), 'file:/a/b'], shared('file:/a'), false],
    [{ key: 'file:/a', mode: 'intention-shared' }, 'file:/a/b', true],
    [{ key: 'file:/a', mode: 'intention-exclusive' }, shared('file:/a'), false],
  ])('%j beside %j: %s', async (one, other, expected) => {
    expect(await overlap(one, other)).toBe(expected);
    expect(await overlap(other, one)).toBe(expected);
  });

  test('a writer of a directory that waits bars what comes later below it, and lets pass what lies elsewhere', async () => {
    const lock = new KeyedLock();
    const reader = await lock.acquire(shared('file:/a/b'));
    const writer = followed(lock.acquire('file:/a'));
    expect(lock.tryAcquire(shared('file:/a/c'))).toBeNull();
    expect(lock.tryAcquire('file:/d')).not.toBeNull();
    reader();
    await settled();
    expect(writer.hold).not.toBeNull();
  });
});
