import type { Held } from '../../src/dispatcher/acquire-options.ts';
import { KeyedLock } from '../../src/dispatcher/keyed-lock.ts';
import { toRequests, type Wants } from '../support/locks.ts';
import { LineageModel, type ModelClaim, meets } from './lineage-model.ts';

/*
 * Not samples but all of them. A call has two or three events: it asks, it may restate its hold, and it ends (released if
 * it holds by then, aborted if it waits). Every order of the events is run, and after every event each call must have seen
 * exactly what the model says.
 */

/** One call of a row. */
export type Call = {
  readonly wants: Wants;
  /** It is made inside of this earlier call's hold. */
  readonly inside: number | null;
  /** What its hold is restated for; null when it is not. */
  readonly restates: Wants | null;
};

/** Runs so far, those among them that cannot happen (inside of what does not hold) left out. */
export type Tally = { runs: number; readonly faults: string[] };

/** Every order of so many events each; the first of a number is its call, and the calls come in their order or in any. */
export function ordersOf(events: readonly number[], areCallsInOrder = true): readonly (readonly number[])[] {
  const found: number[][] = [];
  const left = [...events];
  const sofar: number[] = [];
  const extend = (called: number): void => {
    let isOver = true;
    for (const [at, count] of left.entries()) {
      if (count === 0) continue;
      isOver = false;
      if (areCallsInOrder && at > called) break;
      left[at] = count - 1;
      sofar.push(at);
      extend(at === called ? called + 1 : called);
      sofar.pop();
      left[at] = count;
    }
    if (isOver) found.push([...sofar]);
  };
  extend(0);
  return found;
}

type Live = {
  readonly claim: ModelClaim;
  readonly wants: Wants;
  readonly promise: Promise<Held>;
  readonly controller: AbortController | null;
  hold: Held | null;
  code: string | null;
};

const IMPOSSIBLE = Symbol('impossible');

class Run {
  readonly #calls: readonly Call[];
  readonly #lock = new KeyedLock();
  readonly #model = new LineageModel();
  readonly #live: (Live | undefined)[] = [];
  readonly #isRestated: boolean[] = [];
  #tickets = 0;

  constructor(calls: readonly Call[]) {
    this.#calls = calls;
  }

  get isIdle(): boolean {
    return this.#lock.size === 0;
  }

  /** Takes the next event of a call, and waits until what it lets settle has. */
  async step(at: number): Promise<typeof IMPOSSIBLE | null> {
    const call = this.#calls[at] as Call;
    const live = this.#live[at];
    if (live === undefined) {
      const outer = call.inside === null ? null : this.#live[call.inside];
      if (outer === undefined || (outer !== null && outer.claim.state !== 'held')) return IMPOSSIBLE;
      this.#ask(at, call.wants, outer);
    } else if (call.restates !== null && this.#isRestated[at] !== true) {
      this.#isRestated[at] = true;
      if (live.claim.state !== 'held') return IMPOSSIBLE;
      this.#restate(at, call.restates, live);
    } else if (live.claim.state === 'held') {
      live.hold?.();
      this.#model.end(live.claim);
    } else if (live.claim.state === 'waiting') {
      live.controller?.abort({ code: 'ended' });
      this.#model.end(live.claim);
    }
    // A refusal passes through two promises before it is seen.
    for (let tick = 0; tick < 4; tick++) await null;
    return null;
  }

