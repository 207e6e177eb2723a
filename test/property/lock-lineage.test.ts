import { fc } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import type { Held } from '../../src/dispatcher/acquire-options.ts';
import { KeyedLock } from '../../src/dispatcher/keyed-lock.ts';
import type { LockRequest } from '../../src/dispatcher/types.ts';
import { LineageModel, type Mode, type ModelClaim, type Wants } from './lineage-model.ts';

/** Few keys: most acquires meet. Many: directories and what lies deep in them. */
const KEY_SETS = {
  few: ['k', 'l', 'file:/a', 'file:/a/b'],
  many: ['k', 'file:/', 'file:/a', 'file:/a/b', 'file:/a/b/c', 'file:/a/d', 'file:/e'],
};
const mode = fc.constantFrom<Mode>('shared', 'exclusive');
const wantsOf = (keys: readonly string[]): fc.Arbitrary<Wants> =>
  fc.dictionary(fc.constantFrom(...keys), mode, { minKeys: 1, maxKeys: 3 }).map((each) => ({ ...each }));

const toRequests = (asked: Wants): readonly LockRequest[] =>
  Object.entries(asked).map(([key, each]) => ({ key, mode: each }));

type Call = {
  claim: ModelClaim;
  readonly controller: AbortController;
  hold: Held | null;
  rejection: string | null;
};
type Side = { readonly model: LineageModel; readonly calls: Call[] };
type Real = { readonly lock: KeyedLock; readonly drawn: number[] };
type Command = fc.AsyncCommand<Side, Real>;

const pick = <T>(list: readonly T[], at: number): T | undefined =>
  list.length === 0 ? undefined : list[at % list.length];
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** What the callers of the lock have seen, beside what the model says they should have. */
function compare({ calls }: Side): void {
  const seen = calls.map(({ hold, rejection, claim }) => {
    if (rejection !== null) return rejection;
    if (hold === null) return claim.state === 'ended' ? 'ended' : 'waiting';
    return claim.state === 'ended' ? 'ended' : 'held';
  });
  expect(seen).toEqual(calls.map(({ claim }) => (claim.state === 'ended' ? 'ended' : claim.state)));
}

function step(title: string, run: (side: Side, real: Real) => void | Promise<void>): Command {
  return {
    check: () => true,
    run: async (side, real) => {
      await run(side, real);
      await settled();
      compare(side);
      if (side.model.claims.length === 0) expect(real.lock.size).toBe(0);
    },
    toString: () => title,
  };
}

function follow(call: Call, promise: Promise<Held>): void {
  promise.then(
    (hold) => {
      call.hold = hold;
    },
    (reason: { code?: string }) => {
      call.rejection = reason.code ?? 'ended';
    },
  );
}

/** `around`: inside of this hold among all that were ever granted, so also of one that is over. */
const acquire = (asked: Wants, around: number | null, early: number | null = null, byToken = false): Command =>
  step(`acquire(${JSON.stringify(asked)}, ${around}, ${early}, ${byToken})`, ({ model, calls }, { lock, drawn }) => {
    const ticket = early === null ? undefined : drawn.splice(early % Math.max(drawn.length, 1), 1)[0];
    const outer =
      around === null
        ? undefined
        : pick(
            calls.filter(({ hold }) => hold !== null),
            around,
          );
    const controller = new AbortController();
    const label = `#${calls.length}`;
    const lineage = byToken ? outer?.hold?.token() : outer?.hold;
    const promise = lock.acquire(toRequests(asked), {
      label,
      signal: controller.signal,
      ...(ticket === undefined ? {} : { ticket }),
      ...(lineage === undefined ? {} : { lineage }),
    });
    // A token of a hold that is over leads nowhere; the hold itself still knows what was around it.
    const inside = outer === undefined || (byToken && outer.claim.state !== 'held') ? null : outer.claim;
    const claim = model.acquire(label, ticket ?? lock.draw() - 1, asked, inside);
    const call: Call = { claim, controller, hold: null, rejection: null };
    follow(call, promise);
    calls.push(call);
  });

const draw = (): Command => step('draw()', (_, { lock, drawn }) => void drawn.push(lock.draw()));

