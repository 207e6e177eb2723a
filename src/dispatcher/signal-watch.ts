/**
 * Tells waiters that their signal has aborted, with one listener a signal however many waiters share it: Node compares
 * a new listener with every one already there, so that 10,000 listeners on one signal would cost 50 million comparisons.
 */
export class SignalWatch<Waiter> {
  readonly #watched = new Map<AbortSignal, { readonly waiters: Set<Waiter>; readonly listener: () => void }>();
  readonly #onAbort: (waiter: Waiter, reason: unknown) => void;

  constructor(onAbort: (waiter: Waiter, reason: unknown) => void) {
    this.#onAbort = onAbort;
  }

  /** The signal must not have aborted yet: it would never tell. */
  add(signal: AbortSignal, waiter: Waiter): void {
    const known = this.#watched.get(signal);
    if (known !== undefined) {
      known.waiters.add(waiter);
      return;
    }
    const waiters = new Set([waiter]);
    const listener = (): void => {
      this.#watched.delete(signal);
      for (const each of waiters) this.#onAbort(each, signal.reason);
    };
    this.#watched.set(signal, { waiters, listener });
    signal.addEventListener('abort', listener, { once: true });
  }

  /** Does nothing where there is none. */
  remove(signal: AbortSignal | undefined, waiter: Waiter): void {
    if (signal === undefined) return;
    const known = this.#watched.get(signal);
    if (known === undefined) return;
    known.waiters.delete(waiter);
    if (known.waiters.size > 0) return;
    this.#watched.delete(signal);
    signal.removeEventListener('abort', known.listener);
  }
}

/** By its shape: a signal may come from another realm. */
export function isSignal(value: unknown): value is AbortSignal {
  if (typeof value !== 'object' || value === null) return false;
  const { aborted, addEventListener } = value as Partial<AbortSignal>;
  return typeof aborted === 'boolean' && typeof addEventListener === 'function';
}