  #ask(at: number, wants: Wants, outer: Live | null): void {
    this.#tickets += 1;
    const claim = this.#model.acquire(`#${at}`, this.#tickets, wants, outer?.claim ?? null);
    // Signals are what costs here, so only those get one that must wait.
    const controller = claim.state === 'waiting' ? new AbortController() : null;
    const options = { signal: controller?.signal, lineage: outer?.hold, label: `#${at}` };
    this.#follow(at, { claim, wants, controller, promise: this.#lock.acquire(toRequests(wants), options) });
  }

  #restate(at: number, wants: Wants, live: Live): void {
    const claim = this.#model.restate(live.claim, `#${at}`, wants);
    const controller = claim?.state === 'waiting' ? new AbortController() : null;
    const promise = (live.hold as Held).restate(toRequests(wants), controller?.signal);
    if (claim !== null) this.#follow(at, { claim, wants, controller, promise });
    else promise.then(() => Object.assign(live, { code: 'restated' })).catch(() => 'and the hold is as it was');
  }

  #follow(at: number, live: Omit<Live, 'hold' | 'code'>): void {
    const followed: Live = { ...live, hold: null, code: null };
    this.#live[at] = followed;
    followed.promise.then(
      (hold) => {
        followed.hold = hold;
      },
      (reason: { code: string }) => {
        followed.code = reason.code;
      },
    );
  }

  /** What is wrong now; null when nothing is. */
  fault(): string | null {
    for (const live of this.#live) {
      if (live === undefined) continue;
      const { claim, hold, code } = live;
      const seen = code ?? (claim.state === 'ended' ? 'ended' : hold === null ? 'waiting' : 'held');
      if (seen !== claim.state) return `${claim.label} saw ${seen} and not ${claim.state}`;
    }
    const { claims } = this.#model;
    // Two oracles that need no model: who holds beside whom, and that somebody can always go on.
    const held = this.#live.filter((live) => live?.claim.state === 'held' && live.hold !== null) as Live[];
    for (const [place, one] of held.entries()) {
      for (const other of held.slice(0, place)) {
        if (meets(one.wants, other.wants) && !this.#areKin(one, other)) {
          return `${one.claim.label} and ${other.claim.label} hold together`;
        }
      }
    }
    if (held.length === 0 && claims.length > 0) return 'everybody waits';
    return claims.length === 0 && !this.isIdle ? 'keys are left' : null;
  }

  #areKin(one: Live, other: Live): boolean {
    const isInside = (inner: Live, outer: Live): boolean => {
      for (let at: number | null = this.#live.indexOf(inner); at !== null; at = this.#calls[at]?.inside ?? null) {
        if (this.#live[at] === outer) return true;
      }
      return false;
    };
    return isInside(one, other) || isInside(other, one);
  }
}

const orderings = new Map<string, readonly (readonly number[])[]>();

/** Runs every order of the events of these calls. */
export async function runAll(calls: readonly Call[], tally: Tally): Promise<void> {
  const events = calls.map(({ restates }) => (restates === null ? 2 : 3));
  const known = orderings.get(events.join());
  const orders = known ?? ordersOf(events);
  if (known === undefined) orderings.set(events.join(), orders);
  let before: readonly number[] = [];
  /** Events at the beginning of an order that cannot happen. */
  let impossible = Number.POSITIVE_INFINITY;
  for (const order of orders) {
    let same = 0;
    while (same < before.length && before[same] === order[same]) same++;
    before = order;
    if (same >= impossible) continue;
    impossible = Number.POSITIVE_INFINITY;
    const run = new Run(calls);
    for (const [at, which] of order.entries()) {
      if ((await run.step(which)) === IMPOSSIBLE) {
        impossible = at + 1;
        break;
      }
      // What is the same as in the order before was looked at then.
      const fault = at < same ? null : run.fault();
      if (fault === null) continue;
      tally.faults.push(`${JSON.stringify(calls)} in the order ${order}, event ${at}: ${fault}`);
      break;
    }
    if (impossible === Number.POSITIVE_INFINITY) tally.runs += 1;
  }
}

/** Every choice of one from each list. */
export function* choices<T>(from: readonly (readonly T[])[]): Generator<readonly T[]> {
  const [first, ...rest] = from;
  if (first === undefined) yield [];
  else for (const one of first) for (const others of choices(rest)) yield [one, ...others];
}