const release = (at: number): Command =>
  step(`release(${at})`, ({ model, calls }) => {
    const call = pick(
      calls.filter(({ claim }) => claim.state === 'held'),
      at,
    );
    call?.hold?.();
    if (call !== undefined) model.end(call.claim);
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
      calls.filter(({ claim }) => claim.state === 'waiting' || claim.state === 'held'),
      at,
    );
    call?.controller.abort({ code: 'ended' });
    if (call?.claim.state === 'waiting') model.end(call.claim);
  });

const restate = (at: number, asked: Wants): Command =>
  step(`restate(${at}, ${JSON.stringify(asked)})`, async ({ model, calls }) => {
    const call = pick(
      calls.filter(({ claim }) => claim.state === 'held'),
      at,
    );
    if (call?.hold == null) return;
    const controller = new AbortController();
    const promise = call.hold.restate(toRequests(asked), { signal: controller.signal });
    const claim = model.restate(call.claim, `#${calls.length}`, asked);
    if (claim === null) {
      await expect(promise).rejects.toMatchObject({ code: 'LOCK_UPGRADE' });
      return;
    }
    const next: Call = { claim, controller, hold: null, rejection: null };
    follow(next, promise);
    calls.push(next);
  });

const attempt = (asked: Wants, around: number | null): Command =>
  step(`attempt(${JSON.stringify(asked)}, ${around})`, ({ model, calls }, { lock }) => {
    const outer =
      around === null
        ? undefined
        : pick(
            calls.filter(({ hold }) => hold !== null),
            around,
          );
    const isFree = model.isFree(asked, outer?.claim ?? null);
    const options = outer?.hold == null ? {} : { lineage: outer.hold };
    if (isFree === 'LOCK_UPGRADE') {
      expect(() => lock.tryAcquire(toRequests(asked), options)).toThrow(
        expect.objectContaining({ code: 'LOCK_UPGRADE' }),
      );
      return;
    }
    const held = lock.tryAcquire(toRequests(asked), options);
    expect(held !== null).toBe(isFree);
    held?.();
  });

const at = fc.nat(9);
const around = fc.option(at, { freq: 3 });
const commandsOf = (wants: fc.Arbitrary<Wants>) =>
  fc.commands(
    [
      fc.tuple(wants, around).map((args) => acquire(...args)),
      fc.tuple(wants, around, fc.option(at, { freq: 1 }), fc.boolean()).map((args) => acquire(...args)),
      fc.constant(null).map(draw),
      at.map(release),
      at.map(release),
      at.map(releaseAgain),
      at.map(abort),
      fc.tuple(at, wants).map((args) => restate(...args)),
      fc.tuple(wants, around).map((args) => attempt(...args)),
    ],
    { size: '+1', maxCommands: 60 },
  );

const RUNS = Number(process.env.SIGNALBOX_LOCK_RUNS ?? 1_000);
const X: Mode = 'exclusive';
const S: Mode = 'shared';

/** What a broken lock was caught by, or would not be caught by at random. */
const EXAMPLES: readonly (readonly Command[])[] = [
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
];

describe('nested holds on path keys and a model without queues', () => {
  test.each(Object.entries(KEY_SETS))(
    'agree after every step on who holds, who waits and who was refused; in the end nothing is kept (%s keys)',
    async (_, keys) => {
      const property = fc.asyncProperty(commandsOf(wantsOf(keys)), async (steps) => {
        const side: Side = { model: new LineageModel(), calls: [] };
        const real: Real = { lock: new KeyedLock(), drawn: [] };
        await fc.asyncModelRun(() => ({ model: side, real }), steps);
        // Circles are refused, so somebody always holds, and releasing goes on to the end.
        while (side.model.claims.length > 0) {
          expect(side.model.claims.some(({ state }) => state === 'held')).toBe(true);
          await release(0).run(side, real);
        }
        expect(real.lock.size).toBe(0);
        expect(real.lock.snapshot()).toEqual([]);
      });
      await fc.assert(property, { numRuns: RUNS, examples: EXAMPLES.map((each) => [each]) });
    },
    300_000,
  );
});
