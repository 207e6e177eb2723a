import { checkNames, namesOf } from '../classifier/option-names.ts';
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
    signalOrOptions?: AbortSignal | Omit<AcquireOptions<Label>, 'lineage'>,
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
    signalOrOptions?: AbortSignal | Omit<AcquireOptions<Label>, 'lineage' | 'ticket' | 'label'>,
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
   * with, in ticket order. Costs as many steps as there are such. It may do anything with the lock, also what lets this
   * very acquire have its keys or refuses it. If it throws, the place is given up, or the hold if it was granted by then,
   * and the acquire rejects with what it threw.
   */
  readonly onWait?: ((blockers: readonly Blocker<Label>[]) => void) | undefined;
};

/** What a lock is made with. */
export type KeyedLockOptions = {
  /** Milliseconds for the ages in `snapshot`. It must not use the lock. Default: `performance.now`. */
  readonly now?: (() => number) | undefined;
  /**
   * The work that `run` calls is inside of its hold without saying so, also after awaiting. Default false, because it
   * follows every promise of the process and slows them on Node 22 and below.
   */
  readonly implicit?: boolean | undefined;
};

/** What options are given to. */
export type Method = 'acquire' | 'tryAcquire' | 'held.run' | 'held.restate';

const LOCK_NAMES = namesOf<KeyedLockOptions>({ now: true, implicit: true });

const NAMES: Readonly<Record<Method, ReadonlySet<string>>> = {
  acquire: namesOf<AcquireOptions>({ signal: true, ticket: true, lineage: true, label: true, onWait: true }),
  tryAcquire: namesOf<Pick<AcquireOptions, 'label' | 'lineage'>>({ label: true, lineage: true }),
  'held.run': namesOf<Omit<AcquireOptions, 'lineage'>>({ signal: true, ticket: true, label: true, onWait: true }),
  'held.restate': namesOf<Pick<AcquireOptions, 'signal' | 'onWait'>>({ signal: true, onWait: true }),
};

/**
 * A copy of what a lock is made with, checked and complete.
 *
 * @throws SignalboxError OPTION_INVALID.
 */
export function readLockOptions(given: KeyedLockOptions): { readonly now: () => number; readonly implicit: boolean } {
  checkNames(given, LOCK_NAMES, 'KeyedLock');
  const { now = performanceNow, implicit = false } = given;
  if (typeof now !== 'function') throw invalid(`Expected now to be a function, got ${typeOf(now)}`);
  if (typeof implicit !== 'boolean') throw invalid(`Expected implicit to be true or false, got ${typeOf(implicit)}`);
  return { now, implicit };
}

const performanceNow = (): number => performance.now();

/**
 * A copy of what the caller gave, checked; a lone signal stands for `{ signal }`.
 *
 * @param lastTicket the highest ticket drawn so far: one that nobody drew has no place in the order yet.
 * @throws SignalboxError OPTION_INVALID, also for a name that the method does not know.
 */
export function readOptions<Label>(
  method: Method,
  given: AbortSignal | AcquireOptions<Label> | undefined,
  lastTicket: number,
): AcquireOptions<Label> {
  if (given === undefined) return NONE;
  const known = NAMES[method];
  if (isSignal(given)) {
    if (!known.has('signal')) throw invalid(`Expected ${method} to be given options, got a signal; it never waits`);
    return { signal: given };
  }
  checkNames(given, known, method);
  const { signal, ticket, label, lineage, onWait } = given;
  if (signal !== undefined && !isSignal(signal)) throw invalid('Expected signal to be an AbortSignal');
  if (ticket !== undefined && !(Number.isInteger(ticket) && ticket >= 1 && ticket <= lastTicket)) {
    const got = typeof ticket === 'number' ? String(ticket) : typeOf(ticket);
    throw invalid(`Expected ticket to be one of the ${lastTicket} drawn so far, got ${got}`);
  }
  if (onWait !== undefined && typeof onWait !== 'function') {
    throw invalid(`Expected onWait to be a function, got ${typeOf(onWait)}`);
  }
  if (lineage != null && typeof lineage !== 'string' && typeof lineage !== 'function') {
    throw invalid(`Expected lineage to be a hold or its token, got ${typeOf(lineage)}`);
  }
  return { signal, ticket, label, lineage, onWait };
}

/** @throws SignalboxError OPTION_INVALID for what cannot be called, before any key is waited for. */
export function checkWork(fn: unknown): void {
  if (typeof fn !== 'function') throw invalid(`Expected the work of run to be a function, got ${typeOf(fn)}`);
}

function typeOf(value: unknown): string {
  return value === null ? 'null' : typeof value;
}

function invalid(message: string): SignalboxError {
  return new SignalboxError('OPTION_INVALID', message);
}

const NONE = Object.freeze({});
