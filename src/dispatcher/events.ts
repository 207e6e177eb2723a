import { SignalboxError } from '../errors.ts';
import type { TextRange } from './byte-log.ts';
import { footprint } from './footprint.ts';
import type { Stream } from './output.ts';
import type { BatchEvent } from './types.ts';

type Envelope = 'seq' | 'batchId' | 'at';
type Unwrap<Event> = Event extends unknown ? Omit<Event, Envelope> : never;

/** An event without what the log adds: its number, its batch and its time. */
export type EventBody = Unwrap<BatchEvent>;

/** Bytes that an event takes besides what it says, rather more than less. */
const EVENT_BYTES = 160;

/** What is kept of an `output` event: its text stands in the output itself. */
class OutputRecord {
  readonly at: number;
  readonly commandId: string;
  readonly stream: Stream;
  readonly range: TextRange;

  constructor(at: number, commandId: string, stream: Stream, range: TextRange) {
    this.at = at;
    this.commandId = commandId;
    this.stream = stream;
    this.range = range;
  }
}

/**
 * The events of one batch in the order they happened, numbered from 1 without a gap, for any number of readers at their
 * own pace. All of them are kept: the output caps bound the text, which is kept once for events and results, and
 * everything else is a handful for each command.
 */
export class EventLog {
  readonly #batchId: string;
  readonly #now: () => number;
  readonly #events: (BatchEvent | OutputRecord)[] = [];
  #bytes = 0;
  readonly #sleepers = new Set<() => void>();
  #isEnded = false;

  constructor(batchId: string, now: () => number) {
    this.#batchId = batchId;
    this.#now = now;
  }

  /** The number of the last event, 0 before the first. */
  get lastSeq(): number {
    return this.#events.length;
  }

  /** What the events take in memory, without the texts of output. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds an event. Nothing follows `batch-finished`. */
  append(body: Exclude<EventBody, { type: 'output' }>): void {
    if (this.#isEnded) return;
    const seq = this.#events.length + 1;
    this.#isEnded = body.type === 'batch-finished';
    this.#push(Object.freeze({ seq, batchId: this.#batchId, at: this.#now(), ...body }), bytesOf(body));
  }

  /** Adds an `output` event, whose text is read from where it stands whenever somebody reads the event. */
  appendOutput(commandId: string, stream: Stream, range: TextRange): void {
    if (this.#isEnded) return;
    this.#push(new OutputRecord(this.#now(), commandId, stream, range), 0);
  }

  /**
   * The events behind number `after`, then those to come, ending behind `batch-finished` or when the signal aborts.
   *
   * @throws SignalboxError OPTION_INVALID when `after` is no integer of at least 0.
   */
  read({ after = 0, signal }: { after?: number; signal?: AbortSignal } = {}): AsyncIterable<BatchEvent> {
    if (!Number.isSafeInteger(after) || after < 0) {
      throw new SignalboxError('OPTION_INVALID', `Expected after to be an integer of at least 0, got ${String(after)}`);
    }
    return { [Symbol.asyncIterator]: () => this.#iterate(after, signal) };
  }

  #iterate(after: number, signal: AbortSignal | undefined): AsyncIterator<BatchEvent> {
    let next = after;
    let isClosed = false;
    const wakers = new Set<() => void>();
    const close = (): IteratorResult<BatchEvent> => {
      isClosed = true;
      for (const wake of [...wakers]) wake();
      return { done: true, value: undefined };
    };
    const advance = async (): Promise<IteratorResult<BatchEvent>> => {
      while (!isClosed && !signal?.aborted) {
        const event = this.#events[next];
        if (event !== undefined) {
          next += 1;
          return { done: false, value: event instanceof OutputRecord ? this.#told(next, event) : event };
        }
        if (this.#isEnded) break;
        await this.#sleep(signal, wakers);
      }
      return close();
    };
    // A generator would queue `return` behind the `next` that waits, and a reader that leaves would never be let go.
    return { next: advance, return: async () => close() };
  }

  #push(event: BatchEvent | OutputRecord, bytes: number): void {
    this.#events.push(event);
    this.#bytes += EVENT_BYTES + bytes;
    for (const wake of [...this.#sleepers]) wake();
  }

  #told(seq: number, { at, commandId, stream, range }: OutputRecord): BatchEvent {
    return Object.freeze({ seq, batchId: this.#batchId, at, type: 'output', commandId, stream, ...range.told });
  }

  #sleep(signal: AbortSignal | undefined, wakers: Set<() => void>): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#sleepers.delete(wake);
        wakers.delete(wake);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      this.#sleepers.add(wake);
      wakers.add(wake);
      signal?.addEventListener('abort', wake, { once: true });
    });
  }
}

/** What only this event holds: the verdict of a start is that of its acceptance, but for the few that were judged anew. */
function bytesOf(body: Exclude<EventBody, { type: 'output' }>): number {
  switch (body.type) {
    case 'accepted':
      return footprint(body.command) + footprint(body.verdict);
    case 'waiting':
      return body.waitsFor.length * 8;
    case 'finished':
      return footprint(body.note);
    case 'started':
    case 'asking':
      return footprint(body.command);
    case 'answered':
      return footprint(body.reason);
    case 'paused':
    case 'resumed':
    case 'batch-finished':
      return 0;
  }
}
