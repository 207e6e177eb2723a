import { statSync } from 'node:fs';
import type { Judgement } from '../classifier/judgement.ts';
import { pathKey, workspaceKeys } from './lock-keys.ts';
import { isInside } from './program.ts';
import type { LockMode, LockRequest } from './types.ts';

/** Where a command works and what it looks at, as far as its text says. */
export type Places = {
  /** The directories that a relative operand may start from: the working directory, and those that options name. */
  readonly bases: readonly string[];
  /** Real top directories of the work trees that it works in. */
  readonly workspaces: readonly string[];
  /** The keys of those, all to be taken in the command's own mode. */
  readonly keys: readonly string[];
};

/** The part of a judgement that names places. */
export type Named = Pick<Judgement, 'directories' | 'paths' | 'resources'>;

/** @param cwd absolute. */
export function placesOf(cwd: string, { directories }: Pick<Named, 'directories'>): Places {
  const bases = new Set([cwd]);
  let along = cwd;
  for (const directory of directories) {
    // Some programs read a second such option from where the first one led, others from where they were started.
    along = below(along, directory);
    bases.add(along).add(below(cwd, directory));
  }
  const workspaces = Array.from(bases, workspaceKeys);
  return {
    bases: [...bases],
    workspaces: workspaces.map(({ workspace }) => workspace),
    keys: workspaces.flatMap(({ keys }) => keys),
  };
}

/** The key that orders the commands of one batch. */
export function gateKey(batchId: string): string {
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
    if (wanted === 'exclusive' || !locks.has(key)) locks.set(key, wanted);
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
      const { keys, workspace } = workspaceKeys(isDirectory(real) ? real : parentOf(real));
      const isCovered = workspaces.includes(workspace) || (keys.length === 1 && isInside(real, workspaces));
      if (!isCovered) for (const key of keys) found.add(key);
    }
  }
  return found;
}

function below(base: string, path: string): string {
  return path.startsWith('/') ? path : `${base === '/' ? '' : base}/${path}`;
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    return false;
  }
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}
