import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/**
 * Requests that one connection may have unanswered. Nothing of one is done before those ahead of it are answered, but
 * each is an object that waits; no client that is known sends so many ahead.
 */
const MAX_UNANSWERED = 64;

/** Bounds what connections cost: how many there are, and how many requests of each wait. More are closed. */
export function installConnections(app: FastifyInstance, maxConnections: number): void {
  const unanswered = new WeakMap<Socket, number>();
  app.server.maxConnections = maxConnections;

  const count = ({ socket }: IncomingMessage, response: ServerResponse): void => {
    const waiting = (unanswered.get(socket) ?? 0) + 1;
    unanswered.set(socket, waiting);
    if (waiting > MAX_UNANSWERED) socket.destroy();
    response.once('close', () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1));
  };
  for (const event of ['request', 'checkContinue', 'checkExpectation'] as const)
    app.server.prependListener(event, count);
}

/**
 * Waits until the answers to all earlier requests of the connection have been taken, so that what a client asks ahead
 * is not answered into memory. When the connection ends before that, it never settles and is collected with the request.
 */
export async function ownTurn({ raw }: { readonly raw: ServerResponse }): Promise<void> {
  if (raw.socket !== null) return;
  await new Promise<void>((resolve) => raw.once('socket', () => resolve()));
}
