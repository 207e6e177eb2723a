import { crc32 } from 'node:zlib';

/*
 * A frame is a header and a payload of JSON in UTF-8. The header: a mark of one byte, then three numbers of 32 bits, little
 * endian: the payload's length, how many bytes before this frame its group begins (a group is what one write holds), and a
 * CRC-32 of those two and the payload. JSON has no control characters, so the mark never stands in a payload.
 */

const MARK = 0x1e;
const HEADER_BYTES = 13;

/** The longest payload in bytes; a length above it is damage. */
export const MAX_PAYLOAD_BYTES = 256 * 1024 * 1024;

/** What was read at one place of a file. */
export type Frame = {
  readonly payload: Buffer;
  /** Where its group begins, an offset into the file. */
  readonly group: number;
  /** Where the next frame begins. */
  readonly end: number;
};

/** How many bytes a payload takes as a frame. */
export function frameBytes(payload: Buffer): number {
  return HEADER_BYTES + payload.length;
}

/**
 * Puts payloads behind each other, as one group.
 * @param seed where the checksums start from, so that a frame of another file does not pass
 */
export function encodeGroup(payloads: readonly Buffer[], seed: number): Buffer {
  const bytes = Buffer.allocUnsafe(payloads.reduce((sum, payload) => sum + frameBytes(payload), 0));
  let at = 0;
  for (const payload of payloads) {
    bytes[at] = MARK;
    bytes.writeUInt32LE(payload.length, at + 1);
    bytes.writeUInt32LE(at, at + 5);
    payload.copy(bytes, at + HEADER_BYTES);
    bytes.writeUInt32LE(checksum(bytes, at, payload.length, seed), at + 9);
    at += frameBytes(payload);
  }
  return bytes;
}

/** The frame at an offset, or null when there is no whole and sound one. */
export function readFrame(bytes: Buffer, at: number, seed: number): Frame | null {
  if (at + HEADER_BYTES > bytes.length || bytes[at] !== MARK) return null;
  const length = bytes.readUInt32LE(at + 1);
  const back = bytes.readUInt32LE(at + 5);
  const end = at + HEADER_BYTES + length;
  if (length > MAX_PAYLOAD_BYTES || end > bytes.length || back > at) return null;
  if (bytes.readUInt32LE(at + 9) !== checksum(bytes, at, length, seed)) return null;
  return { payload: bytes.subarray(at + HEADER_BYTES, end), group: at - back, end };
}

/** The first offset from which a sound frame can be read, not before `from`; null when there is none. */
export function findFrame(bytes: Buffer, from: number, seed: number): number | null {
  for (let at = bytes.indexOf(MARK, from); at >= 0; at = bytes.indexOf(MARK, at + 1)) {
    if (readFrame(bytes, at, seed) !== null) return at;
  }
  return null;
}

function checksum(bytes: Buffer, at: number, length: number, seed: number): number {
  const numbers = crc32(bytes.subarray(at + 1, at + 9), seed);
  return crc32(bytes.subarray(at + HEADER_BYTES, at + HEADER_BYTES + length), numbers);
}
