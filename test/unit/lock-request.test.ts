import { describe, expect, test } from 'vitest';
import { type HoldMode, nameOf } from '../../src/dispatcher/lock-modes.ts';
import { areConflicting, isCovering, type LockRequests, readRequests } from '../../src/dispatcher/lock-request.ts';
import type { LockMode, LockRequest } from '../../src/dispatcher/types.ts';

const read = (requests: LockRequests): Readonly<Record<string, HoldMode>> =>
  Object.fromEntries(readRequests(requests).map(({ key, mode }) => [key, nameOf(mode)]));

const as = (mode: LockMode, key: string): LockRequest => ({ key, mode });

describe('requests', () => {
  test.each<[LockRequests, Readonly<Record<string, HoldMode>>]>([
    ['k', { k: 'exclusive' }],
    [[], {}],
    [{ key: 'k' }, { k: 'exclusive' }],
    ['file:/', { 'file:/': 'exclusive' }],
    ['file:/a', { 'file:/a': 'exclusive', 'file:/': 'intention-exclusive' }],
    ['file:/a/b', { 'file:/a/b': 'exclusive', 'file:/a': 'intention-exclusive', 'file:/': 'intention-exclusive' }],
    [as('shared', 'file:/a'), { 'file:/a': 'shared', 'file:/': 'intention-shared' }],
    [as('intention-shared', 'file:/a'), { 'file:/a': 'intention-shared', 'file:/': 'intention-shared' }],
    [as('intention-exclusive', 'file:/a'), { 'file:/a': 'intention-exclusive', 'file:/': 'intention-exclusive' }],
    [['file:/a', as('shared', 'file:/')], { 'file:/a': 'exclusive', 'file:/': 'shared-intention-exclusive' }],
    ['file:a/b', { 'file:a/b': 'exclusive' }],
  ])('%j is every key once, with the intentions above it', (requests, expected) => {
    expect(read(requests)).toEqual(expected);
    expect(readRequests(requests)).toHaveLength(Object.keys(expected).length);
  });

  test.each([1, 7, 8, 9, 10, 40])('%i keys, each named three times, count once each in the stronger mode', (count) => {
    const keys = Array.from({ length: count }, (_, at) => `key ${at}`);
    const thrice = [
      ...keys.map((key) => as('shared', key)),
      ...keys,
      ...keys.map((key) => as('intention-shared', key)),
    ];
    const found = readRequests(thrice);
    expect(found.map(({ key }) => key)).toEqual(keys);
    expect(found.every(({ mode }) => nameOf(mode) === 'exclusive')).toBe(true);
  });

  test.each<[unknown, string]>([
    [7, 'Expected a lock request to be a key or { key, mode }, got 7'],
    [true, 'Expected a lock request to be a key or { key, mode }, got true'],
    [null, 'Expected a lock request to be a key or { key, mode }, got null'],
    [undefined, 'Expected a lock request to be a key or { key, mode }, got undefined'],
    [['k', Symbol('s')], 'Expected lock request 1 to be a key or { key, mode }, got symbol'],
    [[['k']], 'Expected the key of lock request 0 to be a string, got undefined'],
    [{ key: ['k'] }, 'Expected the key of a lock request to be a string, got an array'],
    [{ key: {} }, 'Expected the key of a lock request to be a string, got object'],
    [
      { key: 'k', mode: 'x'.repeat(80) },
      `Expected the mode of a lock request to be 'shared', 'exclusive', 'intention-shared' or 'intention-exclusive', got "${'x'.repeat(64)}"`,
    ],
  ])('%j is refused by a message that says what was expected, where, and what came', (requests, message) => {
    expect(() => readRequests(requests as LockRequests)).toThrow(
      expect.objectContaining({ code: 'OPTION_INVALID', message: expect.stringContaining(message) }),
    );
  });
});

describe('two requests', () => {
  test.each<[LockRequests, LockRequests, boolean]>([
    ['k', 'k', true],
    ['k', 'l', false],
    [['k', 'l'], ['m', as('shared', 'l')], true],
    [as('shared', 'k'), as('shared', 'k'), false],
    ['file:/a', 'file:/a/b', true],
    ['file:/a/b', 'file:/a/c', false],
    [as('shared', 'file:/a'), as('shared', 'file:/a/b'), false],
    [as('intention-exclusive', 'file:/a'), as('shared', 'file:/a'), true],
    [[], 'k', false],
  ])('%j and %j conflict: %s', (one, other, expected) => {
    expect(areConflicting(one, other)).toBe(expected);
    expect(areConflicting(other, one)).toBe(expected);
  });

  test.each<[LockRequests, LockRequests, boolean]>([
    ['k', 'k', true],
    ['k', as('shared', 'k'), true],
    [as('shared', 'k'), 'k', false],
    ['k', 'l', false],
    [['k', 'l'], 'l', true],
    ['k', ['k', 'l'], false],
    ['k', [], true],
    ['file:/a', 'file:/a/b', true],
    ['file:/a', 'file:/a/b/c/d', true],
    ['file:/', 'file:/a', true],
    ['file:/a/b', 'file:/a', false],
    [as('shared', 'file:/a'), as('shared', 'file:/a/b'), true],
    [as('shared', 'file:/a'), 'file:/a/b', false],
    [as('intention-exclusive', 'file:/a'), 'file:/a/b', false],
    // Seen as a whole, and one file of it changed.
    [[as('shared', 'file:/a'), 'file:/a/b'], ['file:/a/b', as('shared', 'file:/a/c')], true],
    [[as('shared', 'file:/a'), 'file:/a/b'], 'file:/a/c', false],
    // What lies above decides also where something weaker is held on the way.
    [['file:/a', as('shared', 'file:/a/b')], 'file:/a/b/c', true],
    [[as('shared', 'file:/a'), as('intention-exclusive', 'file:/a/b')], as('shared', 'file:/a/b/c'), true],
    [[as('shared', 'file:/a'), 'file:/a/b'], 'file:/a/b/c', true],
    [[as('shared', 'file:/a'), as('intention-exclusive', 'file:/a/b')], as('intention-exclusive', 'file:/a/b'), true],
    [[as('shared', 'file:/a'), as('intention-exclusive', 'file:/a/b')], as('shared', 'file:/a/b'), true],
  ])('who holds %j has all of %j: %s', (held, wanted, expected) => {
    expect(isCovering(held, wanted)).toBe(expected);
  });
});
