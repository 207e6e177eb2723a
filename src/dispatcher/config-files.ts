import type { FileMemory } from './file-memory.ts';
import type { ConfigEntry } from './git-config-reader.ts';
import { parentOf } from './paths.ts';
import { pathIn } from './repository-layout.ts';

/** Includes within includes that git follows. */
const MAX_DEPTH = 10;
/** Files read for one configuration; a file that is included twice counts twice. */
const MAX_FILES = 200;

export type LocatedEntry = ConfigEntry & {
  /** The file it stands in. */
  readonly file: string;
};

export type Configuration = {
  readonly entries: readonly LocatedEntry[];
  /** The first thing that was not read or understood, as a clause for a person, or null. */
  readonly unreadable: string | null;
};

export type ConfigMemory = FileMemory<readonly ConfigEntry[]>;

/**
 * Everything that the given configuration files say, in order, with what they include. A conditional include counts
 * whatever its condition is: what is in it may hold in a moment, on another branch or below another directory.
 *
 * @param home of the user, for `~/`; null when there is none.
 */
export function collectConfiguration(
  files: readonly string[],
  home: string | null,
  memory: ConfigMemory,
): Configuration {
  const entries: LocatedEntry[] = [];
  let left = MAX_FILES;

  const collect = (file: string, depth: number): string | null => {
    // There is nothing in it, and people name it to say so.
    if (file === '/dev/null') return null;
    if (depth > MAX_DEPTH) return `${file} is included too deeply`;
    if (left-- <= 0) return `more than ${MAX_FILES} files are included`;
    const look = memory.look(file);
    if (look.kind === 'absent') return null;
    if (look.kind === 'unreadable') return `${file} cannot be read or understood`;
    for (const entry of look.value) {
      entries.push({ ...entry, file });
      if (!isInclude(entry.name)) continue;
      const path = resolvePath(entry, parentOf(file), home);
      const unreadable = path === null ? `${file} includes what is no plain path` : collect(path, depth + 1);
      if (unreadable !== null) return unreadable;
    }
    return null;
  };

  for (const file of files) {
    const unreadable = collect(file, 0);
    if (unreadable !== null) return { entries, unreadable };
  }
  return { entries, unreadable: null };
}

/**
 * The path that a value names; null when it is none that is understood: none at all, another user's home, a place where
 * git was installed, what versions read differently.
 */
export function resolvePath({ value, isUnsure }: ConfigEntry, base: string, home: string | null): string | null {
  if (value === null || isUnsure || value.startsWith('%(') || value.startsWith(':(')) return null;
  if (!value.startsWith('~')) return pathIn(value, base);
  return value.startsWith('~/') && home !== null ? pathIn(value.slice(2), home) : null;
}

function isInclude(name: string): boolean {
  return name === 'include.path' || (name.startsWith('includeif.') && name.endsWith('.path'));
}
