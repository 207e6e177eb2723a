import { type Dirent, readdirSync, realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { PathUse } from '../classifier/judgement.ts';
import { isPseudo, realOr } from './paths.ts';

/** Directory entries looked at for one command's globs. Past it nobody has looked, and the answer is strict. */
const MAX_ENTRIES = 4096;

/**
 * The first operand that is no regular file or directory, as a clause for a person, or null when all are or do not
 * exist: opening a FIFO waits for a writer, a socket or a device is anything. A relative operand is looked at from each
 * of the bases. Of a glob, everything that might match is looked at; it is never expanded more narrowly than bash would.
 *
 * @param bases absolute directories.
 */
export function irregularOperand(paths: readonly PathUse[], bases: readonly string[]): string | null {
  const budget = { entries: MAX_ENTRIES, walked: false };
  for (const { text, glob, home, walked = false } of paths) {
    if (home === true) return `nobody told which home directory ${text} lies in`;
    budget.walked = walked;
    for (const base of text.startsWith('/') ? ['/'] : bases) {
      const why = glob ? irregularMatch(base, text.split('/'), budget) : irregular(resolve(base), text, walked);
      if (why !== null) return why;
    }
  }
  return null;
}

function irregular(base: string, text: string, walked: boolean): string | null {
  // Joined as the kernel does it: `link/..` is the parent of where the link leads.
  return irregularFile(text.startsWith('/') ? text : `${base}/${text}`, text, walked);
}

function irregularFile(path: string, shown: string, walked = false): string | null {
  try {
    const status = statSync(path, { throwIfNoEntry: false });
    if (status === undefined) return null;
    if (!status.isFile() && !status.isDirectory()) return `${shown} is neither a file nor a directory`;
    const real = realpathSync.native(path);
    if (walked && real === '/') return `${shown} is the root, which holds the kernel's file systems`;
    return isPseudo(real) ? `${shown} leads into one of the kernel's file systems` : null;
  } catch (error) {
    // Not there, or not to be reached by the command either. Anything else is something we do not know.
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES' || code === 'ELOOP' || code === 'ENAMETOOLONG'
      ? null
      : `${shown} could not be looked at (${code})`;
  }
}

function irregularMatch(
  base: string,
  parts: readonly string[],
  budget: { entries: number; readonly walked: boolean },
): string | null {
  const at = parts.findIndex(isPattern);
  if (at < 0) return irregularFile(`${base}/${parts.join('/')}`, parts.join('/'), budget.walked);
  const directory = `${base}/${parts.slice(0, at).join('/')}`;
  const rest = parts.slice(at + 1);
  const entries = list(directory);
  if (entries === null) return null;
  if (isPseudo(realOr(directory))) return `${directory} leads into one of the kernel's file systems`;
  for (const entry of entries) {
    if (!mayMatch(parts[at] as string, entry.name)) continue;
    budget.entries -= 1;
    if (budget.entries < 0) return `more than ${MAX_ENTRIES} files might match`;
    // A name that is no UTF-8 cannot be asked about by what we read of it.
    if (entry.name.includes('\ufffd')) return `a file with an unreadable name might match in ${directory}`;
    const path = `${directory}/${entry.name}`;
    const canHold = entry.isDirectory() || entry.isSymbolicLink();
    const why =
      rest.length > 0
        ? canHold
          ? irregularMatch(path, rest, budget)
          : null
        : irregularFile(path, path, budget.walked);
    if (why !== null) return why;
  }
  return null;
}

/** The text has lost its quotes, so that a quoted star counts as a pattern too: more is looked at, never less. */
function isPattern(part: string): boolean {
  return /[*?[]/.test(part);
}

/** False only when bash could not match: another beginning, another end, or a hidden file that was not asked for. */
function mayMatch(pattern: string, name: string): boolean {
  if (name.startsWith('.') && !pattern.startsWith('.')) return false;
  if (!name.startsWith(pattern.slice(0, pattern.search(/[*?[]/)))) return false;
  const isSimple = !pattern.includes('[');
  return !isSimple || name.endsWith(pattern.slice(Math.max(pattern.lastIndexOf('*'), pattern.lastIndexOf('?')) + 1));
}

function list(directory: string): readonly Dirent[] | null {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return null;
  }
}
