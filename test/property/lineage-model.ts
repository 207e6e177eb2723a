import type { LockMode } from '../../src/dispatcher/types.ts';
import type { Wants } from '../support/locks.ts';

/**
 * What nested holds on path keys promise, said without queues, intentions or counts: one list of live claims, in which
 * everything is looked for anew. Two claims meet where a key of the one is a key of the other or a directory around it.
 */

export type ModelClaim = {
  readonly label: string;
  readonly ticket: number;
  readonly wants: Wants;
  /** The nearest hold around it that lives. */
  parent: ModelClaim | null;
  state: 'waiting' | 'held' | 'ended' | 'LOCK_UPGRADE' | 'LOCK_CYCLE';
};

/** Strength of what is held on a key, as the set of what it allows on things there: see, change, see all, change all. */
type Powers = ReadonlySet<'touch' | 'change some' | 'see all' | 'change all'>;

const isAbove = (directory: string, key: string): boolean =>
  directory.startsWith('file:/') &&
  key.startsWith(directory.endsWith('/') ? directory : `${directory}/`) &&
  key !== directory;

const meet = (one: string, other: string): boolean => one === other || isAbove(one, other) || isAbove(other, one);

/** The key at which two keys that meet do so: the shallower one. */
const meetingPoint = (one: string, other: string): string => (one.length <= other.length ? one : other);

/** An intention says that something below is seen or changed; the other modes do that to everything there. */
const isWhole = (mode: LockMode): boolean => mode === 'shared' || mode === 'exclusive';
const isChange = (mode: LockMode): boolean => mode === 'exclusive' || mode === 'intention-exclusive';

/** Whether two wants whose keys meet may not be had together: all of one place is in the one, and in both a change. */
function disagree(one: string, mine: LockMode, other: string, theirs: LockMode): boolean {
  if (!isChange(mine) && !isChange(theirs)) return false;
  const point = meetingPoint(one, other);
  return (one === point && isWhole(mine)) || (other === point && isWhole(theirs));
}

/** Where two sets of wants cannot be had together. Remembered: all interleavings ask this some billion times. */
const conflictsOf = remembered((one: Wants, other: Wants): readonly string[] => {
  const points: string[] = [];
  for (const [mine, myMode] of Object.entries(one)) {
    for (const [theirs, theirMode] of Object.entries(other)) {
      if (meet(mine, theirs) && disagree(mine, myMode, theirs, theirMode)) points.push(meetingPoint(mine, theirs));
    }
  }
  return points;
});

export const meets = (one: Wants, other: Wants): boolean => conflictsOf(one, other).length > 0;

const powersOn = remembered(powersOf);

function powersOf(wants: Wants, key: string): Powers {
  const powers = new Set<'touch' | 'change some' | 'see all' | 'change all'>();
  for (const [mine, mode] of Object.entries(wants)) {
    const covers = mine === key || isAbove(mine, key);
    // An intention says nothing of what lies deeper.
    if (!meet(mine, key) || (!isWhole(mode) && isAbove(mine, key))) continue;
    powers.add('touch');
    if (isChange(mode)) powers.add('change some');
    if (!covers || !isWhole(mode)) continue;
    powers.add('see all');
    if (mode === 'exclusive') powers.add('change all');
  }
  return powers;
}

const places = remembered((wants: Wants, _: string): readonly string[] => {
  const all = Object.keys(wants);
  for (const key of Object.keys(wants)) {
    for (let at = key.lastIndexOf('/'); at > 5; at = key.lastIndexOf('/', at - 1)) all.push(key.slice(0, at));
    if (key.startsWith('file:/')) all.push('file:/');
  }
  return all;
});

/** Wants are never changed, so that what was found out about some of them once is so for ever. */
function remembered<Key extends Wants | string, Found>(find: (wants: Wants, key: Key) => Found) {
  const memory = new WeakMap<Wants, Map<Key, Found>>();
  return (wants: Wants, key: Key): Found => {
    const known = memory.get(wants) ?? new Map<Key, Found>();
    const before = known.get(key);
    if (before !== undefined) return before;
    const found = find(wants, key);
    memory.set(wants, known.set(key, found));
    return found;
  };
}

export class LineageModel {
  /** Live claims in ticket order; those of equal tickets in order of joining. */
  readonly claims: ModelClaim[] = [];
  readonly #inside = new Map<ModelClaim, ModelClaim | null>();

  /** The nearest live hold from one that may have ended. */
  live(claim: ModelClaim | null): ModelClaim | null {
    let at = claim;
    while (at !== null && at.state !== 'held') at = this.#inside.get(at) ?? null;
    return at;
  }

  acquire(label: string, ticket: number, wants: Wants, around: ModelClaim | null): ModelClaim {
    const claim: ModelClaim = { label, ticket, wants, parent: this.live(around), state: 'waiting' };
    if (this.#asksTooMuch(claim)) {
      claim.state = 'LOCK_UPGRADE';
      return claim;
    }
    this.#insert(claim);
    this.#grant();
    this.#refuseCircle(claim);
    return claim;
  }

