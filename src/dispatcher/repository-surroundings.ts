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
 * Where the system's files lie depends on how git was built: below `/etc`, or beside the `bin` that it is in. Files that
 * are not there cost a question each.
 */
export function surroundingsOf(environment: Readonly<Record<string, string | undefined>>): Surroundings {
  const { HOME: home = '', XDG_CONFIG_HOME: xdg = '', PATH: path = '' } = environment;
  const etc = new Set(['/etc']);
  for (const entry of path.split(':')) {
    const prefix = /^(\/.*)?\/s?bin\/?$/.exec(entry)?.[1];
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
