/** What is kept of the past. */
export type Retention = {
  /** Ended batches that are kept, the newest. */
  readonly maxBatches: number;
  /** Milliseconds that an ended batch is kept. */
  readonly maxAgeMs: number;
};

/**
 * The batches that can be asked for by id: every one that has not ended, and of those that have, the newest, for a time.
 */
export class BatchStore<Kept extends { readonly id: string }> {
  readonly #retention: Retention;
  readonly #now: () => number;
  readonly #batches = new Map<string, Kept>();
  /** When each ended, in that order. */
  readonly #ended = new Map<string, number>();

  constructor(retention: Retention, now: () => number) {
    this.#retention = retention;
    this.#now = now;
  }

  add(batch: Kept): void {
    this.#batches.set(batch.id, batch);
  }

  /** From now on its age counts. */
  end(batch: Kept): void {
    this.#ended.set(batch.id, this.#now());
    this.#forget();
  }

  get(id: string): Kept | undefined {
    this.#forget();
    return this.#batches.get(id);
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

  #forget(): void {
    const oldest = this.#now() - this.#retention.maxAgeMs;
    for (const [id, at] of this.#ended) {
      if (this.#ended.size <= this.#retention.maxBatches && at >= oldest) return;
      this.#ended.delete(id);
      this.#batches.delete(id);
    }
  }
}
