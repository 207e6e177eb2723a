import type { Entry } from './entry.ts';
import type { KeptOutput } from './output.ts';
import type { CommandState } from './types.ts';

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

/** Nothing of it runs or will run. */
export function isFinal(state: CommandState): boolean {
  return state !== 'queued' && state !== 'waiting' && state !== 'running';
}

/** What is said of a command that lets its batch down; null for one that does not. Being cancelled is nobody's failure. */
export function failureOf({ state, exitCode }: Entry): string | null {
  if (state === 'exited') return exitCode === 0 ? null : `exited with ${exitCode}`;
  if (state === 'timed-out') return 'timed out';
  return state === 'failed' ? 'could not be run' : null;
}
