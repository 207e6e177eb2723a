import { fc } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { KeyedLock } from '../../src/dispatcher/keyed-lock.ts';
import type { LockMode } from '../../src/dispatcher/types.ts';
import { settled, type Wants } from '../support/locks.ts';
import { LineageModel } from './lineage-model.ts';
import {
  abort,
  acquire,
  attempt,
  draw,
  faultsOf,
  NOTHING,
  release,
  releaseAgain,
  restate,
  type Step,
  type Within,
  type World,
} from './lineage-steps.ts';

/** Few keys: most acquires meet. Many: directories and what lies deep in them. */
const KEY_SETS = {
  few: ['k', 'l', 'file:/a', 'file:/a/b'],
  many: ['k', 'file:/', 'file:/a', 'file:/a/b', 'file:/a/b/c', 'file:/a/d', 'file:/e'],
};
const X: LockMode = 'exclusive';
const S: LockMode = 'shared';
const mode = fc.constantFrom<LockMode>(S, X, S, X, 'intention-shared', 'intention-exclusive');
const wantsOf = (keys: readonly string[]): fc.Arbitrary<Wants> =>
  fc.dictionary(fc.constantFrom(...keys), mode, { minKeys: 1, maxKeys: 3 }).map((each) => ({ ...each }));

const at = fc.nat(9);
const around = fc.option(at, { freq: 3 });

/** @param within what callbacks do. */
const stepsOf = (wants: fc.Arbitrary<Wants>, within: fc.Arbitrary<Within>): fc.Arbitrary<Step>[] => [
  fc.tuple(wants, around).map((args) => acquire(...args)),
  fc.tuple(wants, around, fc.option(at, { freq: 1 }), fc.boolean(), within).map((args) => acquire(...args)),
  fc.constant(null).map(draw),
  at.map(release),
  at.map(release),
  at.map(releaseAgain),
  at.map(abort),
  fc.tuple(at, wants, within).map((args) => restate(...args)),
  fc.tuple(wants, around, fc.boolean()).map((args) => attempt(...args)),
];

/** Callbacks that take steps whose callbacks do so too, so deep. */
function withinOf(wants: fc.Arbitrary<Wants>, depth: number): fc.Arbitrary<Within> {
  if (depth === 0) return fc.constant(NOTHING);
  const steps = fc.array(fc.oneof(...stepsOf(wants, withinOf(wants, depth - 1))), { maxLength: 3 });
  return fc.record({ steps, throws: fc.nat(7).map((each) => each === 0) });
}

/** A step as fast-check runs them: afterwards everything that can settle does, and everybody has seen what he should. */
function toCommand({ title, run }: Step): fc.AsyncCommand<World, World> {
  return {
    check: () => true,
    run: async (world) => {
      run(world);
      await settled();
      expect(faultsOf(world)).toEqual([]);
      if (world.model.claims.length === 0) expect(world.lock.size).toBe(0);
    },
    toString: () => title,
  };
}

const commandsOf = (wants: fc.Arbitrary<Wants>, depth: number) =>
  fc.commands(
    stepsOf(wants, withinOf(wants, depth)).map((each) => each.map(toCommand)),
    { size: '+1', maxCommands: 60 },
  );

const RUNS = Number(process.env.SIGNALBOX_LOCK_RUNS ?? 1_000);

/** What a broken lock was caught by, or would not be caught by at random. */
const EXAMPLES: readonly (readonly Step[])[] = [
  // One reader waits for a writer deep below; another reader elsewhere conflicts with neither.
  [acquire({ 'file:/a/d': X, k: S }, null), acquire({ 'file:/': S }, null), acquire({ 'file:/e': S }, null)],
  // AB-BA between two holds, and a circle of three.
  [acquire({ k: X }, null), acquire({ l: X }, null), acquire({ l: X }, 0), acquire({ k: X }, 1), release(1)],
  // A circle that only closes when the hold around is released: the outer waiter passed before counts again.
  [
    acquire({ k: X }, null),
    acquire({ l: X }, 0),
    acquire({ k: X, l: X }, null),
    acquire({ l: X }, 1),
    acquire({ l: X }, 1),
    release(1),
  ],
  // An early ticket that closes a circle though nothing is around it.
  [draw(), acquire({ k: X }, null), acquire({ l: S }, null), acquire({ l: X }, 0), acquire({ k: X, l: S }, null, 0)],
  // An onWait that releases the hold around it, and so closes a circle (C1); that refuses it by restating that hold.
  [
    acquire({ k: X }, null),
    acquire({ k: X }, 0),
    acquire({ l: X }, 0),
    acquire({ k: X, l: X }, null),
    acquire({ k: X }, 2, null, false, { steps: [release(0)], throws: false }),
  ],
  [
    acquire({ k: X }, null),
    acquire({ k: X }, 0),
    acquire({ l: X }, 0),
    acquire({ k: X, l: X }, null),
    acquire({ k: X }, 2, null, false, { steps: [restate(0, { l: X })], throws: false }),
  ],
];

describe('nested holds on path keys and a model without queues', () => {
  test.each(Object.entries(KEY_SETS).flatMap(([name, keys]) => [0, 2].map((depth) => ({ name, keys, depth }))))(
    'agree after every step on who holds, who waits and who was refused, also where callbacks take steps; in the end everybody has an answer and nothing is kept ($name keys, callbacks $depth deep)',
    async ({ keys, depth }) => {
      const property = fc.asyncProperty(commandsOf(wantsOf(keys), depth), async (steps) => {
        const world: World = { lock: new KeyedLock(), model: new LineageModel(), calls: [], drawn: [], faults: [] };
        await fc.asyncModelRun(() => ({ model: world, real: world }), steps);
        const last = toCommand(release(0));
        // Circles are refused, so somebody always holds, and releasing goes on to the end.
        while (world.model.claims.length > 0) {
          expect(world.model.claims.some(({ state }) => state === 'held')).toBe(true);
          await last.run(world, world);
        }
        for (const { hold, rejection } of world.calls) expect(hold === null).toBe(rejection !== null);
        expect(world.lock.size).toBe(0);
        expect(world.lock.snapshot()).toEqual([]);
      });
      await fc.assert(property, { numRuns: RUNS, examples: EXAMPLES.map((each) => [each.map(toCommand)]) });
    },
    3_600_000,
  );
});
