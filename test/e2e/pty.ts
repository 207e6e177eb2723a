import { type ChildProcess, spawn } from 'node:child_process';
import { onTestFinished } from 'vitest';
import { shellWord } from '../../src/cli/sample-request.ts';
import { MAIN, plainEnvironment } from './cli.ts';

/** A call of the command line in a pseudo terminal, with all that it wrote to it so far. */
export type TerminalCall = {
  readonly child: ChildProcess;
  /** Everything that was written, escape sequences included. */
  written(): string;
  /** Resolves when what was written holds this. */
  until(text: string): Promise<void>;
  /** Presses keys: `\u0003` is Ctrl-C. */
  type(keys: string): void;
  /** The exit code of the call, once it has ended. */
  readonly ended: Promise<number | null>;
};

/** Starts a call in a terminal of this size; `script` of util-linux makes the terminal. */
export function startInTerminal(
  args: readonly string[],
  { columns, rows, cwd, env = {} }: { columns: number; rows: number; cwd: string; env?: Record<string, string> },
): TerminalCall {
  const call = [process.execPath, MAIN, ...args].map(shellWord).join(' ');
  const child = spawn('script', ['-qefc', `stty cols ${columns} rows ${rows} && exec ${call}`, '/dev/null'], {
    cwd,
    env: plainEnvironment({ TERM: 'xterm-256color', SHELL: '/bin/bash', ...env }),
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  let text = '';
  const waiting = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    for (const look of waiting) look();
  });
  return {
    child,
    written: () => text,
    until: (wanted) =>
      new Promise((resolve) => {
        const look = () => {
          if (!text.includes(wanted)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    type: (keys) => child.stdin.write(keys),
    ended: new Promise((resolve) => child.once('close', (code) => resolve(code))),
  };
}
