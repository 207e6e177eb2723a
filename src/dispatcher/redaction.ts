import { isUtf8 } from 'node:buffer';
import type { Stream } from './output.ts';
import type { Redact } from './types.ts';

/** Longest line, in bytes, that is shown to a redactor: a half of a line could hide half of what must not be seen. */
const MAX_LINE_BYTES = 262_144;

const NEWLINE = 0x0a;

type Whose = { readonly batchId: string; readonly commandId: string };

/** The begun line of a stream; of one that is too long only the length is kept. */
type Side = { pending: Buffer[]; length: number };

/**
 * What a command prints, line by line through the redactors, before anything is cut, kept or told. Fail-closed: what a
 * redactor throws for, or gives no text for, is withheld, as is a line that is longer than can be shown to one; a line
 * says so in its place. A begun line waits for its end, so that no chunk can split what is looked for.
 */
export class Redaction {
  readonly #redactors: readonly Redact[];
  readonly #whose: Whose;
  readonly #push: (stream: Stream, bytes: Buffer) => void;
  readonly #sides: Readonly<Record<Stream, Side>> = { stdout: newSide(), stderr: newSide() };

  constructor(redactors: readonly Redact[], whose: Whose, push: (stream: Stream, bytes: Buffer) => void) {
    this.#redactors = redactors;
    this.#whose = whose;
    this.#push = push;
  }

  push(stream: Stream, chunk: Buffer): void {
    if (this.#redactors.length === 0) {
      this.#push(stream, chunk);
      return;
    }
    for (let from = 0; from < chunk.length; ) {
      const newline = chunk.indexOf(NEWLINE, from);
      const to = newline < 0 ? chunk.length : newline + 1;
      this.#take(stream, chunk.subarray(from, to));
      if (newline >= 0) this.#endLine(stream);
      from = to;
    }
  }

  /** Nothing more comes: a last line needs no newline. */
  end(): void {
    for (const stream of ['stdout', 'stderr'] as const) if (this.#sides[stream].length > 0) this.#endLine(stream);
  }

  #take(stream: Stream, bytes: Buffer): void {
    const side = this.#sides[stream];
    side.length += bytes.length;
    // Copied: the reader uses its buffer again.
    if (side.length <= MAX_LINE_BYTES) side.pending.push(Buffer.from(bytes));
    else side.pending = [];
  }

  #endLine(stream: Stream): void {
    const side = this.#sides[stream];
    const { pending, length } = side;
    side.pending = [];
    side.length = 0;
    const told = length > MAX_LINE_BYTES ? null : this.#redacted(stream, Buffer.concat(pending));
    this.#push(stream, told ?? Buffer.from(`… a line of ${length.toLocaleString('en-US')} bytes withheld …\n`));
  }

  /** Null where it is withheld. Bytes that are no UTF-8 are shown as Latin-1, in which every byte is a character. */
  #redacted(stream: Stream, line: Buffer): Buffer | null {
    const encoding = isUtf8(line) ? 'utf8' : 'latin1';
    let text: unknown = line.toString(encoding);
    try {
      for (const redact of this.#redactors) {
        text = redact(text as string, { ...this.#whose, stream });
        if (typeof text !== 'string') return null;
      }
    } catch {
      return null;
    }
    return Buffer.from(text as string, encoding);
  }
}

function newSide(): Side {
  return { pending: [], length: 0 };
}
