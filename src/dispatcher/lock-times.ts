import type { Observe } from './observation.ts';

/** Tells how long a command waited for its locks, and how long it had them: once for each time that they were granted. */
export class LockTimes {
  readonly #observe: Observe;
  readonly #now: () => number;
  #grantedAt: number | null = null;

  constructor({ observe, now }: { readonly observe: Observe; readonly now: () => number }) {
    this.#observe = observe;
    this.#now = now;
  }

  /** Whoever asks gives up with that what was granted before. */
  async granted<Held>(asked: Promise<Held>): Promise<Held> {
    this.freed();
    const askedAt = this.#now();
    const held = await asked;
    this.#grantedAt = this.#now();
    this.#observe({ type: 'locks-granted', waitedMs: this.#grantedAt - askedAt });
    return held;
  }

  freed(): void {
    if (this.#grantedAt === null) return;
    this.#observe({ type: 'locks-freed', heldMs: this.#now() - this.#grantedAt });
    this.#grantedAt = null;
  }
}
