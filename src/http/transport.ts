import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { type ErrorCode, SignalboxError } from '../errors.ts';
import { hasBody } from './headers.ts';
import { problemOf, writeProblem } from './problem.ts';

/**
 * What Node would answer by itself, and without a problem document: `Expect` and CONNECT. A client that asks before it
 * sends a body is told to go on only when its header has passed the gate, so a body that is refused never travels.
 */
export function installTransport(app: FastifyInstance, newId: () => string, refused: (code: ErrorCode) => void): void {
  const asking = new WeakSet<object>();

  app.server.on('checkContinue', (request, response) => {
    asking.add(request);
    app.routing(request, response);
  });

  app.addHook('preParsing', async (request, reply) => {
    if (asking.delete(request.raw)) reply.raw.writeContinue();
  });

  // Node hands over the bare connection, and closes it without a word where nobody takes it.
  app.server.on('connect', (_request, socket: Socket) => {
    socket.on('error', () => socket.destroy());
    const error = new SignalboxError('METHOD_REFUSED', 'Expected another method than CONNECT: this is no proxy');
    writeProblem(socket, error, newId(), ['Allow: GET, HEAD, POST, DELETE']);
    refused(error.code);
  });

  app.server.on('checkExpectation', (_request, response) => {
    const error = new SignalboxError('EXPECTATION_REFUSED', 'Expected no Expect field but 100-continue');
    response.writeHead(error.status, {
      'content-type': 'application/problem+json',
      connection: 'close',
      ...SECURITY_HEADERS,
    });
    response.end(JSON.stringify(problemOf(error, newId())));
  });
}

/**
 * Ends the connection of a request whose body takes too long, as Node does it by itself where it has one limit for every
 * request; bodies of lines may take as long as they like.
 */
export function limitArrival(server: Server, request: IncomingMessage, forMs: number): void {
  if (!hasBody(request)) return;
  const timer = setTimeout(() => {
    if (request.complete) return;
    const late = Object.assign(new Error('The request took too long'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    server.emit('clientError', late, request.socket);
  }, forMs).unref();
  request.once('end', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
}

/**
 * Of every answer: nothing is guessed, framed, kept or embedded by anybody. There are no CORS fields at all, so no page
 * of another origin can read an answer.
 */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = Object.freeze({
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'x-frame-options': 'DENY',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
});
