import { writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { BatchEvent } from '../../src/client/api.ts';
import { createClient } from '../../src/client/index.ts';
import { openService, type Service, startService } from './service.ts';

let service: Awaited<ReturnType<typeof openService>>;
beforeAll(async () => {
  service = await openService();
});
afterAll(() => service.close());

const urlOf = ({ port }: { readonly port: number }) => `http://127.0.0.1:${port}`;
const client = (options: Parameters<typeof createClient>[0] = {}) => createClient({ url: urlOf(service), ...options });

/** What stands between client and service and fails as `each` says, for the n-th connection from 0. */
async function between(to: Service, each: (client: Socket, upstream: Socket, index: number) => void): Promise<number> {
  let index = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const upstream = connect(to.port, '127.0.0.1');
    for (const one of [socket, upstream]) {
      sockets.add(one);
      one.on('error', () => undefined).on('close', () => sockets.delete(one));
    }
    socket.on('close', () => upstream.destroy());
    upstream.on('close', () => socket.destroy());
    // The service is asked by its own name.
    socket.on('data', (chunk) =>
      upstream.write(
        Buffer.from(chunk.toString('latin1').replace(/^host: .*$/im, `host: 127.0.0.1:${to.port}`), 'latin1'),
      ),
    );
    each(socket, upstream, index);
    index += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as { port: number }).port;
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

const NUMBERS = 'for n in {1..40}; do echo line $n; sleep 0.01; done';

describe('questions', () => {
  test('are answered as the service answers them', async () => {
    expect((await client().classify('git status')).kind).toBe('parallel');
    expect(await client().classify('rm -r x', { mode: 'compound' })).toMatchObject({ kind: 'serial' });
    const verdicts = await client().classifyAll(['ls', null, { command: 'rm x', cwd: '/' }]);
    expect(verdicts.map(({ kind }) => kind)).toEqual(['parallel', 'serial', 'serial']);
    const plan = await client().plan({ commands: ['ls', 'pwd', 'touch x'] });
    expect(plan.groups.map(({ kind }) => kind)).toEqual(['parallel', 'serial']);
    expect((await client().capabilities()).capabilities).toContain('plan');
  });

  test('work where the service stands behind a path', async () => {
    const asked: string[] = [];
    const behind = createClient({
      url: 'http://proxy.example/box',
      fetch: async (input) => {
        asked.push(String(input));
        return new Response('{"kind":"serial"}');
      },
    });
    await behind.classify('ls');
    expect(asked).toEqual(['http://proxy.example/box/classify']);
  });
});

describe('a batch', () => {
  test('is run to its end, in call order', async () => {
    const { state, commands } = await client().run({ commands: ['echo one', 'sleep 0.05; echo two', 'exit 3'] });
    expect(state).toBe('finished');
    expect(commands.map(({ stdout, exitCode }) => [stdout, exitCode])).toEqual([
      ['one\n', 0],
      ['two\n', 0],
      ['', 3],
    ]);
  });

  test('that is open grows, tells what became of each line, and ends when it is closed', async () => {
    const batch = await client().start({ open: true, commands: [] });
    expect(await batch.add(['echo a', { id: 'b', command: 'echo b' }])).toEqual([
      { id: 'c1', known: false },
      { id: 'b', known: false },
    ]);
    const records = await all(
      batch.addLines([{ id: 'b', command: 'echo b' }, 'echo d', { command: '' }, 'echo never']),
    );
    expect(records.map(({ type, line }) => `${line} ${type}`)).toEqual(['1 known', '2 taken', '3 error']);
    expect((await batch.get()).state).toBe('open');
    await batch.close();
    expect((await batch.done()).commands.map(({ stdout }) => stdout)).toEqual(['a\n', 'b\n', 'd\n']);
    expect(await client().batch(batch.id).done()).toMatchObject({ id: batch.id, state: 'finished' });
  });

  test('that is cancelled has ended only when its last command has', async () => {
    const batch = await client().start({
      commands: ["trap 'sleep 0.2; exit' TERM; echo up; while :; do sleep 0.02; done"],
    });
    for await (const { type } of batch.events()) if (type === 'output') break;
    await batch.cancel();
    const { state, commands } = await batch.done();
    expect([state, commands[0]?.state]).toEqual(['cancelled', 'cancelled']);
  });

  test('goes on when the waiting for it is given up', async () => {
    const batch = await client().start({ commands: ['while [ ! -e go ]; do sleep 0.02; done'] });
    const stop = new AbortController();
    const waiting = batch.done(stop.signal);
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    expect((await batch.get()).state).toBe('running');
    writeFileSync(join(service.root, 'go'), '');
    expect((await batch.done()).state).toBe('finished');
  });
});

describe('events', () => {
  const output = (events: readonly BatchEvent[]) =>
    events.flatMap((event) => (event.type === 'output' ? [event.text] : [])).join('');
  const lines = Array.from({ length: 40 }, (_, index) => `line ${index + 1}\n`).join('');

  test('come once and without a gap, from any number on, and a batch that has told all tells nothing more', async () => {
    const batch = await client().start({ commands: [NUMBERS] });
    const events = await all(batch.events());
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(output(events)).toBe(lines);
    const rest = await all(batch.events({ after: 3 }));
    expect(rest).toEqual(events.slice(3));
    expect(await all(batch.events({ after: events.length }))).toEqual([]);
  });

  test('go on behind the last that came when the connection breaks, also in the middle of one', async () => {
    // Each of the first connections is cut after so many bytes of answer, wherever that falls.
    const cuts = [700, 1_000, 1_313, 2_000, 900, 1_501, 800];
    let made = 0;
    const port = await between(service, (socket, upstream, index) => {
      made = index + 1;
      let left = cuts[index] ?? Number.POSITIVE_INFINITY;
      upstream.on('data', (chunk) => {
        socket.write(chunk.subarray(0, left));
        left -= chunk.length;
        if (left <= 0) socket.end();
      });
    });
    const { id } = await client().start({ commands: [NUMBERS] });
    const events = await all(
      createClient({ url: `http://127.0.0.1:${port}`, retryMs: 1 })
        .batch(id)
        .events(),
    );
    expect(made).toBeGreaterThan(cuts.length);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(output(events)).toBe(lines);
    expect(events.at(-1)?.type).toBe('batch-finished');
  });

  test('are asked for anew when a connection goes silent', async () => {
    const port = await between(service, (socket, upstream, index) => {
      let isFirst = true;
      upstream.on('data', (chunk) => {
        if (index > 0 || isFirst) socket.write(chunk);
        isFirst = false;
      });
    });
    const { id } = await client().start({ commands: [NUMBERS] });
    const patient = createClient({ url: `http://127.0.0.1:${port}`, retryMs: 1, silenceMs: 300 });
    expect(output(await all(patient.batch(id).events()))).toBe(lines);
  });

  test('end with the failure when nobody answers, after as many attempts as were asked for', async () => {
    let attempts = 0;
    const port = await between(service, (socket) => {
      attempts += 1;
      socket.destroy();
    });
    const { id } = await client().start({ commands: ['true'] });
    const events = createClient({ url: `http://127.0.0.1:${port}`, retries: 3, retryMs: 1 })
      .batch(id)
      .events();
    await expect(all(events)).rejects.toThrow();
    expect(attempts).toBe(4);
  });

  test('let the connection go when nobody wants more', async () => {
    let isClosed = false;
    const port = await between(service, (socket, upstream) => {
      upstream.pipe(socket);
      socket.once('close', () => {
        isClosed = true;
      });
    });
    const batch = await client().start({ open: true, commands: [] });
    await batch.add(['echo x']);
    for await (const event of createClient({ url: `http://127.0.0.1:${port}` })
      .batch(batch.id)
      .events())
      if (event.type === 'finished') break;
    await expect.poll(() => isClosed).toBe(true);
    await batch.cancel();
  });
});

describe('a refusal', () => {
  test('is the error that the service tells, with its code, place and hint, and is not tried again', async () => {
    await expect(client().run({ commands: ['ls', 'a\0b'] })).rejects.toMatchObject({
      name: 'SignalboxError',
      code: 'COMMAND_HAS_NUL',
      pointer: '/commands/1',
      status: 400,
      cause: { code: 'COMMAND_HAS_NUL', type: '/docs/errors.md#COMMAND_HAS_NUL' },
    });
    await expect(client().batch('none').done()).rejects.toMatchObject({ code: 'BATCH_UNKNOWN' });
    await expect(all(client().batch('../capabilities').events())).rejects.toMatchObject({ code: 'BATCH_UNKNOWN' });
  });

  test('of a token is told, and the token is sent where it is wanted', async () => {
    const file = join(service.root, 'token');
    writeFileSync(file, 'a-token-for-tests-0123456789\n');
    const locked = await startService({ flags: { 'token-file': file } });
    await expect(createClient({ url: urlOf(locked) }).classify('ls')).rejects.toMatchObject({ code: 'TOKEN_MISSING' });
    const known = createClient({ url: urlOf(locked), token: 'a-token-for-tests-0123456789' });
    expect((await known.run({ commands: ['echo in'] })).commands[0]?.stdout).toBe('in\n');
  });

  test.each<[string, () => Response, string]>([
    ['of something else', () => new Response('<html>', { status: 502 }), 'got status 502 and 6 characters'],
    [
      'with a code that is not known',
      () => Response.json({ code: 'NEW', detail: 'Ask later' }, { status: 418 }),
      'NEW: Ask later',
    ],
    ['that is no JSON', () => new Response('ok'), 'Expected JSON at classify, got 2 characters'],
    ['with too few verdicts', () => Response.json({ verdicts: [] }), 'Expected 1 verdicts, got 0'],
  ])('%s is no success', async (_, response, detail) => {
    const odd = createClient({ fetch: async () => response() });
    await expect(odd.classifyAll(['ls'])).rejects.toMatchObject({
      code: 'ANSWER_UNEXPECTED',
      message: expect.stringContaining(detail),
    });
  });

  test.each<[string, object]>([
    ['an address that is none', { url: 'nowhere' }],
    ['attempts that are no number', { retries: -1 }],
    ['a time that is none', { silenceMs: 0 }],
    ['an option that is none', { tokens: 'x' }],
  ])('of %s comes at once', (_, options) => {
    expect(() => createClient(options)).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
  });
});
