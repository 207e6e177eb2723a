import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { SignalboxError } from '../../errors.ts';
import { type Admitted, admit, type BatchRequest } from '../admission.ts';
import { batchEvent, batchResult, lineRecord } from '../answers.ts';
import { type Asked, answerBatch } from '../batch-answer.ts';
import { logBatch } from '../batch-log.ts';
import type { App, RouteContext } from '../context.ts';
import { createDirectories } from '../directories.ts';
import { cancelOnLeave } from '../disconnect.ts';
import { Intake } from '../intake.ts';
import type { KeptBatch } from '../kept-batches.ts';
import { LINES, sendsLines } from '../line-bodies.ts';
import { problems } from '../responses.ts';
import { anyLine, batchParams, batchRequest, preferHeaders } from '../schemas.ts';
import { takeForBatch } from '../shares.ts';
import type { Principal } from '../token.ts';
import { uploadBatch } from './batch-upload.ts';

/** Batches are taken in, looked at, waited for and cancelled. */
export function batchRoutes(app: App, context: RouteContext): void {
  const { config, dispatcher, batches, drain, shares } = context;

  const answer = (kept: KeptBatch, request: Asked, typed: unknown): Promise<never> =>
    // The body is a text or a stream of what the schema describes, which its type cannot say.
    answerBatch(kept, request, typed as FastifyReply, context) as Promise<never>;

  /** A batch that goes on taking commands; with all of the first ones, or none at all. */
  const opened = (
    { commands: asked }: BatchRequest,
    commands: Admitted['commands'],
    options: Admitted['options'],
    owner: Principal,
  ): KeptBatch => {
    const batch = takeForBatch(shares.batches, owner, () => dispatcher.open(options));
    const intake = new Intake(batch, options.cwd, config.roots);
    try {
      intake.keep(asked, batch.addAll(commands));
    } catch (error) {
      batch.cancel();
      throw error;
    }
    return batches.keep(batch, owner, intake);
  };

  app.route({
    method: 'POST',
    url: '/batches',
    schema: {
      operationId: 'createBatch',
      summary: 'Runs commands: those that are proved to be safe together overlap, the others wait',
      tags: ['batches'],
      headers: preferHeaders,
      body: {
        content: { 'application/json': { schema: batchRequest }, [LINES]: { schema: anyLine } },
      },
      response: {
        201: {
          description:
            'Accepted, with every verdict; `Location` names it. To lines: the events of the batch and records of lines, while they come',
          content: {
            'application/json': { schema: batchResult },
            [LINES]: { schema: batchEvent.or(lineRecord) },
            'text/event-stream': { schema: z.string() },
          },
        },
        ...problems('body', 403, 408, 429, 503),
      },
    },
    config: { takesLines: true },
    handler: async (request, typed) => {
      if (drain.isDraining())
        throw new SignalboxError('SHUTTING_DOWN', 'Expected to be asked before the shutdown began');
      const reply = typed as unknown as FastifyReply;
      if (sendsLines(request)) return (await uploadBatch(app, context, request, reply)) as never;
      const body = request.body as BatchRequest | undefined;
      if (body === undefined)
        throw new SignalboxError('REQUEST_INVALID', 'Expected a body of JSON, got nothing', { pointer: '' });
      const { roots, limits } = config;
      const { commands, options } = await admit(body, limits, roots, createDirectories(roots), request.principal);
      const { principal } = request;
      const kept =
        body.open === true
          ? opened(body, commands, options, principal)
          : batches.keep(
              takeForBatch(shares.batches, principal, () => dispatcher.dispatch(commands, options)),
              principal,
            );
      const { batch } = kept;
      if (body.onDisconnect === 'cancel') cancelOnLeave(batch, reply.raw);
      logBatch(batch, request.log, app.log);
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
    handler: (request, reply) => answer(batches.find(request.params.id, request.principal), request, reply),
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
      const kept = batches.find(request.params.id, request.principal);
      kept.batch.cancel('Cancelled by a client');
      request.log.info({ batchId: kept.id }, 'batch cancelled');
      return answer(kept, request, reply);
    },
  });
}
