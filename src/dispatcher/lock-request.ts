import { SignalboxError } from '../errors.ts';
import type { LockMode, LockRequest } from './types.ts';

/** A request with its mode spelled out. */
export type KeyInMode = { readonly key: string; mode: LockMode };

/** Below this many keys, looking through the list is cheaper than building a map. */
const FEW = 8;

/**
 * Reads what a caller asks for into keys in modes, every key once, in its stronger mode, in order of first mention.
 * The result shares nothing with the caller's objects, so that nothing of theirs runs while the queues are joined.
 *
 * @throws SignalboxError OPTION_INVALID for anything but keys (strings) and `{ key, mode }`.
 */
export function readRequests(requests: LockRequest | readonly LockRequest[]): readonly KeyInMode[] {
  if (!Array.isArray(requests)) return [readOne(requests as LockRequest, 'a lock request')];
  const list = requests as readonly LockRequest[];
  const read: KeyInMode[] = [];
  const byKey = list.length > FEW ? new Map<string, KeyInMode>() : null;
  // By index and not for..of: a hole in the array is bad input, not a request to pass over.
  for (let index = 0; index < list.length; index++) {
    const wanted = readOne(list[index] as LockRequest, `lock request ${index}`);
    const known = byKey === null ? read.find((other) => other.key === wanted.key) : byKey.get(wanted.key);
    if (known === undefined) {
      read.push(wanted);
      byKey?.set(wanted.key, wanted);
    } else if (wanted.mode === 'exclusive') {
      known.mode = 'exclusive';
    }
  }
  return read;
}

function readOne(request: LockRequest, what: string): KeyInMode {
  if (typeof request === 'string') return { key: request, mode: 'exclusive' };
  if (typeof request !== 'object' || request === null) {
    throw new SignalboxError('OPTION_INVALID', `Expected ${what} to be a key or { key, mode }, got ${named(request)}`);
  }
  const { key, mode = 'exclusive' } = request;
  if (typeof key !== 'string') {
    throw new SignalboxError('OPTION_INVALID', `Expected the key of ${what} to be a string, got ${named(key)}`);
  }
  if (mode !== 'shared' && mode !== 'exclusive') {
    const got = named(mode);
    throw new SignalboxError(
      'OPTION_INVALID',
      `Expected the mode of ${what} to be 'shared' or 'exclusive', got ${got}`,
    );
  }
  return { key, mode };
}

/** Says what came without ever throwing: a value from outside may have a hostile `toString`. */
function named(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 64));
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return Array.isArray(value) ? 'an array' : typeof value;
}
