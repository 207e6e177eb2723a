import { isIP } from 'node:net';
import rateLimit, { normalizeIP } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { SignalboxError } from '../errors.ts';
import { ANYBODY, OPEN_ROUTE } from './gate.ts';

const MINUTE_MS = 60_000;

/**
 * Counts a request; `isRefused` for one that the gate did not let in. Throws RATE_LIMITED, with `Retry-After` set, for one
 * too many in a minute.
 */
export type RateLimit = (request: FastifyRequest, reply: FastifyReply, isRefused: boolean) => Promise<void>;

/**
 * So many requests a minute of each token, and of each address where no token says who asks. What is refused is counted
 * apart: neither a page in a browser nor somebody who guesses tokens uses up what those may ask who are let in.
 */
export async function createRateLimit(app: FastifyInstance, maxPerMinute: number): Promise<RateLimit> {
  await app.register(rateLimit, { global: false });
  const limiter = (keyOf: (request: FastifyRequest) => string) =>
    app.createRateLimit({ max: maxPerMinute, timeWindow: MINUTE_MS, keyGenerator: keyOf });
  const admitted = limiter((request) =>
    request.principal === ANYBODY ? `address ${addressOf(request)}` : `token ${request.principal.name}`,
  );
  const refused = limiter(addressOf);

  return async (request, reply, isRefused) => {
    if (!isRefused && request.routeOptions.url === OPEN_ROUTE) return;
    const answer = await (isRefused ? refused : admitted)(request);
    if (answer.isAllowed || !answer.isExceeded) return;
    reply.header('retry-after', String(answer.ttlInSeconds));
    throw new SignalboxError(
      'RATE_LIMITED',
      `Expected at most ${maxPerMinute} requests a minute; the next is taken in ${answer.ttlInSeconds} s`,
    );
  };
}

/** A Unix socket has no addresses: all who may connect are one. */
function addressOf({ ip }: FastifyRequest): string {
  return isIP(ip) === 0 ? '' : normalizeIP(ip);
}
