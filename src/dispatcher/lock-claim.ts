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
  /** Both null until its promise is made, which is after the caller was called back. */
  resolve: ((held: Held<Label>) => void) | null = null;
  reject: ((reason: unknown) => void) | null = null;
  /** Why it was refused, if that came before its promise. */
  reason: unknown = undefined;
  /** It was made inside of a hold, which may be over. */
  isNested = false;
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

  /** Neither granted nor refused yet. */
  get isWaiting(): boolean {
    return !this.isGranted && !this.isEnded;
  }

  /** Tells the caller, who may not have been given the promise yet, that it ended without a grant. */
  fail(reason: unknown): void {
    if (this.reject === null) this.reason = reason;
    else this.reject(reason);
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
