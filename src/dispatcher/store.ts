/** What is kept of the past. */
export type Retention = {
  /** Ended batches that are kept, the newest. */
  readonly maxBatches: number;
  /** Milliseconds that an ended batch is kept. */
  readonly maxAgeMs: number;
  /** Bytes that all ended batches together take in memory; past it the oldest leave, but never the newest. */
  readonly maxBytes: number;
};

/** A batch as the store sees it. What it takes is asked for when it has ended, and does not change then. */
export type Storable = { readonly id: string; readonly keptBytes: number; readonly owner?: string };

/** A batch that has ended. */
type Ended<Kept> = { readonly batch: Kept; readonly at: number; readonly bytes: number };

/** Ids of batches that are no longer kept, so that they can be told from ids that never were. */
const MAX_GONE = 10_000;

/**
 * The batches that can be asked for by id: every one that has not ended, and of those that have, the newest, for a time,
 * within a number of bytes. A batch that somebody still reads when it leaves counts until the last reader is done; when
 * its bytes are needed, its readers are broken off.
 */
export class BatchStore<Kept extends Storable> {
  readonly #retention: Retention;
  readonly #now: () => number;
  readonly #batches = new Map<string, Kept>();
  /** In the order they ended. */
  readonly #ended = new Map<string, Ended<Kept>>();
  /** Left, but still read, in the order they ended. */
  readonly #lingering = new Map<Kept, Ended<Kept>>();
  readonly #readers = new Map<Kept, Set<() => void>>();
  /** Whose they were. */
  readonly #gone = new Map<string, string | undefined>();
  #bytes = 0;

  constructor(retention: Retention, now: () => number) {
    this.#retention = retention;
    this.#now = now;
  }

  /** The bytes that batches take which have ended and are kept or still read. */
  get bytes(): number {
    return this.#bytes;
  }

  add(batch: Kept): void {
    this.#batches.set(batch.id, batch);
  }

  /** From now on its age and its bytes count. */
  end(batch: Kept): void {
    const ended = { batch, at: this.#now(), bytes: batch.keptBytes };
    this.#ended.set(batch.id, ended);
    this.#bytes += ended.bytes;
    this.#forget();
  }

  get(id: string): Kept | undefined {
    this.#forget();
    return this.#batches.get(id);
  }

  /** Whether there was a batch of this id that has left, as far as that is remembered. */
  isGone(id: string): boolean {
    return this.#gone.has(id);
  }

  /** Whose such a batch was, when it was somebody's. */
  formerOwner(id: string): string | undefined {
    return this.#gone.get(id);
  }

  /** In the order they were opened. */
  all(): readonly Kept[] {
    this.#forget();
    return [...this.#batches.values()];
  }

  /** Those that have not ended. */
  unended(): readonly Kept[] {
    return [...this.#batches.values()].filter(({ id }) => !this.#ended.has(id));
  }

  /**
   * Says that somebody reads a batch, until the function that is returned is called (twice is harmless). `breakOff` is
   * called, at most once, when the bytes of the batch are needed for newer ones: nothing may hold it then.
   */
  hold(batch: Kept, breakOff: () => void): () => void {
    const readers = this.#readers.get(batch) ?? new Set();
    this.#readers.set(batch, readers);
    const reader = (): void => breakOff();
    readers.add(reader);
    if (!this.#batches.has(batch.id) && !this.#lingering.has(batch)) {
      this.#linger({ batch, at: this.#now(), bytes: batch.keptBytes });
      this.#bytes += batch.keptBytes;
      this.#forget();
    }
    return () => {
      // Those that were broken off are in the set no more.
      if (!readers.delete(reader) || readers.size > 0) return;
      this.#readers.delete(batch);
      this.#release(batch);
    };
  }

  #forget(): void {
    const { maxBatches, maxAgeMs, maxBytes } = this.#retention;
    const oldest = this.#now() - maxAgeMs;
    for (const ended of this.#ended.values()) {
      if (this.#ended.size <= maxBatches && ended.at >= oldest) break;
      this.#leave(ended);
    }
    while (this.#bytes > maxBytes) {
      const [lingering] = this.#lingering.values();
      const [ended] = this.#ended.values();
      if (lingering !== undefined) this.#breakOff(lingering.batch);
      else if (ended !== undefined && this.#ended.size > 1) this.#leave(ended);
      else return;
    }
  }

  #leave(ended: Ended<Kept>): void {
    const { id, owner } = ended.batch;
    this.#ended.delete(id);
    this.#batches.delete(id);
    this.#gone.set(id, owner);
    if (this.#gone.size > MAX_GONE) this.#gone.delete(this.#gone.keys().next().value as string);
    this.#linger(ended);
    if (!this.#readers.has(ended.batch)) this.#release(ended.batch);
  }

  #linger(ended: Ended<Kept>): void {
    this.#lingering.set(ended.batch, ended);
  }

  #breakOff(batch: Kept): void {
    const set = this.#readers.get(batch);
    const readers = [...(set ?? [])];
    set?.clear();
    this.#readers.delete(batch);
    this.#release(batch);
    for (const reader of readers) reader();
  }

  #release(batch: Kept): void {
    const lingering = this.#lingering.get(batch);
    if (lingering === undefined) return;
    this.#lingering.delete(batch);
    this.#bytes -= lingering.bytes;
  }
}
