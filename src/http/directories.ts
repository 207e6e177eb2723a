import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { SignalboxError } from '../errors.ts';
import { show } from '../issue-text.ts';

/**
 * Turns the working directory that a client named into the real one, or refuses it. The real path is what the command
 * then runs in, and where that leads is asked again right before the start (`mayRunIn`). Roots say where commands start, not what they
 * can open.
 */
export type Directories = {
  /** `named` is absolute or relative to `base`. Throws REQUEST_INVALID, DIRECTORY_MISSING, DIRECTORY_OUTSIDE_ROOTS, DIRECTORY_CONTAINS_ROOT. */
  resolve(named: string, base: string, pointer: string): Promise<string>;
};

/** `roots` are real paths, as the configuration gives them. One of these serves one request: it looks at each path once. */
export function createDirectories(roots: readonly string[]): Directories {
  const known = new Map<string, Promise<string>>();
  return {
    resolve(named, base, pointer) {
      if (named.includes('\0')) {
        throw new SignalboxError('REQUEST_INVALID', `Expected a path without NUL, got ${show(named)} at ${pointer}`, {
          pointer,
        });
      }
      const path = isAbsolute(named) ? resolve(named) : resolve(base, named);
      const found = known.get(path) ?? realDirectory(path, roots, pointer);
      known.set(path, found);
      return found;
    },
  };
}

async function realDirectory(path: string, roots: readonly string[], pointer: string): Promise<string> {
  // Asked before anything is looked up, so that nobody learns what exists outside by the difference of two answers.
  const real = await realpath(path).catch(() => undefined);
  if (!isConfined(real ?? path, roots)) {
    throw new SignalboxError(
      'DIRECTORY_OUTSIDE_ROOTS',
      `Expected a directory in one of the configured roots, got ${show(path)} at ${pointer}`,
      { pointer },
    );
  }
  if (real === undefined || !(await stat(real).catch(() => undefined))?.isDirectory()) {
    throw new SignalboxError('DIRECTORY_MISSING', `Expected a directory, got ${show(path)} at ${pointer}`, { pointer });
  }
  if (!mayRunIn(real, roots)) {
    throw new SignalboxError(
      'DIRECTORY_CONTAINS_ROOT',
      `Expected a directory that contains no root, got ${show(path)} at ${pointer}`,
      { pointer },
    );
  }
  return real;
}

/** Whether a command may start in a directory, given by its real path: it lies in a root, and contains none but itself. */
export function mayRunIn(real: string, roots: readonly string[]): boolean {
  return roots.includes(real) || (isConfined(real, roots) && !containsRoot(real, roots));
}

function isConfined(path: string, roots: readonly string[]): boolean {
  return roots.some((root) => liesIn(path, root));
}

function containsRoot(path: string, roots: readonly string[]): boolean {
  return roots.some((root) => liesIn(root, path));
}

/** Whether a path is the directory or something below it. Both absolute and normal. */
function liesIn(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}
