import type { FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { SignalboxError } from '../errors.ts';
import { show } from '../issue-text.ts';
import { bearerToken, hasBody, isJson, type MediaType, occurrences, preferredType } from './headers.ts';
import { LINES, sendsLines, takesLines } from './line-bodies.ts';
import { ALL_SCOPES, type Scope, scopesOf } from './scopes.ts';
import type { Principal, Tokens } from './token.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks. Where no token is configured, everybody is the one who may do all but vouch. */
    principal: Principal;
  }
}

/**
 * Who may ask at all. It runs before anything else of every request, also of one to an unknown address, and reads no
 * body: Host against DNS rebinding, Origin against web pages, the token and its scope, then what the body claims to be.
 */
export type Gate = (request: FastifyRequest) => void;

export type GateOptions = {
  readonly config: Config;
  /** Null when no token is configured. */
  readonly tokens: Tokens | null;
  /** The port that is listened on; known only once it is. */
  readonly port: () => number;
};

/** Open to everybody, so that a container's health check needs no secret. It tells nothing but that somebody is there. */
export const OPEN_ROUTE = '/healthz';

/**
 * Whoever can reach a service without tokens. Vouching takes the word of a caller for what nothing proves, so that it needs
 * somebody whose word it is.
 */
export const ANYBODY: Principal = Object.freeze({
  // No token can have this name.
  name: '(anybody)',
  scopes: new Set<Scope>(ALL_SCOPES.filter((scope) => scope !== 'vouch')),
  expiresAt: Number.POSITIVE_INFINITY,
});

/** Header fields of which a second one would let two readers see two messages. */
const SINGLE = ['host', 'origin', 'authorization', 'content-type', 'content-length'] as const;

