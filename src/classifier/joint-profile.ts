import type { ProfileRule } from './compiled.ts';

/** The profile of a rule that names none. */
export const GENERIC = 'generic';

/** The environment of several proofs at once, or the first variable in which they contradict each other. */
export type Joined = { readonly profile: ProfileRule } | { readonly variable: string };

/**
 * One environment for proofs that presume several. They contradict each other where one sets a variable that another
 * sets to a different value, or that would make another answer something else.
 */
export function joinProfiles(presumed: readonly ProfileRule[]): Joined {
  const profiles = [...new Set(presumed)];
  if (profiles.length === 1) return { profile: profiles[0]! };
  const set: Record<string, string> = {};
  for (const one of profiles) {
    for (const [name, value] of Object.entries(one.set)) {
      if (Object.hasOwn(set, name) && set[name] !== value) return { variable: name };
      if (profiles.some((other) => !Object.hasOwn(other.set, name) && isMinded(other.minds, name))) {
        return { variable: name };
      }
      set[name] = value;
    }
  }
  const profile: ProfileRule = {
    name: jointName(profiles.map(({ name }) => name)),
    set: Object.freeze(set),
    pass: new Set(profiles.flatMap(({ pass }) => [...pass])),
    minds: Object.freeze([...new Set(profiles.flatMap(({ minds }) => minds))]),
  };
  return { profile };
}

/** `git+npm`: distinct names in code-unit order, the generic one only where no other stands. */
function jointName(names: readonly string[]): string {
  const named = [...new Set(names)].filter((name) => name !== GENERIC).sort();
  return named.length === 0 ? GENERIC : named.join('+');
}

/** Names, or beginnings with a star behind them. */
function isMinded(minds: readonly string[], name: string): boolean {
  return minds.some((one) => (one.endsWith('*') ? name.startsWith(one.slice(0, -1)) : name === one));
}
