import type { Judgement } from '../classifier/judgement.ts';
import { namedTarget } from './directory-change.ts';
import { pathKey, workspaceKeys } from './lock-keys.ts';
import { strongest } from './lock-modes.ts';
import type { LockMode, LockRequest } from './lock-types.ts';
import { isDirectory, isInside, pathFrom } from './paths.ts';

/** Where a command works and what it looks at, as far as its text says. */
export type Places = {
  /** Where its commands start: the working directory, the directory that it changes to, or both. */
  readonly starts: readonly string[];
  /** The directories that a relative operand may start from: those, and the ones that options name. */
  readonly bases: readonly string[];
  /** Real top directories of the work trees that it works in. */
  readonly workspaces: readonly string[];
  /** The keys of those, all to be taken in the command's own mode. */
  readonly keys: readonly string[];
};

/** The part of a judgement that names places. */
export type Named = Pick<Judgement, 'directories' | 'paths' | 'resources'> & { readonly cd?: Judgement['cd'] };

type Led = Pick<Judgement, 'verdict' | 'directories'> & { readonly cd?: Judgement['cd'] };

/** The places of a proved text: behind a change of directory that it cannot survive, only those that it leads to. @param cwd absolute. */
export function provedPlaces(cwd: string, { verdict, directories, cd = null }: Led): Places {
  // Options of several commands stand in one list, and what one of them names from where another led is mostly nowhere.
  const isJoint = verdict.kind === 'parallel' && verdict.parts !== undefined;
  if (cd === null) return placesFrom([cwd], directories, isJoint);
  const target = namedTarget(cwd, cd);
  if (cd.alsoHere) return placesFrom([target, cwd], directories, isJoint);
  // A writer that works here could turn a link on the way.
  const passesLink = pathKey(target) !== namedTarget(pathKey(cwd), cd);
  const places = placesFrom([target], directories, isJoint);
  return passesLink ? { ...places, keys: [...places.keys, ...workspaceKeys(cwd).keys] } : places;
}

/** The places of a text that nobody has understood. @param cwd absolute. */
export function allPlaces(cwd: string, { directories, cd = null }: Omit<Led, 'verdict'>): Places {
  return placesFrom(cd === null ? [cwd] : [cwd, namedTarget(cwd, cd)], directories, false);
}

/** @param skipsMissing of several directories that an option may mean, those that exist count, if any does. */
function placesFrom(starts: readonly string[], directories: readonly string[], skipsMissing: boolean): Places {
  const bases = new Set(starts);
  let along = starts;
  for (const directory of directories) {
    // Some programs read a second such option from where the first one led, others from where they were started.
    along = along.map((base) => pathFrom(base, directory));
    const led = new Set([...along, ...starts.map((start) => pathFrom(start, directory))]);
    const there = skipsMissing ? [...led].filter(isDirectory) : [];
    for (const base of there.length > 0 ? there : led) bases.add(base);
  }
  const workspaces = Array.from(bases, workspaceKeys);
  return {
    starts,
    bases: [...bases],
    workspaces: workspaces.map(({ workspace }) => workspace),
    keys: workspaces.flatMap(({ keys }) => keys),
  };
}

/** The key that orders the commands of one batch. */
function gateKey(batchId: string): string {
  return `batch:${batchId}`;
}

/**
 * Everything that a command locks, each key once and in its stronger mode: the gate of its batch, its workspaces and the
 * resources of its rule in its own mode, the workspaces of operands that lie elsewhere shared, and the caller's keys.
 *
 * @param elsewhere what else the text may change (`namedPlaces`).
 */
export function locksOf(
  batchId: string,
  mode: LockMode,
  places: Places,
  { paths, resources }: Pick<Named, 'paths' | 'resources'>,
  lockKeys: readonly LockRequest[],
  elsewhere: ReadonlyMap<string, LockMode> = new Map(),
): readonly LockRequest[] {
  const locks = new Map<string, LockMode>();
  const take = (key: string, wanted: LockMode): void => {
    locks.set(key, strongest(locks.get(key) ?? wanted, wanted));
  };
  take(gateKey(batchId), mode);
  for (const key of places.keys) take(key, mode);
  for (const resource of resources) take(`resource:${resource}`, mode);
  for (const key of keysOutside(places, paths)) take(key, 'shared');
  for (const [key, wanted] of elsewhere) take(key, wanted);
  for (const request of lockKeys) {
    if (typeof request === 'string') take(request, 'exclusive');
    else take(request.key, request.mode ?? 'exclusive');
  }
  return Array.from(locks, ([key, held]) => ({ key, mode: held }));
}

/** The keys of operands that lie in none of the workspaces, or in a repository inside one that is none itself. */
function keysOutside({ bases, workspaces }: Places, paths: Named['paths']): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { text, glob } of paths) {
    if (text.includes('\0')) continue;
    const literal = glob ? text.slice(0, text.lastIndexOf('/', text.search(/[*?[]/)) + 1) : text;
    for (const base of bases) {
      const real = pathKey(literal === '' ? '.' : literal, base);
      const { keys, workspace } = workspaceKeys(real);
      const isCovered = workspaces.includes(workspace) || (keys.length === 1 && isInside(real, workspaces));
      if (!isCovered) for (const key of keys) found.add(key);
    }
  }
  return found;
}
