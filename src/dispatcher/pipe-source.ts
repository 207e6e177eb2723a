import { execFile, spawnSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Both ends of a new pipe, as descriptors. The end that this process keeps never waits; the command's end does. */
export type OpenPipe = { readonly readEnd: number; readonly writeEnd: number };

/**
 * Real pipes. Node has none: what it calls a pipe is a socket, which a command cannot open by name, so that
 * `> /dev/stderr` or `cat /dev/stdin` fail in it (nodejs/node#21941).
 */
export interface PipeSource {
  /**
   * @param ours the end that this process keeps.
   * @returns null when none can be had; the caller then does with sockets.
   */
  open(ours: 'read' | 'write'): OpenPipe | null;
}

/** Made by one start of a program, and open from then on: two descriptors each. */
const MADE_AT_ONCE = 24;

/** Below so many, more are made in the background. */
const FEW = 8;

/** Bash has no builtin for it. Looked for where no workspace can put one in its place. */
const MAKER = 'mkfifo';
const ENVIRONMENT = { PATH: '/usr/bin:/bin:/run/current-system/sw/bin' };
const NAMES: readonly string[] = Array.from({ length: MADE_AT_ONCE }, (_, index) => String(index));
const WORDS: readonly string[] = ['-m', '600', ...NAMES];

const { O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/**
 * Makes pipes of named ones. All are opened as soon as they are there and lose their names and their directory in the
 * same step, so that nothing is left behind however this process ends, and nothing of one command's pipe is another's.
 */
export function createPipeSource(): PipeSource {
  const ready: OpenPipe[] = [];
  let isRefilling = false;
  let isBroken = false;

  function refillNow(): void {
    const directory = newDirectory();
    const options = { cwd: directory, env: ENVIRONMENT, stdio: 'ignore', timeout: 10_000 } as const;
    const { status } = spawnSync(MAKER, WORDS, options);
    collect(directory, status === 0);
    isBroken = ready.length === 0;
  }

  function refillSoon(): void {
    if (isRefilling) return;
    isRefilling = true;
    const directory = newDirectory();
    const options = { cwd: directory, env: ENVIRONMENT, timeout: 10_000 };
    execFile(MAKER, WORDS, options, (error) => {
      isRefilling = false;
      collect(directory, error === null);
    });
  }

  function collect(directory: string, isMade: boolean): void {
    try {
      if (isMade) for (const name of NAMES) ready.push(openBoth(join(directory, name)));
    } catch {
      // Out of descriptors: as many as could be opened are there.
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }

  function open(ours: 'read' | 'write'): OpenPipe | null {
    if (isBroken) return null;
    try {
      if (ready.length === 0) refillNow();
      const pipe = ready.pop();
      if (ready.length < FEW) refillSoon();
      return pipe === undefined || ours === 'read' ? (pipe ?? null) : turned(pipe);
    } catch {
      return null;
    }
  }

  return { open };
}

function newDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'signalbox-pipes-'));
}

function openBoth(path: string): OpenPipe {
  // To open one end waits for the other, except the reader's when it is told not to.
  const readEnd = openSync(path, O_RDONLY | O_NONBLOCK);
  try {
    return { readEnd, writeEnd: openSync(path, O_WRONLY) };
  } catch (error) {
    closeSync(readEnd);
    throw error;
  }
}

/** The same pipe with a reader that waits and a writer that does not: each end is opened again by its number. */
function turned(pipe: OpenPipe): OpenPipe {
  try {
    const readEnd = openSync(`/proc/self/fd/${pipe.readEnd}`, O_RDONLY);
    try {
      return { readEnd, writeEnd: openSync(`/proc/self/fd/${pipe.writeEnd}`, O_WRONLY | O_NONBLOCK) };
    } catch (error) {
      closeSync(readEnd);
      throw error;
    }
  } finally {
    for (const end of [pipe.readEnd, pipe.writeEnd]) closeQuietly(end);
  }
}

export function closeQuietly(descriptor: number): void {
  try {
    closeSync(descriptor);
  } catch {
    // It is closed, which is all that was wanted.
  }
}

let shared: PipeSource | null = null;

/** The source of this process. */
export function systemPipes(): PipeSource {
  shared ??= createPipeSource();
  return shared;
}
