import { writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Batch, BatchEvent, Dispatcher } from '../../src/dispatcher/types.ts';
import { batchEvent } from '../../src/http/answers.ts';
import { openService, parseLines, parseSse, send, startService, until } from './service.ts';

let service: Awaited<ReturnType<typeof openService>>;
beforeAll(async () => {
  service = await openService();
});
afterAll(() => service.close());

const NDJSON = { accept: 'application/x-ndjson' };

/** A batch of two commands that has ended. */
const ended = () =>
  service.run(
    {
      commands: [
        { id: 'one', command: 'echo first; exit 3' },
        { id: 'two', command: 'pwd' },
      ],
    },
    { prefer: 'wait=30' },
  );

/** A command that prints `a`, waits until it is let go, and prints `b`. */
const held = (name: string) => {
  const file = join(service.root, name);
  return {
    command: `echo a; while [ ! -e ${file} ]; do sleep 0.02; done; echo b`,
    letGo: () => writeFileSync(file, ''),
  };
};

/** Reads a stream until what has come satisfies; the stream is still open then. */
async function readUntil(stream: IncomingMessage, isEnough: (got: string) => boolean): Promise<string> {
  let got = '';
  stream.setEncoding('utf8');
  return await new Promise((resolve, reject) => {
    stream.once('error', reject);
    stream.once('end', () => reject(new Error(`The stream ended with ${got}`)));
    stream.on('data', (chunk: string) => {
      got += chunk;
      if (isEnough(got)) resolve(got);
    });
  });
}

/** What has come of a stream, at any time, and all of it. */
function collect(stream: IncomingMessage): { soFar: () => string; whole: Promise<string> } {
  let got = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    got += chunk;
  });
  const whole = new Promise<string>((resolve, reject) => stream.once('error', reject).once('end', () => resolve(got)));
  return { soFar: () => got, whole };
}

describe('the events of a batch', () => {
  test('come as server-sent events by default, each whole, numbered without a gap, with its command', async () => {
    const batch = await ended();
    const answer = await service.call(`/batches/${batch.id}/events`);
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('text/event-stream');
    const events = parseSse(answer.text);
    expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => String(index + 1)));
    for (const { id, event, data } of events) {
      expect(batchEvent.parse(data)).toMatchObject({ seq: Number(id), type: event, batchId: batch.id });
    }
    expect(events.at(-1)?.data).toMatchObject({ type: 'batch-finished', state: 'finished' });
    const ofTwo = events.flatMap(({ data }) => ('commandId' in data && data.commandId === 'two' ? [data.type] : []));
    expect(ofTwo.filter((type) => type !== 'waiting')).toEqual(['accepted', 'started', 'output', 'finished']);
    expect(events.find(({ data }) => data.type === 'finished')?.data).toMatchObject({
      commandId: 'one',
      exitCode: 3,
      state: 'exited',
    });
  });

  test('are the same as one JSON value a line', async () => {
    const batch = await ended();
    const sse = parseSse((await service.call(`/batches/${batch.id}/events`)).text);
    const answer = await service.call(`/batches/${batch.id}/events`, { headers: NDJSON });
    expect(answer.headers['content-type']).toBe('application/x-ndjson');
    expect(parseLines(answer.text)).toEqual(sse.map(({ data }) => data));
  });

  test('go on behind any number, by the field or the parameter, of which the field counts more', async () => {
    const { id } = await ended();
    const all = parseLines((await service.call(`/batches/${id}/events`, { headers: NDJSON })).text);
    const seqs = async (query: string, headers: Record<string, string> = {}) =>
      parseLines(
        (await service.call(`/batches/${id}/events${query}`, { headers: { ...NDJSON, ...headers } })).text,
      ).map(({ seq }) => seq);
    for (let after = 0; after < all.length; after += 1) {
      const rest = all.slice(after).map(({ seq }) => seq);
      expect(await seqs(`?after=${after}`)).toEqual(rest);
      expect(await seqs('', { 'last-event-id': String(after) })).toEqual(rest);
    }
    expect(await seqs('?after=0', { 'last-event-id': '3' })).toEqual(all.slice(3).map(({ seq }) => seq));
  });

  test('are told while they happen, and a reader that lost its connection misses none', async () => {
    const { command, letGo } = held('lost');
    const { id } = await service.run({ commands: [command] });
    const stream = await send(service.port, `/batches/${id}/events`);
    const before = parseSse(await readUntil(stream, (got) => got.includes('"text":"a\\n"')));
    stream.destroy();
    letGo();
    const last = before.at(-1)?.id ?? '';
    const after = parseSse((await service.call(`/batches/${id}/events`, { headers: { 'last-event-id': last } })).text);
    const seqs = [...before, ...after].map(({ data }) => data.seq);
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    expect(after.some(({ data }) => data.type === 'output' && data.text === 'b\n')).toBe(true);
  });

  test('are the same for many readers, wherever they came in', async () => {
    const { command, letGo } = held('many');
    const { id } = await service.run({ commands: [command, 'pwd'] });
    const readers = Array.from({ length: 20 }, (_, n) =>
      service.call(`/batches/${id}/events?after=${n % 3}`, { headers: NDJSON }),
    );
    letGo();
    const streams = (await Promise.all(readers)).map((answer) => parseLines(answer.text));
    for (const [n, events] of streams.entries()) expect(events).toEqual(streams[0]?.slice(n % 3));
  });

  test('keep text as it is: line ends, separators, other planes', async () => {
    const words = 'a\\r\\nb\\n\\ndata: x\\u2028\\U0001f600\\0end';
    const batch = await service.run({ commands: [`printf '${words}'`] }, { prefer: 'wait=30' });
    const expected = 'a\r\nb\n\ndata: x\u2028\u{1f600}\0end';
    expect(batch.commands[0]?.stdout).toBe(expected);
    const printed = (events: readonly BatchEvent[]) =>
      events.map((event) => (event.type === 'output' ? event.text : '')).join('');
    expect(printed(parseSse((await service.call(`/batches/${batch.id}/events`)).text).map(({ data }) => data))).toBe(
      expected,
    );
    expect(printed(parseLines((await service.call(`/batches/${batch.id}/events`, { headers: NDJSON })).text))).toBe(
      expected,
    );
  });
});

