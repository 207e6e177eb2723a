/** Small chunks are copied into blocks of this size, so that a program that prints single bytes costs no more. */
const BLOCK_BYTES = 8192;

/**
 * The last bytes of a stream. Bytes are copied in, never kept as views: a view would keep the whole chunk it came from.
 */
export class TailBuffer {
  #blocks: Buffer[] = [];
  /** Where the kept bytes begin in the first block. */
  #start = 0;
  /** How much of the last block is filled. */
  #fill = BLOCK_BYTES;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) {
      if (this.#fill === BLOCK_BYTES) {
        this.#blocks.push(Buffer.allocUnsafeSlow(BLOCK_BYTES));
        this.#fill = 0;
      }
      const copied = bytes.copy(this.#blocks.at(-1) as Buffer, this.#fill, at);
      this.#fill += copied;
      at += copied;
    }
    this.#length += bytes.length;
  }

  /** Forgets the oldest bytes. */
  drop(count: number): void {
    this.#start += count;
    this.#length -= count;
    const emptied = Math.floor(this.#start / BLOCK_BYTES);
    if (emptied === 0) return;
    this.#blocks.splice(0, emptied);
    this.#start -= emptied * BLOCK_BYTES;
    if (this.#blocks.length === 0) this.#fill = BLOCK_BYTES;
  }

  /** What is kept, as one copy. */
  toBuffer(): Buffer {
    const all = Buffer.concat(this.#blocks);
    return all.subarray(this.#start, this.#start + this.#length);
  }

  clear(): void {
    this.#blocks = [];
    this.#start = 0;
    this.#fill = BLOCK_BYTES;
    this.#length = 0;
  }
}
