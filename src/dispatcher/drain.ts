import type { Readable } from 'node:stream';

/** However much a child that stays behind prints, the command's own output has been read after so many idle times. */
const MAX_IDLES = 10;

/**
 * Watches the pipes of a process from its start. `drain` waits, after the process has ended, until both are at their
 * end, or nothing has come for `idleMs`: a pipe stays open as long as any child holds it.
 */
export class Pipes {
  readonly #streams: readonly Readable[];
  #open: number;
  #chunks = 0;
  #onClosed: (() => void) | null = null;

  constructor(streams: readonly Readable[], onChunk: (index: number, chunk: Buffer) => void) {
    this.#streams = streams;
    this.#open = streams.length;
    for (const [index, stream] of streams.entries()) {
      stream.on('data', (chunk: Buffer) => {
        this.#chunks += 1;
        onChunk(index, chunk);
      });
      // A pipe that breaks has nothing more to say; `close` follows every end and every error.
      stream.on('error', () => {});
      stream.once('close', () => {
        this.#open -= 1;
        if (this.#open === 0) this.#onClosed?.();
      });
    }
  }

  get isOpen(): boolean {
    return this.#open > 0;
  }

  drain(idleMs: number): Promise<void> {
    if (!this.isOpen) return Promise.resolve();
    return new Promise((resolve) => {
      const until = performance.now() + idleMs * MAX_IDLES;
      let seen = this.#chunks;
      let timer: NodeJS.Timeout;
      const check = (): void => {
        if (this.isOpen && this.#chunks !== seen && performance.now() < until) {
          seen = this.#chunks;
          arm();
        } else {
          finish();
        }
      };
      // A loop that was busy finds the timer due before it has read what waits in the pipe: look again after reading.
      const arm = (): void => {
        timer = setTimeout(() => setImmediate(check), idleMs);
      };
      const finish = (): void => {
        clearTimeout(timer);
        this.#onClosed = null;
        resolve();
      };
      this.#onClosed = finish;
      arm();
    });
  }

  /** Reads no more. A child that still prints is told so by SIGPIPE. */
  destroy(): void {
    for (const stream of this.#streams) stream.destroy();
  }

  /** Goes on reading for children that may live, without keeping this process alive for it. */
  detach(): void {
    for (const stream of this.#streams) (stream as Readable & { unref?: () => void }).unref?.();
  }
}