describe('the end of a stream', () => {
  test('is the answer 204 when nothing is left to tell, so that no browser comes back', async () => {
    const { id } = await ended();
    const { length } = parseSse((await service.call(`/batches/${id}/events`)).text);
    for (const after of [length, length + 1, 999_999]) {
      const answer = await service.call(`/batches/${id}/events`, { headers: { 'last-event-id': String(after) } });
      expect([answer.status, answer.text]).toEqual([204, '']);
    }
  });

  test('comes with a cancellation', async () => {
    const { id } = await service.run({ commands: ['sleep 30', 'echo never'] });
    const stream = text(await send(service.port, `/batches/${id}/events`, { headers: NDJSON }));
    await service.call(`/batches/${id}`, { method: 'DELETE' });
    const events = parseLines(await stream);
    expect(events.at(-1)).toMatchObject({ type: 'batch-finished', state: 'cancelled' });
    expect(events.filter(({ type }) => type === 'finished')).toHaveLength(2);
  });
});

describe('what a reader asks for', () => {
  test.each<[string | undefined, string]>([
    [undefined, 'text/event-stream'],
    ['*/*', 'text/event-stream'],
    ['text/*', 'text/event-stream'],
    ['application/*', 'application/x-ndjson'],
    ['application/x-ndjson', 'application/x-ndjson'],
    ['Application/X-NDJSON', 'application/x-ndjson'],
    ['text/event-stream;q=0.5, application/x-ndjson', 'application/x-ndjson'],
    ['application/x-ndjson;q=0.2, */*;q=0.1', 'application/x-ndjson'],
    ['text/event-stream;q=0, */*', 'application/x-ndjson'],
  ])('Accept: %s', async (accept, type) => {
    const { id } = await ended();
    const answer = await service.call(`/batches/${id}/events`, { headers: accept === undefined ? {} : { accept } });
    expect(answer.headers['content-type']).toBe(type);
  });

  test.each(['text/html', 'application/json', 'text/event-stream;q=0', 'nonsense', '*/*;q=0'])(
    'Accept: %s is refused',
    async (accept) => {
      const { id } = await ended();
      const answer = await service.call(`/batches/${id}/events`, { headers: { accept } });
      expect(answer.json).toMatchObject({ status: 406, code: 'NOT_ACCEPTABLE' });
    },
  );

  test.each(['x', '-1', '1.5', '', '1e3', ' 1', '9'.repeat(20)])('behind number %j is refused', async (after) => {
    const { id } = await ended();
    const answer = await service.call(`/batches/${id}/events?after=${encodeURIComponent(after)}`);
    expect(answer.json).toMatchObject({
      status: 400,
      code: 'REQUEST_INVALID',
      detail: expect.stringContaining('after'),
    });
    expect(answer.json.pointer).toBeUndefined();
  });

  test('HEAD is told the type and reads nothing', async () => {
    const { id } = await service.run({ commands: ['sleep 30'] });
    const answer = await service.call(`/batches/${id}/events`, { method: 'HEAD' });
    expect([answer.status, answer.headers['content-type'], answer.text]).toEqual([200, 'text/event-stream', '']);
    await service.call(`/batches/${id}`, { method: 'DELETE' });
  });
});

