import { SignalboxError } from '../errors.ts';
import { checkAnswers } from './approvals.ts';
import type { Around, Host } from './around.ts';
import { assess } from './assessment.ts';
import { BatchBook, type BookEvent } from './batch.ts';
import type { BatchSettings } from './batch-options.ts';
import { type Checked, checkInputs } from './command-input.ts';
import { CommandRun } from './command-run.ts';
import { type Entry, leftOf } from './entry.ts';
import { EventLog } from './events.ts';
import { named } from './named.ts';
import type { Settings } from './options.ts';
import { type Consequence, isFinal } from './outcome.ts';
import { OutputBudget } from './output-budget.ts';
import { Preparer } from './preparation.ts';
import { resultOf } from './result.ts';
import type { SlotPool } from './slot-pool.ts';
import type { Answer, Batch, BatchEvent, BatchResult, CommandInput } from './types.ts';

export type BatchHooks = {
  /** Throws when no new command, or not so many, may come. */
  readonly admit: (commands: number) => void;
  /** A run begins; the promise settles when its keys are free again. */
  readonly track: (run: Promise<void>) => void;
};

/** Bytes that a batch takes besides its commands and events, rather more than less. */
const BATCH_BYTES = 4096;

/** A batch and the doing of it: joins, starts and ends commands as its book says. */
export class LiveBatch implements Batch, Host {
  readonly id: string;
  readonly done: Promise<BatchResult>;
  readonly settings: Settings;
  readonly options: BatchSettings;
  readonly around: Around | null;
  readonly pool: SlotPool;
  readonly budget: OutputBudget;
  readonly book: BatchBook;
  readonly log: EventLog;
  readonly restating = new Set<Entry>();
  readonly #hooks: BatchHooks;
  readonly #createdAt: number;
  readonly #ids = new Set<string>();
  readonly #runs = new Map<Entry, CommandRun>();
  readonly #preparer: Preparer;
  readonly #deadline: NodeJS.Timeout;
  #resolve: (result: BatchResult) => void = () => {};

