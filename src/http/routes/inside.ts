import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { App, RouteContext } from '../context.ts';
import { requireAccept } from '../gate.ts';
import { locks } from '../lock-answer.ts';
import { viewOf } from '../lock-view.ts';
import { problems } from '../responses.ts';

/** What goes on inside, for whoever runs the service: who waits for whom, and figures. */
export function insideRoutes(app: App, { lock, metrics }: RouteContext): void {
  app.route({
    method: 'GET',
    url: '/locks',
    schema: {
      operationId: 'getLocks',
      summary: 'Who holds which key, who waits for whom, and for how long',
      tags: ['service'],
      response: { 200: locks.describe('The locks of this moment'), ...problems('plain') },
    },
    handler: async (request) => {
      requireAccept(request, 'application/json');
      return viewOf(lock.snapshot());
    },
  });

  app.route({
    method: 'GET',
    url: '/metrics',
    schema: {
      operationId: 'getMetrics',
      summary: 'Figures for Prometheus, in its text format',
      tags: ['service'],
      response: {
        200: { description: 'The figures of this moment', content: { 'text/plain': { schema: z.string() } } },
        ...problems('plain'),
      },
    },
    handler: async (request, typed) => {
      requireAccept(request, 'text/plain');
      const reply = typed as unknown as FastifyReply;
      return reply.type(metrics.contentType).send(await metrics.text()) as never;
    },
  });
}
