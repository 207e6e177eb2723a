import { randomUUID } from 'node:crypto';
import { checkNames, namesOf } from '../classifier/option-names.ts';
import { SignalboxError } from '../errors.ts';
import type { Held } from './acquire-options.ts';
import { checkKeys } from './command-input.ts';
import type { KeyedLock } from './keyed-lock.ts';
import { readMaxParallel } from './max-parallel.ts';
import { named } from './named.ts';
import { isSignal } from './signal-watch.ts';
import { createSlots } from './slots.ts';
import { type Owner, toolLocks } from './tool-locks.ts';
import type { LockRequest } from './types.ts';

/** What a call is given to work with. */
export type ScheduledCall = {
  /** Aborts with the signal of the schedule. */
  readonly signal: AbortSignal;
  /** What the call holds: `held.run` takes more inside of it. */
  readonly held: Held<Owner>;
};

export type ScheduleOptions<Value> = {
  /** How many calls, 0 and upwards; each is known by its index from 0. */
  readonly count: number;
  /** Which may overlap. Asked once for each, in order; only `true` is a yes, and one that throws is a no. */
  readonly safe: boolean | ((index: number) => boolean);
  /** Does the work of one call. */
  readonly run: (index: number, call: ScheduledCall) => Value | PromiseLike<Value>;
  /** Calls that run at once, 1 to 256. Default 10, or SIGNALBOX_MAX_PARALLEL. */
  readonly maxParallel?: number;
  /** Whether this value is a reason to start nothing more. What runs goes on. */
  readonly stops?: (value: Value, index: number) => boolean;
  /** What a call changes: it never overlaps a holder of such a key, in this schedule or elsewhere. A bare key is exclusive. */
  readonly lockKeys?: (index: number) => readonly LockRequest[];
  /** Starts nothing more when it aborts. */
  readonly signal?: AbortSignal;
  /** Whose keys they are. Default: `toolLocks`, the lock of this process. */
  readonly lock?: KeyedLock<Owner>;
};

/** What became of a call: it ran; it never started; or what it changes could not be told, and so it did not run. */
export type ScheduleResult<Value> =
  | { readonly state: 'finished'; readonly value: Value }
  | { readonly state: 'not-started' | 'failed'; readonly note: string };

const NAMES = namesOf<ScheduleOptions<unknown>>({
  count: true,
  safe: true,
  run: true,
  maxParallel: true,
  stops: true,
  lockKeys: true,
  signal: true,
  lock: true,
});

const MAX_COUNT = 1_000_000;

/** Places in the queues that a schedule may hold, as a multiple of what it may run at once. */
const PLACES_PER_SLOT = 4;

/**
 * Runs calls that are no shell commands by the rule of a batch: in call order, neighbours that are safe overlap, up to a
 * limit; any other waits for all before it, runs alone, and all behind it wait for it.
 *
 * @returns the results in call order, when every call that was started has settled. Rejects with what the first call
 * throws, at once: those that run go on, none starts. An abort is no error: calls that never started are
 * `not-started`, `Aborted before dispatch`.
 * @throws SignalboxError OPTION_INVALID (it rejects with it).
 *
 * @example
 * const results = await schedule({
 *   count: calls.length,
 *   safe: (index) => isCallSafe(tools[calls[index].name], calls[index].arguments),
 *   run: (index, { signal }) => tools[calls[index].name].call(calls[index].arguments, signal),
 * });
 */
export async function schedule<Value>(options: ScheduleOptions<Value>): Promise<readonly ScheduleResult<Value>[]> {
  return new Schedule(read(options)).run();
}

type Settings<Value> = ScheduleOptions<Value> & { readonly maxParallel: number; readonly lock: KeyedLock<Owner> };

/** The joins, starts and ends of the calls. The lock alone says who runs when: a call takes the gate, and what it changes. */
class Schedule<Value> {
  readonly #settings: Settings<Value>;
  readonly #gate = `schedule:${randomUUID()}`;
  readonly #pool;
  /** Aborts when nothing more may start, with what the calls are told that have not. */
  readonly #stop = new AbortController();
  readonly #work = new AbortController();
  readonly #results: (ScheduleResult<Value> | undefined)[] = [];
  readonly #ended: Promise<readonly ScheduleResult<Value>[]>;
  #resolve: (results: readonly ScheduleResult<Value>[]) => void = () => {};
  #reject: (reason: unknown) => void = () => {};
  #next = 0;
  #waiting = 0;
  #unsettled = 0;

