import type { BatchEvent } from '../dispatcher/types.ts';
import type { LineRecord } from './upload.ts';

/** What a stream of events can say: events, and for who sends lines what became of them. */
export type Told = BatchEvent | LineRecord;

/**
 * The events of a batch with the records of an upload among them, each as soon as it is there; a record stands before the
 * events that followed it. Ends when the events do.
 */
export class ToldEvents implements AsyncIterator<Told> {
  readonly #events: AsyncIterator<BatchEvent>;
  readonly #records: LineRecord[] = [];
  #event: Promise<IteratorResult<BatchEvent>> | null = null;
  #wake: (() => void) | null = null;

  constructor(events: AsyncIterator<BatchEvent>) {
    this.#events = events;
  }

  tell(record: LineRecord): void {
    this.#records.push(record);
    this.#wake?.();
  }

  next(): Promise<IteratorResult<Told>> {
    const record = this.#records.shift();
    if (record !== undefined) return Promise.resolve({ done: false, value: record });
    this.#event ??= this.#events.next();
    const event = this.#event;
    // Not a race of promises: the one for records would gather a reaction for every event of a long stream.
    return new Promise((resolve, reject) => {
      let isWaiting = true;
      this.#wake = () => {
        isWaiting = false;
        this.#wake = null;
        resolve(this.next());
      };
      event.then((result) => {
        // It is still there for the next who asks.
        if (!isWaiting) return;
        this.#wake = null;
        this.#event = null;
        resolve(result);
      }, reject);
    });
  }
}
