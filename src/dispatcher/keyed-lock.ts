import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { SignalboxError } from '../errors.ts';
import { type AcquireOptions, type Held, readOptions } from './acquire-options.ts';
import { blockersOf, circleError, circleThrough } from './lock-circle.ts';
import { CLAIM, Claim, type Hold, holdOf } from './lock-claim.ts';
import { admitsInside, attach, dissolve, liveFrom, placesFor, refuseUpgrade } from './lock-lineage.ts';
import type { Queues } from './lock-queue.ts';
import { type KeyInMode, type LockRequests, readRequests } from './lock-request.ts';
import { type KeySnapshot, snapshotOf } from './lock-snapshot.ts';
import { SignalWatch } from './signal-watch.ts';

/** An acquire that was read and found good. */
type Wanted<Label> = {
  readonly keys: readonly KeyInMode[];
  readonly options: AcquireOptions<Label>;
  readonly parent: Claim<Label> | null;
};

/**
 * The one mechanism for ordering: holds on keys, shared or exclusive, granted strictly first come, first served.
 *
 * All keys of an acquire are joined in one synchronous step, and every queue is in the order of one global ticket: a
 * waiter waits only for holders and for earlier tickets, so acquires that do not nest never deadlock. A waiter keeps its
 * place in all its keys. Nobody overtakes a conflicting waiter; a waiting writer bars later readers.
 *
 * Keys that begin with `file:/` are paths (`fileLockKey`): a hold on a directory is one on everything below it, kept by
 * intentions on everything above each key. All other keys are plain names.
 *
 * Inside of a hold (`held.run`, or `lineage`) one asks as its descendant: what it holds does not stand in the way, who
 * waits for that outside is passed, and two descendants of one hold exclude each other as any two acquires do.
 *
 * Acquire O(keys × depth of path), abort the same, release that and the granted; a `ticket` earlier than those waiting adds
 * the number of waiters that it goes ahead of. A circle is looked for only where holds nest. Nothing is kept for an idle key.
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
  readonly #queues: Queues<Claim<Label>> = new Map();
  readonly #watch = new SignalWatch<Claim<Label>>((claim) => this.#giveUp(claim));
  readonly #tokens = new Map<string, Claim<Label>>();
  readonly #inside: AsyncLocalStorage<Held<Label>> | null;
  readonly #now: () => number;
  readonly #methods: Pick<Held<Label>, 'run' | 'restate' | 'token'>;
  #lastTicket = 0;
  /** Live claims that were made inside of a hold; without any there is no circle to look for. */
  #nestedClaims = 0;

  /**
   * @param options `now` gives milliseconds for the ages in `snapshot`; default `performance.now`. With `implicit` the work
   * that `run` calls is inside of its hold without saying so, also after awaiting; default false, because it follows
   * every promise of the process and slows them on Node 22 and below.
   */
  constructor(options: { readonly now?: () => number; readonly implicit?: boolean } = {}) {
    this.#now = options.now ?? (() => performance.now());
    this.#inside = options.implicit === true ? new AsyncLocalStorage() : null;
    const lock = this;
    this.#methods = {
      run(this: Held<Label>, requests, fn, inner) {
        return lock.run(requests, fn, { ...inner, lineage: this });
      },
      restate(this: Held<Label>, requests, anew) {
        return lock.#restate((this as Hold<Label>)[CLAIM], requests, anew);
      },
      token(this: Held<Label>) {
        return lock.#tokenOf((this as Hold<Label>)[CLAIM]);
      },
    };
  }

  /** How many keys are held or waited for, directories above path keys included. */
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
   * Bad input rejects as well, it never throws: OPTION_INVALID for what is no key, mode, signal or lineage, or a ticket
   * that was not drawn. Inside of a hold: LOCK_UPGRADE for more than the nearest hold around it has on a key that it has
   * anything on, LOCK_CYCLE when waiting would never end because what it waits for waits for a hold around it. That one
   * may also come later, when a hold around it is released whose keys it was waiting for among its own.
   */
  acquire(requests: LockRequests, signalOrOptions?: AbortSignal | AcquireOptions<Label>): Promise<Held<Label>> {
    try {
      return this.#enter(this.#read(requests, signalOrOptions), null);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * The hold if it can be had this instant without overtaking anybody who waits, else null.
   *
   * @throws SignalboxError OPTION_INVALID and LOCK_UPGRADE as `acquire` rejects.
   */
  tryAcquire(
    requests: LockRequests,
    options: Pick<AcquireOptions<Label>, 'label' | 'lineage'> = {},
  ): Held<Label> | null {
    const wanted = this.#read(requests, { label: options.label, lineage: options.lineage });
    const { keys, parent } = wanted;
    for (const wish of keys) if (!admitsInside(parent, this.#queues, wish)) return null;
    return this.#join(wanted).held;
  }

  /** Acquires, calls `fn` with the hold, and releases when its promise settles, whichever way. Rejects as `acquire` does. */
  async run<Result>(
    requests: LockRequests,
    fn: (held: Held<Label>) => Result | PromiseLike<Result>,
    signalOrOptions?: AbortSignal | AcquireOptions<Label>,
  ): Promise<Result> {
    const held = await this.acquire(requests, signalOrOptions);
    try {
      return await (this.#inside === null ? fn(held) : this.#inside.run(held, fn, held));
    } finally {
      held();
    }
  }

  /** Every key that is held or waited for, as it is now; a copy. Keys asked for inside of a hold come after the others. */
  snapshot(): readonly KeySnapshot<Label>[] {
    return snapshotOf(this.#queues, this.#now());
  }

  #read(requests: LockRequests, given: AbortSignal | AcquireOptions<Label> | undefined): Wanted<Label> {
    const keys = readRequests(requests);
    const options = readOptions(given, this.#lastTicket);
    const parent = this.#parentOf(options.lineage === undefined ? this.#inside?.getStore() : options.lineage);
    if (parent !== null) refuseUpgrade(parent, keys);
    return { keys, options, parent };
  }

  #parentOf(lineage: Held<Label> | string | null | undefined): Claim<Label> | null {
    if (lineage === null || lineage === undefined) return null;
    if (typeof lineage === 'string') return liveFrom(this.#tokens.get(lineage) ?? null);
    const claim = (lineage as Partial<Hold<Label>>)[CLAIM];
    if (claim?.home !== this.#queues) {
      throw new SignalboxError('OPTION_INVALID', 'Expected lineage to be a hold of this lock, got another function');
    }
    return liveFrom(claim);
  }

  /** @param leaving a hold that is given up in the same step. */
  #enter(wanted: Wanted<Label>, leaving: Claim<Label> | null): Promise<Held<Label>> {
    const { signal, onWait, ticket } = wanted.options;
    if (signal?.aborted) return Promise.reject(signal.reason);
    const mayClose = this.#nestedClaims > 0 && ticket !== undefined;
    const ready: Claim<Label>[] = [];
    const moved = leaving === null ? NOBODY : this.#leave(leaving, ready);
    const claim = this.#join(wanted);
    this.#serve(ready, moved);
    if (claim.pending > 0 && (mayClose || claim.parent !== null)) {
      const circle = circleThrough(claim);
      if (circle !== null) {
        this.#end(claim);
        return Promise.reject(circleError(circle));
      }
    }
    if (claim.pending > 0 && onWait !== undefined) {
      try {
        onWait(blockersOf(claim));
        // The callback may itself have released what stood in the way, or aborted.
        if (!claim.isGranted) signal?.throwIfAborted();
      } catch (error) {
        this.#end(claim);
        return Promise.reject(error);
      }
    }
    if (claim.held !== null) return Promise.resolve(claim.held);
    return new Promise((resolve, reject) => {
      claim.resolve = resolve;
      claim.reject = reject;
      if (signal !== undefined) this.#watch.add(signal, claim);
    });
  }

  #restate(claim: Claim<Label>, requests: LockRequests, given: AcquireOptions<Label> = {}): Promise<Held<Label>> {
    try {
      if (claim.isEnded) {
        throw new SignalboxError(
          'OPTION_INVALID',
          'Expected a hold that is still held to be restated, got a released one',
        );
      }
      const { ticket, label, parent } = claim;
      const lineage = parent?.held ?? null;
      return this.#enter(this.#read(requests, { ...given, ticket, label, lineage }), claim);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #tokenOf(claim: Claim<Label>): string {
    claim.token ??= randomUUID();
    if (!claim.isEnded) this.#tokens.set(claim.token, claim);
    return claim.token;
  }

  /** Joins every queue in one step, in which no code of a caller runs; grants if nothing stands in the way. */
  #join({ keys, options, parent }: Wanted<Label>): Claim<Label> {
    const ticket = options.ticket ?? this.draw();
    const claim = new Claim(ticket, options.label, options.signal, this.#queues, this.#now());
    if (parent !== null) {
      this.#nestedClaims++;
      claim.isNested = true;
      attach(claim, parent);
    }
    claim.places = placesFor(claim, keys);
    for (const place of claim.places) place.queue.join(place);
    if (claim.pending === 0) this.#grant(claim);
    return claim;
  }

  #grant(claim: Claim<Label>): Held<Label> {
    for (const place of claim.places) place.queue.grant(place);
    claim.isGranted = true;
    claim.held = holdOf(() => this.#end(claim), claim, this.#methods);
    return claim.held;
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
    this.#serve(ready, this.#leave(claim, ready));
  }

  /** @returns the waiting claims inside of it that lost what covered them. */
  #leave(claim: Claim<Label>, ready: Claim<Label>[]): readonly Claim<Label>[] {
    if (claim.isEnded) return NOBODY;
    claim.isEnded = true;
    if (claim.token !== null) this.#tokens.delete(claim.token);
    if (claim.isNested) this.#nestedClaims--;
    const moved = claim.isNested || claim.inside !== null ? dissolve(claim) : NOBODY;
    for (const place of claim.places) place.queue.leave(place, ready);
    return moved;
  }

  /** Grants to all who may have their keys now, in the order of their tickets, and refuses those who never would. */
  #serve(ready: Claim<Label>[], moved: readonly Claim<Label>[]): void {
    // Several keys may each let somebody go.
    if (ready.length > 1) ready.sort((one, other) => one.ticket - other.ticket);
    const now = ready.length > 0 ? this.#now() : 0;
    // More may become ready on the way, behind the others: `ready` grows.
    for (const next of ready) {
      const { signal } = next;
      // Put back by somebody who joined before it in this very step.
      if (next.pending > 0 || next.isGranted) continue;
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
    if (moved.length === 0) return;
    // The youngest gives way.
    for (const claim of moved.toSorted((one, other) => other.ticket - one.ticket)) this.#refuseCircle(claim);
  }

  /** One that waited among the keys of a hold around it waits among all others now: perhaps for what waits for it. */
  #refuseCircle(claim: Claim<Label>): void {
    if (claim.pending === 0 || claim.isEnded) return;
    const circle = circleThrough(claim);
    if (circle === null) return;
    if (claim.signal !== undefined) this.#watch.remove(claim.signal, claim);
    this.#end(claim);
    claim.reject?.(circleError(circle));
  }
}

const NOBODY: readonly never[] = Object.freeze([]);
