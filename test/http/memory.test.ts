import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Batch, BatchResult, Dispatcher } from '../../src/dispatcher/types.ts';
import { bodyOf, type Service, sendRaw, startService, until } from './service.ts';

/** Prints so many bytes, and one character that is not Latin. */
const print = (bytes: number) => `head -c ${bytes} /dev/zero | tr '\\0' x; printf 漢`;
const wait = { prefer: 'wait=60' };

/** A dispatcher whose batches can be seen, and whose snapshots can be changed. */
function watched(change: (result: BatchResult) => BatchResult = (result) => result) {
  const seen: Batch[] = [];
  const dispatcher = (real: Dispatcher): Dispatcher => ({
    open: (options) => real.open(options),
    plan: (commands, options) => real.plan(commands, options),
    get: (id) => real.get(id),
    batches: () => real.batches(),
    shutdown: (options) => real.shutdown(options),
    dispatch: (commands, options) => {
      const batch = real.dispatch(commands, options);
      seen.push(batch);
      const { id, done } = batch;
      return {
        id,
        done,
        get keptBytes() {
          return batch.keptBytes;
        },
        add: (command) => batch.add(command),
        addAll: (commands) => batch.addAll(commands),
        close: () => batch.close(),
        answer: (answers) => batch.answer(answers),
        pause: () => batch.pause(),
        resume: () => batch.resume(),
        cancel: (reason) => batch.cancel(reason),
        events: (how) => batch.events(how),
        snapshot: () => change(batch.snapshot()),
      };
    },
  });
  return { seen, dispatcher };
}

/** Opens a connection, sends requests on it and reads nothing. */
async function ask(service: Service, requests: string): Promise<Socket> {
  const socket = connect(service.port, '127.0.0.1');
  socket.on('error', () => {});
  onTestFinished(() => {
    socket.destroy();
  });
  socket.pause();
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  socket.write(requests);
  return socket;
}

const get = (service: Service, path: string, fields = '') =>
  `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${service.port}\r\n${fields}\r\n`;

/** Waits until a number has not changed for a while, and answers it. */
async function settled(value: () => number): Promise<number> {
  let last = -1;
  let since = Date.now();
  await until(() => {
    if (value() !== last) since = Date.now();
    last = value();
    return Date.now() - since > 300;
  });
  return last;
}

