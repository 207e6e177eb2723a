import type { EventBody } from './events.ts';

/**
 * What a dispatcher tells whoever counts what it does: every event of every batch but its output, and what no event says.
 * `locks-granted` counts from joining the queues, `locks-freed` from the grant, each for all keys of a command.
 */
export type Observation =
  | Exclude<EventBody, { type: 'output' }>
  | { readonly type: 'batch-opened' }
  /** It takes no more commands; told once, also for a batch that was complete from the start. */
  | { readonly type: 'batch-closed' }
  | { readonly type: 'locks-granted'; readonly waitedMs: number }
  | { readonly type: 'locks-freed'; readonly heldMs: number };

export type Observe = (observation: Observation) => void;

/** An observer's own fault ends nothing half-way that is being observed: it is thrown behind, where nobody catches it. */
export function observing(observe: Observe | null): Observe {
  if (observe === null) return () => undefined;
  return (observation) => {
    try {
      observe(observation);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  };
}
