import type { FastifySchemaCompiler } from 'fastify';
import type { z } from 'zod';
import { SignalboxError } from '../errors.ts';
import { faultsOf } from '../issue-text.ts';
import { duplicateKey } from '../rules/duplicate-keys.ts';
import { LINES } from './line-bodies.ts';

/** Where a value stands that is no body, in the words of a message. */
const PLACES: ReadonlyMap<string, string> = new Map([
  ['querystring', 'query parameter'],
  ['headers', 'header field'],
  ['params', 'part of the path'],
]);

/** Fastify's validator: zod, with every fault told by a JSON pointer into the body, or by the name of the parameter. */
export const compileValidator: FastifySchemaCompiler<z.ZodType> = ({ schema, httpPart, contentType }) => {
  // Lines are held against the schema one by one, when each has come.
  if (contentType === LINES) return (data) => ({ value: data });
  const place = PLACES.get(httpPart ?? 'body');
  return (data) => {
    const result = schema.safeParse(data);
    return result.success ? { value: result.data } : { error: faultIn(data, result.error, place) };
  };
};

/** The value of one line, held against its schema. Throws BODY_NOT_JSON and REQUEST_INVALID. */
export function parseLine<Value>(schema: z.ZodType<Value>, bytes: Buffer): Value {
  const value = parseBody(bytes, 'line');
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw faultIn(value, result.error, undefined);
}

function faultIn(data: unknown, error: z.ZodError, place: string | undefined): SignalboxError {
  if (place === undefined && (data === null || data === undefined)) {
    return new SignalboxError('REQUEST_INVALID', 'Expected a body of JSON, got nothing', { pointer: '' });
  }
  const faults = faultsOf(error.issues, data).map(({ pointer = '', detail }) =>
    place === undefined ? { pointer, detail } : { detail: `${detail} as the ${place} ${pointer.slice(1)}` },
  );
  const [first = { detail: 'Expected another value' }] = faults;
  return new SignalboxError(
    'REQUEST_INVALID',
    place === undefined ? `${first.detail} at ${first.pointer || '/'}` : first.detail,
    {
      ...(first.pointer === undefined ? {} : { pointer: first.pointer }),
      faults: faults.slice(0, 20),
    },
  );
}

/**
 * Reads a body: UTF-8 without exception (a replaced byte would be another command), then JSON without the keys that
 * have a meaning in JavaScript, and without any key twice. Nothing at all is no body.
 */
export function parseBody(bytes: Buffer, name: 'body' | 'line' = 'body'): unknown {
  if (bytes.length === 0) return undefined;
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new SignalboxError('BODY_NOT_JSON', `Expected a ${name} in UTF-8, got bytes that are none`, { cause });
  }
  let forbidden = false;
  const refuse = (key: string, inner: unknown): unknown => {
    forbidden ||= key === '__proto__';
    return inner;
  };
  let value: unknown;
  try {
    // Looking at every key doubles the cost; only a text that may spell this one is looked at.
    value = text.includes('__proto__') || text.includes('\\u') ? JSON.parse(text, refuse) : JSON.parse(text);
  } catch (cause) {
    const position = /at position (\d+)/.exec((cause as Error).message)?.[1];
    const where = position === undefined ? '' : `, got something else at character ${position}`;
    throw new SignalboxError('BODY_NOT_JSON', `Expected a ${name} of JSON${where}`, { cause });
  }
  if (forbidden) throw new SignalboxError('BODY_NOT_JSON', `Expected no key named __proto__ in the ${name}`);
  const twice = duplicateKey(text);
  if (twice !== null) {
    // Whoever looked at the body before us may have kept the first of the two.
    throw new SignalboxError('REQUEST_INVALID', `Expected each key once in an object, got ${twice} twice`, {
      pointer: twice,
    });
  }
  return value;
}
