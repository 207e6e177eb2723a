/** What is kept for each later command that is known, as far as it can be had. */
const FLOOR_BYTES = 4096;

/**
 * Shares the output cap of a batch among its commands: a command reserves its part when it starts and gives back what
 * it did not use. Room of 4 KiB stays for each command that still waits, and of an open batch, whose future nobody
 * knows, no command takes more than half of what is left.
 */
export class OutputBudget {
  readonly #perCommand: number;
  #left: number;

  constructor(maxBytesPerBatch: number, maxBytesPerCommand: number) {
    this.#left = maxBytesPerBatch;
    this.#perCommand = maxBytesPerCommand;
  }

  /** The bytes that the next command may keep. `waiting` counts the commands that are known and have not started. */
  reserve(waiting: number, isOpen: boolean): number {
    const fair = Math.floor(this.#left / (waiting + 1));
    const free = this.#left - waiting * Math.min(FLOOR_BYTES, fair);
    const granted = Math.min(this.#perCommand, isOpen ? Math.ceil(free / 2) : free);
    this.#left -= granted;
    return granted;
  }

  giveBack(bytes: number): void {
    this.#left += bytes;
  }
}
