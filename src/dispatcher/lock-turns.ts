import type { AcquireOptions, Held } from './acquire-options.ts';
import { circleError, circleThrough } from './lock-circle.ts';
import { Claim, holdOf } from './lock-claim.ts';
import { attach, dissolve, placesFor } from './lock-lineage.ts';
import type { Queues } from './lock-queue.ts';
import type { KeyInMode } from './lock-request.ts';
import { SignalWatch } from './signal-watch.ts';

/** What a hold can do besides being released; bound to its lock. */
export type HoldMethods<Label> = Pick<Held<Label>, 'run' | 'restate' | 'token'>;

/** An acquire that was read and found good. */
export type Wanted<Label> = {
  readonly keys: readonly KeyInMode[];
  readonly options: AcquireOptions<Label>;
  readonly parent: Claim<Label> | null;
};

/**
 * Whose turn it is: the live claims of one lock from joining their queues to leaving them, and the grants and refusals
 * that follow from each of them. No code of a caller runs in any of these steps, so whoever is called back in between
 * finds the queues whole.
 */
export class Turns<Label> {
  readonly queues: Queues<Claim<Label>> = new Map();
  /** Live holds by the texts that stand for them. */
  readonly tokens = new Map<string, Claim<Label>>();
  readonly #watch = new SignalWatch<Claim<Label>>((claim, reason) => this.refuse(claim, reason));
  /** Why claims were refused whose promises are not made yet. */
  readonly #early = new WeakMap<Claim<Label>, unknown>();
  readonly #now: () => number;
  readonly #methods: HoldMethods<Label>;
  #lastTicket = 0;
  /** Live claims that were made inside of a hold; without any there is no circle to look for. */
  #nested = 0;

  constructor(now: () => number, methods: HoldMethods<Label>) {
    this.#now = now;
    this.#methods = methods;
  }

  /** The highest ticket drawn so far. */
  get lastTicket(): number {
    return this.#lastTicket;
  }

  draw(): number {
    return ++this.#lastTicket;
  }

  /**
   * Joins, and gives up another hold in the same step. The claim comes back granted, waiting, or refused because its wait
   * would never end.
   */
  enter(wanted: Wanted<Label>, leaving: Claim<Label> | null): Claim<Label> {
    // Who asks at an earlier ticket may put others behind itself that a hold around somebody waits for.
    const mayClose = wanted.parent !== null || (wanted.options.ticket !== undefined && this.#nested > 0);
    const ready: Claim<Label>[] = [];
    const moved = leaving === null ? NOBODY : this.#leave(leaving, ready);
    const claim = this.join(wanted);
    this.#settle(ready, moved);
    if (mayClose) this.#refuseCircle(claim);
    if (claim.signal !== undefined && claim.isWaiting) this.#watch.add(claim.signal, claim);
    return claim;
  }

  /** Joins every queue; grants if nothing stands in the way. */
  join({ keys, options, parent }: Wanted<Label>): Claim<Label> {
    const ticket = options.ticket ?? this.draw();
    const claim = new Claim(ticket, options.label, options.signal, this.queues, this.#now());
    if (parent !== null) {
      this.#nested++;
      attach(claim, parent);
    }
    claim.place = placesFor(claim, keys);
    for (let { place } = claim; place !== null; place = place.beside) place.queue.join(place);
    if (claim.pending === 0) this.#grant(claim);
    return claim;
  }

  /** What a caller is given for a claim, whatever has become of it by now. To be asked for once. */
  outcomeOf(claim: Claim<Label>): Promise<Held<Label>> {
    if (claim.held !== null) return Promise.resolve(claim.held);
    if (claim.isEnded) return Promise.reject(this.#early.get(claim));
    return new Promise((resolve) => {
      claim.settle = resolve;
    });
  }

  /** Leaves every queue, as a holder or as a waiter, and grants what that makes possible. Idempotent. */
  end(claim: Claim<Label>): void {
    const ready: Claim<Label>[] = [];
    this.#settle(ready, this.#leave(claim, ready));
  }

  /** A claim that waits never will any more. Whatever became of it before counts instead. */
  refuse(claim: Claim<Label>, reason: unknown): void {
    if (!claim.isWaiting) return;
    this.#watch.remove(claim.signal, claim);
    this.end(claim);
    this.#fail(claim, reason);
  }

  /** Tells the caller, who may not have been given the promise yet, that it ended without a grant. */
  #fail(claim: Claim<Label>, reason: unknown): void {
    if (claim.settle === null) this.#early.set(claim, reason);
    else claim.settle(Promise.reject(reason));
  }

  #grant(claim: Claim<Label>): Held<Label> {
    for (let { place } = claim; place !== null; place = place.beside) place.queue.grant(place);
    const held = holdOf(() => this.end(claim), claim, this.#methods);
    claim.held = held;
    return held;
  }

  /** @returns the waiting claims inside of it that lost what covered them, the youngest first. */
  #leave(claim: Claim<Label>, ready: Claim<Label>[]): readonly Claim<Label>[] {
    if (claim.isEnded) return NOBODY;
    claim.isEnded = true;
    if (claim.token !== null) this.tokens.delete(claim.token);
    const { parent, inside } = claim;
    if (parent !== null) this.#nested--;
    // What was made inside of it is inside of nothing from now on.
    else if (inside !== null) this.#nested -= inside.children.size;
    const moved = dissolve(claim);
    for (let { place } = claim; place !== null; place = place.beside) place.queue.leave(place, ready);
    return moved;
  }

  /** What follows when somebody has left: grants, and refusals of those who lost what covered them. */
  #settle(ready: Claim<Label>[], moved: readonly Claim<Label>[]): void {
    this.#serve(ready);
    if (moved.length > 0) for (const claim of moved) this.#refuseCircle(claim);
  }

  /** Grants to all who may have their keys now, in the order of their tickets. */
  #serve(ready: Claim<Label>[]): void {
    if (ready.length === 0) return;
    // Several keys may each let somebody go.
    ready.sort((one, other) => one.ticket - other.ticket);
    const now = this.#now();
    // More may become ready on the way, behind the others: `ready` grows.
    for (const next of ready) {
      const { signal } = next;
      // Put back by somebody who joined before it in this very step.
      if (next.pending > 0 || !next.isWaiting) continue;
      this.#watch.remove(signal, next);
      if (signal?.aborted) {
        // Its turn came in the midst of the abort that many waiters share: nobody is granted under a signal that is gone.
        this.#leave(next, ready);
        this.#fail(next, signal.reason);
      } else {
        next.since = now;
        const held = this.#grant(next);
        next.settle?.(held);
      }
    }
  }

  /** One that waited among the keys of a hold around it waits among all others now: perhaps for what waits for it. */
  #refuseCircle(claim: Claim<Label>): void {
    if (!claim.isWaiting) return;
    const circle = circleThrough(claim);
    if (circle !== null) this.refuse(claim, circleError(circle));
  }
}

const NOBODY: readonly never[] = Object.freeze([]);
