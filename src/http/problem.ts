import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorCode, SignalboxError } from '../errors.ts';
import type { Problem } from './answers.ts';
import { hasBody } from './headers.ts';
import { LINES, takesLines } from './line-bodies.ts';
import { failureOf } from './log-lines.ts';

/**
 * Every error as an RFC 9457 document, whoever found it: our own parts, Fastify, Node's parser. An error that nobody
 * foresaw becomes INTERNAL and says nothing about itself; the log has its stack.
 */

const MEDIA_TYPE = 'application/problem+json';

/** Milliseconds in which a body that was refused may still arrive. */
const LINGER_MS = 1_000;

declare module 'fastify' {
  interface FastifyRequest {
    /** The code of the problem that this request was answered with, for the log. */
    problemCode: ErrorCode | null;
  }
}

/** Header fields that belong to a code, whoever gives it. */
const HEADERS: ReadonlyMap<ErrorCode, readonly [name: string, value: string]> = new Map([
  ['TOKEN_MISSING', ['www-authenticate', 'Bearer realm="signalbox"']],
  ['TOKEN_REFUSED', ['www-authenticate', 'Bearer realm="signalbox", error="invalid_token"']],
  ['TOKEN_EXPIRED', ['www-authenticate', 'Bearer realm="signalbox", error="invalid_token"']],
  ['SCOPE_MISSING', ['www-authenticate', 'Bearer realm="signalbox", error="insufficient_scope"']],
  ['MEDIA_TYPE_REFUSED', ['accept-post', 'application/json']],
  ['SHUTTING_DOWN', ['retry-after', '5']],
  ['BATCHES_TOO_MANY', ['retry-after', '1']],
  ['STREAMS_TOO_MANY', ['retry-after', '1']],
  ['QUEUE_FULL', ['retry-after', '1']],
]);

/** What Fastify's own errors are in our table. */
const FASTIFY_CODES: ReadonlyMap<string, readonly [ErrorCode, string]> = new Map([
  ['FST_ERR_CTP_BODY_TOO_LARGE', ['BODY_TOO_LARGE', 'Expected a smaller body; /capabilities tells the limit in bytes']],
  ['FST_ERR_CTP_INVALID_MEDIA_TYPE', ['MEDIA_TYPE_REFUSED', 'Expected a body as application/json']],
  ['FST_ERR_CTP_INVALID_CONTENT_LENGTH', ['HTTP_MALFORMED', 'Expected as many bytes as Content-Length announces']],
  ['FST_ERR_BAD_URL', ['URL_MALFORMED', 'Expected a path with valid percent-encoding']],
  ['FST_ERR_MAX_PARAM_LENGTH', ['ROUTE_UNKNOWN', 'Expected an id of at most 200 characters']],
]);

/** The problem document of an error, for the request of that id. */
export function problemOf(error: SignalboxError, requestId: string): Problem {
  return {
    type: `/docs/errors.md#${error.code}`,
    title: error.title,
    status: error.status,
    detail: error.message,
    instance: `urn:uuid:${requestId}`,
    code: error.code,
    ...(error.pointer === undefined ? {} : { pointer: error.pointer }),
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    ...(error.faults.length === 0 ? {} : { errors: [...error.faults] }),
  };
}

/** Fastify's error handler: answers with the document and leaves the code for the log line of the request. */
export function answerError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = asSignalboxError(thrown);
  if (hasLeft(error, reply)) request.log.info({ failure: failureOf(error.cause) }, 'response ended early');
  else if (error.status >= 500 && error.code !== 'SHUTTING_DOWN') {
    request.log.error(
      { failure: failureOf(error.code === 'INTERNAL' ? (error.cause ?? error) : error) },
      'request failed',
    );
  }
  request.problemCode = error.code;
  const header = HEADERS.get(error.code);
  if (header !== undefined) reply.header(...header);
  if (error.code === 'MEDIA_TYPE_REFUSED' && takesLines(request))
    reply.header('accept-post', `application/json, ${LINES}`);
  if (hasBody(request) && !request.raw.complete) {
    reply.removeHeader('connection');
    linger(request.raw);
  }
  return reply
    .code(error.status)
    .type(MEDIA_TYPE)
    .send(JSON.stringify(problemOf(error, request.id)));
}

/** The client left before the answer, a stream, had begun: nobody is there, and nothing failed. */
function hasLeft({ cause }: SignalboxError, reply: FastifyReply): boolean {
  return (
    reply.raw.destroyed && (cause as { readonly code?: unknown } | undefined)?.code === 'ERR_STREAM_PREMATURE_CLOSE'
  );
}

/**
 * A refused body may still be on its way. Closing at once would reset the connection, and the client would never see
 * the answer; so what comes is thrown away for a moment, and only then is the rest refused.
 */
export function linger(raw: IncomingMessage): void {
  setTimeout(() => raw.complete || raw.socket.destroy(), LINGER_MS).unref();
}

/** Whatever was thrown, as one of our errors. What we did not foresee is INTERNAL, and keeps its text to itself. */
function asSignalboxError(thrown: unknown): SignalboxError {
  if (thrown instanceof SignalboxError && (thrown.status < 500 || thrown.code === 'SHUTTING_DOWN')) return thrown;
  const { code, statusCode } = (typeof thrown === 'object' && thrown !== null ? thrown : {}) as {
    code?: unknown;
    statusCode?: unknown;
  };
  const known = typeof code === 'string' ? FASTIFY_CODES.get(code) : undefined;
  if (known !== undefined) return new SignalboxError(known[0], known[1], { cause: thrown });
  if (statusCode === 404)
    return new SignalboxError('ROUTE_UNKNOWN', 'There is nothing at this address', { cause: thrown });
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return new SignalboxError('HTTP_MALFORMED', 'The request could not be read to its end', { cause: thrown });
  }
  return new SignalboxError(
    'INTERNAL',
    'Something went wrong; the log of the service has more under the name in `instance`',
    { cause: thrown },
  );
}

/** What Node's parser could not make a request of, written to the bare socket. */
export function answerClientError(
  error: NodeJS.ErrnoException,
  socket: Socket,
  requestId: string,
): ErrorCode | undefined {
  // A response that has begun cannot be turned into another (the same test as Node's own default makes).
  const begun =
    (socket as Socket & { readonly _httpMessage?: { readonly headersSent: boolean } })._httpMessage?.headersSent ===
    true;
  if (error.code === 'ECONNRESET' || !socket.writable || begun) {
    socket.destroy();
    return undefined;
  }
  const fault = clientFault(error.code);
  writeProblem(socket, fault, requestId);
  return fault.code;
}

/** Writes an answer to the bare socket, where there is no response to write it with, and ends it. */
export function writeProblem(
  socket: Socket,
  error: SignalboxError,
  requestId: string,
  fields: readonly string[] = [],
): void {
  const body = JSON.stringify(problemOf(error, requestId));
  socket.end(
    [
      `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? 'Error'}`,
      `Content-Type: ${MEDIA_TYPE}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      ...fields,
      'Cache-Control: no-store',
      'X-Content-Type-Options: nosniff',
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}

function clientFault(code: string | undefined): SignalboxError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new SignalboxError(
        'HEADERS_TOO_LARGE',
        'Expected the request line and the header fields to fit into 16 KiB',
      );
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new SignalboxError('REQUEST_TIMEOUT', 'Expected the whole request sooner');
    default:
      return new SignalboxError('HTTP_MALFORMED', 'Expected an HTTP/1.1 request');
  }
}
