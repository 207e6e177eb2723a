import type { FastifyReply, FastifyRequest } from 'fastify';
import { SignalboxError } from '../../errors.ts';
import { admit } from '../admission.ts';
import { batchResult } from '../answers.ts';
import { batchTexts } from '../batch-text.ts';
import type { App, RouteContext } from '../context.ts';
import { createDirectories } from '../directories.ts';
import { preferredWait } from '../headers.ts';
import { bodyOf } from '../json-text.ts';
import type { KeptBatch } from '../kept-batches.ts';
import { commandLine } from '../log-lines.ts';
import { problems } from '../responses.ts';
import { batchParams, batchRequest, preferHeaders } from '../schemas.ts';

type Asked = Pick<FastifyRequest, 'method'> & { readonly headers: { readonly prefer?: string } };

/** Batches are taken in, looked at, waited for and cancelled. */
export function batchRoutes(app: App, context: RouteContext): void {
  const { config, dispatcher, batches, drain } = context;

  /** The batch as it is, or after the wait that was asked for, made as fast as the client takes it. */
  const answer = async (kept: KeptBatch, request: Asked, typed: unknown): Promise<never> => {
    // The body is a text or a stream of what the schema describes, which its type cannot say.
    const reply = typed as FastifyReply;
    await waited(kept, request.headers.prefer, config.limits.maxWaitSeconds, reply);
    reply.type('application/json; charset=utf-8');
    const body = bodyOf(batchTexts(kept.batch.snapshot()));
    if (typeof body !== 'string') {
      body.once(
        'close',
        batches.hold(kept, () => body.destroy(new Error('The batch is no longer kept'))),
      );
      // Nobody is there to take it, and its length is not known before it is made.
      if (request.method === 'HEAD') body.destroy();
    }
    return reply.send(request.method === 'HEAD' && typeof body !== 'string' ? undefined : body) as never;
  };

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
        ...problems('body', 403, 429, 503),
      },
    },
    handler: async (request, reply) => {
      if (drain.isDraining())
        throw new SignalboxError('SHUTTING_DOWN', 'Expected to be asked before the shutdown began');
      const { roots, limits } = config;
      const { commands, options } = await admit(request.body, limits, roots, createDirectories(roots));
      const batch = dispatcher.dispatch(commands, options);
      const kept = batches.keep(batch);
      const accepted = batch.snapshot();
      request.log.info({ batchId: batch.id, commands: accepted.commands.length }, 'batch accepted');
      for (const { id, command, verdict } of accepted.commands) {
        request.log.info({ batchId: batch.id, ...commandLine(id, command, verdict) }, 'command accepted');
      }
      void batch.done.then(({ state }) => app.log.info({ batchId: batch.id, state }, 'batch ended'));
      reply.code(201).header('location', `/batches/${batch.id}`);
      return answer(kept, request, reply);
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
      response: { 200: batchResult, ...problems('plain', 404, 410) },
    },
    handler: (request, reply) => answer(batches.find(request.params.id), request, reply),
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
      response: { 200: batchResult, ...problems('plain', 404, 410) },
    },
    handler: (request, reply) => {
      const kept = batches.find(request.params.id);
      kept.batch.cancel('Cancelled by a client');
      request.log.info({ batchId: kept.id }, 'batch cancelled');
      return answer(kept, request, reply);
    },
  });
}

/** Waits for the end for as long as was asked for and is allowed. The batch goes on when the client leaves. */
async function waited(
  { batch }: KeptBatch,
  prefer: string | undefined,
  most: number,
  reply: FastifyReply,
): Promise<void> {
  const asked = preferredWait(prefer);
  if (asked === undefined) return;
  const seconds = Math.min(asked, most);
  reply.header('preference-applied', `wait=${seconds}`);
  const { promise: enough, resolve } = withResolvers();
  const timer = setTimeout(resolve, seconds * 1_000);
  reply.raw.once('close', resolve);
  try {
    await Promise.race([batch.done, enough]);
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
