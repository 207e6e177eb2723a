import { Chain, type Linked } from './chain.ts';
import type { LockMode } from './types.ts';

/** What a queue must know of the acquire that stands in it. */
export type Party = {
  readonly ticket: number;
  /** True from the grant on: it holds all its keys. */
  readonly isGranted: boolean;
  /** In how many of its queues it is not admitted yet. It is granted when none is left. */
  pending: number;
};

/** Whether two different acquires may not have one key at the same time. */
export function conflicts(one: LockMode, other: LockMode): boolean {
  return one === 'exclusive' || other === 'exclusive';
}

/** One acquire's place in the queue of one key. */
export class Place<Owner extends Party> implements Linked<Place<Owner>> {
  readonly owner: Owner;
  readonly queue: LockQueue<Owner>;
  readonly mode: LockMode;
  isAdmitted = false;
  prev: Place<Owner> | null = null;
  next: Place<Owner> | null = null;

  constructor(owner: Owner, queue: LockQueue<Owner>, mode: LockMode) {
    this.owner = owner;
    this.queue = queue;
    this.mode = mode;
  }
}

/**
 * The queue of one key: who holds it, and who waits in ticket order.
 *
 * A place is *admitted* when it conflicts with no holder and with nobody ahead of it; the acquire that it belongs to is
 * granted when all its places are. Until then an admitted place is a reservation: it bars those behind as a holder would.
 *
 * Invariants: waiters stand in ticket order; those admitted are a prefix of them, and `#frontier` is the first that is
 * not; no two admitted places conflict, holders included, so that counting them by mode is enough to judge the next.
 */
export class LockQueue<Owner extends Party> {
  readonly key: string;
  readonly #holders = new Chain<Place<Owner>>();
  readonly #waiters = new Chain<Place<Owner>>();
  #frontier: Place<Owner> | null = null;
  #admittedShared = 0;
  #admittedExclusive = 0;

  constructor(key: string) {
    this.key = key;
  }

  /** Nobody holds it and nobody waits: it need not be kept. */
  get isIdle(): boolean {
    return this.#holders.isEmpty && this.#waiters.isEmpty;
  }

  /** Whether a newcomer in this mode would be admitted without passing anybody who waits. */
  admits(mode: LockMode): boolean {
    return this.#frontier === null && this.#isCompatible(mode);
  }

  /**
   * Takes the place given by its owner's ticket: behind every waiter that drew the same or an earlier one. A holder is
   * never put out; a later waiter that was admitted here and waits for another key is, if it conflicts. Were it not, an
   * acquire could be ahead of another on one key and behind it on a second one, and both would wait for ever.
   */
  join(place: Place<Owner>): void {
    const { owner } = place;
    let ahead = this.#waiters.tail;
    while (ahead !== null && ahead.owner.ticket > owner.ticket) ahead = ahead.prev;
    this.#waiters.insertAfter(ahead, place);
    owner.pending++;
    if (place.next?.isAdmitted) this.#readmitFrom(place);
    else if (this.#frontier === place.next) {
      if (this.#isCompatible(place.mode)) this.#admit(place);
      else this.#frontier = place;
    }
  }

  /** A waiter whose every place is admitted becomes a holder. Nobody else's turn changes. */
  grant(place: Place<Owner>): void {
    this.#waiters.remove(place);
    this.#holders.append(place);
  }

  /** Gives up a hold or a waiting place. Adds to `ready` each owner that this lets have the last of its keys. */
  leave(place: Place<Owner>, ready: Owner[]): void {
    if (this.#frontier === place) this.#frontier = place.next;
    if (place.owner.isGranted) this.#holders.remove(place);
    else this.#waiters.remove(place);
    if (place.isAdmitted) this.#count(place, -1);
    for (let next = this.#frontier; next !== null && this.#isCompatible(next.mode); next = next.next) {
      this.#admit(next);
      this.#frontier = next.next;
      if (next.owner.pending === 0) ready.push(next.owner);
    }
  }

  /** Adds to `into` the holders, and the waiters ahead, that keep this place from being admitted. */
  addBlockers(place: Place<Owner>, into: Set<Owner>): void {
    for (const other of this.holders()) if (conflicts(other.mode, place.mode)) into.add(other.owner);
    for (const other of this.waiters()) {
      if (other === place) return;
      if (conflicts(other.mode, place.mode)) into.add(other.owner);
    }
  }

  *holders(): Generator<Place<Owner>> {
    for (let place = this.#holders.head; place !== null; place = place.next) yield place;
  }

  *waiters(): Generator<Place<Owner>> {
    for (let place = this.#waiters.head; place !== null; place = place.next) yield place;
  }

  /**
   * Admits anew from a place that stands before admitted waiters. None of those was granted, so each still waits for
   * another key: its `pending` was at least one before and cannot reach zero here.
   */
  #readmitFrom(first: Place<Owner>): void {
    for (let place = first.next; place?.isAdmitted; place = place.next) {
      place.isAdmitted = false;
      place.owner.pending++;
      this.#count(place, -1);
    }
    let place: Place<Owner> | null = first;
    for (; place !== null && this.#isCompatible(place.mode); place = place.next) this.#admit(place);
    this.#frontier = place;
  }

  #admit(place: Place<Owner>): void {
    place.isAdmitted = true;
    place.owner.pending--;
    this.#count(place, 1);
  }

  #count(place: Place<Owner>, change: 1 | -1): void {
    if (place.mode === 'shared') this.#admittedShared += change;
    else this.#admittedExclusive += change;
  }

  #isCompatible(mode: LockMode): boolean {
    return (
      (this.#admittedShared === 0 || !conflicts(mode, 'shared')) &&
      (this.#admittedExclusive === 0 || !conflicts(mode, 'exclusive'))
    );
  }
}
