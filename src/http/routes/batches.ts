import type { FastifyReply } from 'fastify';
import type { Batch, BatchResult } from '../../dispatcher/types.ts';
import { SignalboxError } from '../../errors.ts';
import { admit } from '../admission.ts';
import { batchResult } from '../answers.ts';
import type { App, RouteContext } from '../context.ts';
import { createDirectories } from '../directories.ts';
import { preferredWait } from '../headers.ts';
import { commandLine } from '../log-lines.ts';
import { problems } from '../responses.ts';
import { batchParams, batchRequest, preferHeaders } from '../schemas.ts';

/** Batches are taken in, looked at, waited for and cancelled. */
export function batchRoutes(app: App, context: RouteContext): void {
  const { config, dispatcher, batches, drain } = context;

  app.route({
    method: 'POST',
    url: '/batches',
    schema: {
      operationId: 'createBatch',
      summary: 'Runs commands: those that are proved to be safe together overlap, the others wait',
      tags: ['batches'],
      headers: preferHeaders,
      body: batchRequest,
      response: {
        201: batchResult.describe('Accepted, with every verdict; `Location` names it'),
        ...problems('body', 403, 503),
      },
    },
    handler: async (request, reply) => {
      if (drain.isDraining())
        throw new SignalboxError('SHUTTING_DOWN', 'Expected to be asked before the shutdown began');
      const { roots, limits } = config;
      const { commands, options } = await admit(request.body, limits, roots, createDirectories(roots));
      const batch = dispatcher.dispatch(commands, options);
      batches.keep(batch);
      const accepted = batch.snapshot();
      request.log.info({ batchId: batch.id, commands: accepted.commands.length }, 'batch accepted');
      for (const { id, command, verdict } of accepted.commands) {
        request.log.info({ batchId: batch.id, ...commandLine(id, command, verdict) }, 'command accepted');
      }
      void batch.done.then(({ state }) => app.log.info({ batchId: batch.id, state }, 'batch ended'));
      reply.code(201).header('location', `/batches/${batch.id}`);
      return await waited(batch, request.headers.prefer, config.limits.maxWaitSeconds, reply);
    },
  });

  app.route({
    method: 'GET',
    url: '/batches/:id',
    schema: {
      operationId: 'getBatch',
      summary: 'The state of a batch at this moment, or at its end with `Prefer: wait=N`',
      tags: ['batches'],
      params: batchParams,
      headers: preferHeaders,
      response: { 200: batchResult, ...problems('plain', 404) },
    },
    handler: (request, reply) =>
      waited(batches.find(request.params.id).batch, request.headers.prefer, config.limits.maxWaitSeconds, reply),
  });

  app.route({
    method: 'DELETE',
    url: '/batches/:id',
    schema: {
      operationId: 'cancelBatch',
      summary: 'Cancels a batch: what runs is ended, the rest is never started. It can still be read',
      tags: ['batches'],
      params: batchParams,
      headers: preferHeaders,
      response: { 200: batchResult, ...problems('plain', 404) },
    },
    handler: (request, reply) => {
      const { batch } = batches.find(request.params.id);
      batch.cancel('Cancelled by a client');
      request.log.info({ batchId: batch.id }, 'batch cancelled');
      return waited(batch, request.headers.prefer, config.limits.maxWaitSeconds, reply);
    },
  });
}

/** The batch as it is, or after as long a wait for its end as was asked for and is allowed. It goes on when the client leaves. */
async function waited(
  batch: Batch,
  prefer: string | undefined,
  most: number,
  reply: FastifyReply,
): Promise<BatchResult> {
  const asked = preferredWait(prefer);
  if (asked === undefined) return batch.snapshot();
  const seconds = Math.min(asked, most);
  reply.header('preference-applied', `wait=${seconds}`);
  const { promise: enough, resolve } = withResolvers();
  const timer = setTimeout(resolve, seconds * 1_000);
  reply.raw.once('close', resolve);
  try {
    await Promise.race([batch.done, enough]);
    return batch.snapshot();
  } finally {
    clearTimeout(timer);
    reply.raw.off('close', resolve);
  }
}

/** As Promise.withResolvers, which Node 20 does not have. */
function withResolvers(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
