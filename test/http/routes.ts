import { subscribe } from 'node:diagnostics_channel';
import type { FastifyInstance, RouteOptions } from 'fastify';

/** A route as it is registered. */
export type Route = { readonly method: string; readonly url: string };

const registered = new WeakMap<FastifyInstance, Route[]>();

// Fastify itself tells of every instance and every route, so a new one cannot be forgotten by the tests that walk them.
subscribe('fastify.initialization', (message) => {
  const { fastify } = message as { fastify: FastifyInstance };
  const routes: Route[] = [];
  registered.set(fastify, routes);
  fastify.addHook('onRoute', ({ method, url }: RouteOptions) => {
    for (const each of [method].flat()) routes.push({ method: each, url });
  });
});

/** Every route of an instance that was made after this module was loaded. */
export function routesOf(app: FastifyInstance): readonly Route[] {
  return registered.get(app) ?? [];
}

/** An address that leads to the route. */
export function addressOf({ url }: Route): string {
  return url.replace(/:[^/]+/g, '00000000-0000-4000-8000-000000000000').replace('*', 'index.css');
}
