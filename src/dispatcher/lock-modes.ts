import type { LockMode } from './lock-types.ts';

/**
 * The modes in which a key can be held, and how they get along: the classic multi-granularity table (Gray, Lorie, Putzolu
 * and Traiger, 1976). An *intention* says that something below this key is held, in that mode or a weaker one.
 */

/** What a key may be held in: one acquire can share a directory and have a file in it for itself. */
export type HoldMode = LockMode | 'shared-intention-exclusive';

/** A hold mode as the queues count it. Not in order of strength: the two in the middle cannot be compared. */
export type Mode = 0 | 1 | 2 | 3 | 4;

const INTENTION_SHARED: Mode = 0;
const INTENTION_EXCLUSIVE: Mode = 1;
const SHARED: Mode = 2;
const SHARED_INTENTION_EXCLUSIVE: Mode = 3;
export const EXCLUSIVE: Mode = 4;

const NAMES: readonly HoldMode[] = [
  'intention-shared',
  'intention-exclusive',
  'shared',
  'shared-intention-exclusive',
  'exclusive',
];

const MODES: readonly Mode[] = [0, 1, 2, 3, 4];

const BY_NAME: ReadonlyMap<unknown, Mode> = new Map<unknown, Mode>([
  ['intention-shared', INTENTION_SHARED],
  ['intention-exclusive', INTENTION_EXCLUSIVE],
  ['shared', SHARED],
  ['exclusive', EXCLUSIVE],
]);

/** For each mode the set of those that may not be held beside it; bit n stands for mode n. */
const CONFLICTS: readonly number[] = [0b10000, 0b11100, 0b11010, 0b11110, 0b11111];

/** `JOIN[a * 5 + b]`: the weakest mode that is as strong as both. */
const JOIN: readonly Mode[] = [0, 1, 2, 3, 4, 1, 1, 3, 3, 4, 2, 3, 2, 3, 4, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4];

/** Undefined for what is no mode that can be asked for. */
export function modeNamed(name: unknown): Mode | undefined {
  return BY_NAME.get(name);
}

export function nameOf(mode: Mode): HoldMode {
  return NAMES[mode] as HoldMode;
}

/** Whether a mode may not be had beside any of those in a set, whose bit n stands for mode n. */
export function conflictsWithAny(mode: Mode, present: number): boolean {
  return ((CONFLICTS[mode] as number) & present) !== 0;
}

/** The modes that may be had beside all of a set, as a set. */
export function compatibleWith(present: number): number {
  let compatible = 0;
  for (const mode of MODES) if (!conflictsWithAny(mode, present)) compatible |= 1 << mode;
  return compatible;
}

/** Whether two different acquires may not have one key at the same time. */
export function conflicts(one: Mode, other: Mode): boolean {
  return conflictsWithAny(one, 1 << other);
}

/** The same of modes by their names. */
export function areModesConflicting(one: HoldMode, other: HoldMode): boolean {
  return conflicts(NAMES.indexOf(one) as Mode, NAMES.indexOf(other) as Mode);
}

/** The weakest mode that is as strong as both. */
export function joined(one: Mode, other: Mode): Mode {
  return JOIN[one * NAMES.length + other] as Mode;
}

/** The weakest mode that can be asked for and is as strong as both. */
export function strongest(one: LockMode, other: LockMode): LockMode {
  const name = nameOf(joined(BY_NAME.get(one) as Mode, BY_NAME.get(other) as Mode));
  return name === 'shared-intention-exclusive' ? 'exclusive' : name;
}

/** Whether who has a key in `held` has all that `wanted` would give. */
export function covers(held: Mode, wanted: Mode): boolean {
  return joined(held, wanted) === held;
}

/** The mode that everything above a key is held in on behalf of it. */
export function intentionOf(mode: Mode): Mode {
  return mode === SHARED || mode === INTENTION_SHARED ? INTENTION_SHARED : INTENTION_EXCLUSIVE;
}

/** The mode that a hold gives on everything below its key; null for a mere intention. */
export function modeBelow(mode: Mode): Mode | null {
  if (mode === EXCLUSIVE) return EXCLUSIVE;
  return mode === SHARED || mode === SHARED_INTENTION_EXCLUSIVE ? SHARED : null;
}

/** How many there are of each mode. Most queues hold one of one mode, which the set alone can tell. */
export class ModeCounts {
  /** The modes that there are; bit n stands for mode n. */
  present = 0;
  /** By mode: how many there are besides the first. */
  #more: number[] | null = null;

  add(mode: Mode): void {
    const bit = 1 << mode;
    if ((this.present & bit) === 0) {
      this.present |= bit;
      return;
    }
    this.#more ??= [0, 0, 0, 0, 0];
    this.#more[mode] = (this.#more[mode] as number) + 1;
  }

  remove(mode: Mode): void {
    const more = this.#more === null ? 0 : (this.#more[mode] as number);
    if (more > 0) (this.#more as number[])[mode] = more - 1;
    else this.present &= ~(1 << mode);
  }
}
