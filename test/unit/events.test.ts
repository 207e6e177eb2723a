import { describe, expect, test } from 'vitest';
import { type EventBody, EventLog } from '../../src/dispatcher/events.ts';
import { OutputPace } from '../../src/dispatcher/output-pace.ts';
import type { BatchEvent } from '../../src/dispatcher/types.ts';

const output = (text: string): EventBody => ({ type: 'output', commandId: 'c1', stream: 'stdout', text });
const finished: EventBody = { type: 'batch-finished', state: 'finished' };

function logWith(count: number): EventLog {
  let at = 1000;
  const log = new EventLog('b', () => at++);
  for (let index = 0; index < count; index += 1) log.append(output(String(index)));
  return log;
}

async function read(events: AsyncIterable<BatchEvent>): Promise<readonly number[]> {
  const numbers: number[] = [];
  for await (const { seq } of events) numbers.push(seq);
  return numbers;
}

describe('the events of a batch', () => {
  test('are numbered from 1 without a gap, and carry batch and time', async () => {
    const log = logWith(2);
    log.append(finished);
    const events: BatchEvent[] = [];
    for await (const event of log.read()) events.push(event);
    expect(events).toEqual([
      { seq: 1, batchId: 'b', at: 1000, ...output('0') },
      { seq: 2, batchId: 'b', at: 1001, ...output('1') },
      { seq: 3, batchId: 'b', at: 1002, ...finished },
    ]);
    expect(events.every((event) => Object.isFrozen(event))).toBe(true);
  });

  test('are read from behind any number', async () => {
    const log = logWith(5);
    log.append(finished);
    expect(await read(log.read({ after: 3 }))).toEqual([4, 5, 6]);
    expect(await read(log.read({ after: 6 }))).toEqual([]);
    expect(await read(log.read({ after: 99 }))).toEqual([]);
  });

  test.each([-1, 0.5, Number.NaN, '3' as unknown as number])('%j is no number to read from', (after) => {
    expect(() => logWith(1).read({ after })).toThrowError(expect.objectContaining({ code: 'OPTION_INVALID' }));
  });

  test('reach readers at their own pace, early or late, while they happen', async () => {
    const log = logWith(2);
    const early = read(log.read());
    const iterator = log.read()[Symbol.asyncIterator]();
    expect(await iterator.next()).toMatchObject({ value: { seq: 1 } });
    const behind = read(log.read({ after: 2 }));
    log.append(output('2'));
    log.append(finished);
    expect(await early).toEqual([1, 2, 3, 4]);
    expect(await behind).toEqual([3, 4]);
    expect(await iterator.next()).toMatchObject({ value: { seq: 2 } });
  });

  test('two questions at once get two events', async () => {
    const log = logWith(0);
    const iterator = log.read()[Symbol.asyncIterator]();
    const both = Promise.all([iterator.next(), iterator.next()]);
    log.append(output('a'));
    log.append(output('b'));
    const numbers = (await both).map(({ value }) => value.seq);
    expect(numbers.sort()).toEqual([1, 2]);
  });

  test('end when the signal aborts, without throwing', async () => {
    const log = logWith(1);
    const controller = new AbortController();
    const iterator = log.read({ signal: controller.signal })[Symbol.asyncIterator]();
    expect(await iterator.next()).toMatchObject({ done: false, value: { seq: 1 } });
    const waiting = iterator.next();
    controller.abort(new Error('not thrown'));
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(await read(log.read({ signal: AbortSignal.abort() }))).toEqual([]);
  });

  test('a reader that leaves while it waits is let go', async () => {
    const log = logWith(0);
    const iterator = log.read()[Symbol.asyncIterator]();
    const waiting = iterator.next();
    expect(await iterator.return?.()).toEqual({ done: true, value: undefined });
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
  });

  test('nothing follows the end', async () => {
    const log = logWith(0);
    log.append(finished);
    log.append(output('late'));
    expect(log.lastSeq).toBe(1);
  });
});

describe('when output is told', () => {
  test('what comes in one moment is told together', async () => {
    let pending = 0;
    const told: number[] = [];
    await new Promise<void>((resolve) => {
      const pace = new OutputPace(() => {
        told.push(pending);
        pending = 0;
        resolve();
      });
      for (let index = 0; index < 100; index += 1) {
        pending += 1;
        pace.touch();
      }
    });
    expect(told).toEqual([100]);
  });

  test('nothing is told after it was stopped', async () => {
    let flushes = 0;
    const pace = new OutputPace(() => {
      flushes += 1;
    });
    pace.touch();
    pace.stop();
    await new Promise<void>((resolve) => {
      new OutputPace(resolve).touch();
    });
    expect(flushes).toBe(0);
  });
});
