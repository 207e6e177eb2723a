import { SignalboxError } from '../../errors.ts';
import { storageFailure } from './failure.ts';
import { encodeGroup, MAX_PAYLOAD_BYTES } from './frame.ts';
import { headerOf, type Segment, seedOf, segmentFrom } from './segment.ts';
import type { AppendFile, Storage } from './storage.ts';

type Waiting = { readonly payload: Buffer; readonly resolve: () => void; readonly reject: (reason: unknown) => void };

type Current = { readonly segment: Segment; readonly file: AppendFile; bytes: number };

/**
 * Appends records in groups: those of one tick, and those that come while a group is under way, are written by one write and
 * made durable by one sync. One group is under way at a time, in the order of the calls.
 *
 * After a write or a sync has failed nothing is tried any more: a kernel may drop what it could not write and call the next sync
 * a success.
 */
export class LogWriter {
  readonly #storage: Storage;
  readonly #segmentBytes: number;
  #waiting: Waiting[] = [];
  #flushing: Promise<void> | null = null;
  #current: Current | null = null;
  /** How many records are durable. */
  #count: number;
  /** Why nothing is taken any more. */
  #refusal: SignalboxError | null = null;

  constructor(storage: Storage, segmentBytes: number, count: number) {
    this.#storage = storage;
    this.#segmentBytes = segmentBytes;
    this.#count = count;
  }

  append(record: unknown): Promise<void> {
    return new Promise((resolve, reject) => {
      const payload = encode(record);
      if (this.#refusal !== null) throw this.#refusal;
      this.#waiting.push({ payload, resolve, reject });
      this.#flushing ??= this.#flush();
    });
  }

  /** Takes no more, and resolves when what was taken has its answer and the file is closed. */
  async close(): Promise<void> {
    this.#refusal ??= new SignalboxError(
      'JOURNAL_FAILED',
      `Expected the journal in ${JSON.stringify(this.#storage.place)} to be open, but it has been closed`,
    );
    await this.#flushing;
    const file = this.#current?.file;
    this.#current = null;
    await file?.close().catch(() => {});
  }

  async #flush(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      const group = this.#nextGroup();
      try {
        await this.#write(group.map(({ payload }) => payload));
        for (const { resolve } of group) resolve();
      } catch (cause) {
        const failure = storageFailure('write to', this.#storage.place, cause);
        this.#refusal = failure;
        for (const { reject } of [...group, ...this.#waiting]) reject(failure);
        this.#waiting = [];
      }
    }
    this.#flushing = null;
  }

  /** As many as one segment should have, so that no burst makes a file that cannot be read in one piece. */
  #nextGroup(): readonly Waiting[] {
    let [size, bytes] = [0, 0];
    while (size < this.#waiting.length && bytes < this.#segmentBytes)
      bytes += this.#waiting[size++]?.payload.length ?? 0;
    return this.#waiting.splice(0, size);
  }

  async #write(payloads: readonly Buffer[]): Promise<void> {
    const current = await this.#segment();
    const group = current.bytes === 0 ? [headerOf(current.segment), ...payloads] : payloads;
    const bytes = encodeGroup(group, seedOf(current.segment));
    await current.file.append(bytes);
    await current.file.sync();
    current.bytes += bytes.length;
    this.#count += payloads.length;
  }

  /** The segment that takes the next group. What stands in those before it is durable. */
  async #segment(): Promise<Current> {
    if (this.#current !== null && this.#current.bytes < this.#segmentBytes) return this.#current;
    const full = this.#current;
    this.#current = null;
    await full?.file.close();
    const segment = segmentFrom(this.#count);
    this.#current = { segment, file: await this.#storage.create(segment.name), bytes: 0 };
    await this.#storage.syncDirectory();
    return this.#current;
  }
}

function encode(record: unknown): Buffer {
  const payload = Buffer.from(jsonOf(record));
  if (payload.length <= MAX_PAYLOAD_BYTES) return payload;
  throw new SignalboxError(
    'OPTION_INVALID',
    `Expected a record of at most ${MAX_PAYLOAD_BYTES} bytes, got ${payload.length}`,
  );
}

function jsonOf(record: unknown): string {
  let cause: unknown;
  try {
    const text = JSON.stringify(record) as string | undefined;
    if (text !== undefined) return text;
  } catch (error) {
    cause = error;
  }
  const reason = cause instanceof Error ? `: ${cause.message}` : '';
  throw new SignalboxError('OPTION_INVALID', `Expected a record of JSON, got ${typeof record}${reason}`, { cause });
}
