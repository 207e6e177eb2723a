import { createHash } from 'node:crypto';
import { type BigIntStats, lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { DIRECTORY, FORMAT, type IndexEntry, MODE_AT, STATUS_BYTES, SUBMODULE, visitIndex } from './index-reader.ts';

/** Past these nobody has looked to the end, and the answer is that something may be stale. */
const MAX_ENTRIES = 20_000;
const MAX_HASHED_FILES = 200;
const MAX_HASHED_BYTES = 33_554_432;

const ASSUMED_UNCHANGED = 0x8000;
const STAGE = 0x3000;
/** Skipped in the work tree, or only meant to be added. */
const NOT_COMPARED = 0x6000;
const LINK = 0o120000;

const CTIME_AT = 0;
const MTIME_AT = 8;
const INODE_AT = 20;
const SIZE_AT = 36;

/**
 * The first tracked file whose recorded times or sizes no longer fit although its content is what was recorded, as a
 * clause for a person; null when there is none. Git would look into such a file, find it unchanged, and record the new
 * times; a read that is kept from recording them names the file as changed instead.
 *
 * A file that has really changed is named either way, so it is no finding. Where that cannot be told, because git may
 * turn the content into something else before it compares, the file counts as stale.
 *
 * @param top of the work tree, absolute. @param hashBytes 20 with SHA-1, 32 with SHA-256.
 */
export function staleEntry(index: Buffer, hashBytes: number, top: string): string | null {
  const left = { entries: MAX_ENTRIES, files: MAX_HASHED_FILES, bytes: MAX_HASHED_BYTES };
  let stale: string | null = null;
  const end = visitIndex(index, hashBytes, (entry) => {
    if (stale !== null) return;
    if (left.entries-- <= 0) stale = `more than ${MAX_ENTRIES} files are tracked`;
    else if (isCompared(index, entry)) stale = staleness(index, hashBytes, top, entry, left);
  });
  if (end === null) return 'the index cannot be read or understood';
  if (end.isSplit) return 'the index is split over two files';
  return stale;
}

function isCompared(index: Buffer, { statusAt, flags, moreFlags }: IndexEntry): boolean {
  if ((flags & (ASSUMED_UNCHANGED | STAGE)) !== 0 || (moreFlags & NOT_COMPARED) !== 0) return false;
  return (index.readUInt32BE(statusAt + MODE_AT) & FORMAT) !== SUBMODULE;
}

function staleness(
  index: Buffer,
  hashBytes: number,
  top: string,
  { statusAt, path }: IndexEntry,
  left: { files: number; bytes: number },
): string | null {
  const format = index.readUInt32BE(statusAt + MODE_AT) & FORMAT;
  if (format === DIRECTORY) return 'the index names directories instead of files';
  const file = Buffer.concat([Buffer.from(`${top}/`), path]);
  const name = path.toString();
  try {
    const status = lstatSync(file, { bigint: true, throwIfNoEntry: false });
    // Gone, or something else now: changed for every reader.
    if (status === undefined || isLink(status) !== (format === LINK) || !(isLink(status) || status.isFile()))
      return null;
    if (isRecorded(index, statusAt, status)) return null;
    if (left.files-- <= 0) return `the recorded times of more than ${MAX_HASHED_FILES} files do not fit`;
    left.bytes -= Number(status.size);
    if (left.bytes < 0) return `the recorded times of more than ${MAX_HASHED_BYTES} bytes do not fit`;
    const content = isLink(status) ? readlinkSync(file, 'buffer') : readFileSync(file);
    const recorded = index.subarray(statusAt + STATUS_BYTES, statusAt + STATUS_BYTES + hashBytes);
    if (objectName(content, hashBytes).equals(recorded)) return `${name} has new times and its recorded content`;
    return mayBeConverted(content) ? `${name} has new times, and may be converted before it is compared` : null;
  } catch {
    return `${name} could not be looked at`;
  }
}

/** Git compares fewer of these, depending on how it was built and configured: whatever it calls fresh may only be asked for twice. */
function isRecorded(index: Buffer, at: number, { ctimeNs, mtimeNs, ino, size }: BigIntStats): boolean {
  return (
    index.readUInt32BE(at + SIZE_AT) === Number(size & 0xffff_ffffn) &&
    index.readUInt32BE(at + INODE_AT) === Number(ino & 0xffff_ffffn) &&
    timeAt(index, at + MTIME_AT) === mtimeNs &&
    timeAt(index, at + CTIME_AT) === ctimeNs
  );
}

/** Seconds in 32 bits, then nanoseconds. */
function timeAt(index: Buffer, at: number): bigint {
  return BigInt(index.readUInt32BE(at)) * 1_000_000_000n + BigInt(index.readUInt32BE(at + 4));
}

function objectName(content: Buffer, hashBytes: number): Buffer {
  const hash = createHash(hashBytes === 20 ? 'sha1' : 'sha256');
  return hash.update(`blob ${content.length}\0`).update(content).digest();
}

/** Line ends, `$Id$` and encodings are what attributes and settings convert without a program. */
function mayBeConverted(content: Buffer): boolean {
  if (content.includes('\r\n') || content.includes('$Id')) return true;
  return content.includes(0) && (content.readUInt16BE(0) >= 0xfe00 || content.includes(Buffer.from([0, 0x0a])));
}

function isLink(status: BigIntStats): boolean {
  return status.isSymbolicLink();
}
