import { BatchStore, type Retention } from '../dispatcher/store.ts';
import type { Batch } from '../dispatcher/types.ts';
import { SignalboxError } from '../errors.ts';
import { show } from '../issue-text.ts';
import type { Intake } from './intake.ts';
import type { Principal } from './token.ts';

/** A batch that can still be asked for. */
export type KeptBatch = {
  readonly id: string;
  /** The name of the token that it was opened with. */
  readonly owner: string;
  readonly batch: Batch;
  /** Where more commands come in; null for one that was complete from the start. */
  readonly intake: Intake | null;
  readonly keptBytes: number;
  /** True once its events are complete. */
  hasEnded: boolean;
};

/** The batches of this service, running or ended, by their ids. */
export type KeptBatches = {
  keep(batch: Batch, owner: Principal, intake?: Intake): KeptBatch;
  /**
   * A batch that somebody may see and cancel: their own, or anybody's with the scope `admin`. Throws BATCH_UNKNOWN, also for
   * one that is not theirs, and BATCH_GONE for one that is kept no more.
   */
  find(id: string, who: Principal): KeptBatch;
  /** The same of one that somebody may change: their own. Throws BATCH_FOREIGN for one that they may only see. */
  findOwn(id: string, who: Principal): KeptBatch;
  /** Says that an answer is made from a batch, until what is returned is called; `breakOff` when its bytes are needed. */
  hold(kept: KeptBatch, breakOff: () => void): () => void;
  /** Bytes of the ended batches that are kept, or still read. */
  bytes(): number;
};

/** Keeps every batch that runs, and the ended ones by count, age and bytes. `now` is milliseconds of a clock that goes forward. */
export function createKeptBatches(retention: Retention, now: () => number): KeptBatches {
  const store = new BatchStore<KeptBatch>(retention, now);
  const find = (id: string, who: Principal): KeptBatch => {
    const sees = (owner: string | undefined): boolean => owner === who.name || who.scopes.has('admin');
    const kept = store.get(id);
    if (kept !== undefined && sees(kept.owner)) return kept;
    if (store.isGone(id) && sees(store.formerOwner(id)))
      throw new SignalboxError('BATCH_GONE', `Expected the id of a batch that is still kept, got ${show(id)}`);
    throw new SignalboxError('BATCH_UNKNOWN', `Expected the id of a batch that is kept, got ${show(id)}`);
  };
  return {
    keep(batch, { name }, intake) {
      const kept: KeptBatch = {
        id: batch.id,
        owner: name,
        batch,
        intake: intake ?? null,
        get keptBytes() {
          return batch.keptBytes + (intake?.bytes ?? 0);
        },
        hasEnded: false,
      };
      store.add(kept);
      void batch.done.then(() => {
        kept.hasEnded = true;
        store.end(kept);
      });
      return kept;
    },
    find,
    findOwn(id, who) {
      const kept = find(id, who);
      if (kept.owner === who.name) return kept;
      throw new SignalboxError('BATCH_FOREIGN', `Expected a batch of the token ${show(who.name)}, got one of another`, {
        hint: 'With the scope admin it can be read and cancelled',
      });
    },
    hold: (kept, breakOff) => store.hold(kept, breakOff),
    bytes: () => store.bytes,
  };
}
