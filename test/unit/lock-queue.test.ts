import { describe, expect, test } from 'vitest';
import { KeyedLock } from '../../src/dispatcher/keyed-lock.ts';
import type { LockMode, LockRequest } from '../../src/dispatcher/types.ts';
import { followed, settled } from '../support/locks.ts';

const as = (mode: LockMode, key: string): LockRequest => ({ key, mode });
const S = (key: string): LockRequest => as('shared', key);
const IS = (key: string): LockRequest => as('intention-shared', key);
const IX = (key: string): LockRequest => as('intention-exclusive', key);

/** Who holds and who waits for a key, by label; those inside of a hold as `key (label of the hold)`. */
function picture(lock: KeyedLock): Readonly<Record<string, string>> {
  const names = (parties: readonly { label: string | undefined }[]): string =>
    parties.map(({ label }) => label).join(' ');
  return Object.fromEntries(
    lock
      .snapshot()
      .map(({ key, inside, holders, waiters }) => [
        inside === null ? key : `${key} (${inside.label})`,
        `${names(holders)} | ${names(waiters)}`,
      ]),
  );
}

describe('where more than one reader or writer can pass', () => {
  test('who passes a waiter that it does not conflict with leaves that one its turn', async () => {
    const lock = new KeyedLock();
    const reader = await lock.acquire(S('k'), { label: 'reader' });
    const writer = followed(lock.acquire(IX('k'), { label: 'writer below' }));
    const passing = await lock.acquire(IS('k'), { label: 'reader below' });
    expect(picture(lock)).toEqual({ k: 'reader reader below | writer below' });
    reader();
    await settled();
    expect(writer.hold).not.toBeNull();
    passing();
    writer.hold?.();
    expect(lock.size).toBe(0);
  });

  test('a turn goes on past a waiter that stays behind to all that conflict neither with it nor with the holders', async () => {
    const lock = new KeyedLock();
    const first = await lock.acquire('k', { label: 'first' });
    const kinds = [S('k'), IX('k'), IS('k'), S('k'), IS('k')];
    const waits = kinds.map((request, at) => followed(lock.acquire(request, { label: `${at}` })));
    first();
    await settled();
    // Behind the writer below neither a reader of all of it passes, nor anybody that one bars.
    expect(waits.map(({ hold }) => hold !== null)).toEqual([true, false, true, false, true]);
    expect(picture(lock)).toEqual({ k: '0 2 4 | 1 3' });
  });

  test('who has its turn on one key and waits for another is not counted twice when the turn passes by', async () => {
    const lock = new KeyedLock();
    const reader = await lock.acquire(S('k'));
    const other = await lock.acquire('l');
    const writer = followed(lock.acquire(IX('k')));
    const half = followed(lock.acquire([IS('k'), 'l']));
    reader();
    await settled();
    expect([writer.hold !== null, half.hold]).toEqual([true, null]);
    other();
    await settled();
    expect(half.hold).not.toBeNull();
  });

  test('an early ticket that puts others back gives them their turn again when it leaves', async () => {
    const lock = new KeyedLock();
    const ticket = lock.draw();
    const block = await lock.acquire('l');
    const half = followed(lock.acquire([S('k'), 'l'], { label: 'half' }));
    const early = followed(lock.acquire(['k', 'm'], { ticket, label: 'early' }));
    expect(early.hold).toBeNull();
    await settled();
    expect(early.hold).not.toBeNull();
    block();
    await settled();
    expect(half.hold).toBeNull();
    early.hold?.();
    await settled();
    expect(half.hold).not.toBeNull();
  });
});

