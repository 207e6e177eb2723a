import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { SignalboxError } from '../errors.ts';
import { text } from './option-checks.ts';
import { below, parentOf } from './paths.ts';

/**
 * The names under which places on disk are locked. Nothing is cached: a directory may become a link, a repository may
 * appear or move between two commands, and a stale key would let a writer pass beside another one. A key costs some
 * tens of microseconds, a command milliseconds.
 *
 * Known gaps: hard links and bind mounts give one file several paths, and with them several keys. A repository named only
 * by an environment variable or by `core.worktree` is not seen.
 */

/** Links followed for one component of a path before it counts as a loop; Linux gives up at 40 for the whole path. */
const MAX_LINKS = 40;

/** Bytes read of a `.git` or `commondir` file: a path and a short prefix. */
const MAX_POINTER_BYTES = 65_536;

/**
 * The real path of a file or directory: absolute, every symlink followed as the kernel does (`..` after a link leaves
 * the link's target), without `.`, `..`, doubled or trailing slashes. It needs not exist: what exists of it is resolved,
 * a dangling link is followed to where it points, and the rest is normalised as text. A link that leads into a loop,
 * or cannot be read, stands for itself. The same file gives the same path however it was spelled.
 *
 * @param cwd absolute; where a relative path starts. Default: the working directory of the process.
 * @throws SignalboxError OPTION_INVALID for a NUL, which no file's name holds, and for a relative `cwd`.
 */
export function pathKey(path: string, cwd?: string): string {
  if (text('the path', path).startsWith('/')) return realPath(path);
  const base = text('the working directory', cwd ?? process.cwd());
  if (!base.startsWith('/')) {
    throw new SignalboxError(
      'OPTION_INVALID',
      `Expected the working directory to be absolute, got ${JSON.stringify(base)}`,
    );
  }
  // Not joined by node:path, which would take `link/..` away as text.
  return realPath(`${base}/${path}`);
}

/** The lock key of one file: `file:` and its `pathKey`. Throws as that does. */
export function fileLockKey(path: string, cwd?: string): string {
  return `file:${pathKey(path, cwd)}`;
}

/** Where a command works, as lock keys. */
export type Workspace = {
  /**
   * The key of `workspace`, that of the common git directory if there is one, and the same of every repository around
   * it. All are `file:` keys, all to be taken in one mode.
   */
  readonly keys: readonly string[];
  /** The real working directory, widened to the top of the innermost work tree that holds it. */
  readonly workspace: string;
};

/**
 * The keys of a working directory, found as git finds its repository, without starting git and without ever throwing
 * for a directory that is missing, unreadable or vanishes meanwhile.
 *
 * A work tree has one key from its top, so `git -C /repo/sub` and a batch in `/repo` meet. A linked work tree meets its
 * main one in the common git directory. In a bare repository, or inside a git directory, that directory is the
 * workspace. Repositories around this one count as well: a submodule's writer changes what the outer `git status`
 * reads. The same holds for a file instead of a directory: its keys are those of the work tree that it lies in.
 *
 * @param path absolute. @throws SignalboxError OPTION_INVALID for a relative path or one with a NUL.
 */
export function workspaceKeys(path: string): Workspace {
  if (!text('the directory', path).startsWith('/')) {
    throw new SignalboxError('OPTION_INVALID', `Expected an absolute directory, got ${JSON.stringify(path)}`);
  }
  const start = realPath(path);
  const paths = new Set<string>();
  let workspace: string | null = null;
  for (let directory = start; ; directory = parentOf(directory)) {
    const found = repositoryAt(directory);
    if (found !== null) {
      workspace ??= directory;
      paths.add(directory);
      if (found.commonDirectory !== null) paths.add(found.commonDirectory);
    }
    if (directory === '/') break;
  }
  if (workspace === null) paths.add(start);
  const keys = Object.freeze(Array.from(paths, (real) => `file:${real}`));
  return Object.freeze({ keys, workspace: workspace ?? start });
}

