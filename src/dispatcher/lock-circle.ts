import { SignalboxError } from '../errors.ts';
import type { Blocker } from './acquire-options.ts';
import type { Claim } from './lock-claim.ts';

/**
 * A circle of claims through this one in which each waits for the next: a waiting claim for the conflicting holders and
 * the conflicting waiters ahead of it, a hold for what was asked for inside of it. Null when there is none.
 *
 * Every claim is looked at once, so it costs no more than the queues that can be reached are long.
 */
export function circleThrough<Label>(start: Claim<Label>): readonly Claim<Label>[] | null {
  const cameFrom = new Map<Claim<Label>, Claim<Label>>();
  const open = [start];
  for (let claim = open.pop(); claim !== undefined; claim = open.pop()) {
    for (const next of awaitedBy(claim)) {
      if (next === start) return pathTo(claim, cameFrom);
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, claim);
      open.push(next);
    }
  }
  return null;
}

/** LOCK_CYCLE, which names the tickets of the circle in the order of waiting. */
export function circleError<Label>(circle: readonly Claim<Label>[]): SignalboxError {
  const tickets = circle.map(({ ticket, label }) => (typeof label === 'string' ? `${ticket} (${label})` : `${ticket}`));
  const ring = [...tickets, tickets[0]].join(' waits for ');
  return new SignalboxError(
    'LOCK_CYCLE',
    `Waiting for this lock would never end: ticket ${ring}; release the hold around it first, or ask for all keys at once`,
  );
}

/** The claims that must move before this one can: those that it waits for, or those made inside of it. */
function awaitedBy<Label>(claim: Claim<Label>): Iterable<Claim<Label>> {
  if (claim.isGranted) return claim.inside?.children ?? [];
  const blockers = new Set<Claim<Label>>();
  for (let { place } = claim; place !== null; place = place.beside) {
    if (!place.isAdmitted) place.queue.addBlockers(place, blockers);
  }
  return blockers;
}

function pathTo<Label>(last: Claim<Label>, cameFrom: ReadonlyMap<Claim<Label>, Claim<Label>>): readonly Claim<Label>[] {
  const path = [last];
  for (let before = cameFrom.get(last); before !== undefined; before = cameFrom.get(before)) path.unshift(before);
  return path;
}

/** Whom a waiting claim waits for directly, in ticket order. */
export function blockersOf<Label>(claim: Claim<Label>): readonly Blocker<Label>[] {
  return Array.from(awaitedBy(claim), ({ label, ticket }) => ({ label, ticket })).sort(
    (one, other) => one.ticket - other.ticket,
  );
}
