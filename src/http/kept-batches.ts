import { BatchStore, type Retention } from '../dispatcher/store.ts';
import type { Batch } from '../dispatcher/types.ts';
import { SignalboxError } from '../errors.ts';
import { show } from '../issue-text.ts';
import type { Intake } from './intake.ts';

/** A batch that can still be asked for. */
export type KeptBatch = {
  readonly id: string;
  readonly batch: Batch;
  /** Where more commands come in; null for one that was complete from the start. */
  readonly intake: Intake | null;
  readonly keptBytes: number;
  /** True once its events are complete. */
  hasEnded: boolean;
};

/** The batches of this service, running or ended, by their ids. */
export type KeptBatches = {
  keep(batch: Batch, intake?: Intake): KeptBatch;
  /** Throws BATCH_UNKNOWN, and BATCH_GONE for one that is kept no more. */
  find(id: string): KeptBatch;
  /** Says that an answer is made from a batch, until what is returned is called; `breakOff` when its bytes are needed. */
  hold(kept: KeptBatch, breakOff: () => void): () => void;
  /** Bytes of the ended batches that are kept, or still read. */
  bytes(): number;
};

/** Keeps every batch that runs, and the ended ones by count, age and bytes. `now` is milliseconds of a clock that goes forward. */
export function createKeptBatches(retention: Retention, now: () => number): KeptBatches {
  const store = new BatchStore<KeptBatch>(retention, now);
  return {
    keep(batch, intake) {
      const kept: KeptBatch = {
        id: batch.id,
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
    find(id) {
      const kept = store.get(id);
      if (kept !== undefined) return kept;
      if (store.isGone(id))
        throw new SignalboxError('BATCH_GONE', `Expected the id of a batch that is still kept, got ${show(id)}`);
      throw new SignalboxError('BATCH_UNKNOWN', `Expected the id of a batch that is kept, got ${show(id)}`);
    },
    hold: (kept, breakOff) => store.hold(kept, breakOff),
    bytes: () => store.bytes,
  };
}
