import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { SignalboxError } from '../errors.ts';

/** Answers whether a presented token is the one; takes the same time for every wrong one. */
export type TokenCheck = (presented: string) => boolean;

/**
 * Reads the one bearer token of a file: 16 to 512 visible ASCII characters on one line; a final newline is no part of
 * it. Only its hash is kept. Throws CONFIG_INVALID, which never repeats the content.
 */
export function readTokenFile(path: string): TokenCheck {
  let content: string;
  try {
    content = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new SignalboxError('CONFIG_INVALID', `Expected a readable token file, got ${JSON.stringify(path)}`, {
      cause,
    });
  }
  const token = content.replace(/\r?\n$/, '');
  if (!/^[\x21-\x7e]{16,512}$/.test(token)) {
    throw new SignalboxError(
      'CONFIG_INVALID',
      `Expected one token of 16 to 512 visible ASCII characters on one line in ${JSON.stringify(path)}, got ${token.length} characters`,
      { hint: 'openssl rand -hex 32 > token' },
    );
  }
  const expected = digest(token);
  return (presented) => timingSafeEqual(digest(presented), expected);
}

/** Equal lengths for the comparison, and nothing in memory that a heap dump could be asked for. */
function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