  /** Ends holds and waits, all in one step. */
  end(...ended: readonly ModelClaim[]): void {
    const orphaned = ended.flatMap((claim) => this.#remove(claim));
    this.#settle(orphaned);
  }

  /** Whatever has become of a claim, nothing is left of it and its caller knows. */
  abandon(claim: ModelClaim): void {
    if (claim.state === 'waiting' || claim.state === 'held') this.end(claim);
    claim.state = 'ended';
  }

  /** Null when the hold stays as it was, because more was asked for than is held around it. */
  restate(claim: ModelClaim, label: string, wants: Wants): ModelClaim | null {
    const next: ModelClaim = { label, ticket: claim.ticket, wants, parent: claim.parent, state: 'waiting' };
    if (this.#asksTooMuch(next)) return null;
    const orphaned = this.#remove(claim);
    this.#insert(next);
    this.#settle(orphaned);
    this.#refuseCircle(next);
    return next;
  }

  isFree(wants: Wants, around: ModelClaim | null): boolean | 'LOCK_UPGRADE' {
    const claim: ModelClaim = {
      label: '',
      ticket: Number.POSITIVE_INFINITY,
      wants,
      parent: this.live(around),
      state: 'waiting',
    };
    if (this.#asksTooMuch(claim)) return 'LOCK_UPGRADE';
    return this.barring(claim).length === 0;
  }

  /** Everybody that a waiting claim waits for directly. */
  barring(claim: ModelClaim): readonly ModelClaim[] {
    return this.claims.filter((other) => {
      if (other === claim || this.#isAround(other, claim)) return false;
      const points = conflictsOf(claim.wants, other.wants);
      return points.some((point) => other.state === 'held' || this.#precedes(other, claim, point));
    });
  }

  /** Whom a waiting claim is told that it waits for. One inside of another who is named need not be. */
  toldOf(claim: ModelClaim, named: readonly unknown[]): readonly ModelClaim[] {
    const barring = this.barring(claim);
    const isTold = ({ label }: ModelClaim): boolean => named.includes(label);
    return barring.filter(
      (one) => isTold(one) || !barring.some((other) => isTold(other) && this.#isAround(other, one)),
    );
  }

  /** Among the own of one hold the ticket decides; who is covered by a hold goes before those outside of it. */
  #precedes(other: ModelClaim, claim: ModelClaim, point: string): boolean {
    const [theirs, mine] = [this.#base(other, point), this.#base(claim, point)];
    if (theirs === mine) return this.#place(other) < this.#place(claim);
    return theirs !== null && (mine === null || this.#isAround(mine, theirs));
  }

  #place(claim: ModelClaim): number {
    const at = this.claims.indexOf(claim);
    return at === -1 ? this.claims.length : at;
  }

  #base(claim: ModelClaim, point: string): ModelClaim | null {
    for (let around = claim.parent; around !== null; around = around.parent) {
      if (powersOn(around.wants, point).size > 0) return around;
    }
    return null;
  }

  #asksTooMuch(claim: ModelClaim): boolean {
    return places(claim.wants, '').some((point) => {
      const base = this.#base(claim, point);
      if (base === null) return false;
      const has = powersOn(base.wants, point);
      return [...powersOn(claim.wants, point)].some((power) => !has.has(power));
    });
  }

  #isAround(outer: ModelClaim, claim: ModelClaim): boolean {
    for (let around = claim.parent; around !== null; around = around.parent) if (around === outer) return true;
    return false;
  }

  #insert(claim: ModelClaim): void {
    this.#inside.set(claim, claim.parent);
    const at = this.claims.findIndex((other) => other.ticket > claim.ticket);
    this.claims.splice(at === -1 ? this.claims.length : at, 0, claim);
  }

  /** Returns the waiting ones that it covered. */
  #remove(claim: ModelClaim): readonly ModelClaim[] {
    const covered = this.claims.filter(
      (other) =>
        other.state === 'waiting' && places(other.wants, '').some((point) => this.#base(other, point) === claim),
    );
    claim.state = 'ended';
    this.claims.splice(this.claims.indexOf(claim), 1);
    for (const other of this.claims) if (other.parent === claim) other.parent = claim.parent;
    return covered;
  }

  #settle(orphaned: readonly ModelClaim[]): void {
    this.#grant();
    for (const claim of orphaned.toSorted((one, other) => other.ticket - one.ticket)) this.#refuseCircle(claim);
  }

  #grant(): void {
    for (let changed = true; changed; ) {
      changed = false;
      for (const claim of this.claims) {
        if (claim.state !== 'waiting' || this.barring(claim).length > 0) continue;
        claim.state = 'held';
        changed = true;
      }
    }
  }

  #refuseCircle(claim: ModelClaim): void {
    if (claim.state !== 'waiting') return;
    const seen = new Set<ModelClaim>();
    const open: ModelClaim[] = [claim];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      const from = at;
      const next = from.state === 'held' ? this.claims.filter(({ parent }) => parent === from) : this.barring(from);
      if (next.includes(claim)) {
        const orphaned = this.#remove(claim);
        claim.state = 'LOCK_CYCLE';
        this.#settle(orphaned);
        return;
      }
      for (const each of next) {
        if (seen.has(each)) continue;
        seen.add(each);
        open.push(each);
      }
    }
  }
}
