import type { Verdict } from '../classifier/verdict.ts';
import type { Entry, Todo } from './entry.ts';
import type { EventBody } from './events.ts';
import { KeptOutput } from './output.ts';
import { timesOf } from './result.ts';
import type { BatchState, CommandState, LockRequest, OnFailure } from './types.ts';

/** What is known of a command when it is added. */
export type AddedFields = Pick<
  Entry,
  'id' | 'order' | 'ticket' | 'timeoutMs' | 'stdin' | 'verdict' | 'changesTo' | 'locks' | 'todo' | 'addedAt'
>;

/** What of a command a hook, or the function that tells its keys, can change. */
export type Revised = Pick<Entry, 'order' | 'stdin' | 'verdict' | 'changesTo' | 'locks'>;

/** How a command ended. */
export type Outcome = {
  readonly state: Exclude<CommandState, 'queued' | 'waiting' | 'running'>;
  readonly at: number;
  readonly exitCode?: number | null;
  readonly signal?: string | null;
  readonly note?: string | null;
  readonly orphans?: readonly number[];
  readonly output?: KeptOutput;
};

/** What else must end because of something. The owner of the book does it. */
export type Consequence = {
  /** Never started, already told; whatever they wait for is to be given up. */
  readonly unstarted: readonly Entry[];
  /** Run, and are to be ended with this state and note. */
  readonly running: readonly Entry[];
  readonly state: 'cancelled' | 'timed-out';
  readonly note: string;
};

/** Everything but output, which the run of a command tells. */
export type BookEvent = Exclude<EventBody, { type: 'output' }>;

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
    const entry: Entry = {
      ...fields,
      index: this.entries.length,
      isRewritten: false,
      state: 'queued',
      joinedAt: null,
      startedAt: null,
      endedAt: null,
      exitCode: null,
      signal: null,
      note: null,
      orphans: [],
      output: KeptOutput.NONE,
    };
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
    return next === undefined || next.todo === null || this.#waiting >= this.#places ? null : next;
  }

  /** It is another command from now on, or one with other keys. */
  revise(entry: Entry, revised: Revised): void {
    entry.isRewritten ||= entry.order.command !== revised.order.command;
    Object.assign(entry, revised);
  }

  /** So much is left to be settled before it may join; null: nothing. */
  settle(entry: Entry, todo: Todo | null): void {
    if (!isFinal(entry.state)) entry.todo = todo;
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
    this.#tell({ type: 'started', commandId: id, verdict, pid, ...rewritten });
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
    const { state, exitCode, signal, note, output } = entry;
    const told = { state, exitCode, signal, truncated: output.truncated, ...timesOf(entry), note };
    this.#tell({ type: 'finished', commandId: entry.id, ...told });
  }
}

export function isFinal(state: CommandState): boolean {
  return state !== 'queued' && state !== 'waiting' && state !== 'running';
}

/** What is said of a command that lets its batch down; null for one that does not. Being cancelled is nobody's failure. */
function failureOf({ state, exitCode }: Entry): string | null {
  if (state === 'exited') return exitCode === 0 ? null : `exited with ${exitCode}`;
  if (state === 'timed-out') return 'timed out';
  return state === 'failed' ? 'could not be run' : null;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