/** Whether a work tree has its top here, or this is itself a git directory; and which git directory its trees share. */
function repositoryAt(directory: string): { readonly commonDirectory: string | null } | null {
  const dotGit = below(directory, '.git');
  const entry = kindOf(dotGit);
  if (entry === 'directory') {
    const commonDirectory = commonDirectoryOf(dotGit);
    if (commonDirectory !== null) return { commonDirectory };
  } else if (entry === 'other') {
    // Git stops at such a file even when what it names is gone: it is a top whatever the file says.
    const gitDirectory = pointerIn(dotGit, 'gitdir: ', directory);
    return { commonDirectory: gitDirectory === null ? null : (commonDirectoryOf(gitDirectory) ?? gitDirectory) };
  }
  const commonDirectory = commonDirectoryOf(directory);
  return commonDirectory === null ? null : { commonDirectory };
}

/** The real common directory of a git directory, or null if this is none. As git asks: a HEAD, and objects and refs in the common one. */
function commonDirectoryOf(gitDirectory: string): string | null {
  if (kindOf(below(gitDirectory, 'HEAD'), lstatSync) === null) return null;
  const shared = pointerIn(below(gitDirectory, 'commondir'), '', gitDirectory) ?? gitDirectory;
  if (kindOf(below(shared, 'objects')) !== 'directory' || kindOf(below(shared, 'refs')) !== 'directory') return null;
  return realPath(shared);
}

/** The real path that a one-line file holds behind its prefix, relative to `base`; null if there is no such file or path. */
function pointerIn(file: string, prefix: string, base: string): string | null {
  if (kindOf(file) !== 'other') return null;
  let text: string;
  try {
    // Without O_NONBLOCK a FIFO of this name would hold up the whole process.
    const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const status = fstatSync(descriptor);
      if (!status.isFile() || status.size > MAX_POINTER_BYTES) return null;
      text = readFileSync(descriptor, 'utf8');
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return null;
  }
  if (!text.startsWith(prefix)) return null;
  let end = text.length;
  while (end > prefix.length && (text[end - 1] === '\n' || text[end - 1] === '\r')) end--;
  const pointer = text.slice(prefix.length, end);
  return pointer === '' || pointer.includes('\0') ? null : pathKey(pointer, base);
}

/** What stands at a path, following links unless told otherwise; null if nothing does or it cannot be looked at. */
function kindOf(path: string, look: typeof statSync | typeof lstatSync = statSync): 'directory' | 'other' | null {
  try {
    const status = look(path, { throwIfNoEntry: false });
    if (status === undefined) return null;
    return status.isDirectory() ? 'directory' : 'other';
  } catch {
    return null;
  }
}

function realPath(absolute: string): string {
  if (absolute.includes('\0')) throw new SignalboxError('OPTION_INVALID', 'Expected a path without NUL characters');
  try {
    return realpathSync.native(absolute);
  } catch {
    return walk(absolute);
  }
}

/** Resolves component by component what the C library gave up on: something is missing, looped or not readable. */
function walk(absolute: string): string {
  let current = '/';
  for (const component of absolute.split('/')) current = step(current, component);
  return current;
}

/** From a real directory to what `component` names in it, following as many links as that takes. */
function step(from: string, component: string): string {
  let current = from;
  let links = 0;
  const rest = [component];
  for (let name = rest.pop(); name !== undefined; name = rest.pop()) {
    if (name === '' || name === '.') continue;
    if (name === '..') {
      current = parentOf(current);
      continue;
    }
    const next = below(current, name);
    const target = targetOf(next);
    if (target === null) {
      current = next;
      continue;
    }
    if (++links > MAX_LINKS) return below(from, component);
    if (target.startsWith('/')) current = '/';
    rest.push(...target.split('/').reverse());
  }
  return current;
}

/** Where a link points, as it is written; null for anything else, and for what cannot be looked at. */
function targetOf(path: string): string | null {
  try {
    // Asked first because an exception costs more than ten calls.
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : null;
  } catch {
    return null;
  }
}
