import { expect, test } from 'vitest';
import type { BatchEvent } from '../../src/dispatcher/types.ts';
import { type Told, ToldEvents } from '../../src/http/told-events.ts';
import type { LineRecord } from '../../src/http/upload.ts';

const event = (seq: number): BatchEvent => ({ seq, batchId: 'b', at: 0, type: 'batch-finished', state: 'finished' });
const record = (line: number): LineRecord => ({ batchId: 'b', line, type: 'known', commandId: 'c' });

/** Events that come when they are told to. */
function source() {
  const waiting: ((result: IteratorResult<BatchEvent>) => void)[] = [];
  const events: AsyncIterator<BatchEvent> = { next: () => new Promise((resolve) => waiting.push(resolve)) };
  return {
    events,
    asked: () => waiting.length,
    give: (seq: number) => waiting.shift()?.({ done: false, value: event(seq) }),
    end: () => waiting.shift()?.({ done: true, value: undefined }),
  };
}

const numberOf = (told: Told): string => ('line' in told ? `line ${told.line}` : `event ${told.seq}`);

test('a record is told at once while an event is waited for, and neither is lost, doubled or asked for twice', async () => {
  const { events, asked, give, end } = source();
  const told = new ToldEvents(events);
  const next = async () => {
    const result = await told.next();
    return result.done === true ? 'end' : numberOf(result.value);
  };
  const first = next();
  told.tell(record(1));
  expect(await first).toBe('line 1');
  const second = next();
  give(1);
  expect(await second).toBe('event 1');
  told.tell(record(2));
  told.tell(record(3));
  expect([await next(), await next()]).toEqual(['line 2', 'line 3']);
  const third = next();
  expect(asked()).toBe(1);
  told.tell(record(4));
  give(2);
  expect([await third, await next()]).toEqual(['line 4', 'event 2']);
  const last = next();
  end();
  expect(await last).toBe('end');
});

test('an error of the events is an error of all', async () => {
  const told = new ToldEvents({ next: () => Promise.reject(new Error('broken')) });
  await expect(told.next()).rejects.toThrow('broken');
});