describe('a long answer', () => {
  const commands = [
    print(200_000),
    'echo short',
    "head -c 60000 /dev/zero; printf '\\n\\\\\"\\t' >&2",
    "printf '\\xff%.0s' {1..40000}; printf '😀%.0s' {1..30000}",
    `echo ${'😀'.repeat(20_000)} > /dev/null`,
  ];

  test('is byte for byte what JSON.stringify makes of the batch, however it is asked for', async () => {
    const { seen, dispatcher } = watched();
    const service = await startService({ dispatcher });
    const posted = await service.call('/batches', { method: 'POST', body: { commands }, headers: wait });
    const expected = JSON.stringify(seen[0]?.snapshot());
    expect(expected.length).toBeGreaterThan(500_000);
    expect(posted.status).toBe(201);
    expect(posted.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'transfer-encoding': 'chunked',
      'preference-applied': 'wait=60',
      location: `/batches/${seen[0]?.id}`,
    });
    expect(posted.text === expected).toBe(true);
    const path = `/batches/${seen[0]?.id}`;
    expect((await service.call(path)).text === expected).toBe(true);
    expect((await service.call(path, { method: 'DELETE' })).text === expected).toBe(true);
    const head = await service.call(path, { method: 'HEAD' });
    expect([head.status, head.headers['content-type'], head.text]).toEqual([
      ...[200, 'application/json; charset=utf-8', ''],
    ]);
  });

  test('of a batch that runs has what was printed so far', async () => {
    const { seen, dispatcher } = watched();
    const service = await startService({ dispatcher });
    await service.run({ commands: [`${print(100_000)}; while [ ! -e go ]; do sleep 0.02; done`] });
    const path = `/batches/${seen[0]?.id}`;
    // In what was printed: the text of the command holds the character from the start.
    await until(async () => (await service.call(path)).json.commands[0].stdout.includes('漢'));
    const { text, json } = await service.call(path);
    expect(json.commands[0].state).toBe('running');
    expect(text === JSON.stringify(seen[0]?.snapshot())).toBe(true);
    writeFileSync(join(service.root, 'go'), '');
  });

  test('has its length in front when it is short', async () => {
    const service = await startService();
    const answer = await service.call('/batches', { method: 'POST', body: { commands: ['echo x'] }, headers: wait });
    expect(answer.headers['content-length']).toBe(String(Buffer.byteLength(answer.text)));
    const head = await service.call(`/batches/${answer.json.id}`, { method: 'HEAD' });
    expect(head.headers['content-length']).toBe(String(Buffer.byteLength(answer.text)));
  });

  test('of many verdicts is the verdicts that each question gets alone', async () => {
    const service = await startService();
    const asked = ['git status', 'rm -r x', null, { command: 'ls -la', cwd: '/' }];
    const answer = await service.call('/classify', {
      method: 'POST',
      body: { commands: Array.from({ length: 800 }, (_, index) => asked[index % asked.length]) },
    });
    expect(answer.text.length).toBeGreaterThan(200_000);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    const alone = await Promise.all(
      asked.map(async (each) => (await service.call('/classify', { method: 'POST', body: { commands: [each] } })).json),
    );
    const verdicts = Array.from({ length: 800 }, (_, index) => alone[index % asked.length].verdicts[0]);
    expect(answer.text === JSON.stringify({ verdicts })).toBe(true);
  });

  test('in events is told in pieces that are, joined, the output', async () => {
    const service = await startService();
    const { id, commands: results } = await service.run({ commands: [print(500_000)] }, wait);
    const events = await service.call(`/batches/${id}/events`, { headers: { accept: 'application/x-ndjson' } });
    const texts = events.text
      .split('\n')
      .filter((line) => line.includes('"type":"output"'))
      .map((line) => JSON.parse(line).text);
    expect(Math.max(...texts.map((text) => text.length))).toBeLessThanOrEqual(65_536);
    expect(texts.join('') === results[0]?.stdout).toBe(true);
  });

  test('with a command as long as a body is the same in events and results', async () => {
    const service = await startService();
    const command = `: ${'é😀'.repeat(40_001)}`;
    const { id, commands: results } = await service.run({ commands: [command] }, wait);
    expect(results[0]?.command === command).toBe(true);
    const events = await service.call(`/batches/${id}/events?after=0`);
    const first = events.text.slice(0, events.text.indexOf('\n\n'));
    expect(JSON.parse(first.slice(first.indexOf('data: ') + 6)).command === command).toBe(true);
    expect(
      first === `id: 1\nevent: accepted\ndata: ${JSON.stringify(JSON.parse(first.slice(first.indexOf('{'))))}`,
    ).toBe(true);
  });
});

