import type { Allowance } from '../classifier/allowance.ts';
import type { Verdict } from '../classifier/verdict.ts';
import type { Held } from './acquire-options.ts';
import type { LockMode, LockRequest } from './lock-types.ts';
import type { Owner } from './tool-locks.ts';

/**
 * What goes into the dispatcher and what comes out. These types are shared by the library, the command line and the
 * service; the wire bodies are the same shapes.
 */

export type { LockMode, LockRequest };

/** Simple: one command a text. Compound: also lists and pipelines of proved commands. */
export type Mode = 'simple' | 'compound';

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

export type BatchOptions = {
  /** Absolute directory. Default: the dispatcher's. */
  readonly cwd?: string;
  /** Default: the dispatcher's. */
  readonly mode?: Mode;
  /** Which readers may be parallel, within what the dispatcher allows. Default: all that it does. */
  readonly allow?: Allowance;
  /** Commands of this batch running at once, 1 to 256. Default 10, or SIGNALBOX_MAX_PARALLEL. */
  readonly maxParallel?: number;
  /** Default `continue`. */
  readonly onFailure?: OnFailure;
  /** Milliseconds from opening to the end, 1 to 86,400,000. Default 1,800,000 (30 minutes). */
  readonly deadlineMs?: number;
  /** May change or decline each command before it joins any queue; it is judged with what that leaves. Default: the dispatcher's. */
  readonly before?: BeforeHook;
  /**
   * What the batch is started inside of: a command that this dispatcher runs, or a hold of its lock (`toolLocks.run`). What
   * that holds, and what is held around it, does not stand in the way of the batch, which waits for it otherwise; commands
   * inside of the same one still exclude each other. The batch runs on the command's slot first. A command of it that asks for
   * more than is held around it has the state `failed` (`LOCK_UPGRADE`, `LOCK_CYCLE` in its note). One that has ended counts
   * for nothing. Default: inside of nothing.
   */
  readonly inside?: Owner | Held<Owner>;
};

/**
 * `exited`: it ended by itself, whatever its exit code. `failed`: it could not be started or awaited. `not-started`: it
 * never ran. `skipped`: an earlier failure stopped the batch. `interrupted`: the process that ran the batch died.
 */
export type CommandState =
  | 'queued'
  | 'waiting'
  | 'running'
  | 'exited'
  | 'failed'
  | 'timed-out'
  | 'cancelled'
  | 'skipped'
  | 'not-started'
  | 'interrupted';

/** What the texts of a result's streams are: as they were printed, or base64 of bytes that are no UTF-8. */
export type OutputEncoding = { readonly stdout: 'utf8' | 'base64'; readonly stderr: 'utf8' | 'base64' };

/** Bytes that were printed but not kept, for each stream. Null when nothing was cut. */
export type Truncation = { readonly stdoutBytes: number; readonly stderrBytes: number } | null;

export type CommandResult = {
  readonly id: string;
  readonly command: string;
  readonly verdict: Verdict;
  readonly state: CommandState;
  /** As bash reports it: 0 to 255, 128 + n for death by signal n, 127 and 126 when it could not be run. Null before. */
  readonly exitCode: number | null;
  /** The signal's name (`SIGKILL`) when one ended it. */
  readonly signal: string | null;
  /** What `stdout` and `stderr` are. */
  readonly encoding: OutputEncoding;
  /** Made from the bytes that are kept each time it is read, as is `stderr`; read it once where that counts. */
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: Truncation;
  /** Milliseconds from being added to joining the queues of its locks. */
  readonly queuedMs: number | null;
  /** Milliseconds from then to being started: waiting for locks and for a slot, then being judged again and prepared. */
  readonly waitedMs: number | null;
  /** Milliseconds from being started to its end. */
  readonly ranMs: number | null;
  /** Why it did not run, or was ended: `Aborted before dispatch`, `Cancelled because c2 failed`, `Timed out after 500 ms`. */
  readonly note: string | null;
  /** Processes that outlived the command and were left alone (`orphans: 'keep'`). */
  readonly orphans: readonly number[];
};

export type BatchState = 'open' | 'running' | 'finished' | 'cancelled';

export type BatchResult = {
  readonly id: string;
  readonly state: BatchState;
  /** ISO 8601 in UTC, with milliseconds. */
  readonly createdAt: string;
  /** In call order, always. */
  readonly commands: readonly CommandResult[];
};

/** Each event says whose it is. `seq` counts from 1 without a gap within the batch; `at` is milliseconds of the epoch. */
export type BatchEvent = {
  readonly seq: number;
  readonly batchId: string;
  readonly at: number;
} /** `provisional`: a `before` hook is still to see the command and may change it; the binding verdict is in `started`. */ & (
  | {
      readonly type: 'accepted';
      readonly commandId: string;
      readonly command: string;
      readonly verdict: Verdict;
      readonly provisional?: true;
    }
  /**
   * It joined the queues and must wait: for these commands (of any batch; the first 32) and for so many others, which are
   * work besides commands that took keys of the same lock. For a slot when it waits for neither.
   */
  | {
      readonly type: 'waiting';
      readonly commandId: string;
      readonly waitsFor: readonly { batchId: string; commandId: string }[];
      readonly others?: number;
    }
  /** `command` is the text that runs, where a `before` hook put another one in the place of the accepted. */
  | {
      readonly type: 'started';
      readonly commandId: string;
      readonly verdict: Verdict;
      readonly pid: number | null;
      readonly command?: string;
    }
  /**
   * Text as it was printed, or base64 of a piece that is no UTF-8; a multi-byte character is never split over two events.
   * The bytes of all of them are those of the result. Subject to the output caps.
   */
  | {
      readonly type: 'output';
      readonly commandId: string;
      readonly stream: 'stdout' | 'stderr';
      readonly text: string;
      readonly encoding?: 'base64';
    }
  | {
      readonly type: 'finished';
      readonly commandId: string;
      readonly state: CommandState;
      readonly exitCode: number | null;
      readonly signal: string | null;
      readonly truncated: Truncation;
      readonly queuedMs: number | null;
      readonly waitedMs: number | null;
      readonly ranMs: number | null;
      readonly note: string | null;
    }
  | { readonly type: 'batch-finished'; readonly state: BatchState }
);

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
