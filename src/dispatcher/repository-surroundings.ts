import { realpathSync, statSync } from 'node:fs';
import { below } from './paths.ts';

/** Where configuration lies that does not belong to a repository. */
export type Surroundings = {
  readonly home: string | null;
  readonly configFiles: readonly string[];
  readonly attributesFiles: readonly string[];
  /** Why that cannot be told, as a clause for a person, or null. */
  readonly doubt: string | null;
};

/**
 * Where the system's files lie depends on how git was built: below `/etc`, or beside the `bin` that it is in, as `PATH`
 * says and where links lead. Files that are not there cost a question each.
 */
export function surroundingsOf(environment: Readonly<Record<string, string | undefined>>): Surroundings {
  const { HOME: home = '', XDG_CONFIG_HOME: xdg = '', PATH: path = '' } = environment;
  const etc = new Set(['/etc']);
  const entries = path.split(':');
  for (const directory of [...entries, realPlaceOfGit(entries)]) {
    const prefix = /^(\/.*)?\/(?:s?bin|libexec\/git-core|lib\/git-core)\/?$/.exec(directory)?.[1];
    if (prefix !== undefined && prefix !== '/usr') etc.add(`${prefix}/etc`);
  }
  const places = [...etc];
  // Only one of the two is read; which one depends on whether the variable is handed over.
  const personal = [...(home === '' ? [] : [below(home, '.config')]), ...(xdg === '' ? [] : [xdg])];
  const own = personal.map((directory) => below(directory, 'git'));
  const isRelative = [home, xdg].some((directory) => directory !== '' && !directory.startsWith('/'));
  return {
    doubt: isRelative ? 'HOME or XDG_CONFIG_HOME is no absolute path' : null,
    home: home === '' ? null : home,
    configFiles: [
      ...places.map((directory) => below(directory, 'gitconfig')),
      ...own.map((directory) => below(directory, 'config')),
      ...(home === '' ? [] : [below(home, '.gitconfig')]),
    ],
    attributesFiles: [
      ...places.map((directory) => below(directory, 'gitattributes')),
      ...own.map((directory) => below(directory, 'attributes')),
    ],
  };
}

/** The directory that the first git on `PATH` is really in; empty where there is none. */
function realPlaceOfGit(entries: readonly string[]): string {
  for (const entry of entries) {
    if (!entry.startsWith('/')) continue;
    try {
      const file = below(entry, 'git');
      if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) continue;
      const real = realpathSync.native(file);
      return real.slice(0, real.lastIndexOf('/'));
    } catch {
      // Nothing can be started from there.
    }
  }
  return '';
}
