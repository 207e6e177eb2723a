import { SignalboxError } from '../errors.ts';
import type { Held } from './acquire-options.ts';
import type { KeyedLock } from './keyed-lock.ts';
import { named } from './named.ts';
import type { ReleaseSlot } from './slot-pool.ts';
import { type Owner, ownerIn } from './tool-locks.ts';

/** What a batch is inside of: a hold that does not stand in its way, and the slot of the command whose hold that is. */
export type Around = { readonly hold: Held<Owner>; readonly slot: ReleaseSlot | null };

/** What is asked of a batch about one of its commands. */
export type Host = {
  /** What it holds while it, or anything of it, runs; `ended` behind that; `waits` before; `unknown` where there is none. */
  aroundOf(commandId: string): Around | 'waits' | 'ended' | 'unknown';
};

/**
 * Finds what a batch is to be inside of. Null where that is over: what is left behind by a command waits like any other.
 *
 * @throws SignalboxError OPTION_INVALID for what is neither a command nor a hold of this lock, and for a command that
 * does not run yet; BATCH_UNKNOWN.
 */
export function findAround(
  inside: Owner | Held<Owner> | undefined,
  { lock, get }: { readonly lock: KeyedLock<Owner>; readonly get: (batchId: string) => Host | undefined },
): Around | null {
  if (inside === undefined) return null;
  if (typeof inside === 'function') {
    // Refuses a stranger's, and holds nothing.
    lock.tryAcquire([], { lineage: inside })?.();
    return { hold: inside, slot: null };
  }
  const owner = ownerIn(inside);
  if (owner === null || Object.keys(inside).length !== 2) {
    throw invalid(
      `inside to be { batchId, commandId } of a command, or a hold of this dispatcher's lock`,
      named(inside),
    );
  }
  const { batchId, commandId } = owner;
  const host = get(batchId);
  if (host === undefined) {
    throw new SignalboxError(
      'BATCH_UNKNOWN',
      `Expected inside to name a batch of this dispatcher, got ${named(batchId)}`,
    );
  }
  const around = host.aroundOf(commandId);
  if (around === 'unknown') throw invalid(`inside to name a command of batch ${batchId}`, named(commandId));
  if (around === 'waits')
    throw invalid('inside to name a command that runs', `${named(commandId)}, which has not started`);
  return around === 'ended' ? null : around;
}

function invalid(expected: string, got: string): SignalboxError {
  return new SignalboxError('OPTION_INVALID', `Expected ${expected}, got ${got}`, { pointer: '/inside' });
}
