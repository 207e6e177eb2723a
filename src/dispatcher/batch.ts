import type { Verdict } from '../classifier/verdict.ts';
import { type AddedFields, type Decision, type Entry, isVouched, leftOf, newEntry, type Todo } from './entry.ts';
import type { EventBody } from './events.ts';
import { type Consequence, failureOf, isFinal, type Outcome } from './outcome.ts';
import { KeptOutput } from './output.ts';
import { timesOf } from './result.ts';
import type { BatchState, LockRequest, OnFailure } from './types.ts';

/** What of a command a hook, or the function that tells its keys, can change. */
export type Revised = Pick<Entry, 'order' | 'stdin' | 'verdict' | 'changesTo' | 'locks'>;

/** Everything but output, which the run of a command tells. */
export type BookEvent = Exclude<EventBody, { type: 'output' }>;

/** Why nothing of a batch joins, besides commands that ask. */
export type Hold = 'pause' | 'questions';

/** Queue places that a batch may hold, as a multiple of what it may run at once. */
const PLACES_PER_SLOT = 4;

/** Bytes that a command takes besides its events and its output, rather more than less: a short one was weighed at 4,000 in all. */
const ENTRY_BYTES = 3072;

const NO_VARIABLES = Object.freeze({});
const NO_LOCKS: readonly LockRequest[] = Object.freeze([]);

/**
 * The states of a batch's commands and what follows from each change. It does nothing itself: it tells events, and gives
 * back what must be joined or ended. Every command gets exactly one `finished`.
 */
export class BatchBook {
  readonly entries: Entry[] = [];
  readonly #tell: (event: BookEvent) => void;
  readonly #places: number;
  readonly #onFailure: OnFailure;
  /** The first entry that has not joined. All before it have, or have ended. */
  #nextToJoin = 0;
  #waiting = 0;
  #unstarted = 0;
  #unfinished = 0;
  #isClosed = false;
  #isCancelled = false;
  #isDone = false;
  /** Why nothing joins: a pause, commands that ask, questions that are to be settled before anything runs. */
  readonly #holds = new Set<Entry | Hold>();
  /** What ends every command that is added from now on. */
  #stop: { readonly state: 'skipped' | 'not-started'; readonly note: string } | null = null;

