import { type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import type { Verdict } from '../classifier/verdict.ts';

/**
 * What the service logs. No line holds the text of a command, a variable, output, a path or a query: a command is its
 * id, its length and the name of the rule that knew it, a request is its method and route.
 */

/** What the log may know of a command: never more than a rule's name and numbers. */
export function commandLine(id: string, command: string, verdict: Verdict): Readonly<Record<string, unknown>> {
  switch (verdict.kind) {
    case 'parallel':
      return { commandId: id, length: command.length, verdict: 'parallel', binary: verdict.rule[0]?.binary ?? null };
    case 'serial':
      return {
        commandId: id,
        length: command.length,
        verdict: verdict.reason.code,
        binary: verdict.reason.rule?.binary ?? null,
      };
  }
}

/** An error without its message, which may repeat what a client sent: name, code and where it happened. */
export function failureOf(error: unknown): Readonly<Record<string, unknown>> {
  if (!(error instanceof Error)) return { name: typeof error };
  const { code } = error as { code?: unknown };
  // The stack begins with the message, and a message may look like a frame.
  const frames = (error.stack ?? '')
    .replace(error.message, '')
    .split('\n')
    .filter((line) => line.startsWith('    at '));
  return { name: error.name, code: typeof code === 'string' ? code : undefined, frames };
}

/** Serializers that replace Fastify's and pino's, which would write addresses and messages. */
export const SERIALIZERS = {
  req: (request: FastifyRequest) => ({ method: request.method, route: routeOf(request) }),
  res: (reply: FastifyReply) => ({ statusCode: reply.statusCode }),
  err: failureOf,
};

/** Fastify's log lines, of which one a request is left. Its own would tell the address, with the query. */
export class LogLines extends LogController {
  override incomingRequest(): void {}
  override routeNotFound(): void {}

  override requestCompleted(error: Error | null | undefined, request: FastifyRequest, reply: FastifyReply): void {
    const line = {
      method: request.method,
      route: routeOf(request),
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
      ...(request.problemCode === null ? {} : { code: request.problemCode }),
    };
    if (error) request.log.error({ ...line, failure: failureOf(error) }, 'request errored');
    else request.log.info(line, 'request completed');
  }

  override defaultErrorLog(error: Error, request: FastifyRequest): void {
    request.log.error({ failure: failureOf(error) }, 'request failed');
  }

  override streamError(error: Error, request: FastifyRequest): void {
    request.log.info({ failure: failureOf(error) }, 'response ended early');
  }

  override writeHeadError(error: Error, request: FastifyRequest): void {
    request.log.error({ failure: failureOf(error) }, 'response could not be written');
  }

  override serializerError(error: Error, request: FastifyRequest): void {
    request.log.error({ failure: failureOf(error) }, 'response could not be written');
  }
}

/** The pattern of the route (`/batches/:id`), or null; the address itself may hold anything. */
function routeOf(request: FastifyRequest): string | null {
  return request.is404 ? null : (request.routeOptions.url ?? null);
}
