import type { LockMode } from '../../src/dispatcher/types.ts';
import type { Wants } from '../support/locks.ts';
import { type Call, choices } from './interleavings.ts';

/* Which calls are run in all their interleavings: rows of calls on a plain key, a directory and a file in it. */

const X: LockMode = 'exclusive';
const S: LockMode = 'shared';
const IS: LockMode = 'intention-shared';
const IX: LockMode = 'intention-exclusive';
const [DIRECTORY, FILE] = ['file:/a', 'file:/a/b'];

/** Each of the three not at all or in any mode: all that name a key. */
export const ALL_KINDS: readonly Wants[] = [
  ...choices<LockMode | null>([
    [null, S, X],
    [null, S, X, IS, IX],
    [null, S, X, IS, IX],
  ]),
].flatMap((modes) => {
  const pairs = ['k', DIRECTORY, FILE].flatMap((key, at) => (modes[at] == null ? [] : [[key, modes[at]] as const]));
  return pairs.length === 0 ? [] : [Object.fromEntries(pairs) as Record<string, LockMode>];
});

/** Some that together show every way to meet: alone, beside, above, below, across, and apart. */
export const TELLING_KINDS: readonly Wants[] = [
  { k: X },
  { [DIRECTORY]: X },
  { [DIRECTORY]: S },
  { [FILE]: X },
  { k: S, [FILE]: S },
  { k: X, [FILE]: X },
  { [DIRECTORY]: IX },
  { k: S, [DIRECTORY]: S, [FILE]: X },
];

export const FEW_KINDS = TELLING_KINDS.slice(0, 5);
export const THREE_KINDS: readonly Wants[] = [{ k: X }, { [DIRECTORY]: S }, { k: X, [FILE]: X }];
export const TWO_KINDS: readonly Wants[] = [{ [DIRECTORY]: X }, { k: X, [FILE]: X }];

/** Every way in which calls can be made inside of earlier ones. */
function nestings(count: number): readonly (readonly (number | null)[])[] {
  let found: (number | null)[][] = [[]];
  for (let at = 0; at < count; at++) {
    found = found.flatMap((sofar) => [null, ...Array(at).keys()].map((inside) => [...sofar, inside]));
  }
  return found;
}

/** So many calls of these kinds, inside of each other in every way, so many of them restated for any of these kinds. */
export type RowSet = {
  readonly calls: number;
  readonly kinds: readonly Wants[];
  readonly restates: 0 | 1;
  /** What a hold is restated for. Default: `kinds`. */
  readonly others?: readonly Wants[];
};

export function* inRows({ calls, kinds, restates, others = kinds }: RowSet): Generator<readonly Call[]> {
  const row = Array.from({ length: calls }, () => kinds);
  for (const inside of nestings(calls)) {
    for (const wants of choices(row)) {
      const plain: readonly Call[] = wants.map((each, at) => ({
        wants: each,
        inside: inside[at] ?? null,
        restates: null,
      }));
      if (restates === 0) yield plain;
      else {
        for (const at of plain.keys()) {
          for (const other of others)
            yield plain.map((call, place) => (place === at ? { ...call, restates: other } : call));
        }
      }
    }
  }
}

/** How many rows a set has. */
export function countOf({ calls, kinds, restates, others = kinds }: RowSet): number {
  return nestings(calls).length * kinds.length ** calls * (restates === 0 ? 1 : calls * others.length);
}
