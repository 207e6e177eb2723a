import type { ProfileRule } from '../classifier/compiled.ts';
import { MARKER_VARIABLE } from './process-table.ts';

export type Environment = Readonly<Record<string, string>>;

/** With any of these, bash would run a file or switch something on before it reads the command. */
const TAKEN_AWAY: ReadonlySet<string> = new Set(['BASH_ENV', 'ENV', 'SHELLOPTS', 'BASHOPTS']);

/** The prefix under which bash takes functions from its environment. */
const FUNCTION_PREFIX = 'BASH_FUNC_';

/** Whether a variable of this name would make bash do something of its own. */
export function isShellVariable(name: string): boolean {
  return TAKEN_AWAY.has(name) || name.startsWith(FUNCTION_PREFIX);
}

/** Whether the system can hand over a variable of this name. Dots and hyphens are fine: bash passes such names on. */
export function isVariableName(name: string): boolean {
  return name !== '' && !name.includes('=') && !name.includes('\0');
}

/**
 * The base environment of every command: what the embedder gives, without what would make bash run or switch on
 * something, and without what no process can be given.
 */
export function baseEnvironment(given: Readonly<Record<string, string | undefined>>): Environment {
  const kept = Object.entries(given).filter(
    (entry): entry is [string, string] =>
      typeof entry[1] === 'string' &&
      !entry[1].includes('\0') &&
      isVariableName(entry[0]) &&
      !isShellVariable(entry[0]),
  );
  return Object.freeze(Object.fromEntries(kept));
}

/** The home directory that a command of this base has, for the judge; nothing where no absolute path is told. */
export function homeIn(base: Environment): { readonly homeDirectory?: string } {
  const home = Object.hasOwn(base, 'HOME') ? base.HOME : undefined;
  return home?.startsWith('/') ? { homeDirectory: home } : {};
}

/**
 * The first variable of the base that would make the program answer something else and is not handed over, or null: with
 * it the proved run would not answer what the command asks.
 *
 * @param minds names, or beginnings of names with a star behind them.
 */
export function mindedVariable(base: Environment, minds: readonly string[]): string | null {
  for (const pattern of minds) {
    if (!pattern.endsWith('*')) {
      if (Object.hasOwn(base, pattern)) return pattern;
      continue;
    }
    const name = Object.keys(base).find((one) => one.startsWith(pattern.slice(0, -1)));
    if (name !== undefined) return name;
  }
  return null;
}

/** What of a base a profile hands over. */
export function handedOver({ pass }: Pick<ProfileRule, 'pass'>, base: Environment): Environment {
  const kept: Record<string, string> = {};
  for (const name of pass) {
    const value = Object.hasOwn(base, name) ? base[name] : undefined;
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}

/** What a run adds to any environment: its directory, and the marker that its children inherit. */
export type RunIdentity = { readonly cwd: string; readonly marker: string };

/** A serial command gets the base and the caller's variables. */
export function serialEnvironment(base: Environment, caller: Environment, identity: RunIdentity): Environment {
  return identified({ ...base, ...caller }, identity);
}

/**
 * A parallel command gets what its profile hands over of the base, the caller's variables (one that the proof does not
 * know would have made it serial), then what the profile and the command's own leading assignments set. `whole`: its
 * rule shows the environment, so it gets all of the base.
 */
export function parallelEnvironment(
  base: Environment,
  caller: Environment,
  proved: {
    readonly profile: Pick<ProfileRule, 'set' | 'pass'>;
    readonly whole: boolean;
    /** What the argv form sets; null for the text in bash, which sets its own. */
    readonly set: Environment | null;
  },
  identity: RunIdentity,
): Environment {
  const { profile, whole, set } = proved;
  const environment = { ...(whole ? base : handedOver(profile, base)), ...caller, ...profile.set, ...set };
  return identified(set === null ? withPinnedCharacters(environment) : environment, identity);
}

/**
 * Where bash reads a proved text, characters are UTF-8: under some old locales a byte of a character is an operator.
 * LC_ALL would win over LC_CTYPE, so its value moves to where it still rules all the other categories.
 */
export function withPinnedCharacters(environment: Environment): Environment {
  const { LC_ALL: all, ...rest } = environment;
  if (all === undefined || all === '') return { ...rest, LC_CTYPE: 'C.UTF-8' };
  const others = Object.entries(rest).filter(([name]) => !name.startsWith('LC_'));
  return { ...Object.fromEntries(others), LANG: all, LC_CTYPE: 'C.UTF-8' };
}

function identified(environment: Environment, { cwd, marker }: RunIdentity): Environment {
  // PWD still names the embedder's directory; programs and bash believe it only if it is where they are.
  return { ...environment, PWD: cwd, [MARKER_VARIABLE]: marker };
}
