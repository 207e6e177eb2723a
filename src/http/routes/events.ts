import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { batchEvent } from '../answers.ts';
import type { App, RouteContext } from '../context.ts';
import { answerEvents } from '../event-answer.ts';
import { requireAccept } from '../gate.ts';
import { problems } from '../responses.ts';
import { batchParams, eventsHeaders, eventsQuery } from '../schemas.ts';
import { takeForAnswer } from '../shares.ts';

/** What happens in a batch, as it happens, from any point on. */
export function eventRoutes(app: App, context: RouteContext): void {
  const { batches, shares } = context;
  app.route({
    method: 'GET',
    url: '/batches/:id/events',
    schema: {
      operationId: 'streamEvents',
      summary: 'The events of a batch, then live ones, ending behind `batch-finished`',
      tags: ['batches'],
      params: batchParams,
      querystring: eventsQuery,
      headers: eventsHeaders,
      response: {
        200: {
          description: 'One event each: server-sent events whose data is a BatchEvent, or one BatchEvent a line',
          content: {
            'text/event-stream': { schema: z.string() },
            'application/x-ndjson': { schema: batchEvent },
          },
        },
        204: z.undefined().describe('The batch has ended and nothing stands behind that event; do not reconnect'),
        ...problems('plain', 404, 410),
      },
    },
    handler: async (request, typed) => {
      // The body is a stream of what the schema describes, which its type cannot say.
      const reply = typed as unknown as FastifyReply;
      const type = requireAccept(request, 'text/event-stream', 'application/x-ndjson');
      const kept = batches.find(request.params.id, request.principal);
      const { batch, hasEnded } = kept;
      if (request.method === 'HEAD') return reply.type(type).send();

      // A browser that reconnects repeats the address it began with, so what it saw last counts more.
      const after = Number(request.headers['last-event-id'] ?? request.query.after ?? 0);
      const ending = new AbortController();
      const events = batch.events({ after, signal: ending.signal })[Symbol.asyncIterator]();
      const first = hasEnded ? await events.next() : undefined;
      if (first?.done === true) return reply.code(204).send();
      takeForAnswer(shares.streams, request.principal, reply.raw);

      return answerEvents(reply, kept, {
        ...context,
        type,
        events,
        ...(first === undefined ? {} : { first }),
        abort: () => ending.abort(),
      });
    },
  });
}
