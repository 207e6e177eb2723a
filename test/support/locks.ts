import type { Held } from '../../src/dispatcher/acquire-options.ts';
import type { LockMode, LockRequest } from '../../src/dispatcher/types.ts';

export const shared = (key: string): LockRequest => ({ key, mode: 'shared' });

/** What is asked for, by key. */
export type Wants = Readonly<Record<string, LockMode>>;

export const toRequests = (wants: Wants): readonly LockRequest[] =>
  Object.entries(wants).map(([key, mode]) => ({ key, mode }));

/** Lets every promise that can settle do so: a macrotask comes after all microtasks. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Follows an acquire without waiting for it. */
export function followed(promise: Promise<Held>) {
  const seen: { hold: Held | null; reason: unknown; isSettled: boolean } = {
    hold: null,
    reason: null,
    isSettled: false,
  };
  promise.then(
    (hold) => Object.assign(seen, { hold, isSettled: true }),
    (reason: unknown) => Object.assign(seen, { reason, isSettled: true }),
  );
  return seen;
}

/** One of a list by any number; undefined only when there is none. */
export function pick<T>(list: readonly T[], at: number): T | undefined {
  return list.length === 0 ? undefined : list[at % list.length];
}
