import { crc32 } from 'node:zlib';
import { SignalboxError } from '../../errors.ts';
import { type Frame, findFrame, readFrame } from './frame.ts';

/** A file of the log. Its name says which record is its first, counted from 0 over the whole log. */
export type Segment = { readonly name: string; readonly first: number };

/** What a segment holds. */
export type SegmentContent = {
  /** As they were appended. */
  readonly records: readonly unknown[];
  /** How many bytes from the start are sound. Fewer than the file has only where the last write was torn. */
  readonly soundBytes: number;
};

const NAME = /^records-([0-9]{16})\.log$/;
const FORMAT = 1;

/** The segment that begins with this record. */
export function segmentFrom(first: number): Segment {
  return { name: `records-${String(first).padStart(16, '0')}.log`, first };
}

/** Those of a directory's files that are segments, the oldest first. */
export function segmentsOf(names: readonly string[]): readonly Segment[] {
  return names
    .filter((name) => NAME.test(name))
    .sort()
    .map((name) => ({ name, first: Number(NAME.exec(name)?.[1]) }));
}

/** Where the checksums of a segment's frames start from: bytes of another file, left on the disk, do not pass. */
export function seedOf({ name }: Segment): number {
  return crc32(name);
}

/** The payload of a segment's first frame. */
export function headerOf({ first }: Segment): Buffer {
  return Buffer.from(JSON.stringify({ signalbox: 'journal', format: FORMAT, first }));
}

/**
 * Reads a segment. What a crash may leave is cut: of the very last group that was written, any part may be missing. A group is
 * written only when the one before it is durable, so damage with a later group behind it is none that a crash leaves.
 * @param isLast whether no segment follows: only its end may be torn
 * @throws SignalboxError JOURNAL_CORRUPT
 */
export function readSegment(bytes: Buffer, segment: Segment, isLast: boolean, place: string): SegmentContent {
  const seed = seedOf(segment);
  const frames: Frame[] = [];
  let [at, group] = [0, 0];
  for (let frame = readFrame(bytes, 0, seed); frame !== null; frame = readFrame(bytes, at, seed)) {
    if (frame.group !== at && frame.group !== group)
      throw corrupt(place, segment, at, 'a record that stands elsewhere');
    frames.push(frame);
    [at, group] = [frame.end, frame.group];
  }
  if (at < bytes.length || at === 0) {
    if (!isLast) throw corrupt(place, segment, at, 'damage in a file that is not the last');
    for (let later = findFrame(bytes, at, seed); later !== null; later = findFrame(bytes, later + 1, seed)) {
      const frame = readFrame(bytes, later, seed);
      if (frame !== null && frame.group > at) throw corrupt(place, segment, at, 'damage with sound records behind it');
    }
  }
  const [header, ...rest] = frames;
  if (header !== undefined && !header.payload.equals(headerOf(segment))) {
    throw corrupt(place, segment, 0, `a header of another format: ${header.payload.toString('utf8', 0, 200)}`);
  }
  return { records: rest.map((frame) => parse(frame, segment, place)), soundBytes: at };
}

/** A record whose bytes are sound was JSON when it was written. */
function parse({ payload, end }: Frame, segment: Segment, place: string): unknown {
  try {
    return JSON.parse(payload.toString('utf8'));
  } catch (cause) {
    throw corrupt(place, segment, end - payload.length, 'a record that is no JSON', cause);
  }
}

/** @param found what stands where something else was expected */
export function corrupt(place: string, segment: Segment, at: number, found: string, cause?: unknown): SignalboxError {
  const where = `${JSON.stringify(segment.name)} of the journal in ${JSON.stringify(place)} at byte ${at}`;
  return new SignalboxError('JOURNAL_CORRUPT', `Expected sound records in ${where}, got ${found}`, {
    cause,
    hint: 'Nothing was changed. Bring the files back from a copy, or move the directory away to begin anew.',
  });
}
