import type { Allowance } from '../classifier/allowance.ts';
import type { Verdict } from '../classifier/verdict.ts';
import type { Held } from './acquire-options.ts';
import type { LockMode, LockRequest } from './lock-types.ts';
import type { BatchEvent, BatchResult } from './told.ts';
import type { Owner } from './tool-locks.ts';

export type * from './told.ts';

/**
 * What goes into the dispatcher and what comes out. These types are shared by the library, the command line and the
 * service; the wire bodies are the same shapes.
 */

export type { LockMode, LockRequest };

/** Simple: one command a text. Compound: also lists and pipelines of proved commands. */
export type Mode = 'simple' | 'compound';

/** How far a serial command is alone. */
export type Scope = 'workspace' | 'host';

/** What a command that ends with a non-zero code, or times out, does to the rest of its batch. */
export type OnFailure = 'continue' | 'stop' | 'cancel-siblings';

export type CommandInput = {
  /** Unique in its batch, 1 to 128 characters. Default: `c1`, `c2` … by place in the batch. */
  readonly id?: string;
  /** The text that would be given to `bash -c`. */
  readonly command: string;
  /** Absolute, or relative to the batch's. Default: the batch's. */
  readonly cwd?: string;
  /**
   * Added to the base environment. A variable makes the command serial unless the base or the command's profile sets it to
   * the same value, or it is one of the listed assignments; that the profile passes the name on is not enough.
   */
  readonly env?: Readonly<Record<string, string>>;
  /** Milliseconds of running, 1 to 86,400,000; waiting does not count. Default: the dispatcher's. */
  readonly timeoutMs?: number;
  /** Text for standard input. Default: the null device. */
  readonly stdin?: string;
  /**
   * What the command changes besides its workspace, at most 64 keys. Taken in the modes asked for, in the same acquire. A
   * function is called once, before the command joins any queue; while it works no later command joins, and what runs goes
   * on. If it throws, rejects or gives something else, the command is `failed` and nothing of it runs.
   */
  readonly lockKeys?: readonly LockRequest[] | KeyFunction;
  /** It runs only when somebody has approved it: the batch's `approve` hook, or an answer given to the batch. */
  readonly approval?: 'required';
  /**
   * The caller's word that the command may run beside others though nothing proves it: only what its `lockKeys` name, of
   * which at least one is exclusive, it has to itself. The verdict stays serial; it shares the gate and the workspace keys.
   */
  readonly assume?: 'parallel';
};

/** A command before it joins any queue, as a function of the caller's is told of it. */
export type Call = {
  readonly id: string;
  readonly batchId: string;
  readonly command: string;
  /** Absolute. */
  readonly cwd: string;
  /** The caller's own variables. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string | null;
  /** The keys, or the function that will be asked for them. */
  readonly lockKeys: readonly LockRequest[] | KeyFunction;
  /** The verdict on it as it stands; the binding one is in the event `started`. */
  readonly verdict: Verdict;
  /** Aborts when nobody waits for the answer any more: the batch was cancelled, reached its deadline, was stopped. */
  readonly signal: AbortSignal;
};

/** Tells what a command changes besides its workspace. */
export type KeyFunction = (call: Call) => readonly LockRequest[] | PromiseLike<readonly LockRequest[]>;

/**
 * What a `before` hook makes of a command: nothing (undefined), other fields in the place of its own, each checked as that
 * of a new command, or its end without running. `cwd` is absolute or relative to the batch's, `env` is all of the caller's
 * variables, `stdin: null` the null device.
 */
export type Revision =
  | {
      readonly command?: string;
      readonly cwd?: string;
      readonly env?: Readonly<Record<string, string>>;
      readonly stdin?: string | null;
      readonly lockKeys?: readonly LockRequest[] | KeyFunction;
    }
  | { readonly decline: string };

/**
 * Called for every command in call order, before it joins any queue, one at a time; while it works no later command joins,
 * and what runs goes on. If it throws, rejects or gives something else, that command is `failed` and nothing of it runs.
 */
export type BeforeHook = (call: Call) => Revision | undefined | PromiseLike<Revision | undefined>;

/** What is said of a command that asks. A decline is answered without running, and holds nobody back. */
export type Approval = 'approve' | 'decline' | { readonly decline: string };

/**
 * Asked for every command that needs approval, one at a time and in call order. While it works nothing of the batch starts,
 * and nothing of it holds a key or a place in a queue, but what runs. If it throws, rejects or gives something else, that
 * command is `failed` and nothing of it runs.
 */
export type ApproveHook = (call: Call) => Approval | PromiseLike<Approval>;

/** Whether a command needs approval. If it throws, rejects or gives something else, that command is `failed`. */
export type AsksApproval = (call: Call) => boolean | PromiseLike<boolean>;

/** What a person says of a command that asks. */
export type Answer = {
  /** The command's. */
  readonly id: string;
  readonly decision: 'approve' | 'decline';
  /** Up to 1,024 characters, told in the event and, of a decline, in the result. */
  readonly reason?: string;
};

/**
 * Takes out of a line that a command printed what nobody may see, before anything of it is kept, cut or told.
 *
 * @param line with its newline, if it has one; bytes that are no UTF-8 are Latin-1 characters.
 * @returns the line as it may be seen. Where it throws, or gives no text, the line is withheld, and a line says so.
 */
export type Redact = (
  line: string,
  of: { readonly batchId: string; readonly commandId: string; readonly stream: 'stdout' | 'stderr' },
) => string;

