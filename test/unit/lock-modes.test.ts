import { describe, expect, test } from 'vitest';
import {
  compatibleWith,
  conflicts,
  conflictsWithAny,
  covers,
  EXCLUSIVE,
  type HoldMode,
  intentionOf,
  joined,
  type Mode,
  ModeCounts,
  modeBelow,
  modeNamed,
  nameOf,
  strongest,
} from '../../src/dispatcher/lock-modes.ts';
import type { LockMode } from '../../src/dispatcher/types.ts';

/*
 * Nothing of the tables is repeated here: a mode is what it lets its holder do to the things at and below a key, and all
 * the rest follows from that.
 */

type Right = 'see some' | 'change some' | 'see all' | 'change all';

const RIGHTS: Readonly<Record<HoldMode, readonly Right[]>> = {
  'intention-shared': ['see some'],
  'intention-exclusive': ['see some', 'change some'],
  shared: ['see some', 'see all'],
  'shared-intention-exclusive': ['see some', 'change some', 'see all'],
  exclusive: ['see some', 'change some', 'see all', 'change all'],
};

const ALL: readonly Mode[] = [0, 1, 2, 3, 4];
const PAIRS = ALL.flatMap((one) => ALL.map((other) => [one, other] as const));
const rights = (mode: Mode): readonly Right[] => RIGHTS[nameOf(mode)];
const can = (mode: Mode, right: Right): boolean => rights(mode).includes(right);
const isWithin = (one: readonly Right[], other: readonly Right[]): boolean => one.every((each) => other.includes(each));

describe('modes', () => {
  test('conflict where one changes what the other may see, all of it on either side', () => {
    for (const [one, other] of PAIRS) {
      const clashes = (mine: Mode, theirs: Mode): boolean =>
        (can(mine, 'see all') && can(theirs, 'change some')) || (can(mine, 'change all') && can(theirs, 'see some'));
      expect(conflicts(one, other)).toBe(clashes(one, other) || clashes(other, one));
    }
  });

  test('against a set count as against each of it', () => {
    for (let present = 0; present < 32; present++) {
      const members = ALL.filter((mode) => (present & (1 << mode)) !== 0);
      for (const mode of ALL) {
        const isFree = !members.some((other) => conflicts(mode, other));
        expect(conflictsWithAny(mode, present)).toBe(!isFree);
        expect((compatibleWith(present) & (1 << mode)) !== 0).toBe(isFree);
      }
    }
  });

  test('cover what gives no other right, and join in the weakest that covers both', () => {
    for (const [one, other] of PAIRS) {
      expect(covers(one, other)).toBe(isWithin(rights(other), rights(one)));
      const join = joined(one, other);
      expect(covers(join, one) && covers(join, other)).toBe(true);
      for (const third of ALL) if (covers(third, one) && covers(third, other)) expect(covers(third, join)).toBe(true);
    }
  });

  test('have names, of which all but one can be asked for', () => {
    expect(ALL.map(nameOf)).toEqual(Object.keys(RIGHTS));
    expect(ALL.map((mode) => modeNamed(nameOf(mode)))).toEqual([0, 1, 2, undefined, 4]);
    expect(modeNamed('toString')).toBeUndefined();
    expect(nameOf(EXCLUSIVE)).toBe('exclusive');
  });

  test('that can be asked for join in one that can be: what is no mode to ask for is exclusive', () => {
    const named: readonly LockMode[] = ['intention-shared', 'intention-exclusive', 'shared', 'exclusive'];
    for (const one of named) {
      for (const other of named) {
        const join = nameOf(joined(modeNamed(one) as Mode, modeNamed(other) as Mode));
        expect(strongest(one, other)).toBe(named.find((each) => each === join) ?? 'exclusive');
      }
    }
    expect(strongest('shared', 'intention-exclusive')).toBe('exclusive');
  });

  test('say above their key that something is seen or changed there, and below it what holds of everything', () => {
    for (const mode of ALL) {
      expect(nameOf(intentionOf(mode))).toBe(can(mode, 'change some') ? 'intention-exclusive' : 'intention-shared');
      const below = modeBelow(mode);
      const expected = can(mode, 'change all') ? 'exclusive' : can(mode, 'see all') ? 'shared' : null;
      expect(below === null ? null : nameOf(below)).toBe(expected);
    }
  });

  test('are counted: one is present as long as one of it is left', () => {
    const counts = new ModeCounts();
    counts.add(2);
    counts.add(0);
    counts.add(2);
    counts.add(2);
    expect(counts.present).toBe(0b101);
    counts.remove(2);
    counts.remove(2);
    expect(counts.present).toBe(0b101);
    counts.remove(2);
    expect(counts.present).toBe(0b001);
    counts.remove(0);
    expect(counts.present).toBe(0);
  });
});
