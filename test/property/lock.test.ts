import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import type { Held } from '../../src/dispatcher/acquire-options.ts';
import { KeyedLock } from '../../src/dispatcher/keyed-lock.ts';
import type { LockMode } from '../../src/dispatcher/types.ts';
import { pick, settled, toRequests, type Wants } from '../support/locks.ts';
import { clash, LockModel, type ModelClaim, pictureOf } from './lock-model.ts';

const mode = fc.constantFrom<LockMode>('shared', 'exclusive');
/** One to three of three keys, in mixed modes: few enough that most acquires meet. */
const wants: fc.Arbitrary<Wants> = fc
  .dictionary(fc.constantFrom('a', 'b', 'c'), mode, { minKeys: 1, maxKeys: 3 })
  .map((each) => ({ ...each }));

/** The lock beside its model, and what the callers of the lock have seen. */
type Real = { readonly lock: KeyedLock; readonly drawn: number[]; readonly groups: AbortController[] };
type Side = { readonly model: LockModel; readonly calls: Call[] };
type Call = {
  readonly claim: ModelClaim;
  readonly promise: Promise<Held>;
  readonly own: AbortController;
  readonly group: number | null;
  seen: 'nothing' | 'held' | 'rejected';
  hold: Held | null;
};
type Command = fc.AsyncCommand<Side, Real>;

/** Runs one step and compares the whole lock with the whole model in the same tick: no grant may come late. */
function step(title: string, run: (side: Side, real: Real) => void | Promise<void>): Command {
  return {
    check: () => true,
    run: async (side, real) => {
      await run(side, real);
      expect(pictureOf(real.lock)).toEqual(side.model.picture());
      expect(real.lock.size).toBe(Object.keys(side.model.picture()).length);
    },
    toString: () => title,
  };
}

/** `early`: with the ticket drawn before, at this place of those unused. `group`: under a signal that others share. */
function acquire(asked: Wants, early: number | null = null, group: number | null = null): Command {
  return step(`acquire(${JSON.stringify(asked)}, ${early}, ${group})`, ({ model, calls }, { lock, drawn, groups }) => {
    const ticket = early === null ? undefined : drawn.splice(early % Math.max(drawn.length, 1), 1)[0];
    const own = new AbortController();
    const label = `#${calls.length}`;
    const shared = group === null ? undefined : groups[group];
    const signal = shared === undefined || shared.signal.aborted ? own.signal : shared.signal;
    const blockers: (string | undefined)[] = [];
    const promise = lock.acquire(toRequests(asked), {
      signal,
      label,
      ...(ticket === undefined ? {} : { ticket }),
      onWait: (others) => blockers.push(...others.map((other) => other.label)),
    });
    const used = ticket ?? lock.draw() - 1;
    const before = model.claims.filter((other) => other.state === 'held' || other.ticket <= used);
    const claim = model.acquire(label, used, asked);
    const barring = before.filter((other) => clash(other.wants, asked)).map((other) => other.label);
    expect(blockers).toEqual(barring);
    const call: Call = {
      claim,
      promise,
      own,
      group: signal === own.signal ? null : group,
      seen: 'nothing',
      hold: null,
    };
    promise.then(
      (hold) => Object.assign(call, { seen: 'held', hold }),
      () => Object.assign(call, { seen: 'rejected' }),
    );
    calls.push(call);
  });
}

const draw = (): Command => step('draw()', (_, { lock, drawn }) => void drawn.push(lock.draw()));

const attempt = (asked: Wants): Command =>
  step(`attempt(${JSON.stringify(asked)})`, ({ model }, { lock }) => {
    const held = lock.tryAcquire(toRequests(asked));
    expect(held !== null).toBe(model.isFree(asked));
    held?.();
  });

const release = (at: number): Command =>
  step(`release(${at})`, async ({ model, calls }) => {
    const call = pick(
      calls.filter(({ claim }) => claim.state === 'held'),
      at,
    );
    if (call === undefined) return;
    const held = await call.promise;
    held();
    model.end(call.claim);
  });