describe('when a hold is over before those inside of it', () => {
  test('what was held inside is held beside all others, and bars whom the outer hold barred on a directory above', async () => {
    const lock = new KeyedLock();
    const outer = await lock.acquire('file:/a', { label: 'outer' });
    const inner = await lock.acquire('file:/a/b', { label: 'inner', lineage: outer });
    const stranger = followed(lock.acquire('file:/a/b', { label: 'stranger' }));
    const beside = followed(lock.acquire('file:/a/c', { label: 'beside' }));
    outer();
    await settled();
    expect([stranger.hold, beside.hold !== null]).toEqual([null, true]);
    expect(picture(lock)).toEqual({
      'file:/': 'inner beside | stranger',
      'file:/a': 'inner beside | stranger',
      'file:/a/b': 'inner | stranger',
      'file:/a/c': 'beside | ',
    });
    inner();
    await settled();
    expect(stranger.hold).not.toBeNull();
  });

  test('who is let in beside what was held inside is no waiter any more: the next one gets its turn', async () => {
    const lock = new KeyedLock();
    const outer = await lock.acquire('file:/a');
    const inner = await lock.acquire(S('file:/a/b'), { lineage: outer });
    // Has its turn on the file, and waits for the directory.
    const reader = followed(lock.acquire(S('file:/a/b')));
    outer();
    await settled();
    const writer = followed(lock.acquire('file:/a/b'));
    inner();
    reader.hold?.();
    await settled();
    expect(writer.hold).not.toBeNull();
    writer.hold?.();
    expect(lock.size).toBe(0);
  });

  test('one that waited inside for one of two keys still waits for that one only', async () => {
    const lock = new KeyedLock();
    const outer = await lock.acquire(['k', 'l'], { label: 'outer' });
    const first = await lock.acquire('k', { label: 'first', lineage: outer });
    const second = followed(lock.acquire(['k', 'l'], { label: 'second', lineage: outer }));
    expect(picture(lock)).toMatchObject({ 'k (outer)': 'first | second', 'l (outer)': ' | second' });
    outer();
    expect(picture(lock)).toEqual({ k: 'first | second', l: ' | second' });
    await settled();
    expect(second.hold).toBeNull();
    first();
    await settled();
    expect(second.hold).not.toBeNull();
    second.hold?.();
    expect(lock.size).toBe(0);
  });

  test('two levels: what was inside of the inner one is inside of the outer one then', async () => {
    const lock = new KeyedLock();
    const outer = await lock.acquire('k', { label: 'outer' });
    const inner = await lock.acquire('k', { label: 'inner', lineage: outer });
    const deep = await lock.acquire(S('k'), { label: 'deep', lineage: inner });
    expect(picture(lock)).toEqual({ k: 'outer | ', 'k (outer)': 'inner | ', 'k (inner)': 'deep | ' });
    inner();
    expect(picture(lock)).toEqual({ k: 'outer | ', 'k (outer)': 'deep | ' });
    // Still nobody's sibling outside.
    expect(lock.tryAcquire(S('k'))).toBeNull();
    expect(lock.tryAcquire(S('k'), { lineage: outer })).not.toBeNull();
    expect(lock.tryAcquire('k', { lineage: outer })).toBeNull();
    deep();
  });

  test('a circle that closes by that is refused to the youngest in it, and the others go on', async () => {
    const lock = new KeyedLock();
    const outer = await lock.acquire('a', { label: 'outer' });
    const first = await lock.acquire('a', { lineage: outer, label: 'first' });
    const around = await lock.acquire('d', { lineage: outer, label: 'around' });
    const stranger = followed(lock.acquire(['a', 'd'], { label: 'stranger' }));
    const { signal } = new AbortController();
    const doomed = followed(lock.acquire('a', { lineage: around, label: 'doomed', signal }));
    const apart = followed(lock.acquire('a', { lineage: outer, label: 'apart' }));
    await settled();
    expect([doomed.isSettled, apart.isSettled]).toEqual([false, false]);
    outer();
    await settled();
    expect(doomed.reason).toMatchObject({ code: 'LOCK_CYCLE' });
    expect(apart.isSettled).toBe(false);
    first();
    around();
    await settled();
    expect(stranger.hold).not.toBeNull();
    stranger.hold?.();
    await settled();
    apart.hold?.();
    expect(lock.size).toBe(0);
  });
});