export function createGate({ config, tokens, port }: GateOptions): Gate {
  const configured = new Set(config.allowedHosts);
  const origins = new Set(config.allowedOrigins);
  const names = new Set(['localhost', '127.0.0.1', '[::1]', ...ownName(config.host)]);

  const namesUs = (host: string): boolean => {
    const name = host.toLowerCase();
    const [, bare = name, at = '80'] = /^(.*?)(?::(\d{1,5}))?$/.exec(name) ?? [];
    return (names.has(bare) && Number(at) === port()) || configured.has(name) || configured.has(`${bare}:*`);
  };

  const requireHost = (request: FastifyRequest): void => {
    // The authority of an absolute address would take precedence over the field (RFC 9112, 3.2.2): both must be ours.
    const authority = /^[a-z]+:\/\/([^/?#]*)/i.exec(request.raw.url ?? '')?.[1];
    const { host } = request.headers;
    if (host === undefined || !namesUs(host) || (authority !== undefined && !namesUs(authority))) {
      throw new SignalboxError(
        'HOST_REFUSED',
        `Expected Host to be a loopback name with port ${port()}, got ${show(host)}`,
        {
          hint: 'Other names are accepted when the setting allowedHosts lists them',
        },
      );
    }
  };

  const requireOrigin = (request: FastifyRequest): void => {
    const { origin } = request.headers;
    if (origin !== undefined) {
      if (origins.has(origin)) return;
      throw new SignalboxError('ORIGIN_REFUSED', `Expected no Origin, or one that is configured, got ${show(origin)}`);
    }
    // Browsers send no Origin with an image or a form of method GET, but they say where it comes from.
    const site = request.headers['sec-fetch-site'];
    if ((site === 'cross-site' || site === 'same-site') && !isNavigation(request)) {
      throw new SignalboxError('ORIGIN_REFUSED', `Expected no request of another site, got Sec-Fetch-Site: ${site}`);
    }
  };

  const requireToken = (request: FastifyRequest): void => {
    request.principal = ANYBODY;
    const url = request.is404 ? undefined : request.routeOptions.url;
    // Where there is nothing, any token may learn that.
    const scopes = url === undefined ? null : scopesOf(request.method, url);
    if (config.classifyOnly && scopes?.includes('run'))
      throw new SignalboxError('CLASSIFY_ONLY', 'Expected a question: this service judges and runs nothing');
    if (tokens === null || url === OPEN_ROUTE) return;
    const presented = bearerToken(request.headers.authorization);
    if (presented === undefined)
      throw new SignalboxError('TOKEN_MISSING', 'Expected Authorization: Bearer and a token');
    const principal = tokens.find(presented);
    if (principal === undefined)
      throw new SignalboxError('TOKEN_REFUSED', 'Expected a token that the token file of the service knows');
    if (principal.expiresAt <= Date.now()) {
      const since = new Date(principal.expiresAt).toISOString();
      throw new SignalboxError('TOKEN_EXPIRED', `Expected a token that still counts, got one that ended at ${since}`);
    }
    request.principal = principal;
    if (scopes === null || scopes.some((scope) => principal.scopes.has(scope))) return;
    throw new SignalboxError(
      'SCOPE_MISSING',
      `Expected a token with the scope ${scopes.join(' or ')}, got one with ${[...principal.scopes].join(', ')}`,
    );
  };

  return (request) => {
    for (const name of SINGLE) {
      if (occurrences(request.raw.rawHeaders, name) > 1)
        throw new SignalboxError('HTTP_MALFORMED', `Expected one ${name} field, got several`);
    }
    requireHost(request);
    requireOrigin(request);
    requireToken(request);
    requireJson(request, config.limits);
    requirePlainAddress(request);
  };
}

/** What the body claims to be. A form or a text is what a web page can send without asking first. */
function requireJson(
  request: FastifyRequest,
  { maxBodyBytes, maxStreamBytes }: { readonly maxBodyBytes: number; readonly maxStreamBytes: number },
): void {
  const { headers, method } = request;

  const type = headers['content-type'];
  const length = headers['content-length'];
  const mayHaveBody = method !== 'GET' && method !== 'HEAD';
  const isStream = sendsLines(request);
  if ((hasBody(request) || (mayHaveBody && type !== undefined)) && !isStream && (type === undefined || !isJson(type))) {
    const expected = `application/json${takesLines(request) ? ` or ${LINES}` : ''}`;
    throw new SignalboxError(
      'MEDIA_TYPE_REFUSED',
      `Expected Content-Type to be ${expected} in UTF-8, got ${show(type)}`,
    );
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new SignalboxError('MEDIA_TYPE_REFUSED', `Expected a body without Content-Encoding, got ${show(encoding)}`);
  }
  const most = isStream ? maxStreamBytes : maxBodyBytes;
  if (length !== undefined && Number(length) > most) {
    throw new SignalboxError('BODY_TOO_LARGE', `Expected at most ${most} bytes of body, got ${length}`);
  }
}

/** Takes the query away once it is parsed, so that nothing later can log it; refuses what would be guessed at. */
function requirePlainAddress({ raw }: FastifyRequest): void {
  const address = raw.url ?? '/';
  const at = address.indexOf('?');
  if (at >= 0) raw.url = address.slice(0, at);
  let valid = /^[\x21-\x7e]*$/.test(address);
  try {
    decodeURIComponent(address);
  } catch {
    valid = false;
  }
  if (!valid)
    throw new SignalboxError(
      'URL_MALFORMED',
      'Expected an address of ASCII characters with valid percent-encoding of UTF-8',
    );
}

/** A link that somebody followed; it shows a page and can do nothing, since GET changes nothing here. */
function isNavigation({ headers, method }: FastifyRequest): boolean {
  return method === 'GET' && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
}

/** The address that is listened on is a name of ours, unless it stands for every address. */
function ownName(host: string): readonly string[] {
  if (host === '0.0.0.0' || host === '::') return [];
  return [host.includes(':') ? `[${host}]` : host.toLowerCase()];
}

/** Throws NOT_ACCEPTABLE when the client takes none of the types, the first of which is the default. Returns its choice. */
export function requireAccept<T extends MediaType>({ headers }: FastifyRequest, ...offered: readonly T[]): T {
  const type = preferredType(headers.accept, offered);
  if (type === undefined)
    throw new SignalboxError('NOT_ACCEPTABLE', `Expected Accept to allow ${offered.join(' or ')}`);
  return type;
}
