import { checkNames, namesOf } from '../classifier/option-names.ts';
import { SignalboxError } from '../errors.ts';
import { Chain } from './chain.ts';
import { isSignal, SignalWatch } from './signal-watch.ts';
import { HOLDING, Holding, Pool, type ReleaseSlot, type SlotPool, Take } from './slot-pool.ts';

/** The slots of the process. */
export interface Slots {
  readonly inUse: number;
  readonly waiting: number;
  /**
   * A pool for one batch, of 1 slot and upwards. Nothing is kept of a pool in which nobody waits. Throws OPTION_INVALID.
   *
   * @param inside a slot of these: while it is held one take of this pool, or of another inside of it, runs on it and
   * needs no other. Given back meanwhile, it is free when that one ends.
   */
  pool(limit: number, inside?: ReleaseSlot): SlotPool;
}

/**
 * Counts slots and gives turns. Pools whose next take could run if the process had a free slot stand in a ring, and each
 * free slot goes to the pool at its head, which then goes to the back: a batch of a thousand commands delays a batch of
 * one by one slot. Invariants between calls: the ring is empty or no slot of the process is free, nor an idle one to be
 * had; nobody waits inside of a holding that could lend.
 */
class Turns implements Slots {
  readonly #limit: number;
  readonly #ring = new Chain<Pool>();
  /** Holdings that anybody may run on. */
  readonly #idle = new Set<Holding>();
  readonly #watch = new SignalWatch<Take>((take) => this.#giveUp(take));
  inUse = 0;
  waiting = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  pool(limit: number, inside?: ReleaseSlot): SlotPool {
    checkLimit('the limit of a pool', limit);
    return new Pool(this, limit, inside === undefined ? null : this.#holdingOf(inside));
  }

  take(pool: Pool, signal: AbortSignal | undefined): Promise<ReleaseSlot> {
    if (signal !== undefined && !isSignal(signal)) {
      return Promise.reject(new SignalboxError('OPTION_INVALID', 'Expected signal to be an AbortSignal'));
    }
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (pool.inUse < pool.limit) {
      const lender = pool.around?.canLend ? pool.around : this.#spare();
      if (lender !== undefined) return Promise.resolve(this.#occupy(pool, lender));
    }
    return new Promise((resolve, reject) => {
      const take = new Take(pool, signal, resolve, reject);
      pool.takes.append(take);
      this.#countWaiting(pool, 1);
      this.#standInLine(pool);
      if (signal !== undefined) this.#watch.add(signal, take);
    });
  }

  #holdingOf(slot: ReleaseSlot): Holding {
    const holding = (slot as { readonly [HOLDING]?: Holding } | null)?.[HOLDING];
    if (holding?.home === this) return holding;
    throw new SignalboxError('OPTION_INVALID', 'Expected the slot around a pool to be one of the same slots');
  }

  /** What anybody may run on: a slot of the process's own (null), or somebody's idle one. Undefined: nothing. */
  #spare(): Holding | null | undefined {
    if (this.inUse < this.#limit) return null;
    const [idle] = this.#idle;
    return idle;
  }

  #occupy(pool: Pool, lender: Holding | null): ReleaseSlot {
    if (lender === null) this.inUse++;
    else {
      lender.isLent = true;
      this.#idle.delete(lender);
    }
    pool.inUse++;
    const holding = new Holding(this, pool, lender);
    const idle = (): (() => void) => this.#beIdle(holding);
    return Object.assign(() => this.#release(holding), { idle, [HOLDING]: holding });
  }

  #release(holding: Holding): void {
    if (holding.isOver) return;
    holding.isOver = true;
    holding.riders.clear();
    this.#idle.delete(holding);
    const { pool } = holding;
    pool.inUse--;
    this.#standInLine(pool);
    if (!holding.isLent) this.#giveBack(holding);
    if (pool.around !== null) this.#serveRiders(pool.around);
    this.#serve();
  }

  /** Nobody runs on it any more. */
  #giveBack({ lender }: Holding): void {
    if (lender === null) {
      this.inUse--;
      return;
    }
    lender.isLent = false;
    if (lender.isOver) this.#giveBack(lender);
    else {
      this.#serveRiders(lender);
      this.#offerSoon(lender);
    }
  }

  #beIdle(holding: Holding): () => void {
    holding.idlers++;
    this.#offerSoon(holding);
    let isEnded = false;
    return () => {
      if (isEnded) return;
      isEnded = true;
      holding.idlers--;
      if (holding.idlers === 0) this.#idle.delete(holding);
    };
  }

  /** Not at once: of several inside of it the next one may be about to take it. */
  #offerSoon(holding: Holding): void {
    if (holding.idlers === 0 || !holding.canLend || holding.isBeingOffered) return;
    holding.isBeingOffered = true;
    setImmediate(() => {
      holding.isBeingOffered = false;
      if (holding.idlers === 0 || !holding.canLend) return;
      this.#idle.add(holding);
      this.#serve();
    });
  }

  #serve(): void {
    for (let pool = this.#ring.head; pool !== null; pool = this.#ring.head) {
      const lender = this.#spare();
      if (lender === undefined) return;
      this.#grantNext(pool, lender);
    }
  }

  #serveRiders(holding: Holding): void {
    while (holding.canLend) {
      const [pool] = holding.riders;
      if (pool === undefined) return;
      this.#grantNext(pool, holding);
    }
  }

  #grantNext(pool: Pool, lender: Holding | null): void {
    const take = pool.takes.head;
    if (take === null) {
      this.#leaveLine(pool);
      return;
    }
    this.#remove(take);
    // Its turn may come in the midst of an abort that many share: the slot then goes to somebody who can use it.
    if (take.signal?.aborted) {
      take.reject(take.signal.reason);
      return;
    }
    take.resolve(this.#occupy(pool, lender));
    this.#leaveLine(pool);
    this.#standInLine(pool);
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
    if (pool.takes.isEmpty) this.#leaveLine(pool);
  }

  #countWaiting(pool: Pool, change: 1 | -1): void {
    pool.waiting += change;
    this.waiting += change;
  }

  /** At the back, if its next take could run and it is not there already. */
  #standInLine(pool: Pool): void {
    if (pool.isInLine || pool.takes.isEmpty || pool.inUse >= pool.limit) return;
    pool.isInLine = true;
    this.#ring.append(pool);
    if (pool.around !== null && !pool.around.isOver) pool.around.riders.add(pool);
  }

  #leaveLine(pool: Pool): void {
    if (!pool.isInLine) return;
    pool.isInLine = false;
    this.#ring.remove(pool);
    pool.around?.riders.delete(pool);
  }
}

const SLOT_NAMES = namesOf<Parameters<typeof createSlots>[0]>({ limit: true });

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
  checkNames(options, SLOT_NAMES, 'createSlots');
  checkLimit('the limit of the process', options.limit);
  return new Turns(options.limit);
}

function checkLimit(what: string, limit: number): void {
  if (Number.isSafeInteger(limit) && limit >= 1) return;
  const got = typeof limit === 'number' ? String(limit) : typeof limit;
  throw new SignalboxError('OPTION_INVALID', `Expected ${what} to be an integer of at least 1, got ${got}`);
}
