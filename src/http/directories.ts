import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { SignalboxError } from '../errors.ts';
import { show } from '../issue-text.ts';

/**
 * Turns the working directory that a client named into the real one, or refuses it. The real path is what the command
 * then runs in, so that a link changed in between leads nowhere else. Roots say where commands start, not what they
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
  const confined = (where: string): boolean => roots.some((root) => liesIn(where, root));
  if (real === undefined ? !confined(path) : !confined(real)) {
    throw new SignalboxError(
      'DIRECTORY_OUTSIDE_ROOTS',
      `Expected a directory in one of the configured roots, got ${show(path)} at ${pointer}`,
      { pointer },
    );
  }
  if (real === undefined || !(await stat(real).catch(() => undefined))?.isDirectory()) {
    throw new SignalboxError('DIRECTORY_MISSING', `Expected a directory, got ${show(path)} at ${pointer}`, { pointer });
  }
  if (!roots.includes(real) && roots.some((root) => liesIn(root, real))) {
    throw new SignalboxError(
      'DIRECTORY_CONTAINS_ROOT',
      `Expected a directory that contains no root, got ${show(path)} at ${pointer}`,
      { pointer },
    );
  }
  return real;
}

/** Whether a path is the directory or something below it. Both absolute and normal. */
function liesIn(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}
