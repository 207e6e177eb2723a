import type { Storage } from './storage.ts';

export type LogOptions = {
  /** Where the records are. */
  readonly storage: Storage;
  /** Called for every record that the log holds, in order, before `openLog` resolves. What it throws, `openLog` rejects with. */
  readonly replay: (record: unknown) => void;
  /** A segment that has as many bytes gets no more records, 1,024 to 268,435,456. Default 16,777,216. */
  readonly segmentBytes?: number;
};
