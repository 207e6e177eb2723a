import type { FastifyReply } from 'fastify';
import { admit } from '../admission.ts';
import { plan } from '../answers.ts';
import type { App, RouteContext } from '../context.ts';
import { createDirectories } from '../directories.ts';
import { bodyOf, listTexts, objectTexts } from '../json-text.ts';
import { problems } from '../responses.ts';
import { batchRequest } from '../schemas.ts';

/** How a batch would run, without running it: groups, verdicts, and the keys that each command would take. */
export function planRoutes(app: App, { config, dispatcher }: RouteContext): void {
  const { roots, limits } = config;

  app.route({
    method: 'POST',
    url: '/plan',
    schema: {
      operationId: 'planBatch',
      summary: 'How a batch would run: its groups, verdicts and keys. Nothing is run',
      tags: ['batches'],
      body: batchRequest,
      response: { 200: plan.describe('The plan of this moment'), ...problems('body') },
    },
    handler: async (request, typed) => {
      const { commands, options } = await admit(
        request.body,
        limits,
        roots,
        createDirectories(roots),
        request.principal,
      );
      const planned = dispatcher.plan(commands, options);
      // As fast as the reader takes it: a thousand verdicts are much longer than what asks for them.
      const texts = listTexts(planned.commands, (each) => [JSON.stringify(each)]);
      const reply = typed as unknown as FastifyReply;
      reply.type('application/json; charset=utf-8');
      return reply.send(bodyOf(objectTexts(planned, new Map([['commands', () => texts]])))) as never;
    },
  });
}
