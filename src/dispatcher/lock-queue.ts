import { Chain, type Linked } from './chain.ts';
import { compatibleWith, conflicts, conflictsWithAny, type Mode, ModeCounts } from './lock-modes.ts';

/** What a queue must know of the acquire that stands in it. */
export type Party = {
  readonly ticket: number;
  /** True from the grant on: it holds all its keys. */
  readonly isGranted: boolean;
  /** In how many of its queues it is not admitted yet. It is granted when none is left. */
  pending: number;
};

/** Queues by key; one that is idle is not kept. */
export type Queues<Owner extends Party> = Map<string, LockQueue<Owner>>;

/** One acquire's place in the queue of one key. */
export class Place<Owner extends Party> implements Linked<Place<Owner>> {
  readonly owner: Owner;
  readonly mode: Mode;
  queue: LockQueue<Owner>;
  isAdmitted = false;
  prev: Place<Owner> | null = null;
  next: Place<Owner> | null = null;
  /** The owner's place in the queue of its next key. */
  beside: Place<Owner> | null = null;

  constructor(owner: Owner, queue: LockQueue<Owner>, mode: Mode) {
    this.owner = owner;
    this.queue = queue;
    this.mode = mode;
  }
}

/** The queue of a key, made if there is none. */
export function queueOf<Owner extends Party>(queues: Queues<Owner>, key: string): LockQueue<Owner> {
  let queue = queues.get(key);
  if (queue === undefined) {
    queue = new LockQueue(key, queues);
    queues.set(key, queue);
  }
  return queue;
}

/**
 * The queue of one key: who holds it, and who waits in ticket order.
 *
 * A place is *admitted* when it conflicts with no holder and with nobody ahead of it; the acquire that it belongs to is
 * granted when all its places are. Until then an admitted place is a reservation: it bars those behind as a holder would.
 *
 * Invariants: waiters stand in ticket order; `#frontier` is the first of them that is not admitted, or stands before it;
 * no two admitted places conflict, holders included, and none conflicts with a waiter ahead of it. So the sets of modes
 * that are admitted and that are barred are enough to judge a newcomer.
 */
export class LockQueue<Owner extends Party> {
  readonly key: string;
  readonly #home: Queues<Owner>;
  readonly #holders = new Chain<Place<Owner>>();
  readonly #waiters = new Chain<Place<Owner>>();
  /** The modes of those admitted, holders included, and of those that are not. */
  readonly #admitted = new ModeCounts();
  readonly #barred = new ModeCounts();
  #frontier: Place<Owner> | null = null;

  /** @param home where it is kept, and taken out of when nobody is left. */
  constructor(key: string, home: Queues<Owner>) {
    this.key = key;
    this.#home = home;
  }

  /** Whether a newcomer in this mode would be admitted without passing anybody who waits. */
  admits(mode: Mode): boolean {
    return !conflictsWithAny(mode, this.#admitted.present | this.#barred.present);
  }

  /**
   * Takes the place given by its owner's ticket: behind every waiter that drew the same or an earlier one. A holder is
   * never put out; a later waiter that was admitted here and waits for another key is, if it conflicts. Were it not, an
   * acquire could be ahead of another on one key and behind it on a second one, and both would wait for ever.
   */
  join(place: Place<Owner>): void {
    const { owner, mode } = place;
    let ahead = this.#waiters.tail;
    const isLast = ahead === null || ahead.owner.ticket <= owner.ticket;
    for (; ahead !== null && ahead.owner.ticket > owner.ticket; ahead = ahead.prev) {
      if (ahead === this.#frontier) this.#frontier = place;
      if (ahead.isAdmitted && conflicts(ahead.mode, mode)) this.#bar(ahead);
    }
    const isFree = isLast && this.admits(mode);
    this.#waiters.insertAfter(ahead, place);
    if (isFree) {
      place.isAdmitted = true;
      this.#admitted.add(mode);
      return;
    }
    owner.pending++;
    this.#barred.add(mode);
    this.#frontier ??= place;
    if (!isLast) this.#sweep(null);
  }

  /** A waiter whose every place is admitted becomes a holder. Nobody else's turn changes. */
  grant(place: Place<Owner>): void {
    if (this.#frontier === place) this.#frontier = place.next;
    this.#waiters.remove(place);
    this.#holders.append(place);
  }

  /** Gives up a hold or a waiting place. Adds to `ready` each owner that this lets have the last of its keys. */
  leave(place: Place<Owner>, ready: Owner[]): void {
    this.#take(place);
    if (this.#frontier !== null) this.#sweep(ready);
    this.#dropIfIdle();
  }

  /**
   * Moves a place to another queue of the same key, as what it is: a holder holds, a waiter waits at its ticket. A waiter
   * may be admitted by that, which shows in its owner's `pending`. All places of a queue are moved together.
   */
  hand(place: Place<Owner>, to: LockQueue<Owner>): void {
    this.#take(place);
    this.#dropIfIdle();
    place.queue = to;
    if (place.owner.isGranted) to.#receive(place);
    else {
      if (!place.isAdmitted) place.owner.pending--;
      place.isAdmitted = false;
      to.join(place);
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

  /** A holder comes from another queue: it is never put out, so a waiter that was admitted here may be. */
  #receive(place: Place<Owner>): void {
    for (const other of this.waiters()) {
      if (other.isAdmitted && conflicts(other.mode, place.mode)) this.#bar(other);
    }
    this.#holders.append(place);
    this.#admitted.add(place.mode);
    this.#frontier = this.#waiters.head;
  }

  #take(place: Place<Owner>): void {
    if (this.#frontier === place) this.#frontier = place.next;
    if (place.owner.isGranted) this.#holders.remove(place);
    else this.#waiters.remove(place);
    if (place.isAdmitted) this.#admitted.remove(place.mode);
    else this.#barred.remove(place.mode);
  }

  #dropIfIdle(): void {
    if (this.#holders.isEmpty && this.#waiters.isEmpty) this.#home.delete(this.key);
  }

  /**
   * Admits whom nothing stands in the way of any more, in order; none passes one ahead that it conflicts with. It ends
   * where nobody further back can be admitted whatever their order.
   */
  #sweep(ready: Owner[] | null): void {
    let ahead = 0;
    let first: Place<Owner> | null = null;
    for (let place = this.#frontier; place !== null; place = place.next) {
      if (place.isAdmitted) continue;
      if (!conflictsWithAny(place.mode, this.#admitted.present | ahead)) {
        this.#admit(place);
        if (ready !== null && place.owner.pending === 0) ready.push(place.owner);
        continue;
      }
      first ??= place;
      ahead |= 1 << place.mode;
      if ((compatibleWith(this.#admitted.present | ahead) & this.#barred.present) === 0) break;
    }
    this.#frontier = first;
  }

  #admit(place: Place<Owner>): void {
    place.isAdmitted = true;
    place.owner.pending--;
    this.#barred.remove(place.mode);
    this.#admitted.add(place.mode);
  }

  #bar(place: Place<Owner>): void {
    place.isAdmitted = false;
    place.owner.pending++;
    this.#admitted.remove(place.mode);
    this.#barred.add(place.mode);
  }
}
