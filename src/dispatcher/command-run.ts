import { randomUUID } from 'node:crypto';
import type { AcquireOptions, Held } from './acquire-options.ts';
import type { Around } from './around.ts';
import { type Assessment, assess } from './assessment.ts';
import type { BatchBook } from './batch.ts';
import type { BatchSettings } from './batch-options.ts';
import { beginAny, mayStartIn, type Program, programsOf } from './beginning.ts';
import type { Entry } from './entry.ts';
import type { Environment } from './environment.ts';
import type { EventLog } from './events.ts';
import { areConflicting, isCovering } from './lock-request.ts';
import { LockTimes } from './lock-times.ts';
import type { Settings } from './options.ts';
import type { Consequence } from './outcome.ts';
import type { KeptOutput } from './output.ts';
import type { OutputBudget } from './output-budget.ts';
import { Printing } from './printing.ts';
import { type Ended, type Running, type RunSpec, type Start, startRun } from './runner.ts';
import type { ReleaseSlot, SlotPool } from './slot-pool.ts';
import { reasonOf } from './thrown.ts';
import { type Owner, ownerIn } from './tool-locks.ts';

/** What a command needs of its batch. */
export type Surroundings = {
  readonly id: string;
  readonly settings: Settings;
  readonly options: BatchSettings;
  readonly around: Around | null;
  readonly pool: SlotPool;
  readonly budget: OutputBudget;
  readonly book: BatchBook;
  readonly log: EventLog;
  /** Commands that wait anew, for more than they held; those behind them in call order wait for them. */
  readonly restating: Set<Entry>;
};

/** Why a running command is ended before it ends by itself. */
export type Stop = { readonly state: 'cancelled' | 'timed-out'; readonly note: string };

export type RunHooks = {
  /** It runs, so that its place in the queues is free for another. */
  readonly started: () => void;
  /** It has ended, with what follows from that. Its processes may live for a while; it keeps its keys until they are gone. */
  readonly ended: (consequence: Consequence | null) => void;
};

/** A place that changes as often as this between grant and start is being changed on purpose. */
const MAX_CHANGES = 16;

/** Commands named in a `waiting` event; a queue may be long. */
const MAX_BLOCKERS = 32;

const LEFT = new Error('its working directory no longer lies where commands may run');

/** One command from joining its queues until its processes are gone. */
export class CommandRun {
  readonly #batch: Surroundings;
  readonly #entry: Entry;
  readonly #hooks: RunHooks;
  readonly #owner: Owner;
  readonly #waiting = new AbortController();
  #around: Around | null = null;
  #running: Running | null = null;
  #stop: Stop | null = null;
  #printing: Printing | null = null;
  #changes = 0;
  readonly #times: LockTimes;
  #held: Held<Owner> | null = null;

  constructor(batch: Surroundings, entry: Entry, hooks: RunHooks) {
    this.#batch = batch;
    this.#entry = entry;
    this.#hooks = hooks;
    this.#owner = Object.freeze({ batchId: batch.id, commandId: entry.id });
    this.#times = new LockTimes(batch.settings);
  }

  /** What it has printed so far; undefined before it runs. */
  get printed(): KeptOutput | undefined {
    return this.#printing?.peek();
  }

  /** What a batch that is started inside of it has around it; null before it runs. */
  get around(): Around | null {
    return this.#around;
  }

  /** Gives up waiting, and what it holds: it has ended, or is to join anew. Only for one that has not started. */
  giveUp(): void {
    this.#waiting.abort();
    this.#free();
  }

  /** Ends what runs. The first reason counts. */
  end(stop: Stop): void {
    this.#stop ??= stop;
    this.#running?.end();
  }

