/** What a member of a chain carries: its neighbours. */
export type Linked<T> = { prev: T | null; next: T | null };

/**
 * A doubly linked list whose links lie in its members, so that joining, leaving from the middle and taking the first
 * cost the same at any length. (`Array.shift` turns linear past some 16,000 elements.) A member is in one chain at a time.
 */
export class Chain<T extends Linked<T>> {
  head: T | null = null;
  tail: T | null = null;

  get isEmpty(): boolean {
    return this.head === null;
  }

  append(item: T): void {
    this.insertAfter(this.tail, item);
  }

  /** Puts `item` right behind `ahead`, or first when that is null. */
  insertAfter(ahead: T | null, item: T): void {
    const behind = ahead === null ? this.head : ahead.next;
    item.prev = ahead;
    item.next = behind;
    if (ahead === null) this.head = item;
    else ahead.next = item;
    if (behind === null) this.tail = item;
    else behind.prev = item;
  }

  remove(item: T): void {
    const { prev, next } = item;
    if (prev === null) this.head = next;
    else prev.next = next;
    if (next === null) this.tail = prev;
    else next.prev = prev;
    item.prev = null;
    item.next = null;
  }
}
