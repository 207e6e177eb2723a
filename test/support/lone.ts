import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { CommandInput, CommandResult } from '../../src/dispatcher/types.ts';

export type LoneRequest =
  /** Opens whatever can be opened, and gives a few back. */
  | { readonly do: 'take-descriptors'; readonly spare: number }
  | { readonly do: 'give-descriptors' }
  | { readonly do: 'count' }
  | { readonly do: 'dispatch'; readonly commands: readonly (string | CommandInput)[] };

export type LoneAnswer = {
  readonly results: readonly Pick<CommandResult, 'state' | 'exitCode' | 'stdout' | 'stderr' | 'note'>[];
  /** Keys that are held or waited for, slots in use, and open descriptors, behind it. */
  readonly locks: number;
  readonly slots: number;
  readonly descriptors: number;
};

export type Lone = {
  readonly pid: number;
  readonly ask: (request: LoneRequest) => Promise<LoneAnswer>;
  /** Sends nothing more. The process has to end by itself; gives its exit code and what it complained about. */
  readonly end: () => Promise<{ readonly code: number | null; readonly complaints: string }>;
};

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CHILD = fileURLToPath(new URL('lone-dispatcher.ts', import.meta.url));

/**
 * Starts a dispatcher in a process of its own.
 *
 * @param options.before words of a program that starts it, in which it stands as the last ones.
 * @param options.user whose it becomes once it is ready; as the super-user only.
 */
export function startLone(
  cwd: string,
  {
    before = [],
    user = null,
    env = {},
  }: { before?: readonly string[]; user?: number | null; env?: Record<string, string> } = {},
): Lone {
  const words = [...before, process.execPath, '--import', 'tsx', CHILD, cwd, user === null ? '' : `${user}`];
  const child: ChildProcess = spawn(words[0] as string, words.slice(1), {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new Error('Expected pipes');
  const complaints = text(stderr);
  const answers = createInterface({ input: stdout })[Symbol.asyncIterator]();
  const exited = once(child, 'exit');
  return {
    pid: child.pid as number,
    ask: async (request) => {
      stdin.write(`${JSON.stringify(request)}\n`);
      const { value, done } = await answers.next();
      if (done === true) throw new Error(`The process has ended: ${await complaints}`);
      return JSON.parse(value);
    },
    end: async () => {
      stdin.end();
      const [code] = await exited;
      return { code, complaints: await complaints };
    },
  };
}
