import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { Held } from '../../src/dispatcher/acquire-options.ts';
import { KeyedLock } from '../../src/dispatcher/keyed-lock.ts';
import { followed, settled } from '../support/locks.ts';

/** A lock where `ask` waits inside of `around`, and where giving up `outer` would close a circle through it. */
async function nearCircle() {
  const lock = new KeyedLock();
  const outer = await lock.acquire('a', { label: 'outer' });
  const first = await lock.acquire('a', { lineage: outer, label: 'first' });
  const around = await lock.acquire('d', { lineage: outer, label: 'around' });
  const stranger = followed(lock.acquire(['a', 'd'], { label: 'stranger' }));
  const controller = new AbortController();
  const ask = (onWait: () => void): Promise<Held> =>
    lock.acquire('a', { lineage: around, signal: controller.signal, onWait });
  const leave = async (): Promise<void> => {
    for (const release of [outer, first, around]) release();
    await settled();
    expect(stranger.hold).not.toBeNull();
    stranger.hold?.();
    expect(lock.size).toBe(0);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  };
  return { lock, outer, around, controller, ask, leave };
}

describe('an acquire that is refused while its own callback runs', () => {
  test('C1 rejects when the callback releases the hold around it and so closes a circle', async () => {
    const { outer, ask, leave } = await nearCircle();
    const doomed = followed(ask(() => outer()));
    await settled();
    expect(doomed.reason).toMatchObject({ code: 'LOCK_CYCLE' });
    await leave();
  });

  test('C1 rejects when the callback restates the hold around it', async () => {
    const { outer, ask, leave } = await nearCircle();
    let anew: ReturnType<typeof followed> | null = null;
    const doomed = followed(
      ask(() => {
        anew = followed(outer.restate('elsewhere'));
      }),
    );
    await settled();
    expect(doomed.reason).toMatchObject({ code: 'LOCK_CYCLE' });
    (anew as ReturnType<typeof followed> | null)?.hold?.();
    await leave();
  });

  test('keeps the refusal that came first: an abort after it changes nothing', async () => {
    const { outer, controller, ask, leave } = await nearCircle();
    const doomed = followed(
      ask(() => {
        outer();
        controller.abort('too late');
      }),
    );
    await settled();
    expect(doomed.reason).toMatchObject({ code: 'LOCK_CYCLE' });
    await leave();
  });

  test('is aborted at once: what the callback asks for then is not behind it', async () => {
    const { lock, outer, controller, ask, leave } = await nearCircle();
    const doomed = followed(
      ask(() => {
        controller.abort('enough');
        expect(JSON.stringify(lock.snapshot())).not.toContain('"ticket":5');
        outer();
      }),
    );
    await settled();
    expect(doomed.reason).toBe('enough');
    await leave();
  });

  test('what the callback throws is the rejection, also after a refusal', async () => {
    const { outer, ask, leave } = await nearCircle();
    const fault = new Error('thrown');
    const doomed = followed(
      ask(() => {
        outer();
        throw fault;
      }),
    );
    await settled();
    expect(doomed.reason).toBe(fault);
    await leave();
  });
});

test('a signal that several share is heard by those who still wait, whoever of them was granted or refused before', async () => {
  const { outer, controller, ask, leave, lock } = await nearCircle();
  const { signal } = controller;
  const held = await lock.acquire('other');
  const granted = followed(lock.acquire('other', signal));
  const refused = followed(ask(() => {}));
  const last = followed(lock.acquire('other', signal));
  held();
  outer();
  await settled();
  expect([granted.hold !== null, refused.isSettled, last.isSettled]).toEqual([true, true, false]);
  controller.abort('enough');
  await settled();
  expect(last.reason).toBe('enough');
  granted.hold?.();
  await leave();
});

describe('an acquire whose callback lets it through', () => {
  test('holds, and an abort in the same callback comes too late', async () => {
    const lock = new KeyedLock();
    const first = await lock.acquire('k');
    const controller = new AbortController();
    const hold = await lock.acquire('k', {
      signal: controller.signal,
      onWait: () => {
        first();
        controller.abort('too late');
      },
    });
    expect(lock.tryAcquire('k')).toBeNull();
    hold();
    expect(lock.size).toBe(0);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });

  test('is aborted and not granted when the abort comes first', async () => {
    const lock = new KeyedLock();
    const first = await lock.acquire('k');
    const controller = new AbortController();
    const doomed = lock.acquire('k', {
      signal: controller.signal,
      onWait: () => {
        controller.abort('first');
        first();
      },
    });
    await expect(doomed).rejects.toBe('first');
    expect(lock.size).toBe(0);
  });

  test('an early ticket that the callback uses goes before it', async () => {
    const lock = new KeyedLock();
    const first = await lock.acquire('k');
    const ticket = lock.draw();
    let early: ReturnType<typeof followed> | null = null;
    const late = followed(
      lock.acquire('k', {
        onWait: () => {
          early = followed(lock.acquire('k', { ticket }));
          first();
        },
      }),
    );
    await settled();
    const { hold } = early as unknown as ReturnType<typeof followed>;
    expect([hold !== null, late.hold]).toEqual([true, null]);
    hold?.();
    await settled();
    expect(late.hold).not.toBeNull();
  });
});
