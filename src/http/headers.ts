import type { IncomingHttpHeaders } from 'node:http';

/** Reading of the few header fields that the service acts on. Nothing here throws; what cannot be read is no match. */

/** The media types that the service can answer with. */
export type MediaType =
  | 'text/plain'
  | 'application/json'
  | 'text/event-stream'
  | 'application/x-ndjson'
  | 'text/markdown';

/**
 * The offered type that an Accept header likes best; of equals the first offered. Undefined when none fits. A missing
 * header accepts everything (RFC 9110, 12.5.1); of several ranges for one type the most specific counts.
 */
export function preferredType<T extends MediaType>(accept: string | undefined, offered: readonly T[]): T | undefined {
  if (accept === undefined) return offered[0];
  const ranges = accept.split(',').map((part) => {
    const [range = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase());
    const q = parameters.find((each) => each.startsWith('q='))?.slice(2);
    return { range, q: q === undefined ? 1 : Number(q) || 0 };
  });
  let best: { type: T; q: number } | undefined;
  for (const type of offered) {
    const [family] = type.split('/');
    const match = [type, `${family}/*`, '*/*'].flatMap((range) => ranges.filter((each) => each.range === range))[0];
    if (match !== undefined && match.q > (best?.q ?? 0)) best = { type, q: match.q };
  }
  return best?.type;
}

/** The seconds of `Prefer: wait=N` (RFC 7240); undefined when it does not ask or cannot be read. */
export function preferredWait(prefer: string | undefined): number | undefined {
  for (const preference of (prefer ?? '').split(',')) {
    const [name, value] = (preference.split(';')[0] ?? '').split('=').map((piece) => piece.trim());
    if (name?.toLowerCase() === 'wait' && value !== undefined && /^"?\d{1,9}"?$/.test(value)) {
      return Number(value.replaceAll('"', ''));
    }
  }
  return undefined;
}

/** Whether a Content-Type says JSON in UTF-8, which is the only body that most addresses read. */
export function isJson(contentType: string): boolean {
  return isUtf8Of('application/json', contentType);
}

/** Whether a Content-Type says lines of JSON in UTF-8. */
export function isLines(contentType: string | undefined): boolean {
  return contentType !== undefined && isUtf8Of('application/x-ndjson', contentType);
}

function isUtf8Of(expected: string, contentType: string): boolean {
  const [type = '', ...parameters] = contentType.split(';').map((piece) => piece.trim().toLowerCase());
  if (type !== expected) return false;
  return parameters.every((each) => !each.startsWith('charset') || /^charset="?utf-8"?$/.test(each));
}

/** The token of `Authorization: Bearer …`; undefined for another scheme or none. */
export function bearerToken(authorization: string | undefined): string | undefined {
  const [scheme, token, ...rest] = (authorization ?? '').split(' ');
  return scheme?.toLowerCase() === 'bearer' && token !== undefined && token !== '' && rest.length === 0
    ? token
    : undefined;
}

/** How often a header field stands in a message; Node keeps only the first of some, another reader may keep the last. */
export function occurrences(rawHeaders: readonly string[], name: string): number {
  return rawHeaders.filter((value, index) => index % 2 === 0 && value.toLowerCase() === name).length;
}

/** Whether a body follows the header. */
export function hasBody({ headers }: { readonly headers: IncomingHttpHeaders }): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}
