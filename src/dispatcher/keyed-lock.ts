import { type AcquireOptions, type Blocker, readOptions } from './acquire-options.ts';
import { LockQueue, Place } from './lock-queue.ts';
import { type KeyInMode, readRequests } from './lock-request.ts';
import { SignalWatch } from './signal-watch.ts';
import type { LockMode, LockRequest } from './types.ts';

/**
 * A granted acquire. Calling it releases every key; calling it again does nothing. It is bound to nothing, so it can be
 * handed on as it is.
 */
export type Held<Label = string> = {
  (): void;
  /** Its place in the order of all acquires of this lock. */
  readonly ticket: number;
  readonly label: Label | undefined;
};

/** One holder or waiter of a key. `ageMs` counts from the grant for a holder, from joining for a waiter. */
export type LockParty<Label = string> = Blocker<Label> & { readonly mode: LockMode; readonly ageMs: number };

/** Who has a key, in order of grants, and who waits for it, in order of tickets. */
export type KeySnapshot<Label = string> = {
  readonly key: string;
  readonly holders: readonly LockParty<Label>[];
  readonly waiters: readonly LockParty<Label>[];
};

type Requests = LockRequest | readonly LockRequest[];

/** One acquire from its call to its release. */
class Claim<Label> {
  readonly ticket: number;
  readonly label: Label | undefined;
  readonly signal: AbortSignal | undefined;
  readonly places: Place<Claim<Label>>[] = [];
  pending = 0;
  isGranted = false;
  isEnded = false;
  since: number;
  held: Held<Label> | null = null;
  resolve: ((held: Held<Label>) => void) | null = null;
  reject: ((reason: unknown) => void) | null = null;

  constructor(ticket: number, label: Label | undefined, signal: AbortSignal | undefined, since: number) {
    this.ticket = ticket;
    this.label = label;
    this.signal = signal;
    this.since = since;
  }
}

/**
 * The one mechanism for ordering: holds on keys, shared or exclusive, granted strictly first come, first served.
 *
 * All keys of an acquire are joined in one synchronous step, and every queue is in the order of one global ticket: a
 * waiter waits only for holders and for earlier tickets, so acquires that do not nest never deadlock. A waiter keeps its
 * place in all its keys. Nobody overtakes a conflicting waiter; a waiting writer bars later readers.
 *
 * Acquire O(keys), abort O(keys), release O(keys + granted). A `ticket` earlier than those waiting adds the number of
 * waiters that it goes ahead of. Nothing is kept for an idle key.
 *
 * @example
 * const lock = new KeyedLock();
 * const release = await lock.acquire(['file:/a', { key: 'file:/b', mode: 'shared' }], AbortSignal.timeout(5_000));
 * try {
 *   // alone on /a, beside other readers on /b
 * } finally {
 *   release();
 * }
 */
export class KeyedLock<Label = string> {
  readonly #queues = new Map<string, LockQueue<Claim<Label>>>();
  readonly #watch = new SignalWatch<Claim<Label>>((claim) => this.#giveUp(claim));
  readonly #now: () => number;
  #lastTicket = 0;

  /** `now` gives milliseconds for the ages in `snapshot`; default `performance.now`. */
  constructor(options: { readonly now?: () => number } = {}) {
    this.#now = options.now ?? (() => performance.now());
  }

  /** How many keys are held or waited for. */
  get size(): number {
    return this.#queues.size;
  }

  /** The next global ticket, from 1. Draw it early to keep a place in the order for an acquire that comes later. */
  draw(): number {
    return ++this.#lastTicket;
  }

