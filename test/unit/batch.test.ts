import { describe, expect, test } from 'vitest';
import { BatchBook } from '../../src/dispatcher/batch.ts';
import type { Entry } from '../../src/dispatcher/entry.ts';
import type { EventBody } from '../../src/dispatcher/events.ts';
import { isFinal } from '../../src/dispatcher/outcome.ts';
import { resultOf } from '../../src/dispatcher/result.ts';
import type { OnFailure } from '../../src/dispatcher/types.ts';
import { verdictOf } from '../support/dispatcher.ts';

function newBook(onFailure: OnFailure = 'continue', maxParallel = 1) {
  const events: EventBody[] = [];
  const book = new BatchBook({ maxParallel, onFailure, tell: (event) => events.push(event) });
  const add = (count: number, at = 0) => {
    for (let index = 0; index < count; index += 1) {
      const id = `c${book.entries.length + 1}`;
      const order = { command: id, cwd: '/', env: {}, lockKeys: [] };
      book.add({
        id,
        order,
        ticket: 1,
        timeoutMs: 1,
        stdin: null,
        verdict: verdictOf('parallel'),
        locks: [],
        todo: null,
        addedAt: at,
      });
    }
  };
  const states = () => book.entries.map(({ state }) => state);
  const entry = (index: number) => book.entries[index] as Entry;
  return { book, events, add, states, entry };
}

describe('the book of a batch', () => {
  test('lets commands join in call order, four for each slot, and the next when one starts or ends', () => {
    const { book, add, entry } = newBook();
    add(6);
    const joined = (at: number) => book.takeJoinable(at).map(({ id }) => id);
    expect(joined(1)).toEqual(['c1', 'c2', 'c3', 'c4']);
    expect(joined(2)).toEqual([]);
    book.start(entry(0), 3, 10);
    expect(joined(4)).toEqual(['c5']);
    book.finish(entry(1), { state: 'failed', at: 5 });
    expect(joined(6)).toEqual(['c6']);
    expect(book.unstarted).toBe(4);
  });

  test('counts waiting for a turn, for locks, and running apart', () => {
    const { book, add, entry } = newBook();
    add(2, 100);
    book.takeJoinable(110);
    book.start(entry(0), 125, 10);
    book.finish(entry(0), { state: 'exited', at: 175.5, exitCode: 0 });
    expect(resultOf(entry(0))).toMatchObject({ queuedMs: 10, waitedMs: 15, ranMs: 50.5 });
    book.cancel(null, 300);
    expect(resultOf(entry(1))).toMatchObject({ queuedMs: 10, waitedMs: 190, ranMs: null });
  });

  test('a clock that goes back makes no negative times', () => {
    const { book, add, entry } = newBook();
    add(1, 100);
    book.takeJoinable(90);
    book.start(entry(0), 80, 10);
    book.finish(entry(0), { state: 'exited', at: 70, exitCode: 0 });
    expect(resultOf(entry(0))).toMatchObject({ queuedMs: 0, waitedMs: 0, ranMs: 0 });
  });

  test('every command is finished once, whatever is said afterwards', () => {
    const { book, add, entry, events } = newBook('cancel-siblings', 5);
    add(3);
    book.takeJoinable(0);
    book.start(entry(0), 1, 10);
    book.start(entry(1), 1, 11);
    const consequence = book.finish(entry(0), { state: 'exited', at: 2, exitCode: 1 });
    expect(consequence).toMatchObject({
      unstarted: [entry(2)],
      running: [entry(1)],
      note: 'Cancelled because c1 exited with 1',
    });
    expect(book.finish(entry(0), { state: 'failed', at: 3 })).toBeNull();
    expect(book.finish(entry(1), { state: 'cancelled', at: 3 })).toBeNull();
    expect(book.cancel('late', 4)).toMatchObject({ unstarted: [], running: [] });
    const finished = events.flatMap((event) => (event.type === 'finished' ? [event.commandId] : []));
    expect(finished).toEqual(['c1', 'c3', 'c2']);
  });

  test.each([
    ['exited', 0, false],
    ['exited', 1, true],
    ['failed', null, true],
    ['timed-out', null, true],
    ['cancelled', null, false],
  ] as const)('stop: %s with %s stops the rest: %s', (state, exitCode, stops) => {
    const { book, add, entry, states } = newBook('stop', 5);
    add(2);
    book.takeJoinable(0);
    book.start(entry(0), 1, 10);
    const consequence = book.finish(entry(0), { state, at: 2, exitCode });
    expect(consequence !== null).toBe(stops);
    expect(states()[1]).toBe(stops ? 'skipped' : 'waiting');
  });

  test('ends when it is closed and its last command has ended, and says so once', () => {
    const { book, add, entry, events } = newBook();
    add(1);
    expect([book.state, book.takeEnd()]).toEqual(['open', false]);
    book.close();
    expect([book.state, book.takeEnd()]).toEqual(['running', false]);
    book.takeJoinable(0);
    book.start(entry(0), 1, 10);
    book.finish(entry(0), { state: 'exited', at: 2, exitCode: 0 });
    expect([book.takeEnd(), book.takeEnd(), book.state, book.isDone]).toEqual([true, false, 'finished', true]);
    expect(events.filter(({ type }) => type === 'batch-finished')).toHaveLength(1);
    book.cancel('late', 3);
    expect(book.state).toBe('finished');
  });

  test('a deadline ends what runs as timed out, and is not a cancellation', () => {
    const { book, add, entry } = newBook();
    add(2);
    book.takeJoinable(0);
    book.start(entry(0), 1, 10);
    expect(book.expire(500, 9)).toMatchObject({ unstarted: [entry(1)], running: [entry(0)], state: 'timed-out' });
    book.finish(entry(0), { state: 'timed-out', at: 10 });
    book.close();
    expect([book.takeEnd(), book.state]).toEqual([true, 'finished']);
  });

  test('only what waits or runs is not final', () => {
    expect((['queued', 'waiting', 'running'] as const).map(isFinal)).toEqual([false, false, false]);
    expect(
      (['exited', 'failed', 'timed-out', 'cancelled', 'skipped', 'not-started', 'interrupted'] as const).every(isFinal),
    ).toBe(true);
  });
});
