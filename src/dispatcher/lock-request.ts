import { SignalboxError } from '../errors.ts';
import {
  conflicts,
  covers as coversMode,
  EXCLUSIVE,
  intentionOf,
  joined,
  type Mode,
  modeBelow,
  modeNamed,
} from './lock-modes.ts';
import type { LockRequest } from './lock-types.ts';

/** One key or several, to be had at once. */
export type LockRequests = LockRequest | readonly LockRequest[];

/** A key in a mode, as the queues take it. */
export type KeyInMode = { readonly key: string; mode: Mode };

/** Keys of this shape are paths: one stands below another as the files do. */
const PATH = 'file:/';

/** Below this many keys, looking through the list is cheaper than building a map. */
const FEW = 8;

/**
 * Reads what a caller asks for into keys in modes: every key once, in the weakest mode that gives all that was asked of
 * it, and for a path key everything above it in the intention mode. The result shares nothing with the caller's objects,
 * so that nothing of theirs runs while the queues are joined.
 *
 * @throws SignalboxError OPTION_INVALID for anything but keys (strings) and `{ key, mode }`.
 */
export function readRequests(requests: LockRequests): readonly KeyInMode[] {
  // By far the most common request.
  if (typeof requests === 'string' && !requests.startsWith(PATH)) return [{ key: requests, mode: EXCLUSIVE }];
  const read = new Requested();
  if (Array.isArray(requests)) {
    const list = requests as readonly LockRequest[];
    // By index and not for..of: a hole in the array is bad input, not a request to pass over.
    for (let index = 0; index < list.length; index++) readOne(read, list[index] as LockRequest, index);
  } else {
    readOne(read, requests as LockRequest, null);
  }
  return read.list;
}

/** The key of the directory that a path key lies in; null for the root and for what is no path. */
function keyAbove(key: string): string | null {
  if (key.length <= PATH.length || !key.startsWith(PATH)) return null;
  const slash = key.lastIndexOf('/');
  return slash < PATH.length ? PATH : key.slice(0, slash);
}

/** Whether two acquires that ask for these may not hold them at the same time. Throws as `readRequests` does. */
export function areConflicting(one: LockRequests, other: LockRequests): boolean {
  const modes = modesOf(readRequests(one));
  return readRequests(other).some(({ key, mode }) => {
    const held = modes.get(key);
    return held !== undefined && conflicts(held, mode);
  });
}

/** Whether who holds the one has all that the other asks for. Throws as `readRequests` does. */
export function isCovering(held: LockRequests, wanted: LockRequests): boolean {
  const modes = modesOf(readRequests(held));
  return readRequests(wanted).every(({ key, mode }) => {
    const has = modeIn(modes, key);
    return has !== null && coversMode(has, mode);
  });
}

export function modesOf(requests: readonly KeyInMode[]): ReadonlyMap<string, Mode> {
  return new Map(requests.map(({ key, mode }) => [key, mode]));
}

/** What a hold of these gives on a key, by itself or by a hold on something above it; null if nothing. */
export function modeIn(modes: ReadonlyMap<string, Mode>, key: string): Mode | null {
  let found = modes.get(key) ?? null;
  for (let above = keyAbove(key); above !== null && found !== EXCLUSIVE; above = keyAbove(above)) {
    const held = modes.get(above);
    const given = held === undefined ? null : modeBelow(held);
    if (given !== null) found = found === null ? given : joined(found, given);
  }
  return found;
}

class Requested {
  readonly list: KeyInMode[] = [];
  #byKey: Map<string, KeyInMode> | null = null;

  add(key: string, mode: Mode): void {
    const { list } = this;
    let known: KeyInMode | undefined;
    if (this.#byKey !== null) known = this.#byKey.get(key);
    else {
      for (let at = 0; at < list.length && known === undefined; at++) if (list[at]?.key === key) known = list[at];
    }
    if (known !== undefined) {
      known.mode = joined(known.mode, mode);
      return;
    }
    const wanted = { key, mode };
    list.push(wanted);
    if (this.#byKey !== null) this.#byKey.set(key, wanted);
    else if (list.length > FEW) this.#byKey = new Map(list.map((each) => [each.key, each]));
  }
}

function readOne(read: Requested, request: LockRequest, index: number | null): void {
  if (typeof request === 'string') {
    addWithIntentions(read, request, EXCLUSIVE);
    return;
  }
  if (typeof request !== 'object' || request === null) {
    throw invalid(`${placed(index)} to be a key or { key, mode }`, request);
  }
  const { key, mode = 'exclusive' } = request;
  if (typeof key !== 'string') throw invalid(`the key of ${placed(index)} to be a string`, key);
  const wanted = modeNamed(mode);
  if (wanted === undefined) {
    const modes = "'shared', 'exclusive', 'intention-shared' or 'intention-exclusive'";
    throw invalid(`the mode of ${placed(index)} to be ${modes}`, mode);
  }
  addWithIntentions(read, key, wanted);
}

function addWithIntentions(read: Requested, key: string, mode: Mode): void {
  read.add(key, mode);
  const intention = intentionOf(mode);
  for (let above = keyAbove(key); above !== null; above = keyAbove(above)) read.add(above, intention);
}

function placed(index: number | null): string {
  return index === null ? 'a lock request' : `lock request ${index}`;
}

function invalid(expected: string, value: unknown): SignalboxError {
  return new SignalboxError('OPTION_INVALID', `Expected ${expected}, got ${named(value)}`);
}

/** Says what came without ever throwing: a value from outside may have a hostile `toString`. */
function named(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 64));
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return Array.isArray(value) ? 'an array' : typeof value;
}
