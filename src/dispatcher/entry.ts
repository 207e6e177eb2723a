import type { Verdict } from '../classifier/verdict.ts';
import type { Order } from './order.ts';
import type { KeptOutput } from './output.ts';
import type { CommandState, KeyFunction, LockRequest } from './types.ts';

/** What must be settled before a command may join its queues. */
export type Todo = {
  /** A hook is to see it. */
  readonly before: boolean;
  /** Tells its keys; null where they are known. */
  readonly keysOf: KeyFunction | null;
};

/** A command of a batch. Only the book changes it. */
export type Entry = {
  readonly id: string;
  readonly index: number;
  /** When it has ended, only its text is kept of it. */
  order: Order;
  /** Its place in the order of all commands of all batches. */
  readonly ticket: number;
  readonly timeoutMs: number;
  stdin: string | null;
  verdict: Verdict;
  /** Where its change of directory led when it was first judged; null or missing: nowhere. */
  changesTo?: string | null;
  locks: readonly LockRequest[];
  /** Null: it may join. */
  todo: Todo | null;
  /** A hook gave it another text. */
  isRewritten: boolean;
  state: CommandState;
  addedAt: number;
  joinedAt: number | null;
  startedAt: number | null;
  endedAt: number | null;
  exitCode: number | null;
  signal: string | null;
  note: string | null;
  orphans: readonly number[];
  output: KeptOutput;
};
