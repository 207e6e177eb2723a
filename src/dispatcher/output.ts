import { ByteLog, encodingOf, TextRange } from './byte-log.ts';
import { TailBuffer } from './tail-buffer.ts';
import type { OutputEncoding, Truncation } from './types.ts';
import { brokenStart, completeLength } from './utf8.ts';

export type Stream = 'stdout' | 'stderr';

const STREAMS: readonly Stream[] = ['stdout', 'stderr'];

/** The end of an output tells most about a failure; more than this of it is seldom read. */
const MAX_TAIL_BYTES = 128 * 1024;

const NEWLINE = 0x0a;

/** Bytes of one text that is told or read: whoever reads slowly holds no more than one of them. */
const MAX_TEXT_BYTES = 65_536;

const NOTHING = Buffer.alloc(0);

/** Base64 is made of so many bytes at a time, a multiple of three: the pieces joined are the base64 of all. */
const BASE64_BYTES = 49_152;

/**
 * What a command printed, as far as it was kept: bytes outside the JavaScript heap, made into text whenever it is read. Of
 * a stream that is no UTF-8 the text is base64.
 */
export class KeptOutput {
  static readonly NONE = new KeptOutput(NOTHING, NOTHING, null);
  readonly truncated: Truncation;
  readonly #sides: Readonly<Record<Stream, Buffer>>;
  #encoding: OutputEncoding | null = null;

  /** The buffers must not change. */
  constructor(stdout: Buffer, stderr: Buffer, truncated: Truncation) {
    this.#sides = { stdout, stderr };
    this.truncated = truncated;
    Object.freeze(this);
  }

  /** What the texts are. */
  get encoding(): OutputEncoding {
    const { stdout, stderr } = this.#sides;
    this.#encoding ??= Object.freeze({ stdout: encodingOf(stdout), stderr: encodingOf(stderr) });
    return this.#encoding;
  }

  get stdout(): string {
    return this.#sides.stdout.toString(this.encoding.stdout);
  }

  get stderr(): string {
    return this.#sides.stderr.toString(this.encoding.stderr);
  }

  /** What it takes in memory. */
  get bytes(): number {
    return this.#sides.stdout.length + this.#sides.stderr.length;
  }

  /** The text of a stream in pieces of bounded length, each made when it is asked for. No character is cut in two. */
  *texts(stream: Stream): Generator<string, void> {
    const bytes = this.#sides[stream];
    const encoding = this.encoding[stream];
    const cuts = encoding === 'utf8' ? pieces(bytes) : evenPieces(bytes);
    for (const [from, to] of cuts) yield bytes.toString(encoding, from, to);
  }
}

/** One stream's part of it. `carry` is a character that has only begun; what stands behind `toldTo` waits for the next flush. */
type Side = { readonly log: ByteLog; toldTo: number; carry: Buffer; cutBytes: number; readonly tail: TailBuffer };

/**
 * Keeps the beginning and the end of what a command prints within `maxBytes` for both streams together, and counts
 * exactly what it leaves out. The beginning is told through `onText` at each `flush`, the end when `finish` is called;
 * for each stream, the texts told are, joined, the text that `finish` gives. All of them are ranges of the same bytes.
 *
 * `push` is the one way in and works on bytes as they came: what looks at them before the cut belongs there.
 */
export class CommandOutput {
  readonly #onText: (stream: Stream, range: TextRange) => void;
  readonly #sides: Readonly<Record<Stream, Side>> = { stdout: newSide(), stderr: newSide() };
  readonly #tailBytes: number;
  #headLeft: number;
  #keptBytes = 0;
  #kept: KeptOutput | null = null;

  constructor(maxBytes: number, onText: (stream: Stream, range: TextRange) => void) {
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
    side.log.append(bytes.subarray(0, taken));
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

  /** Tells what has come since the last flush. */
  flush(): void {
    for (const stream of STREAMS) {
      const side = this.#sides[stream];
      const start = side.toldTo;
      side.toldTo = side.log.length;
      for (const [from, to] of pieces(side.log.range(start, side.toldTo))) {
        this.#onText(stream, new TextRange(side.log, start + from, start + to));
      }
    }
  }

  /** Ends it: nothing is taken any more. Calling it again gives the same. */
  finish(): KeptOutput {
    if (this.#kept !== null) return this.#kept;
    for (const stream of STREAMS) this.#closeSide(this.#sides[stream]);
    this.flush();
    const { stdout, stderr } = this.#sides;
    const truncated =
      stdout.cutBytes + stderr.cutBytes === 0 ? null : { stdoutBytes: stdout.cutBytes, stderrBytes: stderr.cutBytes };
    this.#kept = new KeptOutput(stdout.log.seal(), stderr.log.seal(), truncated);
    return this.#kept;
  }

  /** What is kept so far, without the end of a command that still prints. */
  peek(): KeptOutput {
    const { stdout, stderr } = this.#sides;
    return this.#kept ?? new KeptOutput(stdout.log.view(), stderr.log.view(), null);
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
      side.log.append(cutMark(side.cutBytes, side.log.view()));
    }
    this.#keptBytes += end.length;
    side.log.append(end);
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

function newSide(): Side {
  return { log: new ByteLog(), toldTo: 0, carry: NOTHING, cutBytes: 0, tail: new TailBuffer() };
}

/** Where each piece of a text begins and ends. */
function* pieces(bytes: Buffer): Generator<readonly [from: number, to: number], void> {
  for (let from = 0; from < bytes.length; ) {
    const rest = bytes.subarray(from);
    const to = from + (rest.length <= MAX_TEXT_BYTES ? rest.length : completeLength(rest.subarray(0, MAX_TEXT_BYTES)));
    yield [from, to];
    from = to;
  }
}

function* evenPieces(bytes: Buffer): Generator<readonly [from: number, to: number], void> {
  for (let from = 0; from < bytes.length; from += BASE64_BYTES) {
    yield [from, Math.min(bytes.length, from + BASE64_BYTES)];
  }
}

function drop(side: Side, bytes: number): void {
  side.tail.drop(bytes);
  side.cutBytes += bytes;
}

/** The line that stands where bytes were left out. It begins a line of its own. */
function cutMark(bytes: number, before: Buffer): Buffer {
  const newline = before.length === 0 || before.at(-1) === NEWLINE ? '' : '\n';
  return Buffer.from(`${newline}… ${bytes.toLocaleString('en-US')} bytes left out …\n`);
}
