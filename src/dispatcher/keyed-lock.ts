import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { SignalboxError } from '../errors.ts';
import {
  type AcquireOptions,
  checkWork,
  type Held,
  type KeyedLockOptions,
  type Method,
  readLockOptions,
  readOptions,
} from './acquire-options.ts';
import { blockersOf } from './lock-circle.ts';
import { CLAIM, type Claim, type Hold } from './lock-claim.ts';
import { admitsInside, liveFrom, refuseUpgrade } from './lock-lineage.ts';
import { type LockRequests, readRequests } from './lock-request.ts';
import { type KeySnapshot, snapshotOf } from './lock-snapshot.ts';
import { Turns, type Wanted } from './lock-turns.ts';

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
  readonly #turns: Turns<Label>;
  readonly #inside: AsyncLocalStorage<Held<Label>> | null;
  readonly #now: () => number;

  /** @throws SignalboxError OPTION_INVALID for a misspelt option or a bad value. */
  constructor(options: KeyedLockOptions = {}) {
    const { now, implicit } = readLockOptions(options);
    this.#now = now;
    this.#inside = implicit ? new AsyncLocalStorage() : null;
    const lock = this;
    this.#turns = new Turns(now, {
      async run(this: Held<Label>, requests, fn, signalOrOptions) {
        const around = lock.#claimOf(this, 'run');
        return lock.#perform(lock.#read('held.run', requests, signalOrOptions, around), fn);
      },
      async restate(this: Held<Label>, requests, signalOrOptions) {
        return lock.#restate(lock.#claimOf(this, 'restate'), requests, signalOrOptions);
      },
      token(this: Held<Label>) {
        return lock.#tokenOf(lock.#claimOf(this, 'token'));
      },
    });
  }

  /** How many keys are held or waited for, directories above path keys included. */
  get size(): number {
    return this.#turns.queues.size;
  }

  /** The next global ticket, from 1. Draw it early to keep a place in the order for an acquire that comes later. */
  draw(): number {
    return this.#turns.draw();
  }

  /**
   * Waits until all the keys can be had at once, and gives the function that releases them. A bare key is exclusive; a
   * key named twice counts once, in the stronger mode; no keys at all are granted at once.
   *
   * With a `ticket` drawn earlier it stands before the waiters that drew later; a granted hold is never revoked.
   * Rejects with the signal's own reason if that aborts first, and never joins when it has aborted already. A grant and
   * an abort in the same turn: whichever came first counts, so look at the signal again before acting on a grant.
   *
   * Bad input rejects as well, it never throws: OPTION_INVALID for what is no key, mode, signal or lineage, a ticket that
   * was not drawn, a misspelt option. Inside of a hold: LOCK_UPGRADE for more than the nearest hold around it has on a key
   * that it has anything on, LOCK_CYCLE when waiting would never end because what it waits for waits for a hold around it.
   * That one may also come later, when a hold around it is released whose keys it was waiting for among its own.
   */
  acquire(requests: LockRequests, signalOrOptions?: AbortSignal | AcquireOptions<Label>): Promise<Held<Label>> {
    try {
      return this.#enter(this.#read('acquire', requests, signalOrOptions), null);
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
    const wanted = this.#read('tryAcquire', requests, options);
    const { keys, parent } = wanted;
    for (const wish of keys) if (!admitsInside(parent, this.#turns.queues, wish)) return null;
    return this.#turns.join(wanted).held;
  }

  /** Acquires, calls `fn` with the hold, and releases when its promise settles, whichever way. Rejects as `acquire` does. */
  async run<Result>(
    requests: LockRequests,
    fn: (held: Held<Label>) => Result | PromiseLike<Result>,
    signalOrOptions?: AbortSignal | AcquireOptions<Label>,
  ): Promise<Result> {
    return this.#perform(this.#read('acquire', requests, signalOrOptions), fn);
  }

  /** Every key that is held or waited for, as it is now; a copy. Keys asked for inside of a hold come after the others. */
  snapshot(): readonly KeySnapshot<Label>[] {
    return snapshotOf(this.#turns.queues, this.#now());
  }

  /** @param around the hold that it is made inside of, where that is no matter of its options. */
  #read(
    method: Method,
    requests: LockRequests,
    given: AbortSignal | AcquireOptions<Label> | undefined,
    around?: Claim<Label> | null,
  ): Wanted<Label> {
    const keys = readRequests(requests);
    const options = readOptions(method, given, this.#turns.lastTicket);
    const parent = around === undefined ? this.#parentIn(options) : liveFrom(around);
    if (parent !== null) refuseUpgrade(parent, keys);
    return { keys, options, parent };
  }

  #parentIn({ lineage = this.#inside?.getStore() }: AcquireOptions<Label>): Claim<Label> | null {
    if (lineage === null || lineage === undefined) return null;
    return liveFrom(typeof lineage === 'string' ? (this.#turns.tokens.get(lineage) ?? null) : this.#claimOf(lineage));
  }

  /** @param method what was called on it; none where it was given as lineage. */
  #claimOf(hold: Held<Label> | undefined, method?: string): Claim<Label> {
    const claim = (hold as Partial<Hold<Label>> | undefined)?.[CLAIM];
    if (claim?.home === this.#turns.queues) return claim;
    const expected = method === undefined ? 'lineage to be a hold of this lock' : `${method} to be called on its hold`;
    throw new SignalboxError('OPTION_INVALID', `Expected ${expected}, got ${typeof hold}`);
  }

  /** @param leaving a hold that is given up in the same step. */
  #enter(wanted: Wanted<Label>, leaving: Claim<Label> | null): Promise<Held<Label>> {
    const { signal, onWait } = wanted.options;
    if (signal?.aborted) return Promise.reject(signal.reason);
    const claim = this.#turns.enter(wanted, leaving);
    if (onWait !== undefined && claim.isWaiting) {
      try {
        onWait(blockersOf(claim));
      } catch (error) {
        this.#turns.refuse(claim, error);
        // The callback may have let it have its keys.
        this.#turns.end(claim);
        return Promise.reject(error);
      }
    }
    return this.#turns.outcomeOf(claim);
  }

  async #perform<Result>(
    wanted: Wanted<Label>,
    fn: (held: Held<Label>) => Result | PromiseLike<Result>,
  ): Promise<Result> {
    checkWork(fn);
    const held = await this.#enter(wanted, null);
    try {
      return await (this.#inside === null ? fn(held) : this.#inside.run(held, fn, held));
    } finally {
      held();
    }
  }

  #restate(
    claim: Claim<Label>,
    requests: LockRequests,
    given: AbortSignal | AcquireOptions<Label> | undefined,
  ): Promise<Held<Label>> {
    if (claim.isEnded) {
      throw new SignalboxError(
        'OPTION_INVALID',
        'Expected a hold that is still held to be restated, got a released one',
      );
    }
    const { ticket, label, parent } = claim;
    const { keys, options } = this.#read('held.restate', requests, given, parent);
    return this.#enter({ keys, options: { ...options, ticket, label }, parent }, claim);
  }

  #tokenOf(claim: Claim<Label>): string {
    claim.token ??= randomUUID();
    if (!claim.isEnded) this.#turns.tokens.set(claim.token, claim);
    return claim.token;
  }
}
