import { describe, expect, test } from 'vitest';
import type { Verdict } from '../../src/classifier/verdict.ts';
import { ByteLog, TextRange } from '../../src/dispatcher/byte-log.ts';
import { EventLog } from '../../src/dispatcher/events.ts';
import { footprint } from '../../src/dispatcher/footprint.ts';
import { OutputPace } from '../../src/dispatcher/output-pace.ts';
import type { BatchEvent } from '../../src/dispatcher/types.ts';

const output = (text: string) => ({ type: 'output', commandId: 'c1', stream: 'stdout', text }) as const;
const finished = { type: 'batch-finished', state: 'finished' } as const;

function print(log: EventLog, text: string): void {
  const bytes = new ByteLog();
  bytes.append(Buffer.from(`before${text}`));
  log.appendOutput('c1', 'stdout', new TextRange(bytes, 6, bytes.length));
}

function logWith(count: number): EventLog {
  let at = 1000;
  const log = new EventLog('b', () => at++);
  for (let index = 0; index < count; index += 1) print(log, String(index));
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
    print(log, '2');
    log.append(finished);
    expect(await early).toEqual([1, 2, 3, 4]);
    expect(await behind).toEqual([3, 4]);
    expect(await iterator.next()).toMatchObject({ value: { seq: 2 } });
  });

  test('two questions at once get two events', async () => {
    const log = logWith(0);
    const iterator = log.read()[Symbol.asyncIterator]();
    const both = Promise.all([iterator.next(), iterator.next()]);
    print(log, 'a');
    print(log, 'b');
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
    print(log, 'late');
    expect(log.lastSeq).toBe(1);
  });
});

describe('what events take in memory', () => {
  const verdict: Verdict = {
    kind: 'serial',
    ruleset: '',
    reason: {
      check: 'input',
      code: 'INPUT_NOT_TEXT',
      knowledge: 'unrecognised',
      span: [0, 0],
      message: 'x'.repeat(50),
    },
  };

  test('grows with every event, and by two bytes for every character that is said in it', () => {
    const growth = (command: string) => {
      const log = new EventLog('b', () => 0);
      log.append({ type: 'accepted', commandId: 'c1', command, verdict });
      return log.bytes;
    };
    expect(growth('')).toBeGreaterThan(100 + 2 * 50);
    expect(growth('x'.repeat(1000)) - growth('')).toBe(2000);
  });

  test('is the same for output of any length: its text is kept in the output alone', () => {
    const bytesFor = (text: string) => {
      const log = logWith(0);
      print(log, text);
      return log.bytes;
    };
    expect(bytesFor('x'.repeat(100_000))).toBe(bytesFor('x'));
    expect(bytesFor('x')).toBeGreaterThan(0);
  });

  test('counts texts, fields and what is within', () => {
    expect(footprint(null)).toBe(0);
    expect(footprint(7)).toBe(0);
    expect(footprint('ab') - footprint('')).toBe(4);
    expect(footprint({ a: 'x'.repeat(10), b: [[]] })).toBeGreaterThan(footprint({ a: 'x'.repeat(10) }));
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
