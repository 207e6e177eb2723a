import { isUtf8 } from 'node:buffer';

/** A first piece of a stream is given room for this much, and twice as much each time that it is full. */
const FIRST_BYTES = 256;

const NOTHING = Buffer.alloc(0);

/**
 * Bytes that only grow at their end, outside the JavaScript heap. What was appended never changes and never moves, so a
 * range of it, or a view of all so far, stays true whatever is appended later.
 */
export class ByteLog {
  #room = NOTHING;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(bytes: Buffer): void {
    const needed = this.#length + bytes.length;
    if (needed > this.#room.length) this.#resize(Math.max(FIRST_BYTES, this.#room.length * 2, needed));
    // Copied in, never kept as a view: a view would keep the whole chunk that it came from.
    this.#length += bytes.copy(this.#room, this.#length);
  }

  /** The bytes from one place to another, not copied. */
  range(from: number, to: number): Buffer {
    return this.#room.subarray(from, to);
  }

  /** All bytes so far, not copied. */
  view(): Buffer {
    return this.range(0, this.#length);
  }

  /** Gives up the room that was kept for more. */
  seal(): Buffer {
    if (this.#room.length > this.#length) this.#resize(this.#length);
    return this.#room;
  }

  #resize(bytes: number): void {
    // Its own memory: a part of Node's shared pool would keep the whole pool.
    const room = bytes === 0 ? NOTHING : Buffer.allocUnsafeSlow(bytes);
    this.#room.copy(room, 0, 0, this.#length);
    this.#room = room;
  }
}

/** How bytes are given as text, so that none is lost. */
export function encodingOf(bytes: Buffer): 'utf8' | 'base64' {
  return isUtf8(bytes) ? 'utf8' : 'base64';
}

/** A piece of text that stands in a log, and is read from there each time. */
export class TextRange {
  readonly #log: ByteLog;
  readonly #from: number;
  readonly #to: number;

  constructor(log: ByteLog, from: number, to: number) {
    this.#log = log;
    this.#from = from;
    this.#to = to;
  }

  /** The text; where the bytes are none, base64, which says so. */
  get told(): { readonly text: string; readonly encoding?: 'base64' } {
    const bytes = this.#log.range(this.#from, this.#to);
    const encoding = encodingOf(bytes);
    const text = bytes.toString(encoding);
    return encoding === 'utf8' ? { text } : { text, encoding };
  }
}
