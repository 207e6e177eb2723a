import { KeyedLock } from './keyed-lock.ts';

const STEP = 'step';

/**
 * A gate for the calls of one step, where some may overlap and others must be alone: a `KeyedLock` of one key. First
 * come, first served: who wants to be alone waits for those inside and holds back those behind.
 *
 * Both methods give the function that leaves the gate (calling it twice is harmless), and reject with the signal's own
 * reason when that aborts first; the place is given up then. OPTION_INVALID for what is no signal.
 *
 * @example
 * const gate = new StepGate();
 * const leave = await gate.share(AbortSignal.timeout(5_000));
 * try {
 *   // beside others that share
 * } finally {
 *   leave();
 * }
 */
export class StepGate {
  readonly #lock = new KeyedLock();

  /** Enters beside others that share. */
  share(signal?: AbortSignal): Promise<() => void> {
    return this.#lock.acquire({ key: STEP, mode: 'shared' }, signal);
  }

  /** Enters alone. */
  exclusive(signal?: AbortSignal): Promise<() => void> {
    return this.#lock.acquire(STEP, signal);
  }
}
