import { checkNames, namesOf } from '../classifier/option-names.ts';
import { assess } from './assessment.ts';
import { type BatchBook, type Consequence, isFinal, type Outcome } from './batch.ts';
import type { BatchSettings } from './batch-options.ts';
import { checkInputs, checkKeys, named } from './command-input.ts';
import type { Entry, Todo } from './entry.ts';
import type { Settings } from './options.ts';
import { messageOf } from './thrown.ts';
import type { Call, CommandInput, Revision } from './types.ts';
import { unlessAborted } from './unless-aborted.ts';

/** What preparing needs of a batch. */
export type Preparing = {
  readonly id: string;
  readonly settings: Settings;
  readonly options: BatchSettings;
  readonly book: BatchBook;
};

export type PreparerHooks = {
  /** A command was prepared, or has ended instead. */
  readonly settled: () => void;
  /** It has ended, with what follows from that. */
  readonly ended: (consequence: Consequence | null) => void;
};

const REVISION_NAMES = namesOf<Exclude<Revision, { decline: string }>>({
  command: true,
  cwd: true,
  env: true,
  stdin: true,
  lockKeys: true,
});
const DECLINE_NAMES = namesOf<Extract<Revision, { decline: string }>>({ decline: true });

/** What is said of a command for which a function of the caller's gave no answer. */
const FAILED = {
  before: 'The hook before it failed',
  keys: 'Could not tell what the call changes',
} as const;

/**
 * What comes before a command joins its queues: a hook that may change it, then the function that tells its keys. One
 * command at a time, in call order, when it would be its turn to join.
 */
export class Preparer {
  readonly #batch: Preparing;
  readonly #hooks: PreparerHooks;
  readonly #waited = new Map<Entry, AbortController>();
  #isBusy = false;

  constructor(batch: Preparing, hooks: PreparerHooks) {
    this.#batch = batch;
    this.#hooks = hooks;
  }

  /** Prepares the command whose turn it is, unless there is none or another one is being prepared. */
  next(): void {
    const entry = this.#isBusy ? null : this.#batch.book.nextTodo;
    if (entry === null) return;
    this.#isBusy = true;
    void this.#prepare(entry).finally(() => {
      this.#isBusy = false;
      this.#hooks.settled();
    });
  }

  /** Nobody waits for this command any more. Its end has been told by whoever asks for this. */
  giveUp(entry: Entry): void {
    this.#waited.get(entry)?.abort();
  }

  /** Never rejects. */
  async #prepare(entry: Entry): Promise<void> {
    const waited = new AbortController();
    this.#waited.set(entry, waited);
    const attempt = async (what: keyof typeof FAILED, step: () => Promise<void>): Promise<void> => {
      if (isFinal(entry.state)) return;
      try {
        await step();
      } catch (error) {
        if (!waited.signal.aborted) this.#end(entry, 'failed', `${FAILED[what]}: ${messageOf(error)}`);
      }
    };
    if (entry.todo?.before === true) await attempt('before', () => this.#change(entry, waited.signal));
    if (entry.todo?.keysOf != null) await attempt('keys', () => this.#lock(entry, waited.signal));
    this.#batch.book.settle(entry, null);
    this.#waited.delete(entry);
  }

  async #change(entry: Entry, signal: AbortSignal): Promise<void> {
    const { book, options } = this.#batch;
    const { before } = options;
    if (before === null) return;
    const revision: unknown = await unlessAborted(() => before(this.#callOf(entry, signal)), signal);
    const left: Todo = { keysOf: null, ...entry.todo, before: false };
    book.settle(entry, left);
    if (revision === undefined) return;
    if (typeof revision !== 'object' || revision === null || Array.isArray(revision)) {
      throw new Error(`Expected changes, { decline: reason } or nothing, got ${named(revision)}`);
    }
    if (!('decline' in revision)) {
      checkNames(revision as Revision, REVISION_NAMES, 'what a before hook changes');
      this.#revise(entry, revision as Exclude<Revision, { decline: string }>);
      return;
    }
    checkNames(revision as Revision, DECLINE_NAMES, 'a decline');
    if (typeof revision.decline !== 'string') {
      throw new Error(`Expected the reason of a decline to be text, got ${named(revision.decline)}`);
    }
    this.#end(entry, 'not-started', declined(revision.decline));
  }

  /** Checked as a new command is, and judged as one: nothing of the old verdict stands. */
  #revise(entry: Entry, revision: Exclude<Revision, { decline: string }>): void {
    const { id, book, options, settings } = this.#batch;
    const { order, timeoutMs } = entry;
    const stdin = revision.stdin === undefined ? entry.stdin : revision.stdin;
    const given: CommandInput = {
      id: entry.id,
      timeoutMs,
      command: revision.command === undefined ? order.command : revision.command,
      cwd: revision.cwd === undefined ? order.cwd : revision.cwd,
      env: revision.env === undefined ? order.env : revision.env,
      ...(stdin === null ? {} : { stdin }),
      lockKeys: revision.lockKeys === undefined ? keysGiven(entry) : revision.lockKeys,
    };
    const context = { before: 0, ids: new Set<string>(), cwd: options.cwd, limits: settings.limits };
    for (const checked of checkInputs([given], context, () => '')) {
      const { verdict, locks, changesTo } = assess(settings.assessor, id, options, checked.order);
      book.revise(entry, { order: checked.order, stdin: checked.stdin, verdict, locks, changesTo });
      book.settle(entry, { before: false, keysOf: checked.keysOf });
    }
  }

  async #lock(entry: Entry, signal: AbortSignal): Promise<void> {
    const { id, book, options, settings } = this.#batch;
    const keysOf = entry.todo?.keysOf;
    if (keysOf == null) return;
    const keys: unknown = await unlessAborted(() => keysOf(this.#callOf(entry, signal)), signal);
    const order = { ...entry.order, lockKeys: checkKeys(keys, '') };
    const settled = entry.verdict.kind === 'serial' ? entry.verdict : null;
    const { stdin, changesTo: earlier = null } = entry;
    const before = { settled, changesTo: earlier };
    const { verdict, locks, changesTo } = assess(settings.assessor, id, options, order, before);
    book.revise(entry, { order, stdin, verdict, locks, changesTo });
  }

  #callOf(entry: Entry, signal: AbortSignal): Call {
    const { id, order, stdin, verdict } = entry;
    const { command, cwd, env } = order;
    return Object.freeze({
      id,
      batchId: this.#batch.id,
      command,
      cwd,
      env,
      stdin,
      lockKeys: keysGiven(entry),
      verdict,
      signal,
    });
  }

  #end(entry: Entry, state: Outcome['state'], note: string): void {
    const { book, settings } = this.#batch;
    this.#hooks.ended(book.finish(entry, { state, at: settings.now(), note }));
  }
}

function keysGiven({ todo, order }: Entry): Call['lockKeys'] {
  return todo?.keysOf ?? order.lockKeys;
}

function declined(reason: string): string {
  return reason === '' ? 'Declined' : `Declined: ${reason}`;
}