  /** Joins its queues before it first waits. Never rejects. */
  async live(): Promise<void> {
    const { restating } = this.#batch;
    let slot: ReleaseSlot | null = null;
    try {
      this.#held = await this.#acquire(null);
      for (;;) {
        slot = await this.#takeSlot();
        if (this.#waiting.signal.aborted) return;
        const ready = this.#assess();
        if (ready !== null) {
          const around = { hold: this.#held, slot };
          this.#around = around;
          await this.#run(ready, () => {
            around.slot();
            this.#free();
          });
          return;
        }
        slot();
        restating.add(this.#entry);
        this.#held = await this.#acquire(this.#held);
        restating.delete(this.#entry);
      }
    } catch (error) {
      if (!this.#waiting.signal.aborted) this.#fail(`It was not run: ${reasonOf(error)}`);
    } finally {
      restating.delete(this.#entry);
      slot?.();
      this.#free();
    }
  }

  #free(): void {
    this.#held?.();
    this.#times.freed();
  }

  /** At the entry's own ticket, also when it waits anew: nobody behind it slips in. */
  async #acquire(before: Held<Owner> | null): Promise<Held<Owner>> {
    const { ticket, locks } = this.#entry;
    const { around } = this.#batch;
    let goOn = (): void => {};
    const options: Pick<AcquireOptions<Owner>, 'signal' | 'onWait'> = {
      signal: this.#waiting.signal,
      onWait: (blockers) => {
        const commands = blockers.flatMap(({ label }) => ownerIn(label) ?? []);
        const others = blockers.length - commands.length;
        this.#tellWaiting({ waitsFor: commands.slice(0, MAX_BLOCKERS), ...(others > 0 ? { others } : {}) });
        // Whoever it waits for may have the keys already, and wait for the slot of the command around this one.
        goOn = around?.slot?.idle() ?? goOn;
      },
    };
    const { lock } = this.#batch.settings;
    const lineage = around?.hold;
    try {
      const queued = before?.restate(locks, options);
      return await this.#times.granted(
        queued ?? lock.acquire(locks, { ...options, ticket, label: this.#owner, lineage }),
      );
    } finally {
      goOn();
    }
  }

  #takeSlot(): Promise<ReleaseSlot> {
    const { pool } = this.#batch;
    const waiting = pool.waiting;
    const taken = pool.take(this.#waiting.signal);
    if (pool.waiting > waiting) this.#tellWaiting({ waitsFor: [] });
    return taken;
  }

  #tellWaiting(blockers: { readonly waitsFor: readonly Owner[]; readonly others?: number }): void {
    this.#batch.log.append({ type: 'waiting', commandId: this.#entry.id, ...blockers });
  }

  /**
   * Looks again, now that it may start: its directory may be another one, its program or an operand may have been
   * replaced. Null when what it holds no longer covers what it would do, or an earlier command of the batch restates a
   * request that conflicts; it then waits anew, for what its entry says. (One that does not conflict would be granted at
   * once, again and again: nobody is overtaken by it.)
   */
  #assess(): Assessment | null {
    const batch = this.#batch;
    const entry = this.#entry;
    const { assessor } = batch.settings;
    // A verdict only ever tightens: what was serial once stays so.
    const settled = entry.verdict.kind === 'serial' ? entry.verdict : null;
    const { changesTo = null } = entry;
    const fresh = assess(assessor, batch.id, batch.options, entry.order, { settled, changesTo });
    const isCovered = isCovering(entry.locks, fresh.locks);
    const isOvertaking = [...batch.restating].some(
      ({ index, locks }) => index < entry.index && areConflicting(locks, fresh.locks),
    );
    if (isCovered && !isOvertaking) return fresh;
    if (!isCovered) this.#changes += 1;
    if (this.#changes > MAX_CHANGES) throw new Error('what it works on changed again and again');
    batch.book.restate(entry, fresh.verdict, isCovered ? entry.locks : fresh.locks);
    return null;
  }

  async #run({ launch, environment }: Assessment, release: () => void): Promise<void> {
    const { book, budget, log, options } = this.#batch;
    const entry = this.#entry;
    const reserved = budget.reserve(book.unstarted - 1, !book.isClosed);
    const { redactors } = options;
    const printing = new Printing({ budget, reserved }, { redactors, whose: this.#owner }, (stream, range) =>
      log.appendOutput(entry.id, stream, range),
    );
    const marker = randomUUID();
    const env = environment(marker);
    const begun = await beginAny(programsOf(launch, entry.order, this.#batch.settings.assessor.platform), {
      cwd: entry.order.cwd,
      begin: (program) => this.#begin(program, env, marker, printing),
      isGivenUp: () => this.#waiting.signal.aborted,
      relieve: () => this.#batch.settings.runner.pipes?.giveBack(),
    });
    if (!('running' in begun)) {
      printing.end();
      release();
      if (begun.note !== null) this.#fail(begun.note);
      return;
    }
    const { running } = begun;
    const timer = setTimeout(
      () => this.end({ state: 'timed-out', note: `Timed out after ${entry.timeoutMs} ms` }),
      entry.timeoutMs,
    );
    try {
      const ended = await running.ended;
      clearTimeout(timer);
      // Whoever is told of a clean end finds the keys free.
      if (ended.kind === 'exited' && ended.isGone) release();
      this.#hooks.ended(book.finish(entry, this.#outcomeOf(ended, printing.end())));
    } finally {
      // Whatever happened here, the keys are held for as long as somebody of it lives.
      await running.gone;
    }
  }

  /** Starts a program as this command; in the same step the book knows, lest a stop calls unstarted what runs. */
  #begin(program: Program, env: Environment, marker: string, printing: Printing): Start {
    const { limits, orphans, runner, mayRunIn } = this.#batch.settings;
    const { order, stdin } = this.#entry;
    const spec: RunSpec = {
      ...program,
      cwd: order.cwd,
      env,
      stdin,
      marker,
      graceMs: limits.graceMs,
      drainMs: limits.drainMs,
      orphans,
      onOutput: printing.push,
    };
    const start = mayStartIn(order.cwd, mayRunIn) ? startRun(spec, runner) : { failure: Promise.resolve(LEFT) };
    if ('failure' in start) return start;
    this.#running = start.running;
    this.#printing = printing;
    this.#batch.book.start(this.#entry, runner.now(), start.running.pid);
    this.#hooks.started();
    return start;
  }

  #outcomeOf(ended: Ended, output: KeptOutput) {
    if (ended.kind === 'exited') {
      const { at, exitCode, signal, orphans, note } = ended;
      return { state: 'exited', at, exitCode, signal, orphans, note, output } as const;
    }
    const stop = this.#stop ?? { state: 'cancelled', note: 'Cancelled' };
    return { ...stop, at: ended.at, output };
  }

  #fail(note: string): void {
    const { book, settings } = this.#batch;
    this.#hooks.ended(book.finish(this.#entry, { state: 'failed', at: settings.now(), note }));
  }
}
