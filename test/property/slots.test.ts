import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import type { ReleaseSlot, SlotPool } from '../../src/dispatcher/slot-pool.ts';
import { createSlots, type Slots } from '../../src/dispatcher/slots.ts';

/** What happens next; each number picks one of those that can be picked from, whatever their count. */
type Step =
  | { readonly kind: 'open'; readonly limit: number }
  | { readonly kind: 'open-inside'; readonly limit: number; readonly which: number }
  | { readonly kind: 'take'; readonly which: number }
  | { readonly kind: 'release' | 'abort' | 'idle' | 'wake'; readonly which: number };

const which = fc.nat(1000);
const limit = fc.integer({ min: 1, max: 4 });
const open: fc.Arbitrary<Step> = fc.record({ kind: fc.constant('open'), limit });
const take: fc.Arbitrary<Step> = fc.record({ kind: fc.constant('take'), which });
const change: fc.Arbitrary<Step> = fc.record({ kind: fc.constantFrom('release', 'abort'), which });
const nest: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('open-inside'), limit, which }),
  fc.record({ kind: fc.constantFrom('idle', 'wake'), which }),
);
const stepsOf = (...arbitraries: readonly fc.MaybeWeightedArbitrary<Step>[]): fc.Arbitrary<readonly Step[]> =>
  fc.array(fc.oneof(...arbitraries), { minLength: 1, maxLength: 80, size: 'max' });

/** A take as whoever watches from outside knows it. */
type Seen = {
  readonly batch: number;
  readonly controller: AbortController;
  state: 'waiting' | 'running' | 'over';
  slot: ReleaseSlot | null;
  /** The takes of other batches that were granted while it waited at the head of its own. */
  readonly passed: Map<number, number>;
  wake: (() => void) | null;
};

/** Every promise that can settle does, and every slot that is about to be offered is. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Drives slots through steps and writes down what is seen. */
class Watch {
  readonly slots: Slots;
  readonly pools: { readonly pool: SlotPool; readonly limit: number; readonly around: Seen | null }[] = [];
  readonly takes: Seen[] = [];

  constructor(ofProcess: number) {
    this.slots = createSlots({ limit: ofProcess });
  }

  async do(step: Step): Promise<void> {
    const { slots, pools } = this;
    switch (step.kind) {
      case 'open':
        pools.push({ pool: slots.pool(step.limit), limit: step.limit, around: null });
        break;
      case 'open-inside': {
        const around = this.#pick('running', step.which);
        if (around?.slot) pools.push({ pool: slots.pool(step.limit, around.slot), limit: step.limit, around });
        break;
      }
      case 'take':
        if (pools.length > 0) this.#take(step.which % pools.length);
        break;
      case 'release': {
        const seen = this.#pick('running', step.which);
        if (seen !== undefined) this.#release(seen);
        break;
      }
      case 'abort': {
        const seen = this.#pick('waiting', step.which);
        if (seen === undefined) break;
        seen.state = 'over';
        seen.controller.abort();
        break;
      }
      case 'idle': {
        const seen = this.#pick('running', step.which);
        if (seen?.wake === null) seen.wake = seen.slot?.idle() ?? null;
        break;
      }
      case 'wake': {
        const seen = this.takes.filter(({ wake }) => wake !== null)[step.which % 7];
        seen?.wake?.();
        if (seen !== undefined) seen.wake = null;
      }
    }
    await settled();
  }

  /** Ends whatever runs, until nothing does and nobody waits. */
  async drain(): Promise<void> {
    for (let seen = this.#pick('running', 0); seen !== undefined; seen = this.#pick('running', 0)) {
      this.#release(seen);
      await settled();
    }
  }

  count(state: Seen['state'], batch?: number): number {
    return this.takes.filter((seen) => seen.state === state && (batch === undefined || seen.batch === batch)).length;
  }

