import { execFile, spawnSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmdirSync, unlinkSync } from 'node:fs';
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
  /** Closes what is made ready, but for what one start needs: descriptors are short. */
  giveBack(): void;
}

/** Made by one start of a program, and open from then on: two descriptors each. */
const MADE_AT_ONCE = 24;

/** Below so many, more are made in the background. */
const FEW = 8;

/** Never more are kept. */
const MOST_READY = MADE_AT_ONCE + FEW;

/** For one start. */
const ENOUGH_FOR_ONE = 3;

/** Milliseconds after a failure in which none are made. */
const FAILED_PAUSE_MS = 100;

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
  let notBefore = 0;

  function refillNow(): void {
    const directory = newDirectory();
    const options = { cwd: directory, env: ENVIRONMENT, stdio: 'ignore', timeout: 10_000 } as const;
    const { status, error } = spawnSync(MAKER, WORDS, options);
    collect(directory, status === 0 ? null : error);
  }

  function refillSoon(): void {
    if (isRefilling || performance.now() < notBefore) return;
    isRefilling = true;
    const directory = newDirectory();
    const options = { cwd: directory, env: ENVIRONMENT, timeout: 10_000 };
    const done = (error: unknown): void => {
      isRefilling = false;
      collect(directory, error);
    };
    try {
      execFile(MAKER, WORDS, options, done);
    } catch (error) {
      done(error);
    }
  }

  /** Never throws, whatever is missing. @param failure null when the named ones were made. */
  function collect(directory: string, failure: unknown): void {
    const made: OpenPipe[] = [];
    try {
      if (failure === null) for (const name of NAMES) made.push(openBoth(join(directory, name)));
    } catch {
      // Out of descriptors: what is made for later would be missing now.
      for (const pipe of made.splice(ENOUGH_FOR_ONE)) closeBoth(pipe);
    }
    remove(directory);
    ready.push(...made);
    // Two refills can meet, one at once and one in the background.
    for (const pipe of ready.splice(MOST_READY)) closeBoth(pipe);
    if (made.length === NAMES.length) return;
    // Without the program there will never be any; the rest may pass.
    const isMissing = (failure as NodeJS.ErrnoException | null)?.code === 'ENOENT';
    notBefore = isMissing ? Number.POSITIVE_INFINITY : performance.now() + FAILED_PAUSE_MS;
  }

  /** More, at once where there is none. Never throws. */
  function refill(): void {
    try {
      if (ready.length === 0 && performance.now() >= notBefore) refillNow();
      else if (ready.length < FEW) refillSoon();
    } catch {
      // No directory can be made: no disk, no descriptor.
      isRefilling = false;
      notBefore = performance.now() + FAILED_PAUSE_MS;
    }
  }

  function open(ours: 'read' | 'write'): OpenPipe | null {
    if (ready.length === 0) refill();
    const pipe = ready.pop();
    refill();
    if (pipe === undefined || ours === 'read') return pipe ?? null;
    try {
      return turned(pipe);
    } catch {
      return null;
    }
  }

  function giveBack(): void {
    for (const pipe of ready.splice(ENOUGH_FOR_ONE)) closeBoth(pipe);
    notBefore = Math.max(notBefore, performance.now() + FAILED_PAUSE_MS);
  }

  return { open, giveBack };
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
    closeBoth(pipe);
  }
}

function closeBoth({ readEnd, writeEnd }: OpenPipe): void {
  closeQuietly(readEnd);
  closeQuietly(writeEnd);
}

/** The directory and the pipes' names, by name: to list it would take a descriptor. */
function remove(directory: string): void {
  for (const name of NAMES) quietly(() => unlinkSync(join(directory, name)));
  quietly(() => rmdirSync(directory));
}

function quietly(act: () => void): void {
  try {
    act();
  } catch {
    // It is not there, or cannot be helped.
  }
}

export function closeQuietly(descriptor: number): void {
  quietly(() => closeSync(descriptor));
}

let shared: PipeSource | null = null;

/** The source of this process. */
export function systemPipes(): PipeSource {
  shared ??= createPipeSource();
  return shared;
}
