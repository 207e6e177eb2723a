import type { Held } from '../../src/dispatcher/acquire-options.ts';
import type { KeyedLock } from '../../src/dispatcher/keyed-lock.ts';
import { pick, toRequests, type Wants } from '../support/locks.ts';
import type { LineageModel, ModelClaim } from './lineage-model.ts';

/*
 * What can be done to a lock, done to the model at the same moment. A step takes no time, so that it can also be taken in
 * a callback of another one.
 */

type Call = { claim: ModelClaim; readonly controller: AbortController; hold: Held | null; rejection: string | null };

/** The lock beside its model, and what the callers of the lock have seen. */
export type World = {
  readonly lock: KeyedLock;
  readonly model: LineageModel;
  readonly calls: Call[];
  readonly drawn: number[];
  /** What was found wrong where an exception would not have come through. */
  readonly faults: string[];
};

export type Step = { readonly title: string; readonly run: (world: World) => void };

/** What a callback does before it returns, and whether it throws then. */
export type Within = { readonly steps: readonly Step[]; readonly throws: boolean };

export const NOTHING: Within = { steps: [], throws: false };

const asText = ({ steps, throws }: Within): string =>
  `${steps.length > 0 ? ` { ${steps.map(({ title }) => title).join(', ')} }` : ''}${throws ? ' throws' : ''}`;

/** Enters the lock and the model, the latter before anything is done in the callback. */
function enter(
  world: World,
  controller: AbortController,
  within: Within,
  toModel: () => ModelClaim | null,
  toLock: (onWait: (blockers: readonly { label: string | undefined }[]) => void) => Promise<Held>,
): void {
  const { model, calls, faults } = world;
  let call: Call | null = null;
  let isCalled = false;
  const inModel = (): void => {
    const claim = toModel();
    if (claim === null) return;
    call = { claim, controller, hold: null, rejection: null };
    calls.push(call);
  };
  const promise = toLock((blockers) => {
    if (isCalled) faults.push('called back twice');
    isCalled = true;
    inModel();
    if (call?.claim.state !== 'waiting') faults.push(`called back though ${call?.claim.state}`);
    const named = blockers.map(({ label }) => label);
    const told = call === null ? [] : model.toldOf(call.claim, named).map(({ label }) => label);
    if (told.join() !== named.join()) faults.push(`told of ${named} and not of ${told}`);
    for (const step of within.steps) step.run(world);
    if (!within.throws) return;
    if (call !== null) model.abandon(call.claim);
    throw Object.assign(new Error('from a callback'), { code: 'ended' });
  });
  if (!isCalled) {
    inModel();
    if ((call as Call | null)?.claim.state === 'waiting') faults.push('not called back though it waits');
  }
  const entered = call as Call | null;
  promise.then(
    (hold) => {
      if (entered === null) faults.push('granted though more was asked for than is held around it');
      else entered.hold = hold;
    },
    (reason: { code?: string }) => {
      if (entered !== null) entered.rejection = reason.code ?? 'ended';
      else if (reason.code !== 'LOCK_UPGRADE') faults.push(`refused as ${reason.code}`);
    },
  );
}

/** One of all that were ever granted, so also of those that are over. */
const holder = ({ calls }: World, at: number | null): Call | undefined =>
  at === null
    ? undefined
    : pick(
        calls.filter(({ hold }) => hold !== null),
        at,
      );

const holding = ({ calls }: World, at: number): Call | undefined =>
  pick(
    calls.filter(({ claim, hold }) => claim.state === 'held' && hold !== null),
    at,
  );