const releaseAgain = (at: number): Command =>
  step(`releaseAgain(${at})`, ({ calls }) => {
    pick(
      calls.filter(({ claim, hold }) => claim.state === 'ended' && hold !== null),
      at,
    )?.hold?.();
  });

const abort = (at: number): Command =>
  step(`abort(${at})`, ({ model, calls }) => {
    const call = pick(
      calls.filter(({ claim, group }) => claim.state !== 'ended' && group === null),
      at,
    );
    call?.own.abort();
    // A hold is not touched by it.
    if (call?.claim.state === 'waiting') model.end(call.claim);
  });

const abortGroup = (group: number): Command =>
  step(`abortGroup(${group})`, ({ model, calls }, { groups }) => {
    groups[group]?.abort();
    model.end(
      ...calls.filter((each) => each.group === group && each.claim.state === 'waiting').map(({ claim }) => claim),
    );
  });

const at = fc.nat(7);
const group = fc.nat(1);
const commands = fc.commands(
  [
    fc.tuple(wants, fc.option(at, { freq: 2 }), fc.option(group, { freq: 3 })).map((args) => acquire(...args)),
    wants.map((asked) => acquire(asked)),
    fc.constant(null).map(draw),
    wants.map(attempt),
    at.map(release),
    at.map(release),
    at.map(releaseAgain),
    at.map(abort),
    group.map(abortGroup),
  ],
  { size: '+1', maxCommands: 60 },
);

const X: LockMode = 'exclusive';
const S: LockMode = 'shared';

describe('the lock and a model without queues', () => {
  test('agree after every step on holders, waiters, blockers and kept keys; in the end everybody is served and nothing is kept', async () => {
    const property = fc.asyncProperty(commands, async (steps) => {
      const side: Side = { model: new LockModel(), calls: [] };
      const real: Real = { lock: new KeyedLock(), drawn: [], groups: [new AbortController(), new AbortController()] };
      await fc.asyncModelRun(() => ({ model: side, real }), steps);
      // Whoever has the lowest ticket holds its keys, so releasing goes on to the end.
      while (side.model.claims.length > 0) await release(0).run(side, real);
      await settled();
      for (const { seen, hold, claim } of side.calls) {
        expect(claim.state).toBe('ended');
        expect(seen).toBe(hold === null ? 'rejected' : 'held');
      }
      expect(real.lock.size).toBe(0);
    });
    // Each example is what a broken lock was caught by: readers that overtake, a place lost on abort, an order that
    // differs between two keys, a turn of one that waits elsewhere, a ticket behind a later reader.
    const examples: [Iterable<Command>][] = [
      [[acquire({ a: S }), acquire({ a: X }), acquire({ a: S }), release(0)]],
      [[acquire({ a: X }), acquire({ a: X }), acquire({ a: X }), abort(1), release(0)]],
      [[draw(), acquire({ b: X }), acquire({ a: X, b: X }), acquire({ a: X, b: X }, 0), release(0), release(0)]],
      [[acquire({ a: X }), acquire({ a: X, b: S }), acquire({ b: X }), acquire({ b: S }), release(0)]],
      [[draw(), acquire({ a: X }), acquire({ a: X, b: S }), acquire({ b: S }), acquire({ b: X }, 0), release(1)]],
      [[acquire({ a: S }), acquire({ a: X }, null, 0), acquire({ a: S, b: X }, null, 0), abortGroup(0)]],
    ];
    await fc.assert(property, { numRuns: Number(process.env.SIGNALBOX_LOCK_RUNS ?? 3_000), examples });
  });

  test.prop([fc.array(wants, { minLength: 1, maxLength: 8 }), fc.nat(), fc.array(fc.nat(), { maxLength: 8 })], {
    numRuns: 1_500,
    examples: [[[{ a: S }, { a: X }, { a: S }], 1, []]],
  })(
    'an abort changes nothing for the others but their turn: the lock is as if that acquire had never been',
    async (all, which, ends) => {
      const aborted = which % all.length;
      const worlds = [true, false].map((isAsked) => {
        const lock = new KeyedLock();
        const controller = new AbortController();
        const waits = all.map((asked, label) => {
          if (label === aborted && !isAsked) return null;
          const options = label === aborted ? { label: `${label}`, signal: controller.signal } : { label: `${label}` };
          return lock.acquire(toRequests(asked), options);
        });
        return { lock, controller, waits };
      });
      const [asked, never] = worlds as [(typeof worlds)[0], (typeof worlds)[0]];
      const isWaiting = asked.lock
        .snapshot()
        .some(({ waiters }) => waiters.some(({ label }) => label === `${aborted}`));
      asked.controller.abort();
      if (isWaiting) await expect(asked.waits[aborted]).rejects.toBe(asked.controller.signal.reason);
      else (await asked.waits[aborted])?.();
      expect(pictureOf(asked.lock)).toEqual(pictureOf(never.lock));
      for (const end of ends) {
        const held = [
          ...new Set(never.lock.snapshot().flatMap(({ holders }) => holders.map(({ label }) => Number(label)))),
        ];
        const next = pick(held.toSorted(), end);
        if (next === undefined) break;
        for (const { waits } of worlds) (await waits[next])?.();
        expect(pictureOf(asked.lock)).toEqual(pictureOf(never.lock));
      }
    },
  );
});

