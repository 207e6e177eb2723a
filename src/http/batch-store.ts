import type { Config } from '../config.ts';
import type { Batch } from '../dispatcher/types.ts';

/** The batches that can still be asked for. */
export type BatchStore = {
  add(batch: Batch): void;
  get(id: string): Batch | undefined;
  /** True when the batch has ended and its events are complete. */
  hasEnded(id: string): boolean;
};

/**
 * Keeps every batch that runs, and the ended ones by count and age: the oldest end goes first. `now` is milliseconds
 * of any clock that goes forward.
 */
export function createBatchStore({ maxBatches, maxAgeMs }: Config['retention'], now: () => number): BatchStore {
  const batches = new Map<string, Batch>();
  /** When each ended, in the order of their ends. */
  const ended = new Map<string, number>();

  const forget = (): void => {
    for (const [id, at] of ended) {
      if (ended.size <= maxBatches && now() - at <= maxAgeMs) return;
      ended.delete(id);
      batches.delete(id);
    }
  };

  return {
    add(batch) {
      batches.set(batch.id, batch);
      void batch.done.then(() => {
        ended.set(batch.id, now());
        forget();
      });
    },
    get(id) {
      forget();
      return batches.get(id);
    },
    hasEnded: (id) => ended.has(id),
  };
}