  /**
   * Waits until all the keys can be had at once, and gives the function that releases them. A bare key is exclusive; a
   * key named twice counts once, in the stronger mode; no keys at all are granted at once.
   *
   * With a `ticket` drawn earlier it stands before the waiters that drew later; a granted hold is never revoked.
   * Rejects with the signal's own reason if that aborts first, and never joins when it has aborted already. A grant and
   * an abort in the same turn: whichever came first counts, so look at the signal again before acting on a grant.
   *
   * Bad input rejects as well, it never throws: OPTION_INVALID for what is no key or mode, no signal, or a ticket that was not drawn.
   */
  acquire(requests: Requests, signalOrOptions?: AbortSignal | AcquireOptions<Label>): Promise<Held<Label>> {
    let wanted: readonly KeyInMode[];
    let options: AcquireOptions<Label>;
    try {
      wanted = readRequests(requests);
      options = readOptions(signalOrOptions, this.#lastTicket);
    } catch (error) {
      return Promise.reject(error);
    }
    const { signal, onWait } = options;
    if (signal?.aborted) return Promise.reject(signal.reason);
    const claim = this.#join(wanted, options);
    if (claim.pending > 0 && onWait !== undefined) {
      try {
        onWait(this.#blockersOf(claim));
      } catch (error) {
        this.#end(claim);
        return Promise.reject(error);
      }
      // The callback may itself have released what stood in the way, or aborted.
      if (signal?.aborted && !claim.isGranted) {
        this.#end(claim);
        return Promise.reject(signal.reason);
      }
    }
    if (claim.held !== null) return Promise.resolve(claim.held);
    return new Promise((resolve, reject) => {
      claim.resolve = resolve;
      claim.reject = reject;
      if (signal !== undefined) this.#watch.add(signal, claim);
    });
  }

  /**
   * The hold if it can be had this instant without overtaking anybody who waits, else null.
   *
   * @throws SignalboxError OPTION_INVALID for what is no key or mode.
   */
  tryAcquire(requests: Requests, options: { readonly label?: Label | undefined } = {}): Held<Label> | null {
    const wanted = readRequests(requests);
    for (const { key, mode } of wanted) if (this.#queues.get(key)?.admits(mode) === false) return null;
    return this.#join(wanted, { label: options.label }).held;
  }

  /** Acquires, calls `fn` with the hold, and releases when its promise settles, whichever way. */
  async run<Result>(
    requests: Requests,
    fn: (held: Held<Label>) => Result | PromiseLike<Result>,
    signalOrOptions?: AbortSignal | AcquireOptions<Label>,
  ): Promise<Result> {
    const held = await this.acquire(requests, signalOrOptions);
    try {
      return await fn(held);
    } finally {
      held();
    }
  }

  /** Every key that is held or waited for, as it is now; a copy. */
  snapshot(): readonly KeySnapshot<Label>[] {
    const now = this.#now();
    const party = ({ owner, mode }: Place<Claim<Label>>): LockParty<Label> => {
      return { label: owner.label, ticket: owner.ticket, mode, ageMs: now - owner.since };
    };
    return Array.from(this.#queues.values(), (queue) => ({
      key: queue.key,
      holders: Array.from(queue.holders(), party),
      waiters: Array.from(queue.waiters(), party),
    }));
  }

  /** Joins every queue in one step, in which no code of a caller runs; grants if nothing stands in the way. */
  #join(wanted: readonly KeyInMode[], options: AcquireOptions<Label>): Claim<Label> {
    const claim = new Claim(options.ticket ?? this.draw(), options.label, options.signal, this.#now());
    for (const { key, mode } of wanted) {
      let queue = this.#queues.get(key);
      if (queue === undefined) {
        queue = new LockQueue(key);
        this.#queues.set(key, queue);
      }
      const place = new Place(claim, queue, mode);
      claim.places.push(place);
      queue.join(place);
    }
    if (claim.pending === 0) this.#grant(claim);
    return claim;
  }

  #grant(claim: Claim<Label>): Held<Label> {
    for (const place of claim.places) place.queue.grant(place);
    claim.isGranted = true;
    const held = asHeld(() => this.#end(claim), claim);
    claim.held = held;
    return held;
  }

  /** The signal aborted while the claim waited. */
  #giveUp(claim: Claim<Label>): void {
    if (claim.isEnded) return;
    this.#end(claim);
    claim.reject?.(claim.signal?.reason);
  }

  /** Leaves every queue, as a holder or as a waiter, and grants what that makes possible. Idempotent. */
  #end(claim: Claim<Label>): void {
    const ready: Claim<Label>[] = [];
    this.#leave(claim, ready);
    if (ready.length === 0) return;
    // Several keys may each let somebody go; they start in the order of their tickets.
    if (claim.places.length > 1) ready.sort((one, other) => one.ticket - other.ticket);
    const now = this.#now();
    // More may become ready on the way, behind the others: `ready` grows.
    for (const next of ready) {
      const { signal } = next;
      if (signal !== undefined) this.#watch.remove(signal, next);
      if (signal?.aborted) {
        // Its turn came in the midst of the abort that many waiters share: nobody is granted under a signal that is gone.
        this.#leave(next, ready);
        next.reject?.(signal.reason);
      } else {
        next.since = now;
        const held = this.#grant(next);
        next.resolve?.(held);
      }
    }
  }

  #leave(claim: Claim<Label>, ready: Claim<Label>[]): void {
    if (claim.isEnded) return;
    claim.isEnded = true;
    for (const place of claim.places) {
      place.queue.leave(place, ready);
      if (place.queue.isIdle) this.#queues.delete(place.queue.key);
    }
  }

  #blockersOf(claim: Claim<Label>): readonly Blocker<Label>[] {
    const claims = new Set<Claim<Label>>();
    for (const place of claim.places) if (!place.isAdmitted) place.queue.addBlockers(place, claims);
    return Array.from(claims, ({ label, ticket }) => ({ label, ticket })).sort(
      (one, other) => one.ticket - other.ticket,
    );
  }
}

/** Turns a claim's release into the function that callers hold. */
function asHeld<Label>(release: () => void, { ticket, label }: Claim<Label>): Held<Label> {
  const held = release as { (): void; ticket: number; label: Label | undefined };
  held.ticket = ticket;
  held.label = label;
  return held;
}
