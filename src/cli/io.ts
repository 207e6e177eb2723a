import type { Terminal } from './live-screen.ts';
import type { Output } from './output.ts';

/** What a command of the command line works with: the process's own streams and surroundings, or a test's. */
export type Io = {
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: Output;
  readonly terminal: Terminal & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Milliseconds of the epoch. */
  readonly now: () => number;
  /** What the process ends with; the last one told counts. */
  readonly exitWith: (code: number) => void;
};
