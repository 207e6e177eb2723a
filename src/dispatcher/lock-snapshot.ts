import type { Blocker } from './acquire-options.ts';
import type { Claim } from './lock-claim.ts';
import { type HoldMode, nameOf } from './lock-modes.ts';
import type { Place, Queues } from './lock-queue.ts';

/** One holder or waiter of a key. `ageMs` counts from the grant for a holder, from joining for a waiter. */
export type LockParty<Label = string> = Blocker<Label> & { readonly mode: HoldMode; readonly ageMs: number };

/** Who has a key, in order of grants, and who waits for it, in order of tickets. */
export type KeySnapshot<Label = string> = {
  readonly key: string;
  /** Null for the lock's own queue; else the hold that covers this key for all who are named here. */
  readonly inside: Blocker<Label> | null;
  readonly holders: readonly LockParty<Label>[];
  readonly waiters: readonly LockParty<Label>[];
};

/** The queues of the lock, then those inside of each hold. */
export function snapshotOf<Label>(queues: Queues<Claim<Label>>, now: number): readonly KeySnapshot<Label>[] {
  const found: KeySnapshot<Label>[] = [];
  const bases = new Set<Claim<Label> | null>([null]);
  for (const base of bases) {
    for (const queue of (base === null ? queues : base.inside?.queues)?.values() ?? []) {
      const holders = [...queue.holders()];
      found.push({
        key: queue.key,
        inside: base === null ? null : { label: base.label, ticket: base.ticket },
        holders: holders.map((place) => partyOf(place, now)),
        waiters: Array.from(queue.waiters(), (place) => partyOf(place, now)),
      });
      // The set grows while it is walked.
      for (const { owner } of holders) if (owner.inside !== null) bases.add(owner);
    }
  }
  return found;
}

function partyOf<Label>({ owner, mode }: Place<Claim<Label>>, now: number): LockParty<Label> {
  return { label: owner.label, ticket: owner.ticket, mode: nameOf(mode), ageMs: now - owner.since };
}
