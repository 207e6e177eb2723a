import type { Held } from './acquire-options.ts';
import type { Mode } from './lock-modes.ts';
import type { Party, Place, Queues } from './lock-queue.ts';

/** Under this name a hold carries what it is to its lock. */
export const CLAIM = Symbol('claim');

/** A hold as its lock sees it. */
export type Hold<Label> = Held<Label> & { readonly [CLAIM]: Claim<Label> };

/** One acquire from its call to its release. */
export class Claim<Label> implements Party {
  readonly ticket: number;
  readonly label: Label | undefined;
  readonly signal: AbortSignal | undefined;
  /** The queues of the lock that it belongs to. */
  readonly home: Queues<Claim<Label>>;
  places: readonly Place<Claim<Label>>[] = [];
  pending = 0;
  isGranted = false;
  isEnded = false;
  /** When it joined, or was granted, in the lock's milliseconds. */
  since: number;
  held: Held<Label> | null = null;
  resolve: ((held: Held<Label>) => void) | null = null;
  reject: ((reason: unknown) => void) | null = null;
  /** It was made inside of a hold, which may be over. */
  isNested = false;
  /** The nearest hold around it that lives; for a claim that has ended, what that was then. */
  parent: Claim<Label> | null = null;
  /** Those made inside of this one that have not ended. */
  children: Set<Claim<Label>> | null = null;
  /** The queues of what is asked for inside of this hold and covered by it. */
  nested: Queues<Claim<Label>> | null = null;
  /** Its keys by name, once somebody inside of it has asked. */
  modes: ReadonlyMap<string, Mode> | null = null;
  token: string | null = null;

  constructor(
    ticket: number,
    label: Label | undefined,
    signal: AbortSignal | undefined,
    home: Queues<Claim<Label>>,
    since: number,
  ) {
    this.ticket = ticket;
    this.label = label;
    this.signal = signal;
    this.home = home;
    this.since = since;
  }
}

/** Turns the releases of claims into what callers hold: functions that know their claim, with methods of their lock's. */
export function holdMaker<Label>(
  methods: Pick<Held<Label>, 'run' | 'restate' | 'token'>,
): (release: () => void, claim: Claim<Label>) => Held<Label> {
  // One prototype for all: six properties on each function would cost a grant more than all the rest.
  const prototype = Object.create(Function.prototype, {
    ...Object.getOwnPropertyDescriptors(methods),
    ticket: { enumerable: true, get: ticketOf },
    label: { enumerable: true, get: labelOf },
  });
  return (release, claim) => {
    const hold = Object.setPrototypeOf(release, prototype) as Held<Label> & { [CLAIM]: Claim<Label> };
    hold[CLAIM] = claim;
    return hold;
  };
}

function ticketOf<Label>(this: Hold<Label>): number {
  return this[CLAIM].ticket;
}

function labelOf<Label>(this: Hold<Label>): Label | undefined {
  return this[CLAIM].label;
}
