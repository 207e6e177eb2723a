import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const MAIN = join(ROOT, 'dist', 'cli', 'main.js');

export type Ended = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
};

export type CliOptions = {
  readonly input?: string | Uint8Array;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
};

/** The surroundings of a plain user, without what the test runner adds. */
export function plainEnvironment(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env;
  return { PATH, HOME, LANG: 'C.UTF-8', ...more };
}

/** Starts the built command line as a process of its own; it is ended with the test if it has not ended before. */
export function startCli(args: readonly string[], { cwd = ROOT, env = {} }: CliOptions = {}): ChildProcess {
  const child = spawn(process.execPath, [MAIN, ...args], { cwd, env: plainEnvironment(env) });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return child;
}

/** How a started process ended, and what it printed. */
export async function endOf(child: ChildProcess): Promise<Ended> {
  const ended = new Promise<Pick<Ended, 'code' | 'signal'>>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  const { stdout: out, stderr: err } = child;
  const [stdout, stderr] = await Promise.all([out === null ? '' : text(out), err === null ? '' : text(err)]);
  return { ...(await ended), stdout, stderr };
}

/** Runs one call to its end. */
export async function runCli(args: readonly string[], options: CliOptions = {}): Promise<Ended> {
  const child = startCli(args, options);
  child.stdin?.on('error', () => undefined).end(options.input ?? '');
  return endOf(child);
}

/** A directory of its own with these files, gone after the test. */
export function temporaryDirectory(files: Readonly<Record<string, string>> = {}): string {
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-e2e-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), content);
  }
  return directory;
}
