import type { KeyedLock } from '../../src/dispatcher/keyed-lock.ts';
import type { Wants } from '../support/locks.ts';

/**
 * What the lock promises, said as simply as possible and as slowly as it likes: no queues, no counts, one list of all
 * live claims in which everything is looked for anew.
 */

export type ModelClaim = {
  readonly label: string;
  readonly ticket: number;
  readonly wants: Wants;
  state: 'waiting' | 'held' | 'ended';
};

export function clash(one: Wants, other: Wants): boolean {
  return Object.keys(one).some((key) => key in other && (one[key] === 'exclusive' || other[key] === 'exclusive'));
}

export class LockModel {
  /** Live claims by ticket; those of equal tickets in order of joining. */
  readonly claims: ModelClaim[] = [];

  acquire(label: string, ticket: number, wants: Wants): ModelClaim {
    const claim: ModelClaim = { label, ticket, wants, state: 'waiting' };
    const at = this.claims.findIndex((other) => other.ticket > ticket);
    this.claims.splice(at === -1 ? this.claims.length : at, 0, claim);
    this.#grant();
    return claim;
  }

  /** Ends several at once, so that none of them is granted in between. */
  end(...ended: readonly ModelClaim[]): void {
    for (const claim of ended) {
      claim.state = 'ended';
      this.claims.splice(this.claims.indexOf(claim), 1);
    }
    this.#grant();
  }

  /** Whether these keys could be had now without a wait and without passing anybody who waits. */
  isFree(wants: Wants): boolean {
    return !this.claims.some((other) => clash(other.wants, wants));
  }

  /** A claim is granted when it conflicts with no holder and with no waiter before it. */
  #grant(): void {
    this.claims.forEach((claim, at) => {
      if (claim.state !== 'waiting') return;
      const isBarred = this.claims.some(
        (other, place) => other !== claim && clash(other.wants, claim.wants) && (other.state === 'held' || place < at),
      );
      if (!isBarred) claim.state = 'held';
    });
  }

  picture(): Picture {
    const keys = new Set(this.claims.flatMap(({ wants }) => Object.keys(wants)));
    return toPicture(keys, (key, state) =>
      this.claims.filter((claim) => claim.state === state && key in claim.wants).map(({ label }) => label),
    );
  }
}

/** Labels of holders (sorted) and waiters (in order) of each key that is kept. */
export type Picture = Readonly<Record<string, string>>;

export function pictureOf(lock: KeyedLock): Picture {
  const byKey = new Map(lock.snapshot().map((each) => [each.key, each]));
  return toPicture(byKey.keys(), (key, state) => {
    const found = byKey.get(key);
    return ((state === 'held' ? found?.holders : found?.waiters) ?? []).map(({ label }) => String(label));
  });
}

function toPicture(
  keys: Iterable<string>,
  labels: (key: string, state: 'held' | 'waiting') => readonly string[],
): Picture {
  const picture: Record<string, string> = {};
  for (const key of [...keys].sort()) {
    picture[key] = `${labels(key, 'held').toSorted().join(' ')} | ${labels(key, 'waiting').join(' ')}`;
  }
  return picture;
}