  constructor(id: string, settings: Settings, options: BatchSettings, around: Around | null, hooks: BatchHooks) {
    const { limits, now, slots } = settings;
    this.id = id;
    this.settings = settings;
    this.options = options;
    this.around = around;
    this.#hooks = hooks;
    this.#createdAt = now();
    this.pool = slots.pool(options.maxParallel, around?.slot ?? undefined);
    this.budget = new OutputBudget(limits.maxOutputBytesPerBatch, limits.maxOutputBytesPerCommand);
    this.log = new EventLog(id, now);
    const { maxParallel, onFailure } = options;
    const tell = (event: BookEvent): void => {
      this.log.append(event);
      settings.observe(event);
    };
    this.book = new BatchBook({ maxParallel, onFailure, tell });
    settings.observe({ type: 'batch-opened' });
    this.#preparer = new Preparer(this, {
      settled: () => this.#settle(),
      ended: (consequence) => this.#apply(consequence),
      withdrawn: (entries) => this.#giveUp(entries),
    });
    this.done = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#deadline = setTimeout(() => this.#expire(), options.deadlineMs).unref();
  }

  get keptBytes(): number {
    return BATCH_BYTES + this.book.bytes + this.log.bytes;
  }

  add(command: string | CommandInput): string {
    return this.#append([command], () => '')[0] as string;
  }

  addAll(commands: readonly (string | CommandInput)[]): readonly string[] {
    if (!Array.isArray(commands)) {
      const detail = `Expected commands to be a list of commands, got ${named(commands)}`;
      throw new SignalboxError('OPTION_INVALID', detail, { pointer: '/commands' });
    }
    return this.#append(commands, (index) => `/commands/${index}`);
  }

  /**
   * Adds checked commands in one step, so that all are accepted before the first starts.
   *
   * @param isWhole no more will come: whatever is to be asked about them is settled before any of them starts.
   */
  take(commands: readonly Checked[], isWhole = false): void {
    const { assessor, lock, now } = this.settings;
    this.#deadline.ref();
    for (const { id, order, timeoutMs, stdin, keysOf, asks } of commands) {
      this.#ids.add(id);
      const { verdict, locks, changesTo } = assess(assessor, this.id, this.options, order);
      const todo = leftOf({ before: this.options.before !== null, asks: asks || asksOf(this.options), keysOf });
      const known = { id, order, timeoutMs, stdin, verdict, locks, changesTo, todo };
      this.book.add({ ...known, ticket: lock.draw(), addedAt: now() });
    }
    if (isWhole) this.#preparer.settleQuestions();
    this.#settle();
  }

  close(): void {
    if (!this.book.isClosed) this.settings.observe({ type: 'batch-closed' });
    this.book.close();
    this.#settle();
  }

  answer(answers: readonly Answer[]): void {
    for (const { entry, decision } of checkAnswers(answers, this.book)) this.#preparer.answer(entry, decision);
  }

  pause(): void {
    if (!this.book.isDone) this.#giveUp(this.book.hold('pause'));
  }

  resume(): void {
    this.book.release('pause');
    this.#settle();
  }

  cancel(reason?: string): void {
    if (this.book.isDone) return;
    this.#apply(this.book.cancel(reason ?? null, this.settings.now()));
    this.close();
  }

  /** Starts nothing more and takes no more; what runs goes on. */
  halt(reason: string): void {
    this.#giveUp(this.book.halt(reason, this.settings.now()));
    this.close();
  }

  snapshot(): BatchResult {
    return Object.freeze({
      id: this.id,
      state: this.book.state,
      paused: this.book.isPaused,
      asks: Object.freeze(this.book.asks),
      createdAt: new Date(this.#createdAt).toISOString(),
      commands: Object.freeze(this.book.entries.map((entry) => resultOf(entry, this.#runs.get(entry)?.printed))),
    });
  }

  events(options?: { after?: number; signal?: AbortSignal }): AsyncIterable<BatchEvent> {
    return this.log.read(options);
  }

  aroundOf(commandId: string): Around | 'waits' | 'ended' | 'unknown' {
    const entry = this.book.entries.find(({ id }) => id === commandId);
    if (entry === undefined) return 'unknown';
    return this.#runs.get(entry)?.around ?? (isFinal(entry.state) ? 'ended' : 'waits');
  }

  #append(commands: readonly (string | CommandInput)[], pointerOf: (index: number) => string): readonly string[] {
    this.#hooks.admit(commands.length);
    if (this.book.isClosed) throw new SignalboxError('BATCH_CLOSED', `Batch ${this.id} takes no more commands`);
    const before = this.book.entries.length;
    const context = { before, ids: this.#ids, cwd: this.options.cwd, limits: this.settings.limits };
    const checked = checkInputs(commands, context, pointerOf);
    this.take(checked);
    return checked.map(({ id }) => id);
  }

  /** Joins those whose turn it is, in call order and in one step: each draws its place in the queues before any waits. */
  #pump(): void {
    for (const entry of this.book.takeJoinable(this.settings.now())) {
      const run = new CommandRun(this, entry, {
        started: () => this.#pump(),
        ended: (consequence) => {
          this.#apply(consequence);
          this.#settle();
        },
      });
      this.#runs.set(entry, run);
      const over = run.live().finally(() => {
        // It may have been withdrawn and have joined anew.
        if (this.#runs.get(entry) === run) this.#runs.delete(entry);
      });
      this.#hooks.track(over);
    }
    this.#preparer.next();
  }

  #apply(consequence: Consequence | null): void {
    if (consequence === null) return;
    const { unstarted, running, state, note } = consequence;
    this.#giveUp(unstarted);
    for (const entry of running) this.#runs.get(entry)?.end({ state, note });
  }

  #giveUp(unstarted: readonly Entry[]): void {
    for (const entry of unstarted) {
      this.#runs.get(entry)?.giveUp();
      this.#preparer.giveUp(entry);
    }
  }

  #expire(): void {
    if (this.book.isDone) return;
    this.#apply(this.book.expire(this.options.deadlineMs, this.settings.now()));
    this.close();
  }

  #settle(): void {
    this.#pump();
    if (this.book.takeEnd()) {
      clearTimeout(this.#deadline);
      this.#resolve(this.snapshot());
    } else if (this.book.unfinished === 0) {
      // An open batch in which nothing happens does not keep the process alive.
      this.#deadline.unref();
    }
  }
}

/** Whether a command of such a batch needs approval though it does not say so; null: a function is to say it. */
function asksOf({ approval }: BatchSettings): boolean | null {
  return typeof approval === 'function' ? null : approval === 'required';
}
