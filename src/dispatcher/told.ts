import type { Verdict } from '../classifier/verdict.ts';

/** What a batch tells: results and events. */

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
  /** The verdict is serial, and it may run beside others all the same, on the caller's word (`assume`). */
  readonly vouched?: true;
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
  /** Nothing of it starts: it was paused, or waits for an answer. What runs goes on. */
  readonly paused: boolean;
  /** The ids of the commands for which it waits for an answer, in call order. */
  readonly asks: readonly string[];
  /** ISO 8601 in UTC, with milliseconds. */
  readonly createdAt: string;
  /** In call order, always. */
  readonly commands: readonly CommandResult[];
};

/** Each event says whose it is. `seq` counts from 1 without a gap within the batch; `at` is milliseconds of the epoch. */
export type BatchEvent = { readonly seq: number; readonly batchId: string; readonly at: number } & (
  | {
      readonly type: 'accepted';
      readonly commandId: string;
      readonly command: string;
      readonly verdict: Verdict;
      /** A `before` hook is still to see the command and may change it; the binding verdict is in `started`. */
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
      /** The verdict is serial, and it runs beside others on the caller's word. */
      readonly vouched?: true;
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
  /** It waits to be approved or declined; nothing of the batch starts. `command` is as in `started`. */
  | { readonly type: 'asking'; readonly commandId: string; readonly command?: string }
  | {
      readonly type: 'answered';
      readonly commandId: string;
      readonly decision: 'approve' | 'decline';
      readonly reason?: string;
    }
  | { readonly type: 'paused' | 'resumed' }
  | { readonly type: 'batch-finished'; readonly state: BatchState }
);
