import { checkNames, namesOf } from '../classifier/option-names.ts';
import { readApproval } from './approvals.ts';
import { assess } from './assessment.ts';
import type { BatchBook } from './batch.ts';
import type { BatchSettings } from './batch-options.ts';
import { checkInputs, checkKeys, checkVouching } from './command-input.ts';
import type { Decision, Entry } from './entry.ts';
import { named } from './named.ts';
import type { Settings } from './options.ts';
import { type Consequence, isFinal } from './outcome.ts';
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
  /** These had joined and not started, and give that up: somebody is asked. */
  readonly withdrawn: (entries: readonly Entry[]) => void;
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
  asks: 'Could not ask whether it may run',
  keys: 'Could not tell what the call changes',
} as const;

/**
 * What comes before a command joins its queues: a hook that may change it, the question whether it may run, then the
 * function that tells its keys. One command at a time, in call order, when it would be its turn to join; but of a batch
 * that is complete all questions come before the first command joins.
 */
export class Preparer {
  readonly #batch: Preparing;
  readonly #hooks: PreparerHooks;
  /** Aborted when nobody waits any more for what is worked out about a command. */
  readonly #waited = new Map<Entry, AbortController>();
  /** Wakes whoever waits for an answer. */
  readonly #asked = new Map<Entry, () => void>();
  #isBusy = false;

  constructor(batch: Preparing, hooks: PreparerHooks) {
    this.#batch = batch;
    this.#hooks = hooks;
  }

  /** Prepares the command whose turn it is, unless there is none or another one is being prepared. */
  next(): void {
    const entry = this.#isBusy ? null : this.#batch.book.nextTodo;
    if (entry !== null) this.#work(() => this.#prepare(entry));
  }

