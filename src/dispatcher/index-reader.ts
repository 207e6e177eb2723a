/**
 * The list of tracked files, as `.git/index` holds it (gitformat-index, versions 2 to 4): only what a probe asks of it. One
 * that does not name all files has nothing to ask: whatever is not found in it may be tracked all the same.
 */
export type TrackedFiles =
  | {
      readonly kind: 'whole';
      /** Paths, from the top of the work tree, at which another repository is recorded. */
      readonly submodules: readonly string[];
      /** Paths of tracked attributes files. */
      readonly attributes: readonly string[];
    }
  | {
      readonly kind: 'partial';
      /** The list is split over two files; else whole directories are one entry. */
      readonly isSplit: boolean;
    };

const HEADER_BYTES = 12;
/** Times, device, inode, mode, owner and size, which stand before the object's name. */
export const STATUS_BYTES = 40;
export const MODE_AT = 24;
const LONGEST_NAME = 0xfff;
const EXTENDED = 0x4000;
export const FORMAT = 0o170000;
export const SUBMODULE = 0o160000;
export const DIRECTORY = 0o040000;

export const ATTRIBUTES_FILE = '.gitattributes';

/** One tracked file: where its recorded status lies in the bytes, its flags, and its path. */
export type IndexEntry = {
  readonly statusAt: number;
  readonly flags: number;
  /** Version 3 and later, where `flags` says so; else 0. */
  readonly moreFlags: number;
  readonly path: Buffer;
};

/** @param hashBytes of an object's name: 20, or 32 with SHA-256. Null when the bytes are no index that is understood. */
export function readIndex(bytes: Buffer, hashBytes: number): TrackedFiles | null {
  const submodules: string[] = [];
  const attributes: string[] = [];
  let isPartial = false;
  const end = visitIndex(bytes, hashBytes, ({ statusAt, path }) => {
    const format = bytes.readUInt32BE(statusAt + MODE_AT) & FORMAT;
    if (format === SUBMODULE) submodules.push(path.toString());
    else if (format === DIRECTORY) isPartial = true;
    else if (isAttributesFile(path)) attributes.push(path.toString());
  });
  if (end === null) return null;
  if (isPartial || end.isSplit) return { kind: 'partial', isSplit: end.isSplit };
  return { kind: 'whole', submodules, attributes };
}

/**
 * Calls `visit` for each entry, in their order. Null when the bytes are no index that is understood; else whether the
 * list goes on in another file.
 */
export function visitIndex(
  bytes: Buffer,
  hashBytes: number,
  visit: (entry: IndexEntry) => void,
): { readonly isSplit: boolean } | null {
  if (bytes.length < HEADER_BYTES + hashBytes || bytes.toString('latin1', 0, 4) !== 'DIRC') return null;
  const version = bytes.readUInt32BE(4);
  if (version < 2 || version > 4) return null;
  const end = bytes.length - hashBytes;
  let at = HEADER_BYTES;
  // Version 4 leaves out what a path has in common with the one before.
  let before: Buffer = Buffer.alloc(0);
  for (let left = bytes.readUInt32BE(8); left > 0; left--) {
    const start = at;
    const flagsAt = start + STATUS_BYTES + hashBytes;
    if (flagsAt + 4 > end) return null;
    const flags = bytes.readUInt16BE(flagsAt);
    const isExtended = (flags & EXTENDED) !== 0;
    at = flagsAt + (isExtended ? 4 : 2);
    let path: Buffer;
    if (version === 4) {
      const dropped = readOffset(bytes, at);
      if (dropped === null || dropped.value > before.length) return null;
      const nul = bytes.indexOf(0, dropped.next);
      if (nul < 0 || nul > end) return null;
      path = Buffer.concat([before.subarray(0, before.length - dropped.value), bytes.subarray(dropped.next, nul)]);
      before = path;
      at = nul + 1;
    } else {
      const told = flags & LONGEST_NAME;
      const nul = told < LONGEST_NAME ? at + told : bytes.indexOf(0, at);
      if (nul < 0 || nul >= end || bytes[nul] !== 0) return null;
      path = bytes.subarray(at, nul);
      // One to eight NULs, so that entries begin at multiples of eight.
      at = start + ((nul - start + 8) & ~7);
    }
    visit({ statusAt: start, flags, moreFlags: isExtended ? bytes.readUInt16BE(flagsAt + 2) : 0, path });
  }
  const isSplit = findExtension(bytes, at, end, 'link');
  return isSplit === null ? null : { isSplit };
}

function isAttributesFile(path: Buffer): boolean {
  const start = path.length - ATTRIBUTES_FILE.length;
  if (start < 0 || path[path.length - 1] !== 0x73 || path[start] !== 0x2e) return false;
  return path.toString('latin1', start) === ATTRIBUTES_FILE && (start === 0 || path[start - 1] === 0x2f);
}

/** The variable-width number of packs, where each further byte counts from one. */
function readOffset(bytes: Buffer, from: number): { readonly value: number; readonly next: number } | null {
  let at = from;
  let byte = bytes[at++] ?? 0;
  let value = byte & 0x7f;
  while ((byte & 0x80) !== 0) {
    if (value > 0xffff || at >= bytes.length) return null;
    byte = bytes[at++]!;
    value = (value + 1) * 128 + (byte & 0x7f);
  }
  return { value, next: at };
}

function findExtension(bytes: Buffer, from: number, end: number, name: string): boolean | null {
  let at = from;
  while (at < end) {
    if (at + 8 > end) return null;
    if (bytes.toString('latin1', at, at + 4) === name) return true;
    at += 8 + bytes.readUInt32BE(at + 4);
  }
  return at === end ? false : null;
}
