import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { SignalboxError } from '../errors.ts';

/**
 * What is said to a request that no route takes: 405 with the methods that this address does have, or 404. Fastify
 * knows only the second.
 */
export type Addresses = {
  readonly add: (route: RouteOptions) => void;
  readonly refuse: (request: FastifyRequest, reply: FastifyReply) => never;
};

export function createAddresses(): Addresses {
  const methods = new Map<string, Set<string>>();
  return {
    add({ method, url }) {
      const known = methods.get(url) ?? new Set();
      for (const each of [method].flat()) known.add(each);
      methods.set(url, known);
    },
    refuse(request, reply) {
      const path = (request.raw.url ?? '/').split('/');
      const allowed = new Set(
        [...methods].filter(([pattern]) => fits(pattern.split('/'), path)).flatMap(([, names]) => [...names]),
      );
      // A route took it and found nothing: a file that is not there.
      if (allowed.size === 0 || allowed.has(request.method))
        throw new SignalboxError('ROUTE_UNKNOWN', 'Expected an address of this service; /openapi.json lists them');
      const list = [...allowed].sort().join(', ');
      reply.header('allow', list);
      throw new SignalboxError('METHOD_REFUSED', `Expected one of the methods ${list}`);
    },
  };
}

/** A segment of a pattern is a word, `:name` for any, or `*` for all that follow. */
function fits(pattern: readonly string[], path: readonly string[]): boolean {
  const rest = pattern.indexOf('*');
  if (rest < 0 && pattern.length !== path.length) return false;
  return pattern
    .slice(0, rest < 0 ? undefined : rest)
    .every((word, at) => (word.startsWith(':') ? path[at] !== '' : word === path[at]));
}