  constructor(settings: Settings<Value>) {
    this.#settings = settings;
    this.#pool = createSlots({ limit: settings.maxParallel }).pool(settings.maxParallel);
    this.#ended = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  async run(): Promise<readonly ScheduleResult<Value>[]> {
    const { signal } = this.#settings;
    const abort = (): void => {
      this.#stop.abort('Aborted before dispatch');
      this.#work.abort(signal?.reason);
    };
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { once: true });
    try {
      this.#pump();
      return await this.#ended;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Joins those whose turn it is, in one step: each draws its place in the queues before any waits. */
  #pump(): void {
    const { count, maxParallel } = this.#settings;
    while (this.#next < count && this.#waiting < maxParallel * PLACES_PER_SLOT && !this.#stop.signal.aborted) {
      const index = this.#next++;
      const keys = this.#keysOf(index);
      if (keys === null) continue;
      this.#waiting += 1;
      this.#unsettled += 1;
      void this.#live(index, keys);
    }
    const isOver = this.#next === count || this.#stop.signal.aborted;
    if (isOver && this.#unsettled === 0) this.#resolve(this.#all());
  }

  /** Everything that the call takes, in one acquire; null when that cannot be told. */
  #keysOf(index: number): readonly LockRequest[] | null {
    const mode = this.#isSafe(index) ? 'shared' : 'exclusive';
    try {
      const more = checkKeys(this.#settings.lockKeys?.(index) ?? [], 'lockKeys');
      return [{ key: this.#gate, mode }, ...more];
    } catch (error) {
      const note = `Could not tell what the call changes: ${messageOf(error)}`;
      this.#results[index] = { state: 'failed', note };
      return null;
    }
  }

  #isSafe(index: number): boolean {
    const { safe } = this.#settings;
    try {
      const answer: unknown = typeof safe === 'function' ? safe(index) : safe;
      return answer === true;
    } catch {
      return false;
    }
  }

  async #live(index: number, keys: readonly LockRequest[]): Promise<void> {
    const { signal } = this.#stop;
    let isWaiting = true;
    const leaveQueue = (): void => {
      if (isWaiting) this.#waiting -= 1;
      isWaiting = false;
    };
    let held: Held<Owner> | null = null;
    let slot = (): void => {};
    try {
      held = await this.#settings.lock.acquire(keys, signal);
      slot = await this.#pool.take(signal);
      if (signal.aborted) return;
      leaveQueue();
      this.#pump();
      await this.#perform(index, held);
    } catch (error) {
      // What ends the waiting of all is no error of this call.
      if (!signal.aborted) this.#fail(error);
    } finally {
      leaveQueue();
      slot();
      held?.();
      this.#unsettled -= 1;
      this.#pump();
    }
  }

  async #perform(index: number, held: Held<Owner>): Promise<void> {
    const { run, stops } = this.#settings;
    try {
      const value = await run(index, { signal: this.#work.signal, held });
      this.#results[index] = { state: 'finished', value };
      if (stops?.(value, index) === true) this.#stop.abort(`Skipped because call ${index} stopped the schedule`);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** The first counts. Nobody is left to hear of others. */
  #fail(error: unknown): void {
    this.#stop.abort('Skipped because a call failed');
    this.#reject(error);
  }

  #all(): readonly ScheduleResult<Value>[] {
    const note = String(this.#stop.signal.reason);
    const results = Array.from(
      { length: this.#settings.count },
      (_, index): ScheduleResult<Value> => Object.freeze(this.#results[index] ?? { state: 'not-started', note }),
    );
    return Object.freeze(results);
  }
}

function read<Value>(options: ScheduleOptions<Value>): Settings<Value> {
  checkNames(options, NAMES, 'schedule');
  const { count, safe, run, stops, lockKeys, signal, lock = toolLocks } = options;
  if (!(Number.isInteger(count) && count >= 0 && count <= MAX_COUNT)) {
    throw invalid(`count to be an integer from 0 to ${MAX_COUNT}`, count);
  }
  if (typeof safe !== 'boolean' && typeof safe !== 'function')
    throw invalid('safe to be a boolean or a function', safe);
  if (typeof run !== 'function') throw invalid('run to be a function', run);
  if (stops !== undefined && typeof stops !== 'function') throw invalid('stops to be a function', stops);
  if (lockKeys !== undefined && typeof lockKeys !== 'function') throw invalid('lockKeys to be a function', lockKeys);
  if (signal !== undefined && !isSignal(signal)) throw invalid('signal to be an AbortSignal', signal);
  if (typeof lock?.acquire !== 'function') throw invalid('lock to be a KeyedLock', lock);
  return { ...options, lock, maxParallel: readMaxParallel(options.maxParallel, 'maxParallel') };
}

function invalid(expected: string, got: unknown): SignalboxError {
  return new SignalboxError('OPTION_INVALID', `Expected ${expected}, got ${named(got)}`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
