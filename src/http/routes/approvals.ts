import type { FastifyReply } from 'fastify';
import { batchResult } from '../answers.ts';
import { answerBatch } from '../batch-answer.ts';
import type { App, RouteContext } from '../context.ts';
import { problems } from '../responses.ts';
import { approvalsRequest, batchParams, preferHeaders } from '../schemas.ts';

/** Answers about commands that wait to be approved or declined. */
export function approvalRoutes(app: App, context: RouteContext): void {
  const { batches } = context;

  app.route({
    method: 'POST',
    url: '/batches/:id/approvals',
    schema: {
      operationId: 'answerCommands',
      summary:
        'Approves or declines commands that ask: all that are named, or none. The same answer again changes nothing',
      tags: ['batches'],
      params: batchParams,
      headers: preferHeaders,
      body: approvalsRequest,
      response: { 200: batchResult, ...problems('body', 404, 409, 410) },
    },
    handler: async (request, typed) => {
      const kept = batches.findOwn(request.params.id, request.principal);
      const { approvals } = request.body;
      kept.batch.answer(approvals);
      for (const { id: commandId, decision } of approvals)
        request.log.info({ batchId: kept.id, commandId, decision }, 'command answered');
      return answerBatch(kept, request, typed as unknown as FastifyReply, context) as never;
    },
  });
}
