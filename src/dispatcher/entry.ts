import type { Verdict } from '../classifier/verdict.ts';
import type { Order } from './order.ts';
import { KeptOutput } from './output.ts';
import type { CommandState, KeyFunction, LockRequest } from './types.ts';

/** What must be settled before a command may join its queues. */
export type Todo = {
  /** A hook is to see it. */
  readonly before: boolean;
  /** It needs approval; null: a function is to say so. */
  readonly asks: boolean | null;
  /** Tells its keys; null where they are known. */
  readonly keysOf: KeyFunction | null;
};

/** Null when nothing is left to be done. */
export function leftOf(todo: Todo): Todo | null {
  return todo.before || todo.asks !== false || todo.keysOf !== null ? todo : null;
}

/** What was said of a command that asked. */
export type Decision = { readonly decision: 'approve' | 'decline'; readonly reason: string | null };

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
  /** Somebody was asked about it. */
  isAsked: boolean;
  /** What was said then. */
  decision: Decision | null;
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

/** What is known of a command when it is added. */
export type AddedFields = Pick<
  Entry,
  'id' | 'order' | 'ticket' | 'timeoutMs' | 'stdin' | 'verdict' | 'changesTo' | 'locks' | 'todo' | 'addedAt'
>;

/** Whether it runs beside others on the caller's word alone. */
export function isVouched({ order, verdict }: Pick<Entry, 'order' | 'verdict'>): boolean {
  return order.vouched === true && verdict.kind === 'serial';
}

/** A command that was added and has not been looked at since. */
export function newEntry(fields: AddedFields, index: number): Entry {
  return {
    ...fields,
    index,
    isRewritten: false,
    isAsked: false,
    decision: null,
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
}
