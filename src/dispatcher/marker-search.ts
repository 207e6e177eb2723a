import type { ProcessTable } from './process-table.ts';

/** Finds the live processes of a command by its marker. Settles when a look that began after the question has ended. */
export type FindCarriers = (family: { marker: string; group: number; since: number }) => Promise<readonly number[]>;

type Question = Parameters<FindCarriers>[0] & { readonly answer: (pids: readonly number[]) => void };

/** Milliseconds after which a look that failed, for want of descriptors or memory, is tried again. */
const FAILED_PAUSE_MS = 50;

/**
 * One look through the process table answers everybody who asked before it began; the next begins only after a rest of
 * the same length, so that looking never takes more than half of the event loop.
 */
export function createMarkerSearch(table: ProcessTable): FindCarriers {
  let asked: Question[] = [];
  let restUntil = 0;

  function look(): void {
    const answering = asked;
    asked = [];
    const began = performance.now();
    let found: ReadonlyMap<string, readonly number[]>;
    try {
      found = table.carriers(answering.map(({ marker, group, since }) => ({ marker, group, ageMs: began - since })));
    } catch {
      // A look that failed has seen nobody and proves nothing: everybody waits for the next.
      asked = [...answering, ...asked];
      setTimeout(look, FAILED_PAUSE_MS);
      return;
    }
    const ended = performance.now();
    restUntil = ended + (ended - began);
    for (const { marker, answer } of answering) answer(found.get(marker) ?? []);
  }

  return (family) =>
    new Promise((answer) => {
      asked.push({ ...family, answer });
      if (asked.length > 1) return;
      const rest = restUntil - performance.now();
      if (rest < 1) setImmediate(look);
      else setTimeout(look, rest);
    });
}
