import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SignalboxError } from '../../errors.ts';
import { type RequestedCommand, requireCount } from '../admission.ts';
import { appended, batchResult, lineRecord } from '../answers.ts';
import { answerBatch } from '../batch-answer.ts';
import type { App, RouteContext } from '../context.ts';
import { requireAccept } from '../gate.ts';
import type { Intake } from '../intake.ts';
import type { KeptBatch } from '../kept-batches.ts';
import { LINES, sendsLines } from '../line-bodies.ts';
import { LineReader } from '../line-reader.ts';
import { linger } from '../problem.ts';
import { problems } from '../responses.ts';
import { appendRequest, batchLine, batchParams, preferHeaders } from '../schemas.ts';
import { takeForAnswer } from '../shares.ts';
import { faultOf, firstLine, type LineRecord, receive, recordOf, takeLine } from '../upload.ts';

/** More commands for a batch that was opened to grow. */
export function appendRoutes(app: App, context: RouteContext): void {
  const { config, batches, drain, shares } = context;
  const { limits } = config;

  app.route({
    method: 'POST',
    url: '/batches/:id/commands',
    schema: {
      operationId: 'addCommands',
      summary: 'Adds commands to a batch that is open. One that is known already, by its id, is not run twice',
      tags: ['batches'],
      params: batchParams,
      body: { content: { 'application/json': { schema: appendRequest }, [LINES]: { schema: batchLine } } },
      response: {
        200: {
          description: 'The commands, in the order sent. To lines: a record of each, as soon as it has been taken',
          content: { 'application/json': { schema: appended }, [LINES]: { schema: lineRecord } },
        },
        ...problems('body', 404, 408, 409, 410, 429, 503),
      },
    },
    config: { takesLines: true },
    handler: async (request, typed) => {
      const reply = typed as unknown as FastifyReply;
      const intake = intakeOf(batches.findOwn(request.params.id, request.principal));
      if (sendsLines(request)) return (await appendLines(intake, request, reply)) as never;
      const body = request.body as { readonly commands: readonly RequestedCommand[] } | undefined;
      if (body === undefined)
        throw new SignalboxError('REQUEST_INVALID', 'Expected a body of JSON, got nothing', { pointer: '' });
      requireCount(body.commands.length, limits.maxCommands);
      const taken = await intake.takeAll(body.commands, request.principal);
      const { id: batchId } = intake.batch;
      for (const { id, known } of taken) request.log.info({ batchId, commandId: id, known }, 'command taken');
      return reply.send({ batchId, commands: taken }) as never;
    },
  });

  /** Answers a record for each line. They are few and short, and wait for a client that reads only when it has sent all. */
  async function appendLines(intake: Intake, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    requireAccept(request, LINES);
    takeForAnswer(shares.streams, request.principal, reply.raw);
    const { id: batchId } = intake.batch;
    const lines = new LineReader(request.body as Readable, limits);
    const records = new Readable({ read: () => undefined });
    const tell = (record: LineRecord): void => {
      if (!records.destroyed) records.push(`${JSON.stringify(record)}\n`);
    };
    try {
      const first = await firstLine(lines);
      tell(recordOf(batchId, first.number, await takeLine(first, intake, request.principal)));
    } catch (error) {
      lines.discard();
      throw error;
    }
    const stop = new AbortController();
    const ended = drain.track({ end: () => stop.abort() });
    const { log, principal: who } = request;
    const reception = { tell, stop: stop.signal, log, most: limits.maxCommands, who };
    void receive(lines, intake, reception).then((how) => {
      ended();
      if (how === 'stopped')
        tell(faultOf(batchId, lines.number, new SignalboxError('SHUTTING_DOWN', 'The service ends')));
      if (!records.destroyed) records.push(null);
    });
    reply.raw.once('finish', () => request.raw.complete || linger(request.raw));
    setImmediate(() => reply.raw.headersSent || reply.raw.destroyed || reply.raw.flushHeaders());
    return reply.type(LINES).send(records);
  }
  app.route({
    method: 'POST',
    url: '/batches/:id/close',
    schema: {
      operationId: 'closeBatch',
      summary: 'No more commands will come. Those that it has run to their end',
      tags: ['batches'],
      params: batchParams,
      headers: preferHeaders,
      response: { 200: batchResult, ...problems('plain', 404, 410) },
    },
    handler: async (request, typed) => {
      const kept = batches.findOwn(request.params.id, request.principal);
      kept.batch.close();
      request.log.info({ batchId: kept.id }, 'batch closed');
      return answerBatch(kept, request, typed as unknown as FastifyReply, context) as never;
    },
  });
}

/** Throws BATCH_CLOSED for a batch that was complete from the start. */
function intakeOf({ id, intake }: KeptBatch): Intake {
  if (intake !== null) return intake;
  throw new SignalboxError('BATCH_CLOSED', `Expected a batch that was opened to grow, got ${id}`, {
    hint: 'A batch is opened by POST /batches with "open": true, or with lines',
  });
}
