import { type BigIntStats, readdirSync, realpathSync, statSync } from 'node:fs';
import type { FileMemory, Loaded } from './file-memory.ts';
import { ATTRIBUTES_FILE } from './index-reader.ts';

/** Directories of one work tree that are looked through. Past it nobody has looked, and the answer is strict. */
const MAX_DIRECTORIES = 20_000;
/** Links to directories that are followed to see where they lead. */
const MAX_LINKS = 10_000;

/** What in one directory matters for the search, by name. */
export type Listing = {
  readonly directories: readonly string[];
  readonly links: readonly string[];
  readonly attributes: readonly string[];
  /** A name that is no UTF-8 cannot be asked about by what we read of it. */
  readonly hasOddName: boolean;
};

export type DirectoryMemory = FileMemory<Listing>;

export type Search = {
  readonly files: readonly string[];
  /** Why there may be others, as a clause for a person, or null. */
  readonly doubt: string | null;
};

/** What `FileMemory` calls for a directory. */
export function loadListing(path: string, status: BigIntStats): Loaded<Listing> {
  const directories: string[] = [];
  const links: string[] = [];
  const attributes: string[] = [];
  let hasOddName = false;
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const { name } = entry;
    // Some file systems do not tell capitals apart.
    if (name.length === ATTRIBUTES_FILE.length && name.toLowerCase() === ATTRIBUTES_FILE) attributes.push(name);
    else if (entry.isDirectory()) {
      // No path in a repository leads through a `.git`.
      if (name !== '.git') directories.push(name);
    } else if (entry.isSymbolicLink()) links.push(name);
    else continue;
    hasOddName ||= name.includes('\ufffd');
  }
  return { value: { directories, links, attributes, hasOddName }, status };
}

/**
 * Every attributes file below the top of a work tree, also in directories that hold nothing tracked: an older commit may
 * have files there, and git asks the work tree about them. A link to a directory inside leads to what is found anyway.
 *
 * @param top a real path.
 */
export function findAttributesFiles(top: string, memory: DirectoryMemory): Search {
  const files: string[] = [];
  const waiting = [top];
  let seen = 0;
  let links = 0;
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    if (++seen > MAX_DIRECTORIES) return { files, doubt: `there are more than ${MAX_DIRECTORIES} directories` };
    const look = memory.look(directory);
    // It has gone since it was listed.
    if (look.kind === 'absent') continue;
    if (look.kind === 'unreadable') return { files, doubt: `${directory} cannot be listed` };
    const { value } = look;
    if (value.hasOddName) return { files, doubt: `${directory} holds a name that is no UTF-8` };
    for (const name of value.attributes) files.push(`${directory}/${name}`);
    for (const name of value.directories) waiting.push(`${directory}/${name}`);
    links += value.links.length;
    if (links > MAX_LINKS) return { files, doubt: `there are more than ${MAX_LINKS} links` };
    for (const name of value.links) {
      const link = `${directory}/${name}`;
      if (leadsOut(link, top)) return { files, doubt: `${link} leads to a directory elsewhere` };
    }
  }
  return { files, doubt: null };
}

/** Whether a link leads to a directory that the search does not come to. */
function leadsOut(link: string, top: string): boolean {
  try {
    const status = statSync(link, { throwIfNoEntry: false });
    if (status === undefined || !status.isDirectory()) return false;
    const real = realpathSync.native(link);
    const isInside = real === top || real.startsWith(top === '/' ? top : `${top}/`);
    return !isInside || `${real}/`.includes('/.git/');
  } catch (error) {
    // A loop leads nowhere, for git as well.
    return (error as NodeJS.ErrnoException).code !== 'ELOOP';
  }
}
