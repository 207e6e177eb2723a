import { accessSync, constants, realpathSync, statSync } from 'node:fs';

/*
 * Small looks at paths that several parts of the dispatcher share. Text is joined by hand and not by node:path, which would
 * take `link/..` away as text where the kernel leaves the target of the link.
 */

/** The real path, or the path itself where that cannot be told. */
export function realOr(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

/** The real path of a directory; null when nothing is there, or it is none, or it cannot be looked at. */
export function realDirectory(path: string): string | null {
  try {
    const real = realpathSync.native(path);
    return statSync(real).isDirectory() ? real : null;
  } catch {
    return null;
  }
}

/** Whether a directory is there, also behind links; false where that cannot be told. */
export function isDirectory(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    return false;
  }
}

/** Whether a file is there that may be run, also behind links; false where that cannot be told. */
export function isExecutable(path: string): boolean {
  try {
    // Most places that are asked about hold nothing, and an exception costs more than ten calls.
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Whether a real path is a directory of the list or lies in one. */
export function isInside(path: string, directories: readonly string[]): boolean {
  return directories.some(
    (directory) => path === directory || path.startsWith(directory === '/' ? '/' : `${directory}/`),
  );
}

/** Where the kernel's file systems are: reading there can block, or answer differently each time. */
const PSEUDO = ['/dev', '/proc', '/sys'];

/** Whether a real path is one of the kernel's file systems or lies in one. */
export function isPseudo(real: string): boolean {
  return isInside(real, PSEUDO);
}

/** The path of what a directory holds under a name, or of a relative path that starts there. */
export function below(directory: string, name: string): string {
  return directory.endsWith('/') ? `${directory}${name}` : `${directory}/${name}`;
}

/** Where a path leads that was named in a directory. */
export function pathFrom(directory: string, path: string): string {
  return path.startsWith('/') ? path : below(directory, path);
}

/** The directory that an absolute path without a slash at its end lies in. */
export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}