describe('a reader and its connection', () => {
  test('silence is broken by a sign of life that is no event', async () => {
    const quiet = await startService({ flags: { 'heartbeat-ms': 20 } });
    const go = join(quiet.root, 'go');
    const { id } = await quiet.run({ commands: [`while [ ! -e ${go} ]; do sleep 0.02; done`] });
    const sse = collect(await send(quiet.port, `/batches/${id}/events`));
    const lines = collect(await send(quiet.port, `/batches/${id}/events`, { headers: NDJSON }));
    await until(() => sse.soFar().split(': still here\n\n').length > 3 && /\n {3,}$/.test(lines.soFar()));
    writeFileSync(go, '');
    // Every line is a JSON value, the blanks of the silence before it included.
    expect(parseSse(await sse.whole).map(({ data }) => data)).toEqual(parseLines(await lines.whole));
  });

  test('is connected at once, also when there is nothing to tell yet', async () => {
    const { id } = await service.run({ commands: ['sleep 30'] });
    await until(async () => (await service.call(`/batches/${id}`)).json.commands[0].state === 'running');
    const stream = await send(service.port, `/batches/${id}/events?after=100`);
    expect(stream.statusCode).toBe(200);
    stream.destroy();
    await service.call(`/batches/${id}`, { method: 'DELETE' });
  });

  test('that leaves is let go, and the batch and the others go on', async () => {
    const signals: AbortSignal[] = [];
    const watched = await startService({
      dispatcher: watchEvents((options) => options?.signal && signals.push(options.signal)),
    });
    const { id } = await watched.run({ commands: ['sleep 1', 'echo on'] });
    const stream = await send(watched.port, `/batches/${id}/events`);
    await readUntil(stream, (got) => got.includes('started'));
    stream.destroy();
    await until(() => signals[0]?.aborted === true);
    const other = parseSse((await watched.call(`/batches/${id}/events`)).text);
    expect(other.at(-1)?.data).toMatchObject({ type: 'batch-finished', state: 'finished' });
  });

  test('that reads slowly is sent no more than it takes, and in the end everything', async () => {
    const bytes = 24_000_000;
    let pulled = 0;
    const service = await startService({
      flags: { 'max-output-bytes': 32_000_000, 'max-batch-output-bytes': 32_000_000 },
      dispatcher: watchEvents(undefined, (event) => {
        if (event.type === 'output') pulled += event.text.length;
      }),
    });
    const batch = await service.run({ commands: [`head -c ${bytes} /dev/zero | tr '\\0' x`] }, { prefer: 'wait=60' });
    expect(batch.commands[0]?.stdout.length).toBe(bytes);

    const stream = await send(service.port, `/batches/${batch.id}/events`, { headers: NDJSON });
    stream.pause();
    let before = -1;
    await until(async () => {
      const isStill = pulled === before && pulled > 0;
      before = pulled;
      await new Promise((resolve) => setTimeout(resolve, 100));
      return isStill;
    });
    // What is under way is in the buffers of two sockets; the rest has not been asked for.
    expect(pulled).toBeLessThan(bytes * 0.6);
    const printed = parseLines(await text(stream)).reduce(
      (sum, event) => sum + (event.type === 'output' ? event.text.length : 0),
      0,
    );
    expect(printed).toBe(bytes);
  });
});

/** The real dispatcher, with a look at who reads which events. */
function watchEvents(
  onRead?: (options: Parameters<Batch['events']>[0]) => void,
  onEvent?: (event: BatchEvent) => void,
) {
  return (real: Dispatcher): Dispatcher =>
    Object.create(real, {
      shutdown: { value: real.shutdown.bind(real) },
      dispatch: {
        value: (...given: Parameters<Dispatcher['dispatch']>) => {
          const batch = real.dispatch(...given);
          const events = batch.events.bind(batch);
          batch.events = (options) => {
            onRead?.(options);
            return watched(events(options), onEvent);
          };
          return batch;
        },
      },
    });
}

async function* watched(
  events: AsyncIterable<BatchEvent>,
  onEvent?: (event: BatchEvent) => void,
): AsyncGenerator<BatchEvent> {
  for await (const event of events) {
    onEvent?.(event);
    yield event;
  }
}