describe('circles', () => {
  test('are told with labels that are texts, by ticket where they are not', async () => {
    const lock = new KeyedLock<unknown>();
    const [a, b] = [await lock.acquire('a', { label: { an: 'object' } }), await lock.acquire('b', { label: 'B' })];
    void lock.acquire('b', { lineage: a }).then((hold) => hold());
    const doomed = lock.acquire('a', { lineage: b, label: 7 });
    await expect(doomed).rejects.toThrow(/ticket 4 waits for 1 waits for 3 waits for 2 \(B\) waits for 4;/);
    b();
  });

  test('blockers stand in ticket order also where the keys do not', async () => {
    const lock = new KeyedLock();
    await lock.acquire('first', { label: '1' });
    await lock.acquire('second', { label: '2' });
    await lock.acquire('third', { label: '3' });
    const told: unknown[] = [];
    const onWait = (blockers: readonly { label: string | undefined }[]): void => {
      told.push(...blockers.map(({ label }) => label));
    };
    void lock.acquire(['third', 'first', 'second'], { onWait });
    expect(told).toEqual(['1', '2', '3']);
  });

  /** An early ticket puts itself before one that a holder in its way waits for, by what was asked inside of it. */
  async function earlyCircle(lock: KeyedLock) {
    const ticket = lock.draw();
    const outer = await lock.acquire('k', { label: 'outer' });
    const reader = await lock.acquire(S('l'), { label: 'reader' });
    const inner = followed(lock.acquire('l', { lineage: outer, label: 'inner' }));
    const early = followed(lock.acquire(['k', S('l')], { ticket, label: 'early' }));
    await settled();
    return { early, leave: () => [outer, reader, inner.hold].map((release) => release?.()) };
  }

  test('that an early ticket closes are refused to it, though it is inside of nothing', async () => {
    const lock = new KeyedLock();
    const { early, leave } = await earlyCircle(lock);
    expect(early.reason).toMatchObject({ code: 'LOCK_CYCLE' });
    leave();
  });

  test.each([
    ['inside first', [1, 0]],
    ['outside first', [0, 1]],
    ['the middle one first', [1, 2, 0]],
    ['from without', [0, 1, 2]],
  ])('are looked for as long as anything is inside of anything, however earlier ones ended (%s)', async (_, order) => {
    const lock = new KeyedLock();
    const outer = await lock.acquire('m');
    const inner = await lock.acquire('m', { lineage: outer });
    const deep = await lock.acquire('n', { lineage: inner });
    const holds = [outer, inner, deep];
    for (const at of order) holds[at]?.();
    deep();
    const { early, leave } = await earlyCircle(lock);
    expect(early.reason).toMatchObject({ code: 'LOCK_CYCLE' });
    leave();
  });

  test('that close for two at once are refused to the younger, and the elder goes on', async () => {
    const lock = new KeyedLock();
    const outer = await lock.acquire('a');
    const first = await lock.acquire('a', { lineage: outer });
    const around = await lock.acquire('d', { lineage: outer });
    const elder = followed(lock.acquire(S('a'), { lineage: around, label: 'elder' }));
    const stranger = followed(lock.acquire(['a', 'd'], { label: 'stranger' }));
    const younger = followed(lock.acquire(S('a'), { lineage: around, label: 'younger' }));
    outer();
    await settled();
    expect(younger.reason).toMatchObject({ code: 'LOCK_CYCLE' });
    expect(elder.isSettled).toBe(false);
    first();
    await settled();
    expect(elder.hold).not.toBeNull();
    elder.hold?.();
    around();
    await settled();
    expect(stranger.hold).not.toBeNull();
  });
});

describe('a circle through two that lose the hold around them', () => {
  test('is refused to the younger, and the elder gets its turn', async () => {
    const lock = new KeyedLock();
    const outer = await lock.acquire(['a', 'b']);
    const inner = (keys: string | string[], lineage = outer) => lock.acquire(keys, { lineage });
    const [onA, onB, x, y] = [await inner('a'), await inner('b'), await inner('x'), await inner('y')];
    const strangers = [followed(lock.acquire(['a', 'y'])), followed(lock.acquire(['b', 'x']))];
    const elder = followed(inner('a', x));
    const younger = followed(inner('b', y));
    outer();
    await settled();
    expect(younger.reason).toMatchObject({ code: 'LOCK_CYCLE' });
    expect(elder.isSettled).toBe(false);
    for (const release of [onA, onB, y]) release();
    await settled();
    strangers[0]?.hold?.();
    await settled();
    expect(elder.hold).not.toBeNull();
    elder.hold?.();
    x();
    await settled();
    strangers[1]?.hold?.();
    expect(lock.size).toBe(0);
  });
});

describe('a hold that is restated', () => {
  test('for more is alone before those who waited for it, also where its leaving would have let them in', async () => {
    const lock = new KeyedLock();
    const held = await lock.acquire(S('k'));
    const writer = followed(lock.acquire('k'));
    const anew = await held.restate(['k', 'l']);
    await settled();
    expect(writer.hold).toBeNull();
    anew();
    await settled();
    expect(writer.hold).not.toBeNull();
  });

  test('lets those in whom it no longer bars, in the order of their tickets', async () => {
    const lock = new KeyedLock();
    const held = await lock.acquire(['a', 'b']);
    const log: string[] = [];
    for (const [label, key] of [
      ['first', 'b'],
      ['second', 'a'],
    ] as const) {
      void lock.acquire(key, { label }).then(() => log.push(label));
    }
    await held.restate('c');
    await settled();
    expect(log).toEqual(['first', 'second']);
  });
});
