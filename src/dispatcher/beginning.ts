import { accessSync, constants, realpathSync } from 'node:fs';
import type { Order } from './order.ts';
import { isDirectory } from './paths.ts';
import type { Platform } from './platform.ts';
import type { Launch } from './proved-run.ts';
import type { Running, Start } from './runner.ts';

/** A file to start, and its words with the name in front. */
export type Program = { readonly file: string; readonly argv: readonly string[] };

/** It runs; or why it does not; or nobody wants it any more (null). */
export type Begun = { readonly running: Running } | { readonly note: string | null };

/** Errors of starting a program that bash has words for. */
const BASH_SAYS: ReadonlySet<string> = new Set(['ENOENT', 'EACCES', 'ENOTDIR', 'ENOEXEC', 'ELOOP', 'EPERM']);

/** Errors that say nothing about the command: the same may go well in a moment. */
const SHORTAGES: ReadonlyMap<string, string> = new Map([
  ['EMFILE', 'this process has no file descriptor left; raise its limit (ulimit -n), or run fewer commands at once'],
  ['ENFILE', 'the system has no file descriptor left'],
  [
    'EAGAIN',
    'the system starts no more processes for this user; raise the limit (ulimit -u), or run fewer commands at once',
  ],
  ['ENOMEM', 'the system has no memory left for another process'],
]);

/**
 * What to start: the program that was found, then bash with the text, which also answers for a program that cannot be
 * run, as it would have done. Empty when there is no bash.
 */
export function programsOf(launch: Launch, { command }: Order, { bash }: Platform): readonly Program[] {
  if (bash === null) return [];
  const text = { file: bash, argv: ['bash', '--noprofile', '--norc', '-c', '--', command] };
  return launch === null ? [text] : [launch, text];
}

/** Starts the first program that can be started. Only where that fails, so that nothing has run, is the next one tried. */
export async function beginAny(
  programs: readonly Program[],
  how: {
    readonly cwd: string;
    readonly begin: (program: Program) => Start;
    readonly isGivenUp: () => boolean;
    /** Gives back descriptors that nobody needs yet. */
    readonly relieve: () => void;
  },
): Promise<Begun> {
  const { cwd, begin, isGivenUp, relieve } = how;
  // Asked first: the system says of a missing directory what it says of a missing program.
  if (!isDirectory(cwd)) return { note: `The working directory ${cwd} no longer exists` };
  let note = 'No bash was found to run it';
  for (const program of programs) {
    let start = begin(program);
    let error = 'running' in start ? null : await start.failure;
    if (error !== null && isShort(error) && !isGivenUp()) {
      relieve();
      start = begin(program);
      error = 'running' in start ? null : await start.failure;
    }
    if ('running' in start) return start;
    if (isGivenUp() || error === null) return { note: null };
    note = whyNot(error, cwd);
    if (!BASH_SAYS.has(codeOf(error)) || !canEnter(cwd)) break;
  }
  return { note };
}

/** Asked as late as can be: a directory is entered by its name, and a link may have taken its place meanwhile. */
export function mayStartIn(directory: string, mayRunIn: ((directory: string) => boolean) | null): boolean {
  try {
    return mayRunIn === null || mayRunIn(realpathSync.native(directory)) === true;
  } catch {
    return false;
  }
}

function whyNot(error: Error, cwd: string): string {
  if (!isDirectory(cwd)) return `The working directory ${cwd} no longer exists`;
  if (!canEnter(cwd)) return `The working directory ${cwd} cannot be entered`;
  if (codeOf(error) === 'E2BIG') return 'It is longer, with its environment, than the system hands over to a program';
  const shortage = SHORTAGES.get(codeOf(error));
  return `It could not be started: ${shortage === undefined ? error.message : `${shortage} (${codeOf(error)})`}`;
}

function isShort(error: Error): boolean {
  return codeOf(error) === 'EMFILE' || codeOf(error) === 'ENFILE';
}

function canEnter(directory: string): boolean {
  try {
    accessSync(directory, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function codeOf(error: Error): string {
  return (error as NodeJS.ErrnoException).code ?? '';
}