export type BatchOptions = {
  /** Absolute directory. Default: the dispatcher's. */
  readonly cwd?: string;
  /** Default: the dispatcher's. */
  readonly mode?: Mode;
  /** Which readers may be parallel, within what the dispatcher allows. Default: all that it does. */
  readonly allow?: Allowance;
  /** Commands of this batch running at once, 1 to 256. Default 10, or SIGNALBOX_MAX_PARALLEL. */
  readonly maxParallel?: number;
  /**
   * What a serial command keeps others out of: its workspace and what it names, or, with `host`, all of them, so that it
   * runs while no other command does that takes keys of the same lock, in any directory. Default `workspace`.
   */
  readonly scope?: Scope;
  /** Default `continue`. */
  readonly onFailure?: OnFailure;
  /** Milliseconds from opening to the end, 1 to 86,400,000. Default 1,800,000 (30 minutes). */
  readonly deadlineMs?: number;
  /** May change or decline each command before it joins any queue; it is judged with what that leaves. Default: the dispatcher's. */
  readonly before?: BeforeHook;
  /** Takes out of what commands print what nobody may see; the dispatcher's own sees what this one leaves. Default: only that. */
  readonly redact?: Redact;
  /**
   * What the batch is started inside of: a command that this dispatcher runs, or a hold of its lock (`toolLocks.run`). What
   * that holds, and what is held around it, does not stand in the way of the batch, which waits for it otherwise; commands
   * inside of the same one still exclude each other. The batch runs on the command's slot first. A command of it that asks for
   * more than is held around it has the state `failed` (`LOCK_UPGRADE`, `LOCK_CYCLE` in its note). One that has ended counts
   * for nothing. Default: inside of nothing.
   */
  readonly inside?: Owner | Held<Owner>;
  /** Which commands need approval besides those that say so themselves. Default: the dispatcher's. */
  readonly approval?: 'required' | AsksApproval;
  /** Gives it. Without one a command that asks waits for `Batch.answer`. Default: the dispatcher's. */
  readonly approve?: ApproveHook;
};

/** A batch that may still be growing. */
export interface Batch {
  readonly id: string;
  /** Bytes that its output, its events and its texts take in memory, rather more than less; complete when it has ended. */
  readonly keptBytes: number;
  /** Adds one command at the end; it starts as soon as it may. Returns its id. Throws BATCH_CLOSED, QUEUE_FULL, COMMAND_ID_DUPLICATE, REQUEST_INVALID, COMMAND_HAS_NUL, DIRECTORY_MISSING. */
  add(command: string | CommandInput): string;
  /** Adds several in one step, all or none. Returns their ids. Pointers in errors are `/commands/N/field`. Throws as `add` does. */
  addAll(commands: readonly (string | CommandInput)[]): readonly string[];
  /** No more commands will come. Idempotent. */
  close(): void;
  /**
   * Answers commands that ask: all that are named, or none. The same decision given again changes nothing. Throws
   * REQUEST_INVALID, APPROVAL_UNKNOWN for a command that is not there or was never asked about, APPROVAL_CONFLICT for one
   * that has another answer, or ended without one.
   */
  answer(answers: readonly Answer[]): void;
  /** Nothing new starts, and nothing holds a key or a place in a queue but what runs, until `resume`. Idempotent. */
  pause(): void;
  /** Goes on with the same settings. What asks goes on asking. Idempotent. */
  resume(): void;
  /** Stops what runs, and starts nothing more. `reason` is told in every affected result. Idempotent. */
  cancel(reason?: string): void;
  /** The state at this moment, in call order. */
  snapshot(): BatchResult;
  /** Events after `after` (default 0: all that are kept), then live ones, ending behind `batch-finished` or when the signal aborts. */
  events(options?: { after?: number; signal?: AbortSignal }): AsyncIterable<BatchEvent>;
  /** Settles when the batch is closed and its last command has ended. Never rejects. */
  readonly done: Promise<BatchResult>;
}

/** The groups that a batch would run as, without running it. */
export type Plan = {
  readonly groups: readonly { readonly kind: 'parallel' | 'serial'; readonly commandIds: readonly string[] }[];
  readonly commands: readonly {
    readonly id: string;
    readonly command: string;
    readonly verdict: Verdict;
    readonly locks: readonly LockRequest[];
    /** It would run beside others on the caller's word. */
    readonly vouched?: true;
  }[];
};

export interface Dispatcher {
  /** A batch that takes commands one by one. Throws BATCHES_TOO_MANY, BATCH_UNKNOWN. */
  open(options?: BatchOptions): Batch;
  /** Checks every command first and adds all or none; then `open`, add all, close. Pointers in errors are `/commands/N/field`. Throws BATCHES_TOO_MANY, QUEUE_FULL, BATCH_UNKNOWN. */
  dispatch(commands: readonly (string | CommandInput)[], options?: BatchOptions): Batch;
  plan(commands: readonly (string | CommandInput)[], options?: BatchOptions): Plan;
  /** A batch by its id: every one that has not ended, and the newest of those that have, for a time. */
  get(id: string): Batch | undefined;
  /** All of those, in the order they were opened. */
  batches(): readonly Batch[];
  /** No new batch, no new start; running commands get `graceMs` (default 5,000), then are ended. The rest is `not-started`. */
  shutdown(options?: { graceMs?: number }): Promise<void>;
}