  #pick(state: Seen['state'], number: number): Seen | undefined {
    const all = this.takes.filter((seen) => seen.state === state);
    return all[number % Math.max(all.length, 1)];
  }

  #release(seen: Seen): void {
    seen.state = 'over';
    seen.slot?.();
  }

  #take(batch: number): void {
    const controller = new AbortController();
    const seen: Seen = { batch, controller, state: 'waiting', slot: null, passed: new Map(), wake: null };
    this.takes.push(seen);
    this.pools[batch]?.pool.take(controller.signal).then(
      (slot) => this.#granted(seen, slot),
      (reason) => expect([reason, seen.state]).toEqual([controller.signal.reason, 'over']),
    );
  }

  #granted(seen: Seen, slot: ReleaseSlot): void {
    expect(seen.state).toBe('waiting');
    const waiting = this.takes.filter(({ state }) => state === 'waiting');
    // First come, first served among those of a batch.
    expect(waiting.find(({ batch }) => batch === seen.batch)).toBe(seen);
    seen.state = 'running';
    seen.slot = slot;
    for (const { batch, limit: ofBatch } of this.pools.map(({ limit: own }, index) => ({ batch: index, limit: own }))) {
      const head = waiting.find((other) => other.batch === batch);
      if (head === undefined || head === seen || this.count('running', batch) >= ofBatch) continue;
      head.passed.set(seen.batch, (head.passed.get(seen.batch) ?? 0) + 1);
    }
  }

  /** What must be true whenever nothing moves. */
  check(ofProcess: number): void {
    const { slots, pools } = this;
    expect(slots.inUse).toBeLessThanOrEqual(ofProcess);
    expect(slots.waiting).toBe(this.count('waiting'));
    for (const [batch, { pool, limit: ofBatch }] of pools.entries()) {
      expect(pool.inUse).toBe(this.count('running', batch));
      expect(pool.inUse).toBeLessThanOrEqual(ofBatch);
      expect(pool.waiting).toBe(this.count('waiting', batch));
      // Nobody waits whose batch has room while the process has.
      if (pool.waiting > 0 && pool.inUse < ofBatch) expect(slots.inUse).toBe(ofProcess);
    }
  }
}

const process = fc.integer({ min: 1, max: 4 });

describe('the slots of a process', () => {
  test.prop(
    [
      process,
      stepsOf({ weight: 1, arbitrary: open }, { weight: 5, arbitrary: take }, { weight: 3, arbitrary: change }),
    ],
    {
      numRuns: 150,
    },
  )(
    'never exceed a limit, are used while anybody can use them, and no batch is passed twice by another whose turn comes round',
    async (ofProcess, steps) => {
      const watch = new Watch(ofProcess);
      for (const step of steps) {
        await watch.do(step);
        watch.check(ofProcess);
        expect(watch.slots.inUse).toBe(watch.count('running'));
      }
      await watch.drain();
      expect([watch.slots.inUse, watch.slots.waiting, watch.count('waiting')]).toEqual([0, 0, 0]);
      for (const { passed } of watch.takes) {
        for (const times of passed.values()) expect(times).toBeLessThanOrEqual(1);
      }
    },
  );

  test.prop(
    [
      process,
      stepsOf(
        { weight: 2, arbitrary: open },
        { weight: 6, arbitrary: take },
        { weight: 3, arbitrary: change },
        { weight: 3, arbitrary: nest },
      ),
    ],
    { numRuns: 150 },
  )('are lent inside of what runs on them, one at a time, and all come back', async (ofProcess, steps) => {
    const watch = new Watch(ofProcess);
    for (const step of steps) {
      await watch.do(step);
      watch.check(ofProcess);
      for (const { pool, limit: ofBatch, around } of watch.pools) {
        // Whoever waits inside of a slot that runs waits because somebody else is on it.
        if (around?.state !== 'running' || pool.waiting === 0 || pool.inUse >= ofBatch) continue;
        expect(watch.count('running')).toBeGreaterThan(watch.slots.inUse);
      }
    }
    await watch.drain();
    expect([watch.slots.inUse, watch.slots.waiting, watch.count('waiting')]).toEqual([0, 0, 0]);
  });
});
