import type { FastifyRequest } from 'fastify';
import { isLines } from './headers.ts';

/** Bodies of lines, which are read while they come. */
export const LINES = 'application/x-ndjson';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route reads bodies of lines besides JSON. */
    takesLines?: boolean;
  }
}

/** Whether the address that is asked reads lines too. */
export function takesLines(request: FastifyRequest): boolean {
  return !request.is404 && request.routeOptions.config?.takesLines === true;
}

/** Whether the body of this request is lines. */
export function sendsLines(request: FastifyRequest): boolean {
  return takesLines(request) && isLines(request.headers['content-type']);
}
