import { BatchStore } from '../dispatcher/store.ts';
import type { Batch } from '../dispatcher/types.ts';
import { SignalboxError } from '../errors.ts';
import { show } from '../issue-text.ts';

/** A batch that can still be asked for. `hasEnded` once its events are complete. */
export type KeptBatch = { readonly id: string; readonly batch: Batch; hasEnded: boolean };

/** The batches of this service, running or ended, by their ids. */
export type KeptBatches = {
  keep(batch: Batch): void;
  /** Throws BATCH_UNKNOWN. */
  find(id: string): KeptBatch;
};

/** Keeps every batch that runs, and the ended ones by count and age. `now` is milliseconds of a clock that goes forward. */
export function createKeptBatches(
  retention: { readonly maxBatches: number; readonly maxAgeMs: number },
  now: () => number,
): KeptBatches {
  const store = new BatchStore<KeptBatch>(retention, now);
  return {
    keep(batch) {
      const kept: KeptBatch = { id: batch.id, batch, hasEnded: false };
      store.add(kept);
      void batch.done.then(() => {
        kept.hasEnded = true;
        store.end(kept);
      });
    },
    find(id) {
      const kept = store.get(id);
      if (kept === undefined)
        throw new SignalboxError('BATCH_UNKNOWN', `Expected the id of a batch that is kept, got ${show(id)}`);
      return kept;
    },
  };
}
