import { SignalboxError } from '../errors.ts';
import type { LockRequests } from './lock-request.ts';
import { isSignal } from './signal-watch.ts';

/** An acquire that another one waits for. */
export type Blocker<Label = string> = { readonly label: Label | undefined; readonly ticket: number };

/**
 * A granted acquire. Calling it releases every key; calling it again does nothing. The call is bound to nothing, so it
 * can be handed on as it is; the methods are called on the hold.
 */
export type Held<Label = string> = {
  (): void;
  /** Its place in the order of all acquires of this lock. */
  readonly ticket: number;
  readonly label: Label | undefined;
  /**
   * `KeyedLock.run` inside of this hold: what this hold has does not stand in the way of it, while two such runs still
   * exclude each other. Rejects besides with LOCK_UPGRADE and LOCK_CYCLE, see `KeyedLock.acquire`.
   */
  run<Result>(
    requests: LockRequests,
    fn: (held: Held<Label>) => Result | PromiseLike<Result>,
    options?: Omit<AcquireOptions<Label>, 'lineage'>,
  ): Promise<Result>;
  /**
   * Gives up every key and queues again, for these keys and at the same ticket, in one step: before everybody who came
   * later and was not granted yet. This hold is over with that; the new one is given when its turn comes.
   *
   * Rejects as `KeyedLock.acquire` does. What is wrong with the request itself (OPTION_INVALID, LOCK_UPGRADE, a signal
   * that aborted before) leaves this hold as it was.
   */
  restate(
    requests: LockRequests,
    options?: Omit<AcquireOptions<Label>, 'lineage' | 'ticket' | 'label'>,
  ): Promise<Held<Label>>;
  /**
   * A text that stands for this hold as `lineage`, for where a function cannot go: another thread, another process that
   * asks this one. Hard to guess. It is worth nothing once the hold is released.
   */
  token(): string;
};

export type AcquireOptions<Label = string> = {
  /** Gives up the place when it aborts while waiting. It does not touch a hold. */
  readonly signal?: AbortSignal | undefined;
  /** A ticket that `draw` gave. Default: drawn now. */
  readonly ticket?: number | undefined;
  /**
   * The hold inside of which this acquire is made, or its token: what that holds, and what is held around it, does not
   * stand in the way. Null: none, also where the lock follows lineages by itself. A hold that has been released counts
   * for nothing, the live ones around it still do.
   */
  readonly lineage?: Held<Label> | string | null | undefined;
  /** Names this acquire in `snapshot` and in what others are told of their blockers. */
  readonly label?: Label | undefined;
  /**
   * Called once, before `acquire` returns, if it must wait: with the holders and the waiters ahead that it conflicts
   * with, in ticket order. Costs as many steps as there are such. If it throws, the place is given up and the acquire
   * rejects with what it threw.
   */
  readonly onWait?: ((blockers: readonly Blocker<Label>[]) => void) | undefined;
};

/**
 * A copy of what the caller gave, checked; a lone signal stands for `{ signal }`.
 *
 * @param lastTicket the highest ticket drawn so far: one that nobody drew has no place in the order yet.
 * @throws SignalboxError OPTION_INVALID.
 */
export function readOptions<Label>(
  given: AbortSignal | AcquireOptions<Label> | undefined,
  lastTicket: number,
): AcquireOptions<Label> {
  if (given === undefined) return NONE;
  if (isSignal(given)) return { signal: given };
  if (typeof given !== 'object' || given === null) {
    const got = given === null ? 'null' : typeof given;
    throw new SignalboxError('OPTION_INVALID', `Expected an AbortSignal or options, got ${got}`);
  }
  const { signal, ticket, label, lineage, onWait } = given;
  if (signal !== undefined && !isSignal(signal)) {
    throw new SignalboxError('OPTION_INVALID', 'Expected signal to be an AbortSignal');
  }
  if (ticket !== undefined && !(Number.isInteger(ticket) && ticket >= 1 && ticket <= lastTicket)) {
    const got = typeof ticket === 'number' ? String(ticket) : typeof ticket;
    throw new SignalboxError(
      'OPTION_INVALID',
      `Expected ticket to be one of the ${lastTicket} drawn so far, got ${got}`,
    );
  }
  if (onWait !== undefined && typeof onWait !== 'function') {
    throw new SignalboxError('OPTION_INVALID', `Expected onWait to be a function, got ${typeof onWait}`);
  }
  if (lineage != null && typeof lineage !== 'string' && typeof lineage !== 'function') {
    throw new SignalboxError('OPTION_INVALID', `Expected lineage to be a hold or its token, got ${typeof lineage}`);
  }
  return { signal, ticket, label, lineage, onWait };
}

const NONE = Object.freeze({});
