import type { FastifyReply } from 'fastify';
import type { RouteContext } from './context.ts';
import type { KeptBatch } from './kept-batches.ts';
import { createEventStream, NDJSON, SSE } from './stream.ts';
import type { Told } from './told-events.ts';

export type EventAnswer = Pick<RouteContext, 'config' | 'batches' | 'drain'> & {
  readonly type: 'text/event-stream' | 'application/x-ndjson';
  readonly events: AsyncIterator<Told>;
  /** A result that was already pulled. */
  readonly first?: IteratorResult<Told>;
  /** Ends `events`. */
  readonly abort: () => void;
};

/** Answers with a stream of events, which begins at once, however long the first of them is in coming. */
export function answerEvents(
  reply: FastifyReply,
  kept: KeptBatch,
  { config, batches, drain, type, events, first, abort }: EventAnswer,
): FastifyReply {
  const stream = createEventStream(events, {
    framing: type === 'text/event-stream' ? SSE : NDJSON,
    heartbeatMs: config.heartbeatMs,
    ...(first === undefined ? {} : { first }),
    abort,
  });
  stream.body.once('close', drain.track(stream));
  stream.body.once(
    'close',
    batches.hold(kept, () => stream.body.destroy(new Error('The batch is no longer kept'))),
  );
  // Proxies that buffer would turn live events into late ones.
  reply.type(type).header('x-accel-buffering', 'no');
  setImmediate(() => reply.raw.headersSent || reply.raw.destroyed || reply.raw.flushHeaders());
  return reply.send(stream.body);
}
