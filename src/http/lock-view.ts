import type { KeyedLock } from '../dispatcher/keyed-lock.ts';
import { areModesConflicting } from '../dispatcher/lock-modes.ts';
import type { KeySnapshot, LockParty } from '../dispatcher/lock-snapshot.ts';
import { type Owner, ownerIn } from '../dispatcher/tool-locks.ts';

/** A command by its ids; nulls for other work of this process that takes keys of the same lock. */
type Named = { readonly batchId: string | null; readonly commandId: string | null };

/** One who holds a key or waits for it, since so many milliseconds. */
export type LockUser = Named & { readonly mode: LockParty['mode']; readonly ageMs: number };

export type LockedKey = {
  readonly key: string;
  /** The hold that covers the key for all who are named; null for the lock's own queue. */
  readonly inside: Named | null;
  readonly holders: readonly LockUser[];
  readonly waiters: readonly LockUser[];
  readonly moreHolders: number;
  readonly moreWaiters: number;
};

/** A waiter with those who stand in its way: they hold what it needs, or asked for that before it. */
export type LockWait = Named & {
  readonly waitingMs: number;
  readonly waitsFor: readonly Named[];
  /** There are others besides those. */
  readonly andMore: boolean;
};

export type LockView = {
  readonly waits: readonly LockWait[];
  readonly moreWaits: number;
  readonly keys: readonly LockedKey[];
  readonly moreKeys: number;
};

/** What is told at most: some hundred kilobytes, whatever waits. */
export const MAX_KEYS = 200;
export const MAX_PARTIES = 16;
export const MAX_WAITS = 200;
export const MAX_BLOCKERS = 8;
const MAX_KEY_CHARS = 512;

/** A lock that can be looked at. */
export type Locks = Pick<KeyedLock<Owner>, 'snapshot'>;

type Party = LockParty<Owner>;
type Snapshot = readonly KeySnapshot<Owner>[];

/** The lock as a person wants to see it who asks why nothing moves: who has waited longest comes first. */
export function viewOf(snapshot: Snapshot): LockView {
  const waits = waitsOf(snapshot);
  const oldest = ({ waiters: [first] }: KeySnapshot<Owner>): number => first?.ageMs ?? -1;
  const keys = snapshot.toSorted((a, b) => oldest(b) - oldest(a));
  return {
    waits: waits.slice(0, MAX_WAITS),
    moreWaits: countWaiters(snapshot) - Math.min(waits.length, MAX_WAITS),
    keys: keys.slice(0, MAX_KEYS).map(({ key, inside, holders, waiters }) => ({
      key: key.length > MAX_KEY_CHARS ? `${key.slice(0, MAX_KEY_CHARS)}…` : key,
      inside: inside === null ? null : nameOf(inside),
      holders: holders.slice(0, MAX_PARTIES).map(userOf),
      waiters: waiters.slice(0, MAX_PARTIES).map(userOf),
      moreHolders: Math.max(0, holders.length - MAX_PARTIES),
      moreWaiters: Math.max(0, waiters.length - MAX_PARTIES),
    })),
    moreKeys: Math.max(0, keys.length - MAX_KEYS),
  };
}

/** Requests that wait, each counted once for all its keys. */
export function countWaiters(snapshot: Snapshot): number {
  return new Set(snapshot.flatMap(({ waiters }) => waiters.map(({ ticket }) => ticket))).size;
}

/** One for each request, over all its keys. Of one key only so many are looked at as can be told. */
function waitsOf(snapshot: Snapshot): readonly LockWait[] {
  const found = new Map<number, { readonly party: Party; readonly blockers: Map<number, Party> }>();
  for (const { holders, waiters } of snapshot) {
    for (const [at, party] of waiters.slice(0, MAX_WAITS).entries()) {
      const { blockers } = found.get(party.ticket) ?? { blockers: new Map<number, Party>() };
      found.set(party.ticket, { party, blockers });
      for (const other of [...holders, ...waiters.slice(0, at)]) {
        if (blockers.size > MAX_BLOCKERS) break;
        if (areModesConflicting(party.mode, other.mode)) blockers.set(other.ticket, other);
      }
    }
  }
  return [...found.values()]
    .toSorted((a, b) => b.party.ageMs - a.party.ageMs)
    .map(({ party, blockers }) => ({
      ...nameOf(party),
      waitingMs: Math.round(party.ageMs),
      waitsFor: [...blockers.values()].slice(0, MAX_BLOCKERS).map(nameOf),
      andMore: blockers.size > MAX_BLOCKERS,
    }));
}

function userOf(party: Party): LockUser {
  return { ...nameOf(party), mode: party.mode, ageMs: Math.round(party.ageMs) };
}

function nameOf({ label }: Pick<Party, 'label'>): Named {
  return ownerIn(label) ?? { batchId: null, commandId: null };
}