describe('an answer that nobody reads', () => {
  test('is made as far as the connection takes it, and goes on when it is read', async () => {
    let made = 0;
    const { dispatcher } = watched((result) => {
      const [command] = result.commands;
      // The first look is the log's.
      if (result.state !== 'finished') return result;
      function* counted() {
        for (let index = 0; command !== undefined && index < 400; index += 1) {
          made += 1;
          yield command;
        }
      }
      return {
        ...result,
        commands: Object.assign([command], { [Symbol.iterator]: counted }) as BatchResult['commands'],
      };
    });
    const service = await startService({ dispatcher });
    const posted = connect(service.port, '127.0.0.1');
    onTestFinished(() => {
      posted.destroy();
    });
    const body = JSON.stringify({ commands: [print(1_000_000)] });
    posted.pause();
    posted.write(
      `POST /batches HTTP/1.1\r\nHost: 127.0.0.1:${service.port}\r\nPrefer: wait=60\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    await until(() => made > 0);
    // A megabyte each; what a connection takes without a reader is a few.
    const unread = await settled(() => made);
    expect(unread).toBeLessThan(40);
    let bytes = 0;
    posted.on('data', (chunk) => {
      bytes += chunk.length;
    });
    posted.resume();
    await until(() => bytes > 50_000_000);
    posted.pause();
    expect(await settled(() => made)).toBeLessThan(400);
    expect(made).toBeGreaterThan(unread);
  });

  test('holds back those that were asked for behind it on the connection', async () => {
    let snapshots = 0;
    const { seen, dispatcher } = watched((result) => {
      snapshots += 1;
      return result;
    });
    const service = await startService({ dispatcher });
    await service.run({ commands: Array(8).fill(print(1_000_000)) }, wait);
    const path = `/batches/${seen[0]?.id}`;
    const size = Buffer.byteLength((await service.call(path)).text);
    snapshots = 0;
    const socket = await ask(service, get(service, path).repeat(4));
    await until(() => snapshots > 0);
    expect(await settled(() => snapshots)).toBeLessThan(4);
    let bytes = 0;
    socket.on('data', (chunk) => {
      bytes += chunk.length;
    });
    socket.resume();
    await until(() => bytes > size * 4);
    expect(snapshots).toBe(4);
  });

  test('ends with its connection when its batch has to leave', async () => {
    const service = await startService({ flags: { 'retention-max-bytes': 20_000_000 } });
    const commands = Array(8).fill(print(1_000_000));
    const { id } = await service.run({ commands }, wait);
    const unread = [
      await ask(service, get(service, `/batches/${id}`)),
      await ask(service, get(service, `/batches/${id}/events`, 'Accept: text/event-stream\r\n')),
    ];
    const ended = unread.map((socket) => new Promise<number>((resolve) => socket.once('close', () => resolve(1))));
    await service.run({ commands }, wait);
    expect((await service.call(`/batches/${id}`)).status).toBe(200);
    await service.run({ commands }, wait);
    expect((await service.call(`/batches/${id}`)).json.code).toBe('BATCH_GONE');
    for (const socket of unread) socket.resume();
    expect(await Promise.all(ended)).toEqual([1, 1]);
  });
});

describe('ended batches', () => {
  test('leave by their bytes, oldest first, and are told from those that never were', async () => {
    const service = await startService({ flags: { 'retention-max-bytes': 1_000_000 } });
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) ids.push((await service.run({ commands: [print(300_000)] }, wait)).id);
    const answers = await Promise.all(ids.map((id) => service.call(`/batches/${id}`)));
    expect(answers.map(({ status }) => status)).toEqual([410, 410, 200, 200, 200]);
    expect(answers[0]?.json).toMatchObject({ code: 'BATCH_GONE', status: 410 });
    for (const [path, method] of [
      [`/batches/${ids[0]}/events`, 'GET'],
      [`/batches/${ids[1]}`, 'DELETE'],
    ] as const)
      expect((await service.call(path, { method })).json.code).toBe('BATCH_GONE');
    expect((await service.call('/batches/never')).json.code).toBe('BATCH_UNKNOWN');
  });

  test('are bounded in bytes whatever they print, and the newest can always be read', async () => {
    const { seen, dispatcher } = watched();
    const service = await startService({ dispatcher, flags: { 'retention-max-bytes': 50_000 } });
    const { id } = await service.run({ commands: [print(300_000)] }, wait);
    expect(seen[0]?.keptBytes).toBeGreaterThan(50_000);
    expect((await service.call(`/batches/${id}`)).status).toBe(200);
    await service.run({ commands: ['echo x'] }, wait);
    expect((await service.call(`/batches/${id}`)).status).toBe(410);
  });
});

describe('what is taken in', () => {
  const blocker = 'while [ ! -e go ]; do sleep 0.02; done';
  const post = (service: Service, commands: string[]) =>
    service.call('/batches', { method: 'POST', body: { commands } });

  test('is limited in batches that have not ended', async () => {
    const service = await startService({ flags: { 'max-live-batches': 2 } });
    const batches = [await service.run({ commands: [blocker] }), await service.run({ commands: [blocker] })];
    const refused = await post(service, ['touch made']);
    expect(refused.json).toMatchObject({ status: 429, code: 'BATCHES_TOO_MANY' });
    expect(refused.headers['retry-after']).toBe('1');
    await service.call(`/batches/${batches[0]?.id}`, { method: 'DELETE', headers: wait });
    expect((await post(service, ['true'])).status).toBe(201);
    writeFileSync(join(service.root, 'go'), '');
    await service.call(`/batches/${batches[1]?.id}`, { headers: wait });
    expect(existsSync(join(service.root, 'made'))).toBe(false);
  });

  test('is limited in commands that wait, and nothing is half done', async () => {
    const service = await startService({ flags: { 'max-commands': 5, 'max-queued-commands': 5 } });
    const { id } = await service.run({ commands: [blocker, 'true', 'true', 'true'] });
    const refused = await post(service, ['touch made', 'touch made', 'touch made']);
    expect(refused.json).toMatchObject({ status: 429, code: 'QUEUE_FULL' });
    expect(refused.headers['retry-after']).toBe('1');
    writeFileSync(join(service.root, 'go'), '');
    await service.call(`/batches/${id}`, { headers: wait });
    expect((await post(service, ['true', 'true', 'true'])).status).toBe(201);
    expect(existsSync(join(service.root, 'made'))).toBe(false);
  });

  test('is told in /capabilities, with what is kept', async () => {
    const service = await startService({ flags: { 'max-live-batches': 7, 'retention-max-bytes': 12_345 } });
    const { limits, retention } = (await service.call('/capabilities')).json;
    expect(limits).toMatchObject({ maxLiveBatches: 7, maxQueuedCommands: 10_000, maxConnections: 512 });
    expect(retention).toEqual({ maxBatches: 200, maxAgeMs: 3_600_000, maxBytes: 12_345 });
  });

  test('is limited in connections, and in requests of one that are not answered', async () => {
    const service = await startService({ flags: { 'max-connections': 3 } });
    const { id } = await service.run({ commands: [blocker] });
    const waiting = get(service, `/batches/${id}`, 'Prefer: wait=60\r\n');
    const greedy = await ask(service, waiting + get(service, '/healthz').repeat(64));
    await new Promise<void>((resolve) => greedy.resume().once('close', () => resolve()));

    let answers = '';
    const patient = await ask(service, waiting + get(service, '/healthz').repeat(63));
    patient.on('data', (chunk) => {
      answers += chunk;
    });
    patient.resume();
    const others = [await ask(service, ''), await ask(service, '')];
    const refused = await ask(service, get(service, '/healthz'));
    refused.resume();
    await until(() => refused.destroyed);
    for (const socket of others) socket.destroy();
    writeFileSync(join(service.root, 'go'), '');
    await until(() => answers.split('HTTP/1.1 200 OK').length - 1 === 64);
    expect(answers.indexOf('"status":"ok"')).toBeGreaterThan(answers.indexOf(id));
  });
});

test('CONNECT is answered, and refused', async () => {
  const service = await startService();
  const answer = await sendRaw(service.port, 'CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n');
  expect(answer).toMatch(/^HTTP\/1\.1 405 /);
  expect(answer).toContain('\r\nAllow: ');
  expect(bodyOf(answer)).toMatchObject({ status: 405, code: 'METHOD_REFUSED' });
  await until(() => service.logs().includes('"METHOD_REFUSED"'));
});

test('a directory that leads out of the roots by the time of the start is not entered', async () => {
  const service = await startService();
  const outside = realpathSync(mkdtempSync(join(tmpdir(), 'signalbox-outside-')));
  onTestFinished(() => rmSync(outside, { recursive: true, force: true }));
  mkdirSync(join(service.root, 'sub'));
  const { id } = await service.run({
    commands: ['while [ ! -e go ]; do sleep 0.02; done', { command: 'touch made', cwd: 'sub' }, 'echo inside'],
  });
  renameSync(join(service.root, 'sub'), join(service.root, 'moved'));
  symlinkSync(outside, join(service.root, 'sub'));
  writeFileSync(join(service.root, 'go'), '');
  const { commands } = (await service.call(`/batches/${id}`, { headers: wait })).json as BatchResult;
  expect(commands.map(({ state }) => state)).toEqual(['exited', 'failed', 'exited']);
  expect(commands[1]?.note).toContain('no longer lies where commands may run');
  expect(existsSync(join(outside, 'made'))).toBe(false);
});
