import { accessSync, constants, lstatSync } from 'node:fs';
import type { Environment } from './environment.ts';
import { pathKey, workspaceKeys } from './lock-keys.ts';
import type { LockMode } from './lock-types.ts';
import { isDirectory, isInside, isPseudo } from './paths.ts';
import { roughWords } from './text-words.ts';

/** Words of one text that are looked up, and directories that a relative one may start from. */
const MAX_WORDS = 1024;
const MAX_BASES = 8;

/** The word behind one of these is a directory that what follows starts from. */
const MOVES = new Set(['cd', 'pushd', '-C']);

/** Between these a word may hold a path: `--git-dir=../x`, `PATH=/a:/b`, `host:/c`. */
const JOINTS = new Set('=:,@');

/** From the first of these on, only the shell knows what a word will be. */
const OPEN_ENDS = new Set('*?[{$');

/** How a path stands in a text. */
type Weight = 'moved-to' | 'value' | 'mentioned';

export type TextContext = {
  readonly command: string;
  /** Variables that the command alone is given. */
  readonly env: Environment;
  /** All that it sees. */
  readonly environment: Environment;
  /** Absolute directories that a relative word may start from. */
  readonly bases: readonly string[];
  /** Real directories that it locks anyway. */
  readonly workspaces: readonly string[];
};

/**
 * What else a serial text may change, as keys: nobody has understood it, so every word that leads out of its workspaces
 * counts. A repository is taken exclusively however it is named. So is another directory that is moved to, or is the
 * value of an option, where this process may write; whatever else lies elsewhere is shared.
 *
 * Never throws. Words past the limits, and names that only the shell can put together, are not seen.
 */
export function namedPlaces({
  command,
  env,
  environment,
  bases,
  workspaces,
}: TextContext): ReadonlyMap<string, LockMode> {
  const finder = new PlaceFinder(workspaces);
  let from: readonly string[] = bases;
  let before = '';
  let left = MAX_WORDS;
  for (const word of roughWords(command)) {
    if (--left < 0) break;
    const isMove = MOVES.has(before) && !word.startsWith('-');
    const isValue = before.startsWith('-') || word.startsWith('-');
    const weight = isMove ? 'moved-to' : isValue ? 'value' : 'mentioned';
    for (const text of pathsIn(word)) {
      const path = expanded(text, environment);
      finder.look(path, from.slice(0, 1), weight);
      // Where it was before counts too, since the move may have failed or been a subshell's; but less.
      finder.look(path, from.slice(1), 'mentioned');
    }
    if (isMove) from = moved(from, expanded(word, environment));
    // An option between the two, as in `cd -P ..`, does not change where it goes.
    if (!(MOVES.has(before) && word.startsWith('-'))) before = word;
  }
  for (const value of Object.values(env)) {
    for (const text of pathsIn(value)) finder.look(text, bases, 'mentioned');
  }
  return finder.keys;
}

class PlaceFinder {
  readonly keys = new Map<string, LockMode>();
  readonly #workspaces: string[];
  /** Those of them whose keys every place inside has as well. */
  readonly #repositories: string[];
  readonly #seen = new Set<string>();

  constructor(workspaces: readonly string[]) {
    this.#workspaces = [...workspaces];
    this.#repositories = workspaces.filter((workspace) => workspaceKeys(workspace).keys.length > 1);
  }

  look(text: string | null, bases: readonly string[], weight: Weight): void {
    const literal = text === null ? null : literalPart(text);
    if (literal === null) return;
    for (const base of literal.startsWith('/') ? ['/'] : bases) {
      const question = `${weight}\0${base}\0${literal}`;
      if (this.#seen.has(question)) continue;
      this.#seen.add(question);
      // A lone word that is no file here is mostly no name of one, and finding its real path costs most of all.
      if (!literal.includes('/') && !isThere(`${base}/${literal}`)) continue;
      const real = pathKey(literal, base);
      // A slash is mostly no place: what separates fields, the end of a pattern, all of a search.
      if (real === '/' && weight !== 'moved-to') continue;
      if (!isPseudo(real) && !isInside(real, this.#repositories)) this.#take(real, weight);
    }
  }

  #take(real: string, weight: Weight): void {
    const { keys, workspace } = workspaceKeys(real);
    const isRepository = workspace !== real || keys.length > 1;
    if (!isRepository && isInside(real, this.#workspaces)) return;
    if (isRepository) this.#repositories.push(workspace);
    if (isRepository || (weight !== 'mentioned' && isDirectory(real) && isWritable(real))) {
      if (!isRepository) this.#workspaces.push(real);
      for (const key of keys) this.keys.set(key, 'exclusive');
      return;
    }
    for (const key of keys) if (!this.keys.has(key)) this.keys.set(key, 'shared');
  }
}

/** A word, and what of it may be a path as well. */
function* pathsIn(word: string): Generator<string> {
  // `-C../x`; what begins with a dash is no path.
  if (!word.startsWith('-')) yield word;
  else if (!word.startsWith('--') && word.length > 2) yield word.slice(2);
  let from = 0;
  for (let at = 0; at <= word.length; at++) {
    if (at < word.length && !JOINTS.has(word.charAt(at))) continue;
    if (at > from && (from > 0 || at < word.length)) {
      yield word.slice(from, at);
      if (word.charAt(from - 1) === '=' && at < word.length) yield word.slice(from);
    }
    from = at + 1;
  }
}

/** With the home directory or a variable at its beginning put in; null when nobody knows that. */
function expanded(text: string, environment: Environment): string | null {
  if (text === '~' || text.startsWith('~/')) return behindVariable('HOME', text.slice(1), environment);
  if (!text.startsWith('$')) return text;
  const isBraced = text.startsWith('${');
  let end = isBraced ? 2 : 1;
  while (end < text.length && isNameCharacter(text.charAt(end))) end += 1;
  const name = text.slice(isBraced ? 2 : 1, end);
  if (!isBraced) return behindVariable(name, text.slice(end), environment);
  return text.charAt(end) === '}' ? behindVariable(name, text.slice(end + 1), environment) : null;
}

function behindVariable(name: string, rest: string, environment: Environment): string | null {
  return Object.hasOwn(environment, name) ? `${environment[name]}${rest}` : null;
}

function isNameCharacter(character: string): boolean {
  return (
    character === '_' ||
    (character >= '0' && character <= '9') ||
    (character >= 'a' && character <= 'z') ||
    (character >= 'A' && character <= 'Z')
  );
}

/** The directories in front of what only the shell knows; null when there are none. */
function literalPart(text: string): string | null {
  if (text === '' || text.includes('\0')) return null;
  for (let at = 0; at < text.length; at++) {
    if (!OPEN_ENDS.has(text.charAt(at))) continue;
    const end = text.lastIndexOf('/', at) + 1;
    return end === 0 ? null : text.slice(0, end);
  }
  return text;
}

/** The likeliest first: where the last move led. */
function moved(from: readonly string[], target: string | null): readonly string[] {
  if (target === null || target === '' || target.includes('\0')) return from;
  const next = from.map((base) => (target.startsWith('/') ? target : `${base}/${target}`)).filter(isDirectory);
  return [...new Set([...next, ...from])].slice(0, MAX_BASES);
}

/** A link counts wherever it leads. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
