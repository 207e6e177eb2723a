import { Chain, type Linked } from './chain.ts';

/** Under this name a slot carries what it is to those who count. */
export const HOLDING = Symbol('holding');

/** A slot that is held. Called, it is given back; any number of calls count once. */
export type ReleaseSlot = {
  (): void;
  /**
   * Whoever holds it waits for what others have to do first: from the next turn of the event loop on anybody may run on
   * it, one at a time. Without that, those others might wait for this very slot.
   *
   * @returns ends this; whoever runs on the slot by then goes on.
   */
  idle(): () => void;
};

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

/** Who counts for a pool. */
interface Home {
  take(pool: Pool, signal: AbortSignal | undefined): Promise<ReleaseSlot>;
}

/** One take that waits. */
export class Take implements Linked<Take> {
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

export class Pool implements SlotPool, Linked<Pool> {
  readonly limit: number;
  readonly around: Holding | null;
  readonly takes = new Chain<Take>();
  readonly #home: Home;
  inUse = 0;
  waiting = 0;
  /** Whether it stands in line: somebody waits in it, and its own limit leaves room. */
  isInLine = false;
  prev: Pool | null = null;
  next: Pool | null = null;

  constructor(home: Home, limit: number, around: Holding | null) {
    this.#home = home;
    this.limit = limit;
    this.around = around;
  }

  take(signal?: AbortSignal): Promise<ReleaseSlot> {
    return this.#home.take(this, signal);
  }
}

/** A slot of the process in somebody's hands, or one that whoever has it lends. */
export class Holding {
  readonly home: Home;
  readonly pool: Pool;
  /** Whose slot it is; null for one of the process's own. */
  readonly lender: Holding | null;
  /** Pools inside of it that stand in line. */
  readonly riders = new Set<Pool>();
  isLent = false;
  /** Given back by whoever took it. It may be lent still. */
  isOver = false;
  isBeingOffered = false;
  idlers = 0;

  constructor(home: Home, pool: Pool, lender: Holding | null) {
    this.home = home;
    this.pool = pool;
    this.lender = lender;
  }

  get canLend(): boolean {
    return !this.isLent && !this.isOver;
  }
}