type Actor = { readonly wants: Wants; readonly gives: 'never up' | 'up'; readonly rounds: number };
const actor: fc.Arbitrary<Actor> = fc.record({
  wants,
  gives: fc.constantFrom('never up', 'never up', 'up'),
  rounds: fc.integer({ min: 1, max: 2 }),
});

describe('callers in any interleaving', () => {
  test.prop([fc.scheduler(), fc.array(actor, { minLength: 2, maxLength: 7 })], { numRuns: 2_500 })(
    'no two conflicting holders ever, first come first served on every key, everybody served who did not give up, nothing kept',
    async (scheduler, actors) => {
      const lock = new KeyedLock();
      type Visit = { readonly wants: Wants; state: 'waiting' | 'inside' | 'left' };
      const arrived: Visit[] = [];
      const enter = (visit: Visit): void => {
        for (const other of arrived.slice(0, arrived.indexOf(visit))) {
          // All that came before and conflict are gone: neither inside nor still waiting.
          if (clash(other.wants, visit.wants)) expect(other.state).toBe('left');
        }
        for (const other of arrived) if (other.state === 'inside') expect(clash(other.wants, visit.wants)).toBe(false);
        visit.state = 'inside';
      };
      const live = async ({ wants: asked, gives, rounds }: Actor, name: number): Promise<string> => {
        for (let round = 0; round < rounds; round++) {
          await scheduler.schedule(Promise.resolve(), `${name} arrives`);
          const controller = new AbortController();
          if (gives === 'up')
            void scheduler.schedule(Promise.resolve(), `${name} gives up`).then(() => controller.abort());
          const visit: Visit = { wants: asked, state: 'waiting' };
          arrived.push(visit);
          // In the same step as the rejection, as the lock itself does: the next may enter before the caller hears of it.
          controller.signal.addEventListener('abort', () => {
            if (visit.state === 'waiting' && !isHeld(lock, name)) visit.state = 'left';
          });
          try {
            await lock.run(
              toRequests(asked),
              async () => {
                enter(visit);
                await scheduler.schedule(Promise.resolve(), `${name} works`);
                visit.state = 'left';
              },
              { signal: controller.signal, label: `${name}` },
            );
          } catch (error) {
            if (error !== controller.signal.reason) throw error;
            if (gives === 'never up') return 'rejected though it never gave up';
          }
        }
        return 'served';
      };
      const ends: string[] = [];
      const lives = Promise.all(actors.map((each, name) => live(each, name).then((end) => ends.push(end))));
      const failed = lives.then(
        () => null,
        (error: unknown) => error,
      );
      await scheduler.waitIdle();
      // Still somebody waiting with nothing left to happen would be a deadlock.
      expect(ends.length === actors.length ? ends : [await Promise.race([failed, 'somebody waits for ever'])]).toEqual(
        actors.map(() => 'served'),
      );
      expect(lock.size).toBe(0);
    },
  );
});

function isHeld(lock: KeyedLock, name: number): boolean {
  return lock.snapshot().some(({ holders }) => holders.some(({ label }) => label === `${name}`));
}
