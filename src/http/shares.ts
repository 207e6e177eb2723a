import type { ServerResponse } from 'node:http';
import { type ErrorCode, SignalboxError } from '../errors.ts';
import type { Principal } from './token.ts';

/** How much of something each token may have at once, so that no one of them takes all that there is. */
export type Share = {
  /** Counts one more. Throws when that is more than the share; else returns what gives it back, and counts once. */
  take(who: Principal): () => void;
};

/** A share of `most` for each token; whoever asks without tokens is one. `what` stands behind "Expected fewer than 3". */
export function createShare(most: number, code: ErrorCode, what: string): Share {
  const taken = new Map<string, number>();
  return {
    take({ name }) {
      const before = taken.get(name) ?? 0;
      if (before >= most)
        throw new SignalboxError(code, `Expected fewer than ${most} ${what} of one token, got ${before}`);
      taken.set(name, before + 1);
      let isGiven = false;
      return () => {
        if (isGiven) return;
        isGiven = true;
        const left = (taken.get(name) ?? 1) - 1;
        // Nothing is kept of a token that has nothing open.
        if (left > 0) taken.set(name, left);
        else taken.delete(name);
      };
    },
  };
}

/** Takes from a share what an answer uses until it has ended, however it ends. */
export function takeForAnswer(share: Share, who: Principal, answer: ServerResponse): void {
  const give = share.take(who);
  if (answer.destroyed) give();
  else answer.once('close', give);
}

/** Takes from a share for as long as a batch has not ended. */
export function takeForBatch<B extends { readonly done: Promise<unknown> }>(
  share: Share,
  who: Principal,
  open: () => B,
): B {
  const give = share.take(who);
  try {
    const batch = open();
    void batch.done.then(give);
    return batch;
  } catch (error) {
    give();
    throw error;
  }
}
