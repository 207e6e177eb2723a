import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { admitOptions, type RequestedOptions } from '../admission.ts';
import { logBatch } from '../batch-log.ts';
import type { App, RouteContext } from '../context.ts';
import { createDirectories } from '../directories.ts';
import { cancelOnLeave } from '../disconnect.ts';
import { answerEvents } from '../event-answer.ts';
import { requireAccept } from '../gate.ts';
import { Intake } from '../intake.ts';
import { LINES } from '../line-bodies.ts';
import { type Line, LineReader } from '../line-reader.ts';
import { linger } from '../problem.ts';
import { batchHead } from '../schemas.ts';
import { takeForAnswer, takeForBatch } from '../shares.ts';
import type { Principal } from '../token.ts';
import { ToldEvents } from '../told-events.ts';
import { firstLine, receive, takeLine } from '../upload.ts';
import { parseBody, parseLine } from '../validation.ts';

/**
 * A batch whose commands come in lines and start while later ones are still being sent; the answer is its events, at once.
 * What is wrong with the first line is told as a problem, and nothing has run; later faults are told in the stream.
 */
export async function uploadBatch(
  app: App,
  context: RouteContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { config, batches, shares } = context;
  const type = requireAccept(request, LINES, 'text/event-stream');
  takeForAnswer(shares.streams, request.principal, reply.raw);
  const lines = new LineReader(request.body as Readable, config.limits);
  const { intake, options } = await begin(lines, context, request.principal).catch((error: unknown) => {
    lines.discard();
    throw error;
  });
  const { batch } = intake;
  const kept = batches.keep(batch, request.principal, intake);
  logBatch(batch, request.log, app.log);

  const { open = false, onDisconnect = 'continue' } = options;
  if (onDisconnect === 'cancel') cancelOnLeave(batch, reply.raw);
  const ending = new AbortController();
  const events = new ToldEvents(batch.events({ signal: ending.signal })[Symbol.asyncIterator]());
  // That a line was taken is told by the event of the command.
  const tell: ToldEvents['tell'] = (record) => record.type === 'taken' || events.tell(record);
  const stop = new AbortController();
  void batch.done.then(() => stop.abort());
  const most = config.limits.maxCommands;
  void receive(lines, intake, { tell, stop: stop.signal, log: request.log, most, who: request.principal }).then(
    (how) => {
      if (onDisconnect === 'cancel' && (how === 'broken' || how === 'stalled')) batch.cancel('The client left');
      else if (!open) batch.close();
    },
  );

  reply.raw.once('finish', () => request.raw.complete || linger(request.raw));
  reply.code(201).header('location', `/batches/${batch.id}`);
  return answerEvents(reply, kept, { ...context, type, events, abort: () => ending.abort() });
}

/** Opens the batch that the first line asks for, with its first command where that line is one. */
async function begin(
  lines: LineReader,
  { config, dispatcher, shares }: RouteContext,
  who: Principal,
): Promise<{ readonly intake: Intake; readonly options: RequestedOptions }> {
  const first = await firstLine(lines);
  const { roots } = config;
  const options = optionsOf(first);
  const admitted = await admitOptions(options ?? {}, roots, createDirectories(roots), '/batch');
  const batch = takeForBatch(shares.batches, who, () => dispatcher.open(admitted));
  const intake = new Intake(batch, admitted.cwd, roots);
  try {
    if (options === undefined) await takeLine(first, intake, who);
  } catch (error) {
    batch.cancel();
    throw error;
  }
  return { intake, options: options ?? {} };
}

/** The options of the batch, when the line holds them: `{"batch": …}`, which no command looks like. */
function optionsOf({ bytes }: Line): RequestedOptions | undefined {
  const value = parseBody(bytes, 'line');
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, 'batch')) return undefined;
  return parseLine(batchHead, bytes).batch;
}
