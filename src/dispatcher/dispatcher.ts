import { setTimeout as sleep } from 'node:timers/promises';
import { SignalboxError } from '../errors.ts';
import { type Around, findAround } from './around.ts';
import { assess } from './assessment.ts';
import { type BatchSettings, readBatchOptions } from './batch-options.ts';
import { type Checked, checkInputs, DAY_MS } from './command-input.ts';
import { isVouched } from './entry.ts';
import { LiveBatch } from './live-batch.ts';
import { named } from './named.ts';
import { type DispatcherOptions, readDispatcherOptions, type Settings } from './options.ts';
import { groupsOf } from './plan.ts';
import { BatchStore } from './store.ts';
import type { Batch, BatchOptions, CommandInput, Dispatcher, Plan } from './types.ts';

type Commands = readonly (string | CommandInput)[];

/** The batch that a plan is made for, in its keys. */
const PLANNED = 'planned';

const SHUTDOWN_GRACE_MS = 5000;

/** Longest wait, in milliseconds, for processes that even SIGKILL does not end at once, when shutting down. */
const MAX_KILL_WAIT_MS = 5000;

/**
 * Runs batches of commands on the judge's answers: parallel ones together, up to a limit, a serial one alone, in call
 * order, and never beside a command of any other batch of the same lock that works in the same place.
 *
 * @throws SignalboxError OPTION_INVALID, DIRECTORY_MISSING.
 *
 * @example
 * const dispatcher = createDispatcher({ rules: loadRules() });
 * const batch = dispatcher.dispatch(['git status', 'ls -la'], { cwd: '/repo' });
 * const { commands } = await batch.done;
 */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  return new LiveDispatcher(readDispatcherOptions(options));
}

class LiveDispatcher implements Dispatcher {
  readonly #settings: Settings;
  readonly #store: BatchStore<LiveBatch>;
  /** Commands that wait for keys or hold some, also of batches that have ended. */
  readonly #runs = new Set<Promise<void>>();
  #shutdown: Promise<void> | null = null;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#store = new BatchStore(settings.retention, settings.now);
  }

  open(options: BatchOptions = {}): Batch {
    this.#admit(0);
    this.#admitBatch();
    return this.#create(readBatchOptions(options, this.#settings), this.#aroundOf(options));
  }

  dispatch(commands: Commands, options: BatchOptions = {}): Batch {
    this.#admit(0);
    const read = readBatchOptions(options, this.#settings);
    const around = this.#aroundOf(options);
    const checked = this.#check(commands, read);
    this.#admit(checked.length);
    this.#admitBatch();
    const batch = this.#create(read, around);
    batch.take(checked, true);
    batch.close();
    return batch;
  }

  plan(commands: Commands, options: BatchOptions = {}): Plan {
    const read = readBatchOptions(options, this.#settings);
    this.#aroundOf(options);
    const planned = this.#check(commands, read).map(({ id, order }) => {
      const { verdict, locks } = assess(this.#settings.assessor, PLANNED, read, order);
      // What a function would tell is not known: until it is told, the command counts as alone.
      const vouched = isVouched({ order, verdict }) && order.lockKeys.length > 0 ? ({ vouched: true } as const) : {};
      return Object.freeze({ id, command: order.command, verdict, locks, ...vouched });
    });
    return Object.freeze({ groups: groupsOf(planned), commands: Object.freeze(planned) });
  }

  get(id: string): Batch | undefined {
    return this.#store.get(id);
  }

  batches(): readonly Batch[] {
    return this.#store.all();
  }

  shutdown({ graceMs = SHUTDOWN_GRACE_MS }: { graceMs?: number } = {}): Promise<void> {
    if (!(Number.isInteger(graceMs) && graceMs >= 0 && graceMs <= DAY_MS)) {
      const expected = `Expected graceMs to be an integer from 0 to ${DAY_MS}`;
      return Promise.reject(new SignalboxError('OPTION_INVALID', `${expected}, got ${named(graceMs)}`));
    }
    this.#shutdown ??= this.#end(graceMs);
    return this.#shutdown;
  }

  async #end(graceMs: number): Promise<void> {
    for (const batch of this.#store.unended()) batch.halt('the dispatcher shuts down');
    await this.#idle(graceMs);
    for (const batch of this.#store.unended()) batch.cancel('the dispatcher shuts down');
    await this.#idle(this.#settings.limits.graceMs + MAX_KILL_WAIT_MS);
  }

  /** Waits until no command holds anything, at most `forMs`. */
  async #idle(forMs: number): Promise<void> {
    const giveUp = new AbortController();
    const late = sleep(forMs, undefined, { signal: giveUp.signal }).catch(() => {});
    await Promise.race([Promise.all(this.#runs), late]);
    giveUp.abort();
  }

  #admit(commands: number): void {
    if (this.#shutdown !== null) throw new SignalboxError('SHUTTING_DOWN', 'The dispatcher is shutting down');
    const { maxQueuedCommands } = this.#settings.limits;
    if (maxQueuedCommands === Number.POSITIVE_INFINITY) return;
    const queued = this.#store.unended().reduce((sum, { book }) => sum + book.unstarted, 0);
    if (queued + commands <= maxQueuedCommands) return;
    const expected = `Expected at most ${maxQueuedCommands} commands to wait in all batches`;
    throw new SignalboxError('QUEUE_FULL', `${expected}, got ${commands} more than the ${queued} that do`);
  }

  #admitBatch(): void {
    const { maxLiveBatches } = this.#settings.limits;
    if (maxLiveBatches === Number.POSITIVE_INFINITY || this.#store.unended().length < maxLiveBatches) return;
    const expected = `Expected fewer than ${maxLiveBatches} batches that have not ended`;
    throw new SignalboxError('BATCHES_TOO_MANY', `${expected}; wait for one, or cancel one`);
  }

  #check(commands: Commands, { cwd }: BatchSettings): readonly Checked[] {
    if (!Array.isArray(commands)) {
      const detail = `Expected commands to be a list of commands, got ${named(commands)}`;
      throw new SignalboxError('OPTION_INVALID', detail, { pointer: '/commands' });
    }
    if (commands.length === 0) {
      throw new SignalboxError('COMMANDS_EMPTY', 'Expected at least one command, got none', { pointer: '/commands' });
    }
    const { limits } = this.#settings;
    return checkInputs(commands, { before: 0, ids: new Set(), cwd, limits }, (index) => `/commands/${index}`);
  }

  #aroundOf({ inside }: BatchOptions): Around | null {
    return findAround(inside, { lock: this.#settings.lock, get: (id) => this.#store.get(id) });
  }

  #create(read: BatchSettings, around: Around | null): LiveBatch {
    const { newId } = this.#settings;
    const batch = new LiveBatch(newId(), this.#settings, read, around, {
      admit: (count) => this.#admit(count),
      track: (run) => {
        this.#runs.add(run);
        void run.then(() => this.#runs.delete(run));
      },
    });
    this.#store.add(batch);
    void batch.done.then(() => this.#store.end(batch));
    return batch;
  }
}