/** `around`: inside of that hold, or of what lives around it. `early`: at the ticket drawn before, of those unused. */
export const acquire = (
  asked: Wants,
  around: number | null,
  early: number | null = null,
  byToken = false,
  within: Within = NOTHING,
): Step => ({
  title: `acquire(${JSON.stringify(asked)}, ${around}, ${early}, ${byToken})${asText(within)}`,
  run(world) {
    const { lock, model, calls, drawn } = world;
    const ticket = early === null ? undefined : drawn.splice(early % Math.max(drawn.length, 1), 1)[0];
    const outer = holder(world, around);
    const lineage = byToken ? outer?.hold?.token() : outer?.hold;
    // A token of a hold that is over leads nowhere; the hold itself still knows what was around it.
    const inside = outer === undefined || (byToken && outer.claim.state !== 'held') ? null : outer.claim;
    const label = `#${calls.length}`;
    const controller = new AbortController();
    enter(
      world,
      controller,
      within,
      () => model.acquire(label, ticket ?? lock.draw() - 1, asked, inside),
      (onWait) =>
        lock.acquire(toRequests(asked), {
          label,
          onWait,
          signal: controller.signal,
          ...(ticket === undefined ? {} : { ticket }),
          ...(lineage == null ? {} : { lineage }),
        }),
    );
  },
});

export const restate = (at: number, asked: Wants, within: Within = NOTHING): Step => ({
  title: `restate(${at}, ${JSON.stringify(asked)})${asText(within)}`,
  run(world) {
    const call = holding(world, at);
    if (call === undefined) return;
    const controller = new AbortController();
    enter(
      world,
      controller,
      within,
      () => world.model.restate(call.claim, call.claim.label, asked),
      (onWait) => (call.hold as Held).restate(toRequests(asked), { signal: controller.signal, onWait }),
    );
  },
});

export const draw = (): Step => ({ title: 'draw()', run: ({ lock, drawn }) => void drawn.push(lock.draw()) });

export const release = (at: number): Step => ({
  title: `release(${at})`,
  run(world) {
    const call = holding(world, at);
    call?.hold?.();
    if (call !== undefined) world.model.end(call.claim);
  },
});

export const releaseAgain = (at: number): Step => ({
  title: `releaseAgain(${at})`,
  run({ calls }) {
    pick(
      calls.filter(({ claim, hold }) => claim.state === 'ended' && hold !== null),
      at,
    )?.hold?.();
  },
});

export const abort = (at: number): Step => ({
  title: `abort(${at})`,
  run({ calls, model }) {
    const call = pick(
      calls.filter(({ claim }) => claim.state === 'waiting' || claim.state === 'held'),
      at,
    );
    call?.controller.abort({ code: 'ended' });
    // A hold is not touched by it.
    if (call?.claim.state === 'waiting') model.end(call.claim);
  },
});

/** Tries, and keeps what it gets or gives it back at once. */
export const attempt = (asked: Wants, around: number | null, keeps = false): Step => ({
  title: `attempt(${JSON.stringify(asked)}, ${around}, ${keeps})`,
  run(world) {
    const { lock, model, calls, faults } = world;
    const outer = holder(world, around);
    const expected = model.isFree(asked, outer?.claim ?? null);
    const label = `#${calls.length}`;
    const options = { label, lineage: outer?.hold ?? null };
    let got: boolean | string;
    try {
      const hold = lock.tryAcquire(toRequests(asked), options);
      got = hold !== null;
      if (hold !== null && keeps) {
        const claim = model.acquire(label, hold.ticket, asked, outer?.claim ?? null);
        calls.push({ claim, controller: new AbortController(), hold, rejection: null });
      } else hold?.();
    } catch (error) {
      got = (error as { code: string }).code;
    }
    if (got !== expected) faults.push(`tried: ${got} and not ${expected}`);
  },
});

/** What callers have seen and should have seen, where the two differ or something else was wrong. */
export function faultsOf({ calls, faults }: World): readonly string[] {
  const seen = calls.map(({ hold, rejection, claim }) => {
    if (rejection !== null) return rejection;
    if (hold === null) return claim.state === 'ended' ? 'ended' : 'waiting';
    return claim.state === 'ended' ? 'ended' : 'held';
  });
  return calls
    .flatMap(({ claim }, at) =>
      seen[at] === claim.state ? [] : [`${claim.label} saw ${seen[at]} and not ${claim.state}`],
    )
    .concat(faults);
}
