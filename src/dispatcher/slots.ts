import { SignalboxError } from '../errors.ts';
import { Chain, type Linked } from './chain.ts';
import { isSignal, SignalWatch } from './signal-watch.ts';

/** Gives a slot back. Any number of calls count once. */
export type ReleaseSlot = () => void;

/** The slots of one batch. Every take counts against the batch's own limit and against the process's. */
export interface SlotPool {
  /** Slots of this pool in use. */
  readonly inUse: number;
  /** Takes that wait. */
  readonly waiting: number;
  /**
   * Waits for a slot, first come, first served within the pool. Rejects with the signal's own reason if that aborts
   * while it waits, and never joins when it has aborted already; OPTION_INVALID for what is no signal.
   */
  take(signal?: AbortSignal): Promise<ReleaseSlot>;
}

/** The slots of the process. */
export interface Slots {
  readonly inUse: number;
  readonly waiting: number;
  /** A pool for one batch, of 1 slot and upwards. Nothing is kept of a pool in which nobody waits. Throws OPTION_INVALID. */
  pool(limit: number): SlotPool;
}

/** One take that waits. */
class Take implements Linked<Take> {
  readonly pool: Pool;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (release: ReleaseSlot) => void;
  readonly reject: (reason: unknown) => void;
  prev: Take | null = null;
  next: Take | null = null;

  constructor(
    pool: Pool,
    signal: AbortSignal | undefined,
    resolve: (release: ReleaseSlot) => void,
    reject: (reason: unknown) => void,
  ) {
    this.pool = pool;
    this.signal = signal;
    this.resolve = resolve;
    this.reject = reject;
  }
}

class Pool implements SlotPool, Linked<Pool> {
  readonly limit: number;
  readonly takes = new Chain<Take>();
  readonly #turns: Turns;
  inUse = 0;
  waiting = 0;
  /** Whether it stands in the ring: somebody waits in it, and its own limit leaves room. */
  isInRing = false;
  prev: Pool | null = null;
  next: Pool | null = null;

  constructor(turns: Turns, limit: number) {
    this.#turns = turns;
    this.limit = limit;
  }

  take(signal?: AbortSignal): Promise<ReleaseSlot> {
    return this.#turns.take(this, signal);
  }
}

/**
 * Counts slots and gives turns. Pools whose next take could run if the process had a free slot stand in a ring, and each
 * free slot goes to the pool at its head, which then goes to the back: a batch of a thousand commands delays a batch of
 * one by one slot. Invariant between calls: the ring is empty or no slot of the process is free.
 */
class Turns implements Slots {
  readonly #limit: number;
  readonly #ring = new Chain<Pool>();
  readonly #watch = new SignalWatch<Take>((take) => this.#giveUp(take));
  inUse = 0;
  waiting = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  pool(limit: number): SlotPool {
    checkLimit('the limit of a pool', limit);
    return new Pool(this, limit);
  }

  take(pool: Pool, signal: AbortSignal | undefined): Promise<ReleaseSlot> {
    if (signal !== undefined && !isSignal(signal)) {
      return Promise.reject(new SignalboxError('OPTION_INVALID', 'Expected signal to be an AbortSignal'));
    }
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.inUse < this.#limit && pool.inUse < pool.limit) return Promise.resolve(this.#occupy(pool));
    return new Promise((resolve, reject) => {
      const take = new Take(pool, signal, resolve, reject);
      pool.takes.append(take);
      this.#countWaiting(pool, 1);
      this.#placeInRing(pool);
      if (signal !== undefined) this.#watch.add(signal, take);
    });
  }

  #occupy(pool: Pool): ReleaseSlot {
    this.inUse++;
    pool.inUse++;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.inUse--;
      pool.inUse--;
      this.#placeInRing(pool);
      this.#serve();
    };
  }

  #serve(): void {
    while (this.inUse < this.#limit) {
      const pool = this.#ring.head;
      const take = pool?.takes.head;
      if (pool === null || take === null || take === undefined) return;
      this.#remove(take);
      if (take.signal?.aborted) {
        // Its turn came in the midst of an abort that many share: the slot goes to somebody who can use it.
        take.reject(take.signal.reason);
        continue;
      }
      take.resolve(this.#occupy(pool));
      this.#takeFromRing(pool);
      this.#placeInRing(pool);
    }
  }

  #giveUp(take: Take): void {
    this.#remove(take);
    take.reject(take.signal?.reason);
  }

  #remove(take: Take): void {
    const { pool, signal } = take;
    pool.takes.remove(take);
    this.#countWaiting(pool, -1);
    if (signal !== undefined) this.#watch.remove(signal, take);
    if (pool.takes.isEmpty) this.#takeFromRing(pool);
  }

  #countWaiting(pool: Pool, change: 1 | -1): void {
    pool.waiting += change;
    this.waiting += change;
  }

  /** At the back, if its next take could run and it is not there already. */
  #placeInRing(pool: Pool): void {
    if (pool.isInRing || pool.takes.isEmpty || pool.inUse >= pool.limit) return;
    pool.isInRing = true;
    this.#ring.append(pool);
  }

  #takeFromRing(pool: Pool): void {
    if (!pool.isInRing) return;
    pool.isInRing = false;
    this.#ring.remove(pool);
  }
}

/**
 * Counting slots for running commands: a limit for the process, and a pool with a limit of its own for each batch.
 * Batches take turns. A slot is taken after the locks are granted, never before: whoever waits for a lock while it
 * holds a slot could keep the one that it waits for from running.
 *
 * @param options.limit slots of the process, 1 and upwards.
 * @throws SignalboxError OPTION_INVALID.
 *
 * @example
 * const slots = createSlots({ limit: 32 });
 * const pool = slots.pool(10);
 * const release = await pool.take(signal);
 * try {
 *   // run
 * } finally {
 *   release();
 * }
 */
export function createSlots(options: { readonly limit: number }): Slots {
  checkLimit('the limit of the process', options.limit);
  return new Turns(options.limit);
}

function checkLimit(what: string, limit: number): void {
  if (Number.isSafeInteger(limit) && limit >= 1) return;
  const got = typeof limit === 'number' ? String(limit) : typeof limit;
  throw new SignalboxError('OPTION_INVALID', `Expected ${what} to be an integer of at least 1, got ${got}`);
}
