import { describe, expect, test } from 'vitest';
import type { Held } from '../../src/dispatcher/acquire-options.ts';
import { KeyedLock } from '../../src/dispatcher/keyed-lock.ts';
import type { LockMode } from '../../src/dispatcher/types.ts';
import { toRequests, type Wants } from '../support/locks.ts';
import { FEW_KINDS, inRows, THREE_KINDS, TWO_KINDS } from './interleaving-sets.ts';
import { choices, ordersOf, runAll, type Tally } from './interleavings.ts';
import { clash, LockModel, type ModelClaim, pictureOf } from './lock-model.ts';

/*
 * Not samples but all of them. Each acquire has two events: it is called, and it ends (released if it holds by then,
 * aborted if it waits). Every order of these events is run for every choice of keys and modes, and after every event
 * the lock must be exactly what it ought to be.
 */

const KEYS = ['a', 'b', 'c'] as const;

/** Each of three keys not at all, shared or exclusive; all 26 that name a key. */
const ALL_WANTS: readonly Wants[] = Array.from({ length: 27 }, (_, code) => {
  const modes = [code % 3, Math.floor(code / 3) % 3, Math.floor(code / 9)];
  const pairs = KEYS.flatMap((key, at) =>
    modes[at] === 0 ? [] : [[key, modes[at] === 1 ? 'shared' : 'exclusive'] as const],
  );
  return Object.fromEntries(pairs) as Record<string, LockMode>;
}).slice(1);

/** The same up to renaming of keys: enough for the first acquire of a row, since the others take every choice. */
const DISTINCT_WANTS = ALL_WANTS.filter((wants) => {
  const ranks = KEYS.map((key) => ['exclusive', 'shared', undefined].indexOf(wants[key]));
  return ranks.every((rank, at) => at === 0 || (ranks[at - 1] as number) <= rank);
});

/** A few that together show every way to meet: alone, beside, across, and apart. */
const TELLING_WANTS: readonly Wants[] = [
  { a: 'exclusive' },
  { a: 'shared' },
  { b: 'exclusive' },
  { a: 'exclusive', b: 'exclusive' },
  { a: 'shared', b: 'exclusive' },
  { b: 'shared', c: 'exclusive' },
];

type Live = { readonly promise: Promise<Held>; readonly controller: AbortController };

/** Runs one order for one choice and tells the first step after which the lock is not what it ought to be. */
async function firstFault(
  all: readonly Wants[],
  order: readonly number[],
  areTicketsDrawnFirst: boolean,
): Promise<string | null> {
  const lock = new KeyedLock();
  const model = new LockModel();
  const tickets = areTicketsDrawnFirst ? all.map(() => lock.draw()) : null;
  const live = new Map<number, Live & { readonly claim: ModelClaim }>();
  for (const [at, which] of order.entries()) {
    const label = `#${which}`;
    const known = live.get(which);
    if (known === undefined) {
      const controller = new AbortController();
      const wants = all[which] as Wants;
      const claim = model.acquire(label, which, wants);
      // Signals are what costs here, so only those get one that must wait.
      const signal = claim.state === 'waiting' ? controller.signal : undefined;
      const options = { signal, label, ...(tickets === null ? {} : { ticket: tickets[which] }) };
      const promise = lock.acquire(toRequests(wants), options);
      promise.catch(() => 'its rejection is looked at below');
      live.set(which, { promise, controller, claim });
    } else {
      if (known.claim.state === 'held') (await known.promise)();
      else {
        known.controller.abort(label);
        if ((await known.promise.then(String, String)) !== label) return `step ${at}: not rejected with its reason`;
      }
      model.end(known.claim);
    }
    const picture = JSON.stringify(pictureOf(lock));
    const expected = JSON.stringify(model.picture());
    if (picture !== expected) return `step ${at}: ${picture} and not ${expected}`;
    // A second oracle that does not need the model: with calls in order of tickets, an acquire holds if and only if
    // no earlier one that is still there conflicts with it.
    for (const claim of areTicketsDrawnFirst ? [] : model.claims) {
      const isBarred = model.claims.some((other) => other.ticket < claim.ticket && clash(other.wants, claim.wants));
      if ((claim.state === 'held') === isBarred) return `step ${at}: ${claim.label} is ${claim.state}`;
    }
  }
  return lock.size === 0 ? null : 'keys are left';
}

async function faults(
  from: readonly (readonly Wants[])[],
  rows: readonly (readonly number[])[],
  areTicketsDrawnFirst: boolean,
) {
  const found: string[] = [];
  let count = 0;
  for (const all of choices(from)) {
    for (const order of rows) {
      const fault = await firstFault(all, order, areTicketsDrawnFirst);
      if (fault !== null) found.push(`${JSON.stringify(all)} in the order ${order}: ${fault}`);
      count++;
    }
  }
  return { count, found: found.slice(0, 3) };
}

// Seconds, not milliseconds: some 175,000 runs, on machines that may be busy.
describe('every interleaving', { timeout: 300_000 }, () => {
  test('of three acquires of any of three keys in any modes: exclusion, order, service, nothing kept', async () => {
    const rows = ordersOf([2, 2, 2]);
    expect(rows).toHaveLength(15);
    const { count, found } = await faults([DISTINCT_WANTS, ALL_WANTS, ALL_WANTS], rows, false);
    expect(found).toEqual([]);
    expect(count).toBe(9 * 26 * 26 * 15);
  });

  test('of four acquires of the telling kinds', async () => {
    const rows = ordersOf([2, 2, 2, 2]);
    expect(rows).toHaveLength(105);
    const { count, found } = await faults(
      [TELLING_WANTS.slice(3), TELLING_WANTS, TELLING_WANTS.slice(0, 5), TELLING_WANTS.slice(0, 4)],
      rows,
      false,
    );
    expect(found).toEqual([]);
    expect(count).toBe(3 * 6 * 5 * 4 * 105);
  });

  test('of three acquires with tickets drawn beforehand, called in any order', async () => {
    const rows = ordersOf([2, 2, 2], false);
    expect(rows).toHaveLength(90);
    const kinds = [...TELLING_WANTS, { a: 'shared', b: 'shared' }, { a: 'exclusive', c: 'shared' }] as const;
    const { count, found } = await faults([kinds, kinds, kinds], rows, true);
    expect(found).toEqual([]);
    expect(count).toBe(8 * 8 * 8 * 90);
  });
});

describe('every interleaving of nested calls on a key and on paths', { timeout: 300_000 }, () => {
  test.each([
    ['three calls', inRows({ calls: 3, kinds: FEW_KINDS, restates: 0 }), 6_855],
    ['three calls, one of which is restated', inRows({ calls: 3, kinds: THREE_KINDS, restates: 1 }), 28_209],
    ['four calls', inRows({ calls: 4, kinds: TWO_KINDS, restates: 0 }), 14_472],
  ])('%s: exclusion, order, an answer for everybody, nothing kept', async (_, rows, count) => {
    const tally: Tally = { runs: 0, faults: [] };
    for (const row of rows) await runAll(row, tally);
    expect(tally.faults.slice(0, 3)).toEqual([]);
    expect(tally.runs).toBe(count);
  });
});
