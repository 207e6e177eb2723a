import { SignalboxError } from '../errors.ts';
import type { Claim, Inside } from './lock-claim.ts';
import { covers, type Mode, nameOf } from './lock-modes.ts';
import { type LockQueue, Place, type Queues, queueOf } from './lock-queue.ts';
import { type KeyInMode, modeIn } from './lock-request.ts';

/*
 * What it means to be inside of a hold.
 *
 * A key on which a live ancestor holds something is asked for among that ancestor's own: nobody outside of it can hold
 * what it covers, so nobody outside needs to be asked, and whoever waits outside is passed. Such places have queues of
 * their own, one set for each ancestor. Everything else is asked for as if there were no ancestors.
 */

/** The nearest hold that still lives, from one that may have ended. */
export function liveFrom<Label>(claim: Claim<Label> | null): Claim<Label> | null {
  let live = claim;
  while (live?.isEnded) live = live.parent;
  return live;
}

/** A place in each queue where a claim asks for its keys, not joined yet: that of the first key, which leads to the others. */
export function placesFor<Label>(claim: Claim<Label>, keys: readonly KeyInMode[]): Place<Claim<Label>> | null {
  let first: Place<Claim<Label>> | null = null;
  let last: Place<Claim<Label>> | null = null;
  for (const { key, mode } of keys) {
    const place: Place<Claim<Label>> = new Place(claim, queueFor(claim, key), mode);
    if (last === null) first = place;
    else last.beside = place;
    last = place;
  }
  return first;
}

/** Where a claim asks for a key: in the queues of its nearest ancestor that holds something there, else in the lock's own. */
function queueFor<Label>({ parent, home }: Claim<Label>, key: string): LockQueue<Claim<Label>> {
  const base = baseOf(parent, key);
  if (base === null) return queueOf(home, key);
  return queueOf(insideOf(base.claim).queues, key);
}

/**
 * @throws SignalboxError LOCK_UPGRADE when the nearest ancestor that holds anything on one of these keys holds less than
 * is asked for: its own work relies on nobody changing what it reads, and waiting for itself would never end.
 */
export function refuseUpgrade<Label>(parent: Claim<Label>, wanted: readonly KeyInMode[]): void {
  for (const { key, mode } of wanted) {
    const base = baseOf(parent, key);
    if (base === null || covers(base.mode, mode)) continue;
    const asked = `${nameOf(mode)} on ${JSON.stringify(key)}`;
    throw new SignalboxError(
      'LOCK_UPGRADE',
      `Expected a nested hold to ask for no more than the hold around it has: it asks for ${asked}, and that has ${nameOf(base.mode)} (ticket ${base.claim.ticket}); take the stronger mode in the outer hold, or release it first`,
    );
  }
}

/** Whether a key could be had at once without passing anybody who waits, asked for from inside of a hold or of none. */
export function admitsInside<Label>(
  parent: Claim<Label> | null,
  home: Queues<Claim<Label>>,
  { key, mode }: KeyInMode,
): boolean {
  const base = baseOf(parent, key);
  const queues = base === null ? home : insideOf(base.claim).queues;
  return queues.get(key)?.admits(mode) ?? true;
}

/** Puts a claim inside of a hold, or of none. */
export function attach<Label>(claim: Claim<Label>, parent: Claim<Label> | null): void {
  claim.parent = parent;
  if (parent === null) return;
  insideOf(parent).children.add(claim);
}

/**
 * Takes an ending hold out of its lineage: what was made inside of it belongs to the one around it from now on, and so
 * do the places that it covered.
 *
 * @returns the waiting claims whose places moved, the youngest first: it is the one to give way.
 */
export function dissolve<Label>(claim: Claim<Label>): readonly Claim<Label>[] {
  const { parent, inside } = claim;
  parent?.inside?.children.delete(claim);
  if (inside === null) return NOBODY;
  for (const child of inside.children) attach(child, parent);
  const moved = new Set<Claim<Label>>();
  for (const queue of [...inside.queues.values()]) {
    for (const place of [...queue.holders(), ...queue.waiters()]) {
      const { owner } = place;
      queue.hand(place, queueFor(owner, queue.key));
      if (!owner.isGranted) moved.add(owner);
    }
  }
  return [...moved].sort((one, other) => other.ticket - one.ticket);
}

function insideOf<Label>(claim: Claim<Label>): Inside<Label> {
  if (claim.inside !== null) return claim.inside;
  const modes = new Map<string, Mode>();
  for (let { place } = claim; place !== null; place = place.beside) modes.set(place.queue.key, place.mode);
  claim.inside = { children: new Set(), queues: new Map(), modes };
  return claim.inside;
}

/** The nearest of a live hold and those around it that holds anything on a key, and what it holds there. */
function baseOf<Label>(
  from: Claim<Label> | null,
  key: string,
): { readonly claim: Claim<Label>; readonly mode: Mode } | null {
  for (let claim = from; claim !== null; claim = claim.parent) {
    const mode = modeIn(insideOf(claim).modes, key);
    if (mode !== null) return { claim, mode };
  }
  return null;
}

const NOBODY: readonly never[] = Object.freeze([]);
