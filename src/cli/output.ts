import { once } from 'node:events';
import type { Writable } from 'node:stream';

/** A stream that results are written to, whose reader may be slow or may leave. */
export type Output = {
  /** Settles when more may be written. After the reader has left it does nothing. */
  write(text: string): Promise<void>;
  /** Aborted when nothing can be written any more; its reason is the stream's error (`EPIPE` when the reader left). */
  readonly closed: AbortSignal;
};

/** True for the error of a stream whose reader has left, which is no fault of anybody: `signalbox … | head -1`. */
export function isReaderGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EPIPE' || error.code === 'EOF');
}

/** Writes with back-pressure: never more than one buffer of the stream ahead of its reader. */
export function openOutput(stream: Writable): Output {
  const closing = new AbortController();
  const closed = closing.signal;
  stream.on('error', (error) => closing.abort(error));

  async function write(text: string): Promise<void> {
    if (closed.aborted || stream.write(text)) return;
    // An abort ends the wait, and the caller learns of it from `closed`.
    await once(stream, 'drain', { signal: closed }).catch(() => undefined);
  }

  return { write, closed };
}
