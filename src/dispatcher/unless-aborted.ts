/**
 * What work comes to, unless the signal aborts first: then it rejects with the signal's reason at once, and whatever the
 * work still comes to is nobody's concern. No listener stays behind.
 */
export function unlessAborted<Result>(work: () => Result | PromiseLike<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(signal.reason);
    if (signal.aborted) {
      giveUp();
      return;
    }
    signal.addEventListener('abort', giveUp, { once: true });
    const started = async (): Promise<Result> => work();
    started()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', giveUp));
  });
}
