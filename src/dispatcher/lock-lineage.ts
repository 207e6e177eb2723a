import { SignalboxError } from '../errors.ts';
import type { Claim } from './lock-claim.ts';
import { covers, type Mode, nameOf } from './lock-modes.ts';
import { type LockQueue, type Queues, queueOf } from './lock-queue.ts';
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

/** Where a claim asks for a key: in the queues of its nearest ancestor that holds something there, else in the lock's own. */
export function queueFor<Label>({ parent, home }: Claim<Label>, key: string): LockQueue<Claim<Label>> {
  const base = baseOf(parent, key);
  if (base === null) return queueOf(home, key);
  base.claim.nested ??= new Map();
  return queueOf(base.claim.nested, key);
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
  const queues = base === null ? home : base.claim.nested;
  return queues?.get(key)?.admits(mode) ?? true;
}

/** Puts a claim inside of a hold, or of none. */
export function attach<Label>(claim: Claim<Label>, parent: Claim<Label> | null): void {
  claim.parent = parent;
  if (parent === null) return;
  parent.children ??= new Set();
  parent.children.add(claim);
}

/**
 * Takes an ending hold out of its lineage: what was made inside of it belongs to the one around it from now on, and so
 * do the places that it covered.
 *
 * @returns the waiting claims whose places moved.
 */
export function dissolve<Label>(claim: Claim<Label>): readonly Claim<Label>[] {
  const { parent, children, nested } = claim;
  parent?.children?.delete(claim);
  for (const child of children ?? []) attach(child, parent);
  const moved = new Set<Claim<Label>>();
  for (const queue of [...(nested?.values() ?? [])]) {
    for (const place of [...queue.holders(), ...queue.waiters()]) {
      const { owner } = place;
      queue.hand(place, queueFor(owner, queue.key));
      if (!owner.isGranted) moved.add(owner);
    }
  }
  return [...moved];
}

/** The nearest of a live hold and those around it that holds anything on a key, and what it holds there. */
function baseOf<Label>(
  from: Claim<Label> | null,
  key: string,
): { readonly claim: Claim<Label>; readonly mode: Mode } | null {
  for (let claim = from; claim !== null; claim = claim.parent) {
    claim.modes ??= new Map(claim.places.map(({ queue, mode }) => [queue.key, mode]));
    const mode = modeIn(claim.modes, key);
    if (mode !== null) return { claim, mode };
  }
  return null;
}
