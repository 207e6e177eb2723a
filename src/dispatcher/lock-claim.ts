import type { Held } from './acquire-options.ts';
import type { Mode } from './lock-modes.ts';
import type { Party, Place, Queues } from './lock-queue.ts';

/** Under this name a hold carries what it is to its lock. */
export const CLAIM = Symbol('claim');

/** A hold as its lock sees it. */
export type Hold<Label> = Held<Label> & { readonly [CLAIM]: Claim<Label> };

/** What became of a hold inside of which somebody asked for keys. */
export type Inside<Label> = {
  /** Those made inside of it that have not ended. */
  readonly children: Set<Claim<Label>>;
  /** The queues of what is asked for inside of it and covered by it. */
  readonly queues: Queues<Claim<Label>>;
  /** Its own keys by name. */
  readonly modes: ReadonlyMap<string, Mode>;
};

/**
 * One acquire from its call to its release. Small on purpose: what a long queue costs is that the collector copies those
 * who wait again and again.
 */
export class Claim<Label> implements Party {
  readonly ticket: number;
  readonly label: Label | undefined;
  readonly signal: AbortSignal | undefined;
  /** The queues of the lock that it belongs to. */
  readonly home: Queues<Claim<Label>>;
  /** Its place in the queue of its first key, which leads to the others; null when it asked for no key. */
  place: Place<Claim<Label>> | null = null;
  pending = 0;
  isEnded = false;
  /** When it joined, or was granted, in the lock's milliseconds. */
  since: number;
  /** From the grant on, also when it has ended. */
  held: Held<Label> | null = null;
  /** Settles its promise; null until that is made, which is after its caller was called back. */
  settle: ((outcome: Held<Label> | Promise<never>) => void) | null = null;
  /** The nearest hold around it that lives; for a claim that has ended, what that was then. */
  parent: Claim<Label> | null = null;
  /** Null for most: nobody ever asked inside of it. */
  inside: Inside<Label> | null = null;
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

  get isGranted(): boolean {
    return this.held !== null;
  }

  /** Neither granted nor refused yet. */
  get isWaiting(): boolean {
    return this.held === null && !this.isEnded;
  }
}

/**
 * What a caller holds: the release, with the methods of its lock. They are properties of its own, since to give a function
 * another prototype costs a grant several times as much.
 */
export function holdOf<Label>(
  release: () => void,
  claim: Claim<Label>,
  { run, restate, token }: Pick<Held<Label>, 'run' | 'restate' | 'token'>,
): Held<Label> {
  const hold = release as { -readonly [Name in keyof Hold<Label>]: Hold<Label>[Name] } & (() => void);
  hold[CLAIM] = claim;
  hold.ticket = claim.ticket;
  hold.label = claim.label;
  hold.run = run;
  hold.restate = restate;
  hold.token = token;
  return hold as Held<Label>;
}
