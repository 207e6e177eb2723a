import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

export type Program =
  | { readonly kind: 'found'; readonly path: string }
  /** Bash would find nothing that it can run, and says so in its own words. */
  | { readonly kind: 'missing' }
  /** What bash would run might be anybody's. */
  | { readonly kind: 'untrusted'; readonly why: string };

export type ProgramContext = {
  /** The very PATH that the run gets. */
  readonly path: string | undefined;
  /** Absolute; relative entries start here. */
  readonly cwd: string;
  /** Real directories that the command works in. A program inside one is whatever the last writer made of it. */
  readonly workspaces: readonly string[];
};

/**
 * Looks a program up as bash would: the first executable file of that name along PATH. No entry is ever skipped: when
 * that first hit lies where others may write, the answer is `untrusted`, whatever stands behind it.
 *
 * @param name without a slash.
 */
export function findProgram(name: string, { path, cwd, workspaces }: ProgramContext): Program {
  // Bash has a PATH of its own when it is given none, and some builds put the working directory into it.
  if (path === undefined) return untrusted('PATH is not set');
  for (const entry of path.split(':')) {
    if (entry.startsWith('~')) return untrusted(`the entry ${entry} of PATH depends on who asks`);
    const directory = resolve(cwd, entry);
    const file = `${directory === '/' ? '' : directory}/${name}`;
    if (!isExecutable(file)) continue;
    if (!entry.startsWith('/')) return untrusted(`the first ${name} on PATH comes from the relative entry "${entry}"`);
    const why = distrust(directory, file, workspaces);
    return why === null ? { kind: 'found', path: file } : untrusted(`the first ${name} on PATH, ${file}, ${why}`);
  }
  return { kind: 'missing' };
}

/** Whether a real path is a directory of the list or lies in one. */
export function isInside(path: string, directories: readonly string[]): boolean {
  return directories.some(
    (directory) => path === directory || path.startsWith(directory === '/' ? '/' : `${directory}/`),
  );
}

function untrusted(why: string): Program {
  return { kind: 'untrusted', why };
}

function isExecutable(file: string): boolean {
  try {
    // Most entries of PATH do not have it, and an exception costs more than ten calls.
    const status = statSync(file, { throwIfNoEntry: false });
    if (status === undefined || status.isDirectory()) return false;
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Both the entry and the place that links lead to must be nobody else's. */
function distrust(directory: string, file: string, workspaces: readonly string[]): string | null {
  try {
    const real = realpathSync.native(file);
    for (const place of [directory, dirname(real), real]) {
      if ((statSync(place).mode & constants.S_IWOTH) !== 0) return `can be replaced by anybody: ${place}`;
    }
    if ([realpathSync.native(directory), real].some((place) => isInside(place, workspaces))) {
      return 'lies in the workspace';
    }
    return null;
  } catch {
    return 'changed while it was looked at';
  }
}