  constructor(options: { maxParallel: number; onFailure: OnFailure; tell: (event: BookEvent) => void }) {
    this.#places = options.maxParallel * PLACES_PER_SLOT;
    this.#onFailure = options.onFailure;
    this.#tell = options.tell;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Closed, and every command has ended. */
  get isDone(): boolean {
    return this.#isDone;
  }

  get unfinished(): number {
    return this.#unfinished;
  }

  /** How many are known and have not started. */
  get unstarted(): number {
    return this.#unstarted;
  }

  /** What the commands take in memory besides the events; complete when all have ended. */
  get bytes(): number {
    return this.entries.reduce((sum, { output }) => sum + ENTRY_BYTES + output.bytes, 0);
  }

  get state(): BatchState {
    if (this.#isCancelled) return 'cancelled';
    if (this.#isDone) return 'finished';
    return this.#isClosed ? 'running' : 'open';
  }

  /** Takes a command at the end. A batch that was stopped answers it at once. */
  add(fields: AddedFields): void {
    const entry = newEntry(fields, this.entries.length);
    this.entries.push(entry);
    this.#unstarted += 1;
    this.#unfinished += 1;
    const { id, order, verdict, todo } = entry;
    const provisional = todo?.before === true ? ({ provisional: true } as const) : {};
    this.#tell({ type: 'accepted', commandId: id, command: order.command, verdict, ...provisional });
    if (this.#stop !== null) this.#end(entry, { ...this.#stop, at: entry.addedAt });
  }

  /** The commands whose turn it is to join their queues, in call order. They are `waiting` from now on. */
  takeJoinable(at: number): readonly Entry[] {
    const joinable: Entry[] = [];
    if (this.#holds.size > 0) return joinable;
    for (; this.#nextToJoin < this.entries.length && this.#waiting < this.#places; this.#nextToJoin += 1) {
      const entry = this.entries[this.#nextToJoin] as Entry;
      if (entry.state !== 'queued') continue;
      if (entry.todo !== null) break;
      entry.state = 'waiting';
      entry.joinedAt = at;
      this.#waiting += 1;
      joinable.push(entry);
    }
    return joinable;
  }

  /** The command whose turn it would be, were there not something to be settled first; null when there is none. */
  get nextTodo(): Entry | null {
    const next = this.entries[this.#nextToJoin];
    const isHeld = this.#holds.size > 0 || this.#waiting >= this.#places;
    return next === undefined || next.todo === null || isHeld ? null : next;
  }

  /** Commands that wait for an answer, in call order. */
  get asks(): readonly string[] {
    return this.entries.filter((entry) => this.#holds.has(entry)).map(({ id }) => id);
  }

  /** Nothing joins, whether somebody wants that or is asked. */
  get isPaused(): boolean {
    return [...this.#holds].some((hold) => hold !== 'questions');
  }

  /**
   * Nothing joins until this is released. Gives back those that had joined and not started: they are `queued` again, and
   * must give up whatever they wait for.
   */
  hold(hold: Hold): readonly Entry[] {
    if (hold === 'pause' && !this.#holds.has(hold)) this.#tell({ type: 'paused' });
    return this.#hold(hold);
  }

  release(hold: Hold): void {
    if (this.#holds.delete(hold) && hold === 'pause') this.#tell({ type: 'resumed' });
  }

  /** Somebody is asked about it. Nothing joins until that is answered, or it ends; gives back what `hold` does. */
  ask(entry: Entry): readonly Entry[] {
    if (isFinal(entry.state)) return [];
    entry.isAsked = true;
    const rewritten = entry.isRewritten ? { command: entry.order.command } : {};
    this.#tell({ type: 'asking', commandId: entry.id, ...rewritten });
    return this.#hold(entry);
  }

  /** Takes the answer about a command that asks; one that is declined ends. */
  answer(entry: Entry, decision: Decision, at: number): void {
    if (!this.#holds.delete(entry)) return;
    entry.decision = decision;
    const { reason, ...said } = decision;
    this.#tell({ type: 'answered', commandId: entry.id, ...said, ...(reason === null ? {} : { reason }) });
    if (decision.decision === 'decline') this.decline(entry, reason, at);
  }

  /** Ends a command that is not to run. Nobody's failure, and it holds nobody back. */
  decline(entry: Entry, reason: string | null, at: number): void {
    const note = reason === null || reason === '' ? 'Declined' : `Declined: ${reason}`;
    if (!isFinal(entry.state)) this.#end(entry, { state: 'not-started', note, at });
  }

  /** It is another command from now on, or one with other keys. */
  revise(entry: Entry, revised: Revised): void {
    entry.isRewritten ||= entry.order.command !== revised.order.command;
    Object.assign(entry, revised);
  }

  /** Some of what must be settled before it may join has been. */
  settle(entry: Entry, settled: Partial<Todo>): void {
    if (entry.todo !== null) entry.todo = leftOf({ ...entry.todo, ...settled });
  }

  /** It has to wait again, for these locks. */
  restate(entry: Entry, verdict: Verdict, locks: readonly LockRequest[]): void {
    entry.verdict = verdict;
    entry.locks = locks;
  }

  start(entry: Entry, at: number, pid: number): void {
    entry.state = 'running';
    entry.startedAt = at;
    this.#waiting -= 1;
    this.#unstarted -= 1;
    const { id, verdict, order, isRewritten } = entry;
    const rewritten = isRewritten ? { command: order.command } : {};
    const vouched = isVouched(entry) ? ({ vouched: true } as const) : {};
    this.#tell({ type: 'started', commandId: id, verdict, pid, ...rewritten, ...vouched });
  }

  /** Ends a command that ran or waited; null when that has no consequence. One that has ended already stays as it is. */
  finish(entry: Entry, outcome: Outcome): Consequence | null {
    if (isFinal(entry.state)) return null;
    this.#end(entry, outcome);
    if (this.#onFailure === 'continue' || this.#stop !== null) return null;
    const failure = failureOf(entry);
    if (failure === null) return null;
    const because = `because ${entry.id} ${failure}`;
    const running = this.#onFailure === 'cancel-siblings' ? this.#running() : [];
    const note = `Cancelled ${because}`;
    return { unstarted: this.#stopAll('skipped', `Skipped ${because}`, outcome.at), running, state: 'cancelled', note };
  }

  /** Ends the batch on somebody's request: nothing starts any more, and what runs is to be ended. */
  cancel(reason: string | null, at: number): Consequence {
    const running = this.#running();
    if (!this.#isDone) this.#isCancelled = true;
    const suffix = reason === null ? '' : `: ${reason}`;
    const unstarted = this.#stopAll('not-started', `Aborted before dispatch${suffix}`, at);
    return { unstarted, running, state: 'cancelled', note: `Cancelled${suffix}` };
  }

  /** Nothing starts any more; what runs goes on. */
  halt(reason: string, at: number): readonly Entry[] {
    if (!this.#isDone) this.#isCancelled = true;
    return this.#stopAll('not-started', `Aborted before dispatch: ${reason}`, at);
  }

  expire(deadlineMs: number, at: number): Consequence {
    const running = this.#running();
    const note = `The batch reached its deadline of ${deadlineMs} ms`;
    const unstarted = this.#stopAll('not-started', `Aborted before dispatch: ${lowerFirst(note)}`, at);
    return { unstarted, running, state: 'timed-out', note };
  }

  close(): void {
    this.#isClosed = true;
  }

  /** True once, when the last command has ended and no more will come. Tells `batch-finished`. */
  takeEnd(): boolean {
    if (this.#isDone || !this.#isClosed || this.#unfinished > 0) return false;
    this.#isDone = true;
    this.#tell({ type: 'batch-finished', state: this.state });
    return true;
  }

  #hold(hold: Entry | Hold): readonly Entry[] {
    this.#holds.add(hold);
    const withdrawn = this.entries.filter(({ state }) => state === 'waiting');
    for (const entry of withdrawn) {
      entry.state = 'queued';
      entry.joinedAt = null;
    }
    this.#waiting = 0;
    this.#nextToJoin = Math.min(this.#nextToJoin, withdrawn[0]?.index ?? this.#nextToJoin);
    return withdrawn;
  }

  #running(): readonly Entry[] {
    return this.entries.filter(({ state }) => state === 'running');
  }

  #stopAll(state: 'skipped' | 'not-started', note: string, at: number): readonly Entry[] {
    this.#stop ??= { state, note };
    const unstarted = this.entries.filter((entry) => entry.state === 'queued' || entry.state === 'waiting');
    for (const entry of unstarted) this.#end(entry, { state, note, at });
    this.#nextToJoin = this.entries.length;
    return unstarted;
  }

  #end(entry: Entry, outcome: Outcome): void {
    if (entry.state === 'waiting') this.#waiting -= 1;
    if (entry.state !== 'running') this.#unstarted -= 1;
    this.#unfinished -= 1;
    entry.state = outcome.state;
    entry.endedAt = outcome.at;
    entry.exitCode = outcome.exitCode ?? null;
    entry.signal = outcome.signal ?? null;
    entry.note = outcome.note ?? null;
    entry.orphans = outcome.orphans ?? [];
    entry.output = outcome.output ?? KeptOutput.NONE;
    // What it was given is needed no more, and can be as large as a request.
    entry.order = { ...entry.order, env: NO_VARIABLES, lockKeys: NO_LOCKS };
    entry.stdin = null;
    entry.locks = NO_LOCKS;
    entry.todo = null;
    this.#holds.delete(entry);
    const { state, exitCode, signal, note, output } = entry;
    const told = { state, exitCode, signal, truncated: output.truncated, ...timesOf(entry), note };
    this.#tell({ type: 'finished', commandId: entry.id, ...told });
  }
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
