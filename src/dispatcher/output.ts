import { TailBuffer } from './tail-buffer.ts';
import type { Truncation } from './types.ts';
import { brokenStart, completeLength } from './utf8.ts';

export type Stream = 'stdout' | 'stderr';

const STREAMS: readonly Stream[] = ['stdout', 'stderr'];

/** The end of an output tells most about a failure; more than this of it is seldom read. */
const MAX_TAIL_BYTES = 128 * 1024;

/** What a command printed, as far as it was kept. */
export type KeptOutput = { readonly stdout: string; readonly stderr: string; readonly truncated: Truncation };

/** One stream's part of it. `carry` is a character that has only begun; `untold` waits for the next flush. */
type Side = { told: string[]; untold: string; carry: Buffer; cutBytes: number; readonly tail: TailBuffer };

/**
 * Keeps the beginning and the end of what a command prints within `maxBytes` for both streams together, and counts
 * exactly what it leaves out. The beginning is told through `onText` at each `flush`, the end when `finish` is called;
 * for each stream, the texts told are, joined, the text that `finish` gives.
 *
 * `push` is the one way in and works on bytes as they came: what looks at them before the cut belongs there.
 */
export class CommandOutput {
  readonly #onText: (stream: Stream, text: string) => void;
  readonly #sides: Readonly<Record<Stream, Side>> = { stdout: newSide(), stderr: newSide() };
  readonly #tailBytes: number;
  #headLeft: number;
  #keptBytes = 0;
  #kept: KeptOutput | null = null;

  constructor(maxBytes: number, onText: (stream: Stream, text: string) => void) {
    this.#tailBytes = Math.min(Math.floor(maxBytes / 2), MAX_TAIL_BYTES);
    this.#headLeft = maxBytes - this.#tailBytes;
    this.#onText = onText;
  }

  /** The bytes kept of both streams; final after `finish`. */
  get keptBytes(): number {
    return this.#keptBytes;
  }

  /** Takes what a stream printed. After `finish` it is dropped. */
  push(stream: Stream, chunk: Buffer): void {
    if (this.#kept !== null) return;
    const side = this.#sides[stream];
    const bytes = side.carry.length === 0 ? chunk : Buffer.concat([side.carry, chunk]);
    const isWhole = bytes.length <= this.#headLeft;
    const taken = completeLength(isWhole ? bytes : bytes.subarray(0, this.#headLeft));
    side.untold += bytes.toString('utf8', 0, taken);
    this.#keptBytes += taken;
    if (isWhole) {
      this.#headLeft -= taken;
      side.carry = Buffer.from(bytes.subarray(taken));
    } else {
      this.#headLeft = 0;
      side.carry = NOTHING;
      this.#pushTail(side, bytes.subarray(taken));
    }
  }

  /** Tells what has come since the last flush. True when there was something. */
  flush(): boolean {
    let told = false;
    for (const stream of STREAMS) {
      const side = this.#sides[stream];
      if (side.untold === '') continue;
      const text = side.untold;
      side.untold = '';
      side.told.push(text);
      this.#onText(stream, text);
      told = true;
    }
    return told;
  }

  /** Ends it: nothing is taken any more. Calling it again gives the same. */
  finish(): KeptOutput {
    if (this.#kept !== null) return this.#kept;
    for (const stream of STREAMS) this.#closeSide(this.#sides[stream]);
    this.flush();
    const { stdout, stderr } = this.#sides;
    const truncated =
      stdout.cutBytes + stderr.cutBytes === 0 ? null : { stdoutBytes: stdout.cutBytes, stderrBytes: stderr.cutBytes };
    this.#kept = Object.freeze({ ...this.peek(), truncated });
    for (const side of [stdout, stderr]) side.told = [];
    return this.#kept;
  }

  /** What is kept so far, without the end of a command that still prints. */
  peek(): KeptOutput {
    if (this.#kept !== null) return this.#kept;
    const { stdout, stderr } = this.#sides;
    return { stdout: soFar(stdout), stderr: soFar(stderr), truncated: null };
  }

  #closeSide(side: Side): void {
    if (side.carry.length > 0) this.#pushTail(side, side.carry);
    side.carry = NOTHING;
    let end = side.tail.toBuffer();
    side.tail.clear();
    if (side.cutBytes > 0) {
      const broken = brokenStart(end);
      side.cutBytes += broken;
      end = end.subarray(broken);
      side.untold += cutMark(side.cutBytes, side.untold === '' ? side.told.at(-1) : side.untold);
    }
    this.#keptBytes += end.length;
    side.untold += end.toString('utf8');
  }

  /** Where both ends are long the longer one gives way, so that a flood on one stream never pushes out the other's words. */
  #pushTail(side: Side, chunk: Buffer): void {
    const skipped = Math.max(0, chunk.length - this.#tailBytes);
    if (skipped > 0) drop(side, side.tail.length);
    side.cutBytes += skipped;
    side.tail.append(chunk.subarray(skipped));
    const { stdout, stderr } = this.#sides;
    const over = stdout.tail.length + stderr.tail.length - this.#tailBytes;
    if (over <= 0) return;
    const [longer, shorter] = stdout.tail.length >= stderr.tail.length ? [stdout, stderr] : [stderr, stdout];
    const half = Math.floor(this.#tailBytes / 2);
    drop(longer, Math.min(over, longer.tail.length - Math.min(shorter.tail.length, half)));
    drop(shorter, Math.max(0, stdout.tail.length + stderr.tail.length - this.#tailBytes));
  }
}

const NOTHING = Buffer.alloc(0);

function newSide(): Side {
  return { told: [], untold: '', carry: NOTHING, cutBytes: 0, tail: new TailBuffer() };
}

function soFar(side: Side): string {
  return side.told.join('') + side.untold;
}

function drop(side: Side, bytes: number): void {
  side.tail.drop(bytes);
  side.cutBytes += bytes;
}

/** The line that stands where bytes were left out. It begins a line of its own. */
function cutMark(bytes: number, before: string | undefined): string {
  const newline = before === undefined || before.endsWith('\n') ? '' : '\n';
  return `${newline}… ${bytes.toLocaleString('en-US')} bytes left out …\n`;
}
