import { execFile, spawnSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Both ends of a new pipe, as descriptors. The reader waits for data, unless it was asked not to. */
export type OpenPipe = { readonly readEnd: number; readonly writeEnd: number };

/**
 * Real pipes. Node has none: what it calls a pipe is a socket, which a command cannot open by name, so that
 * `> /dev/stderr` or `cat /dev/stdin` fail in it (nodejs/node#21941).
 */
export interface PipeSource {
  /**
   * @param ours the end that this process keeps: it never waits, while the command's end does.
   * @returns null when none can be had; the caller then does with sockets.
   */
  open(ours: 'read' | 'write'): OpenPipe | null;
}

/** Made at once by one start of a program. */
const MADE_AT_ONCE = 64;

/** Below so many, more are made in the background. */
const FEW = 24;

/** Bash has no builtin for it. Looked for where no workspace can put one in its place. */
const MAKER = 'mkfifo';
const ENVIRONMENT = { PATH: '/usr/bin:/bin:/run/current-system/sw/bin' };

const { O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/**
 * Makes pipes of named ones, of which each is opened once and loses its name in the same step: nothing of one command's
 * pipe is ever another's. They lie in a directory that only this user can enter, and which is removed at exit.
 */
export function createPipeSource(): PipeSource {
  const names: string[] = [];
  let directory: string | null = null;
  let made = 0;
  let isRefilling = false;
  let isBroken = false;

  function nextNames(): readonly string[] {
    made += MADE_AT_ONCE;
    return Array.from({ length: MADE_AT_ONCE }, (_, index) => `p${made - index}`);
  }

  function home(): string {
    if (directory !== null) return directory;
    const created = mkdtempSync(join(tmpdir(), 'signalbox-pipes-'));
    process.once('exit', () => rmSync(created, { recursive: true, force: true }));
    directory = created;
    return created;
  }

  function refillNow(): void {
    const fresh = nextNames();
    const options = { cwd: home(), env: ENVIRONMENT, stdio: 'ignore', timeout: 10_000 } as const;
    const { status } = spawnSync(MAKER, ['-m', '600', ...fresh], options);
    if (status === 0) names.push(...fresh);
    else isBroken = true;
  }

  function refillSoon(): void {
    if (isRefilling) return;
    isRefilling = true;
    const fresh = nextNames();
    const child = execFile(MAKER, ['-m', '600', ...fresh], { cwd: home(), env: ENVIRONMENT }, (error) => {
      isRefilling = false;
      if (error === null) names.push(...fresh);
    });
    child.unref();
  }

  function open(ours: 'read' | 'write'): OpenPipe | null {
    if (isBroken) return null;
    try {
      if (names.length === 0) refillNow();
      const name = names.pop();
      if (name === undefined) return null;
      const path = join(home(), name);
      const pipe = openBoth(path, ours);
      unlinkSync(path);
      if (names.length < FEW) refillSoon();
      return pipe;
    } catch (error) {
      // Somebody cleaned up the temporary files: what was made is gone, and the next one starts anew.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
        names.length = 0;
        directory = null;
      }
      return null;
    }
  }

  return { open };
}

function openBoth(path: string, ours: 'read' | 'write'): OpenPipe {
  const opened: number[] = [];
  const openEnd = (flags: number): number => {
    const descriptor = openSync(path, flags);
    opened.push(descriptor);
    return descriptor;
  };
  try {
    // To open one end waits for the other, except the reader's when it is told not to.
    const first = openEnd(O_RDONLY | O_NONBLOCK);
    const writeEnd = openEnd(ours === 'write' ? O_WRONLY | O_NONBLOCK : O_WRONLY);
    if (ours === 'read') return { readEnd: first, writeEnd };
    const readEnd = openEnd(O_RDONLY);
    closeSync(first);
    return { readEnd, writeEnd };
  } catch (error) {
    for (const descriptor of opened) closeQuietly(descriptor);
    throw error;
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
