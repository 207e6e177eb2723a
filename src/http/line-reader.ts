import type { Readable } from 'node:stream';
import { SignalboxError } from '../errors.ts';

/** A line that is not blank, without its end; `number` counts all lines from 1. */
export type Line = { readonly number: number; readonly bytes: Buffer };

/** `end`: all of the body has come. `broken`: the connection ended before that. `stopped`: nobody wants more of it. */
export type Ending = 'end' | 'broken' | 'stopped';

export type LineLimits = {
  readonly maxLineBytes: number;
  readonly maxStreamBytes: number;
  /** Milliseconds in which something must come. */
  readonly maxIdleMs: number;
};

const LINE_FEED = 0x0a;
const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0d]);
const FIRST_BYTES = 1_024;

/**
 * Reads a body line by line, at the pace of who asks: what is not asked for stays in the connection, whose sender then
 * waits. What is kept is one chunk and one line. A last line without an end counts when the body came whole, and not when
 * the connection broke: it may be a part of what was meant.
 */
export class LineReader {
  readonly #source: Readable;
  readonly #limits: LineLimits;
  /** Of the last chunk, what has not been looked at. */
  #rest: Buffer = Buffer.alloc(0);
  #line: Buffer = Buffer.allocUnsafe(FIRST_BYTES);
  #lineBytes = 0;
  #bytes = 0;
  #number = 1;

  constructor(source: Readable, limits: LineLimits) {
    this.#source = source;
    this.#limits = limits;
    // An upload that breaks is told by what `next` answers.
    source.on('error', () => undefined);
  }

  /** The number of the line that is being read. */
  get number(): number {
    return this.#number;
  }

  /**
   * The next line that is not blank. Ends with `stopped` when the signal aborts.
   *
   * @throws SignalboxError LINE_TOO_LONG, BODY_TOO_LARGE, REQUEST_TIMEOUT. Nothing can be read behind any of them.
   */
  async next(signal: AbortSignal): Promise<Line | Ending> {
    for (;;) {
      const line = this.#take();
      if (line !== null && !isBlank(line.bytes)) return line;
      if (line !== null) continue;
      const chunk = await this.#chunk(signal);
      if (chunk === 'end') {
        const last = this.#complete();
        return isBlank(last.bytes) ? 'end' : last;
      }
      if (typeof chunk === 'string') return chunk;
      this.#rest = chunk;
      this.#bytes += chunk.length;
      const { maxStreamBytes } = this.#limits;
      if (this.#bytes > maxStreamBytes)
        throw new SignalboxError('BODY_TOO_LARGE', `Expected at most ${maxStreamBytes} bytes of lines, got more`);
    }
  }

  /** Throws away what still comes, so that the sender is not kept from reading its answer. */
  discard(): void {
    this.#rest = Buffer.alloc(0);
    this.#source.resume();
  }

  #take(): Line | null {
    const at = this.#rest.indexOf(LINE_FEED);
    this.#append(this.#rest.subarray(0, at < 0 ? undefined : at));
    this.#rest = at < 0 ? Buffer.alloc(0) : this.#rest.subarray(at + 1);
    return at < 0 ? null : this.#complete();
  }

  #append(part: Buffer): void {
    const bytes = this.#lineBytes + part.length;
    const { maxLineBytes } = this.#limits;
    if (bytes > maxLineBytes)
      throw new SignalboxError('LINE_TOO_LONG', `Expected at most ${maxLineBytes} bytes in a line, got more`);
    if (bytes > this.#line.length) {
      const larger = Buffer.allocUnsafe(Math.max(bytes, 2 * this.#line.length));
      this.#line.copy(larger, 0, 0, this.#lineBytes);
      this.#line = larger;
    }
    part.copy(this.#line, this.#lineBytes);
    this.#lineBytes = bytes;
  }

  #complete(): Line {
    const line = { number: this.#number, bytes: Buffer.from(this.#line.subarray(0, this.#lineBytes)) };
    this.#number += 1;
    this.#lineBytes = 0;
    return line;
  }

  /** What has come, or what comes next. */
  #chunk(signal: AbortSignal): Promise<Buffer | Ending> {
    const source = this.#source;
    const { maxIdleMs } = this.#limits;
    return new Promise((resolve, reject) => {
      const events = ['readable', 'end', 'close', 'error'] as const;
      const settle = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', look);
        for (const event of events) source.off(event, look);
      };
      const look = (): void => {
        const found = signal.aborted ? 'stopped' : arrived(source);
        if (found === null) return;
        settle();
        resolve(found);
      };
      const timer = setTimeout(() => {
        settle();
        reject(new SignalboxError('REQUEST_TIMEOUT', `Expected something within ${maxIdleMs} ms, got nothing`));
      }, maxIdleMs);
      signal.addEventListener('abort', look);
      for (const event of events) source.on(event, look);
      look();
    });
  }
}

function arrived(source: Readable): Buffer | Ending | null {
  const chunk = source.read() as Buffer | null;
  if (chunk !== null) return chunk;
  if (source.readableEnded) return 'end';
  return source.destroyed ? 'broken' : null;
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => BLANKS.has(byte));
}