  /** Settles whatever is to be asked about the commands that are there, before any of them joins. */
  settleQuestions(): void {
    const { book } = this.#batch;
    if (book.entries.every(({ todo }) => todo === null || todo.asks === false)) return;
    book.hold('questions');
    this.#work(async () => {
      await this.#askAll([...book.entries]);
      book.release('questions');
    });
  }

  /** Takes an answer about a command that asks. */
  answer(entry: Entry, decision: Decision): void {
    this.#batch.book.answer(entry, decision, this.#batch.settings.now());
    this.#asked.get(entry)?.();
    this.#hooks.settled();
  }

  /** Nobody waits for this command any more. Its end has been told by whoever asks for this. */
  giveUp(entry: Entry): void {
    this.#waited.get(entry)?.abort();
  }

  #work(work: () => Promise<void>): void {
    this.#isBusy = true;
    void work().finally(() => {
      this.#isBusy = false;
      this.#hooks.settled();
    });
  }

  async #prepare(entry: Entry): Promise<void> {
    if (isUnseen(entry)) await this.#see(entry);
    if (this.#ask(entry)) await this.#hear(entry);
    if (entry.todo?.keysOf != null) await this.#attempt('keys', entry, (signal) => this.#lock(entry, signal));
  }

  /** Every question is told before the first answer is waited for, so that one person can answer all at once. */
  async #askAll(entries: readonly Entry[]): Promise<void> {
    const asking: Entry[] = [];
    for (const entry of entries) {
      if (isUnseen(entry)) await this.#see(entry);
      if (this.#ask(entry)) asking.push(entry);
    }
    for (const entry of asking) await this.#hear(entry);
  }

  /** Lets the hook see a command, and finds out whether it needs approval. */
  async #see(entry: Entry): Promise<void> {
    if (entry.todo?.before === true) await this.#attempt('before', entry, (signal) => this.#change(entry, signal));
    if (entry.todo?.asks === null) await this.#attempt('asks', entry, (signal) => this.#findOut(entry, signal));
  }

  /** Asks about a command that needs approval. True when somebody is asked now. */
  #ask(entry: Entry): boolean {
    const { book } = this.#batch;
    if (entry.todo?.asks !== true) return false;
    book.settle(entry, { asks: false });
    this.#hooks.withdrawn(book.ask(entry));
    return true;
  }

  /** Waits for the answer of the hook, if there is one, or of whoever has the batch. */
  #hear(entry: Entry): Promise<void> {
    const { approve } = this.#batch.options;
    return this.#attempt('asks', entry, async (signal) => {
      if (entry.decision !== null) return;
      const over = new AbortController();
      const heard = new Promise<void>((resolve) => this.#asked.set(entry, resolve));
      const asked = async (): Promise<void> => {
        if (approve === null) return heard;
        const said: unknown = await approve(this.#callOf(entry, AbortSignal.any([signal, over.signal])));
        if (entry.decision === null) this.answer(entry, readApproval(said));
      };
      try {
        await unlessAborted(() => Promise.race([heard, asked()]), signal);
      } finally {
        over.abort();
        this.#asked.delete(entry);
      }
    });
  }

  /** Takes one step for a command that has not ended. Never rejects. */
  async #attempt(what: keyof typeof FAILED, entry: Entry, step: (signal: AbortSignal) => Promise<void>): Promise<void> {
    if (isFinal(entry.state)) return;
    const waited = new AbortController();
    this.#waited.set(entry, waited);
    try {
      await step(waited.signal);
    } catch (error) {
      if (!waited.signal.aborted) this.#fail(entry, `${FAILED[what]}: ${messageOf(error)}`);
    } finally {
      this.#waited.delete(entry);
    }
  }

  async #change(entry: Entry, signal: AbortSignal): Promise<void> {
    const { book, options, settings } = this.#batch;
    const { before } = options;
    if (before === null) return;
    const revision: unknown = await unlessAborted(() => before(this.#callOf(entry, signal)), signal);
    if (revision === undefined) {
      book.settle(entry, { before: false });
      return;
    }
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
    book.decline(entry, revision.decline, settings.now());
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
      ...(order.vouched === true ? { assume: 'parallel' } : {}),
      lockKeys: revision.lockKeys === undefined ? keysGiven(entry) : revision.lockKeys,
    };
    const context = { before: 0, ids: new Set<string>(), cwd: options.cwd, limits: settings.limits };
    for (const checked of checkInputs([given], context, () => '')) {
      const { verdict, locks, changesTo } = assess(settings.assessor, id, options, checked.order);
      book.revise(entry, { order: checked.order, stdin: checked.stdin, verdict, locks, changesTo });
      book.settle(entry, { before: false, keysOf: checked.keysOf });
    }
  }

  async #findOut(entry: Entry, signal: AbortSignal): Promise<void> {
    const { book, options } = this.#batch;
    const { approval } = options;
    if (typeof approval !== 'function' || entry.todo === null) return;
    const asks: unknown = await unlessAborted(() => approval(this.#callOf(entry, signal)), signal);
    if (typeof asks !== 'boolean') throw new Error(`Expected approval to say true or false, got ${named(asks)}`);
    book.settle(entry, { asks });
  }

  async #lock(entry: Entry, signal: AbortSignal): Promise<void> {
    const { id, book, options, settings } = this.#batch;
    const keysOf = entry.todo?.keysOf;
    if (keysOf == null) return;
    const keys: unknown = await unlessAborted(() => keysOf(this.#callOf(entry, signal)), signal);
    const lockKeys = checkKeys(keys, '');
    if (entry.order.vouched === true) checkVouching(lockKeys, '');
    const order = { ...entry.order, lockKeys };
    const settled = entry.verdict.kind === 'serial' ? entry.verdict : null;
    const { stdin, changesTo: earlier = null } = entry;
    const before = { settled, changesTo: earlier };
    const { verdict, locks, changesTo } = assess(settings.assessor, id, options, order, before);
    book.revise(entry, { order, stdin, verdict, locks, changesTo });
    book.settle(entry, { keysOf: null });
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

  #fail(entry: Entry, note: string): void {
    const { book, settings } = this.#batch;
    this.#hooks.ended(book.finish(entry, { state: 'failed', at: settings.now(), note }));
  }
}

/** Asked where nothing is waited for, so that a question is told in the step in which its command is added. */
function isUnseen({ todo }: Entry): boolean {
  return todo !== null && (todo.before || todo.asks === null);
}

function keysGiven({ todo, order }: Entry): Call['lockKeys'] {
  return todo?.keysOf ?? order.lockKeys;
}
