import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config.ts';
import type { Dispatcher } from '../dispatcher/types.ts';

/** The way out: new work is refused, running commands end, everybody who listens is told, then connections close. */
export type Drain = {
  /** True from the moment the service begins to close. */
  isDraining(): boolean;
  /** Keeps an open stream in sight, so that it can be ended. Returns what to call when it has ended by itself. */
  track(stream: { end(): void }): () => void;
};

/** Milliseconds between two looks at connections that have become idle (a figure that was run: docs/http.md#shutdown). */
const IDLE_EVERY_MS = 25;

/** Milliseconds that streams get to deliver their last events once every batch has ended. */
const FLUSH_MS = 500;

/**
 * Makes `app.close()` a graceful end: without it, an open event stream would keep the server from closing for ever.
 * Requests are answered until the last command has ended; then what is idle is closed, and at the deadline everything.
 */
export function installDrain(
  app: FastifyInstance,
  {
    dispatcher,
    shutdown,
  }: { readonly dispatcher: Pick<Dispatcher, 'shutdown'>; readonly shutdown: Config['shutdown'] },
): Drain {
  let isDraining = false;
  const streams = new Set<{ end(): void }>();

  app.addHook('preClose', async () => {
    isDraining = true;
    const cut = setTimeout(() => app.server.closeAllConnections(), shutdown.deadlineMs);
    const reap = setInterval(() => app.server.closeIdleConnections(), IDLE_EVERY_MS);
    app.server.once('close', () => {
      clearTimeout(cut);
      clearInterval(reap);
    });
    // The rest of the deadline belongs to the streams and to requests in flight.
    const patience = new AbortController();
    const limit = sleep(shutdown.deadlineMs - FLUSH_MS / 2, undefined, { signal: patience.signal }).catch(
      () => undefined,
    );
    await Promise.race([dispatcher.shutdown({ graceMs: shutdown.graceMs }), limit]);
    patience.abort();
    for (const end = performance.now() + FLUSH_MS; streams.size > 0 && performance.now() < end; )
      await sleep(IDLE_EVERY_MS);
    for (const stream of streams) stream.end();
  });

  return {
    isDraining: () => isDraining,
    track(stream) {
      streams.add(stream);
      return () => streams.delete(stream);
    },
  };
}
