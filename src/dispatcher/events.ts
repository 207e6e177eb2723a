import { SignalboxError } from '../errors.ts';
import type { BatchEvent } from './types.ts';

type Envelope = 'seq' | 'batchId' | 'at';
type Unwrap<Event> = Event extends unknown ? Omit<Event, Envelope> : never;

/** An event without what the log adds: its number, its batch and its time. */
export type EventBody = Unwrap<BatchEvent>;

/**
 * The events of one batch in the order they happened, numbered from 1 without a gap, for any number of readers at their
 * own pace. All of them are kept: the output caps bound the text, and everything else is a handful for each command.
 */
export class EventLog {
  readonly #batchId: string;
  readonly #now: () => number;
  readonly #events: BatchEvent[] = [];
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

  /** Adds an event. Nothing follows `batch-finished`. */
  append(body: EventBody): void {
    if (this.#isEnded) return;
    const seq = this.#events.length + 1;
    this.#events.push(Object.freeze({ seq, batchId: this.#batchId, at: this.#now(), ...body }));
    this.#isEnded = body.type === 'batch-finished';
    for (const wake of [...this.#sleepers]) wake();
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
          return { done: false, value: event };
        }
        if (this.#isEnded) break;
        await this.#sleep(signal, wakers);
      }
      return close();
    };
    // A generator would queue `return` behind the `next` that waits, and a reader that leaves would never be let go.
    return { next: advance, return: async () => close() };
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
