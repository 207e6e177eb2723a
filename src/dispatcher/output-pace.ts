/** Longest time for which output that has come is not told, in milliseconds. */
const MAX_DELAY_MS = 1000;

/**
 * Decides when output is told: shortly after it came, and less often the more was told already, so that a command that
 * prints a byte at a time for a day makes thousands of events and not millions.
 */
export class OutputPace {
  readonly #flush: () => void;
  #flushes = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(flush: () => void) {
    this.#flush = flush;
  }

  /** Something came. */
  touch(): void {
    this.#timer ??= setTimeout(
      () => {
        this.#timer = null;
        this.#flushes += 1;
        this.#flush();
      },
      Math.min(MAX_DELAY_MS, 4 + this.#flushes / 10),
    );
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
