import { checkNames } from '../../classifier/option-names.ts';
import { count } from '../option-checks.ts';
import { storageFailure } from './failure.ts';
import type { LogOptions } from './log-options.ts';
import { corrupt, readSegment, type Segment, segmentsOf } from './segment.ts';
import type { Storage } from './storage.ts';
import { LogWriter } from './writer.ts';

const NAMES: ReadonlySet<string> = new Set(['storage', 'replay', 'segmentBytes']);
const DEFAULT_SEGMENT_BYTES = 16 * 1024 * 1024;

/** A durable list of records that only grows. */
export type Log = {
  /**
   * Adds a record, anything that `JSON.stringify` makes text of, as it is now. Resolves when it is durable; records are durable in the
   * order of the calls. A record that is no JSON or too large rejects with OPTION_INVALID and harms nobody. Any other failure
   * (JOURNAL_FULL, JOURNAL_FAILED) is the log's last: this and every later append rejects with it. Whether a rejected record is in
   * the log is told by opening it again.
   */
  append(record: unknown): Promise<void>;
  /** Takes no more records, and resolves when those taken have their answer and another may open the log. May be called twice. */
  close(): Promise<void>;
  /** Bytes at the end that a crash had left torn, and that were cut: nobody was told that they were durable. Mostly 0. */
  readonly cutBytes: number;
};

/**
 * Opens a log for this process alone, replays it and takes records.
 * @throws SignalboxError JOURNAL_HELD, JOURNAL_CORRUPT (and nothing is changed), JOURNAL_FULL, JOURNAL_FAILED, OPTION_INVALID.
 *
 * @example
 * const log = await openLog({ storage: fileStorage('/var/lib/signalbox'), replay: (record) => known.push(record) });
 * await log.append({ kind: 'accepted', batch: 'b1' });
 * await log.close();
 */
export async function openLog(options: LogOptions): Promise<Log> {
  checkNames(options, NAMES, 'openLog');
  const { storage, replay } = options;
  const segmentBytes = count('segmentBytes', options.segmentBytes ?? DEFAULT_SEGMENT_BYTES, 1024, 2 ** 28);
  const free = await tried(storage, storage.hold());
  try {
    const { end, cutBytes } = await recover(storage, replay);
    const writer = new LogWriter(storage, segmentBytes, end);
    return Object.freeze({
      append: (record: unknown) => writer.append(record),
      async close() {
        await writer.close();
        await free();
      },
      cutBytes,
    });
  } catch (error) {
    await free();
    throw error;
  }
}

/** Replays all segments; a torn end is cut first, so that no reader knows what the next one will not. */
async function recover(storage: Storage, replay: LogOptions['replay']) {
  const segments = segmentsOf(await tried(storage, storage.list()));
  let end = segments[0]?.first ?? 0;
  let cutBytes = 0;
  for (const [index, segment] of segments.entries()) {
    if (segment.first !== end)
      throw corrupt(storage.place, segment, 0, `record ${segment.first} where ${end} was to follow`);
    const bytes = await tried(storage, storage.read(segment.name));
    const isLast = index === segments.length - 1;
    const { records, soundBytes } = readSegment(bytes, segment, isLast, storage.place);
    if (isLast) {
      cutBytes = bytes.length - soundBytes;
      await tried(storage, settle(storage, segment, records.length, soundBytes));
    }
    for (const record of records) replay(record);
    end += records.length;
  }
  return { end, cutBytes };
}

/**
 * Makes the last segment durable as it was read, also where nothing is cut: a process that was killed may have written without
 * having synced. One without a record goes, since the next segment takes its name.
 */
async function settle(storage: Storage, segment: Segment, records: number, soundBytes: number): Promise<void> {
  if (records === 0) await storage.remove(segment.name);
  else await storage.truncate(segment.name, soundBytes);
  await storage.syncDirectory();
}

async function tried<Value>(storage: Storage, deed: Promise<Value>): Promise<Value> {
  try {
    return await deed;
  } catch (cause) {
    throw storageFailure('open', storage.place, cause);
  }
}
