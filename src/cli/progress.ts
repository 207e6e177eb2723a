import type { Verdict } from '../classifier/verdict.ts';
import type { BatchEvent, CommandResult, CommandState } from '../dispatcher/types.ts';

/** One command on the common time axis; all times are milliseconds since the batch began. */
export type Row = {
  readonly id: string;
  readonly command: string;
  readonly verdict: Verdict;
  readonly state: CommandState;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly note: string | null;
  readonly addedAt: number;
  readonly joinedAt: number | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
};

function queuedRow(event: Extract<BatchEvent, { type: 'accepted' }>, addedAt: number): Row {
  const { commandId: id, command, verdict } = event;
  const unknown = { exitCode: null, signal: null, note: null, joinedAt: null, startedAt: null, endedAt: null };
  return { id, command, verdict, state: 'queued', addedAt, ...unknown };
}

/** The verdict given at the start is the binding one. */
function startedRow(row: Row, verdict: Verdict, at: number): Row {
  return { ...row, state: 'running', verdict, joinedAt: row.joinedAt ?? at, startedAt: at };
}

/** The durations that the dispatcher measured are finer than the times of the events. */
function settle(row: Row, ended: Pick<CommandResult, 'queuedMs' | 'waitedMs' | 'ranMs'>, endedAt: number): Row {
  const began = row.addedAt;
  const joinedAt = ended.queuedMs === null ? null : began + ended.queuedMs;
  const startedAt = ended.waitedMs === null || ended.ranMs === null ? null : (joinedAt ?? began) + ended.waitedMs;
  return { ...row, joinedAt, startedAt, endedAt: startedAt === null ? endedAt : startedAt + (ended.ranMs ?? 0) };
}

/** What is known of a batch while its events come in. */
export type Progress = {
  /** Takes in one more event. */
  advance(event: BatchEvent): void;
  /** The commands in call order. */
  rows(): Row[];
  /** One command, as soon as it has been accepted. */
  row(id: string): Row | undefined;
  /** When the batch began, in milliseconds of the epoch; null before its first event. */
  beganAt(): number | null;
};

/** Follows one batch from its events. */
export function followBatch(): Progress {
  const rows = new Map<string, Row>();
  let beganAt: number | null = null;

  function change(id: string, next: (row: Row) => Row): void {
    const row = rows.get(id);
    if (row !== undefined) rows.set(id, next(row));
  }

  function advance(event: BatchEvent): void {
    beganAt ??= event.at;
    const at = event.at - beganAt;
    switch (event.type) {
      case 'accepted':
        rows.set(event.commandId, queuedRow(event, at));
        return;
      case 'waiting':
        change(event.commandId, (row) => ({ ...row, state: 'waiting', joinedAt: at }));
        return;
      case 'started':
        change(event.commandId, (row) => startedRow(row, event.verdict, at));
        return;
      case 'finished':
        change(event.commandId, (row) => {
          const { state, exitCode, signal, note } = event;
          return { ...settle(row, event, at), state, exitCode, signal, note };
        });
        return;
      case 'output':
      case 'asking':
      case 'answered':
      case 'paused':
      case 'resumed':
      case 'batch-finished':
        return;
    }
    event satisfies never;
  }

  return { advance, rows: () => [...rows.values()], row: (id) => rows.get(id), beganAt: () => beganAt };
}

/** True when the command ended by itself with exit code 0. */
export function isGood(command: Pick<CommandResult, 'state' | 'exitCode'>): boolean {
  return command.state === 'exited' && command.exitCode === 0;
}
