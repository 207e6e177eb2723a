import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { batchEvent, batchResult, lineRecord } from '../../src/http/answers.ts';
import { openService, parseSse, type Service, sendRaw, startService, until } from './service.ts';
import { isEvent, startUpload, type Told } from './upload.ts';

let service: Awaited<ReturnType<typeof openService>>;
beforeAll(async () => {
  service = await openService({ flags: { 'max-line-bytes': 2_000, 'max-stream-bytes': 20_000, 'max-commands': 20 } });
});
afterAll(() => service.close());

const path = (name: string): string => join(service.root, name);

/** A command that runs until the file is there. */
const held = (name: string, on: Service = service) => ({
  command: `while [ ! -e ${join(on.root, name)} ]; do sleep 0.02; done`,
  letGo: () => writeFileSync(join(on.root, name), ''),
});

const batchOf = async (location: string | undefined, on: Service = service) =>
  batchResult.parse((await on.call(String(location), { headers: { prefer: 'wait=30' } })).json);

const faults = (told: readonly Told[]) => told.filter(({ type }) => type === 'error');

describe('POST /batches with lines', () => {
  test('a command starts and ends while the next one has not been sent', async () => {
    const upload = startUpload(service);
    upload.lines({ id: 'one', command: 'echo 1' });
    const answer = await upload.answer();
    expect(answer.statusCode).toBe(201);
    expect(answer.headers['content-type']).toBe('application/x-ndjson');
    expect(answer.headers.location).toMatch(/^\/batches\/[0-9a-f-]{36}$/);
    await upload.until(isEvent('started', 'one'));
    await upload.until(isEvent('finished', 'one'));
    // Only now does anybody know of the second.
    upload.lines({ id: 'two', command: `test -e ${service.root} && echo 2` }, 'echo 3');
    await upload.until(isEvent('finished', 'c3'));
    expect((await service.call(String(answer.headers.location))).json.state).toBe('open');
    upload.end();
    const told = await upload.whole();
    expect(told.at(-1)).toMatchObject({ type: 'batch-finished', state: 'finished' });
    const events = told.map((each) => batchEvent.parse(each));
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    const batch = await batchOf(answer.headers.location);
    expect(batch.commands.map(({ id, stdout }) => [id, stdout])).toEqual([
      ['one', '1\n'],
      ['two', '2\n'],
      ['c3', '3\n'],
    ]);
    const again = await service.call(`${answer.headers.location}/events`, {
      headers: { accept: 'application/x-ndjson' },
    });
    expect(again.text.split('\n').filter(Boolean)).toEqual(told.map((each) => JSON.stringify(each)));
  });

  test('the first line may hold the options of the batch, and its answer does not wait for a command', async () => {
    const upload = startUpload(service);
    upload.lines({ batch: { onFailure: 'stop', maxParallel: 1, mode: 'compound' } });
    expect((await upload.answer()).statusCode).toBe(201);
    upload.lines('ls | head -1', 'exit 3', 'echo never');
    upload.end();
    const told = await upload.whole();
    expect(told.find(isEvent('accepted', 'c1'))).toMatchObject({ verdict: { kind: 'parallel' } });
    expect(told.find(isEvent('finished', 'c3'))).toMatchObject({ state: 'skipped' });
  });

  test('options alone are a batch that stays empty', async () => {
    const upload = startUpload(service);
    upload.lines({ batch: {} });
    upload.end();
    expect(await upload.whole()).toMatchObject([{ type: 'batch-finished', seq: 1 }]);
  });

  test('lines may be cut anywhere, blank, and without an end behind the last', async () => {
    const upload = startUpload(service);
    const text = '\n  \r\n{"id":"ü","command":"echo grün"}\r\n\t\n\n"echo 2"\n{"command":"echo \\u0033"}';
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += 3) {
      upload.write(bytes.subarray(at, at + 3));
      await new Promise((resolve) => setImmediate(resolve));
    }
    upload.end();
    await upload.whole();
    const { commands } = await batchOf((await upload.answer()).headers.location);
    expect(commands.map(({ id, stdout }) => [id, stdout])).toEqual([
      ['ü', 'grün\n'],
      ['c2', '2\n'],
      ['c3', '3\n'],
    ]);
  });

  test('server-sent events carry the numbers of events; a record of a line has none', async () => {
    const upload = startUpload(service, '/batches', { accept: 'text/event-stream' });
    upload.lines({ id: 'a', command: 'echo 1' }, { id: 'a', command: 'echo 1' }, 'echo 2', 7);
    upload.end();
    await upload.whole();
    expect((await upload.answer()).headers['content-type']).toBe('text/event-stream');
    const blocks = parseSse(upload.text());
    const records = blocks
      .filter(({ id }) => id === '')
      .map(({ event, data }) => ({ event, ...lineRecord.parse(data) }));
    expect(records).toMatchObject([
      { event: 'known', line: 2, commandId: 'a' },
      { event: 'error', line: 4, code: 'REQUEST_INVALID' },
    ]);
    const ids = blocks.filter(({ id }) => id !== '').map(({ id }) => Number(id));
    expect(ids).toEqual(ids.map((_, index) => index + 1));
    expect(blocks.at(-1)?.event).toBe('batch-finished');
  });

  test('a line that is sent again is known, and not run twice', async () => {
    const upload = startUpload(service);
    const line = { id: 'once', command: `echo x >> ${path('once')}`, env: { A: '1', B: '2' } };
    upload.lines(line, { env: { B: '2', A: '1' }, command: line.command, id: 'once' });
    await upload.until(isEvent('known', 'once'));
    upload.lines({ ...line, env: { A: '1', B: '3' } });
    expect(faults(await upload.whole())).toMatchObject([{ line: 3, code: 'COMMAND_ID_CONFLICT', pointer: '/id' }]);
    expect(readFileSync(path('once'), 'utf8')).toBe('x\n');
  });

  test('two readers and the sender see the same events', async () => {
    const { command, letGo } = held('two-readers');
    const upload = startUpload(service);
    upload.lines(command);
    const { location } = (await upload.answer()).headers;
    const readers = [1, 2].map(() =>
      service.call(`${location}/events`, { headers: { accept: 'application/x-ndjson' } }),
    );
    upload.lines('pwd');
    upload.end();
    letGo();
    const lines = (await upload.whole()).map((told) => JSON.stringify(told));
    for (const { text } of await Promise.all(readers)) expect(text.split('\n').filter(Boolean)).toEqual(lines);
  });

  test('whoever sends everything before it reads anything gets everything', async () => {
    const roomy = await startService({ flags: { 'max-commands': 200, 'max-stream-bytes': 1_000_000 } });
    const upload = startUpload(roomy);
    const answer = upload.answer();
    for (let n = 0; n < 150; n += 1) upload.lines({ id: `n${n}`, command: `printf %s ${'x'.repeat(900)}` });
    upload.end();
    await answer;
    const told = await upload.whole();
    expect(told.filter(isEvent('finished'))).toHaveLength(150);
  });
});

describe('a first line that is wrong is answered by a problem, and nothing has run', () => {
  test.each<[string, string, number, string]>([
    ['no line', '', 400, 'COMMANDS_EMPTY'],
    ['blank lines alone', '\n \n', 400, 'COMMANDS_EMPTY'],
    ['no JSON', 'ls -la\n', 400, 'BODY_NOT_JSON'],
    ['a number', '7\n', 400, 'REQUEST_INVALID'],
    ['an empty text', '""\n', 400, 'COMMAND_EMPTY'],
    ['a body of JSON', '{"commands":["ls"]}\n', 400, 'REQUEST_INVALID'],
    ['options with commands', '{"batch":{"commands":["ls"]}}\n', 400, 'REQUEST_INVALID'],
    ['options beside a command', '{"batch":{},"command":"ls"}\n', 400, 'REQUEST_INVALID'],
    ['a directory outside', '{"batch":{"cwd":"/"}}\n', 403, 'DIRECTORY_OUTSIDE_ROOTS'],
    ['a directory outside, of the command', '{"command":"ls","cwd":"/"}\n', 403, 'DIRECTORY_OUTSIDE_ROOTS'],
    ['a key twice', '{"command":"ls","command":"touch made"}\n', 400, 'REQUEST_INVALID'],
    ['a line too long', `"${'x'.repeat(3_000)}"\n`, 413, 'LINE_TOO_LONG'],
    ['a line without an end', 'x'.repeat(3_000), 413, 'LINE_TOO_LONG'],
  ])('%s', async (_name, body, status, code) => {
    const before = (await service.call('/capabilities')).status;
    const upload = startUpload(service);
    upload.write(body);
    upload.end();
    const answer = await upload.answer();
    await upload.whole();
    expect([before, answer.statusCode, JSON.parse(upload.text()).code]).toEqual([200, status, code]);
  });

  test('pointers lead into the line', async () => {
    for (const [line, pointer] of [
      ['{"batch":{"cwd":"/"}}', '/batch/cwd'],
      ['{"batch":{"onFailure":1}}', '/batch/onFailure'],
      ['{"command":"ls","cwd":"/"}', '/cwd'],
      ['{"command":"ls","timeoutMs":0}', '/timeoutMs'],
    ] as const) {
      const upload = startUpload(service);
      upload.write(`${line}\n`);
      await upload.whole();
      expect(JSON.parse(upload.text())).toMatchObject({ pointer });
    }
  });

  test('more bytes than are allowed, announced', async () => {
    const upload = startUpload(service, '/batches', { 'content-length': '20001' });
    expect((await upload.answer()).statusCode).toBe(413);
  });

  test('nothing, for too long', async () => {
    const hasty = await startService({ flags: { 'max-idle-ms': 50 } });
    const upload = startUpload(hasty);
    upload.write('"ls');
    expect((await upload.answer()).statusCode).toBe(408);
    await upload.whole();
    expect(JSON.parse(upload.text())).toMatchObject({ code: 'REQUEST_TIMEOUT' });
  });

  test('only events can be answered', async () => {
    const upload = startUpload(service, '/batches', { accept: 'application/json' });
    upload.lines('ls');
    expect((await upload.answer()).statusCode).toBe(406);
  });
});

describe('a later line that is wrong is told in the stream, closes the batch, and what came before it runs', () => {
  test.each<[string, string, Record<string, unknown>]>([
    ['no JSON', 'ls -la', { code: 'BODY_NOT_JSON' }],
    ['a list', '["ls"]', { code: 'REQUEST_INVALID', pointer: '' }],
    ['a field that is none', '{"command":"ls","cmd":1}', { code: 'REQUEST_INVALID', pointer: '/cmd' }],
    ['options', '{"batch":{}}', { code: 'REQUEST_INVALID' }],
    [
      'vouching without the scope for it',
      '{"command":"ls","assume":"parallel"}',
      { code: 'SCOPE_MISSING', pointer: '/assume' },
    ],
    ['a NUL', '"a\\u0000b"', { code: 'COMMAND_HAS_NUL', pointer: '' }],
    ['half a pair', '{"command":"\\ud800"}', { code: 'TEXT_UNREPRESENTABLE', pointer: '/command' }],
    ['a directory that is not there', '{"command":"ls","cwd":"no"}', { code: 'DIRECTORY_MISSING', pointer: '/cwd' }],
    ['a line too long', `"${'x'.repeat(2_100)}"`, { code: 'LINE_TOO_LONG' }],
  ])('%s', async (_name, line, expected) => {
    const upload = startUpload(service);
    upload.write(`"echo before"\n\n${line}\n"touch ${path('behind')}"\n`);
    const told = await upload.whole();
    expect(faults(told).map((record) => lineRecord.parse(record))).toEqual([
      expect.objectContaining({ line: 3, ...expected }),
    ]);
    expect(told.find(isEvent('finished', 'c1'))).toMatchObject({ state: 'exited', exitCode: 0 });
    expect(told.at(-1)).toMatchObject({ type: 'batch-finished', state: 'finished' });
    expect(told.filter(isEvent('accepted'))).toHaveLength(1);
    expect(existsSync(path('behind'))).toBe(false);
  });

  test('bytes that are no UTF-8', async () => {
    const upload = startUpload(service);
    upload.write('"echo before"\n');
    upload.write(Buffer.from('"echo \xff"\n', 'latin1'));
    expect(faults(await upload.whole())).toMatchObject([{ line: 2, code: 'BODY_NOT_JSON' }]);
  });

  test('too many commands', async () => {
    const upload = startUpload(service);
    upload.lines(...Array(21).fill('true'));
    const told = await upload.whole();
    expect(faults(told)).toMatchObject([{ line: 21, code: 'COMMANDS_TOO_MANY' }]);
    expect(faults(told)[0]).not.toHaveProperty('pointer');
    expect(told.filter(isEvent('finished'))).toHaveLength(20);
  });

  test('more bytes than are allowed', async () => {
    const upload = startUpload(service);
    upload.lines('echo before');
    await upload.until(isEvent('finished'));
    for (let n = 0; n < 25; n += 1) upload.write(`${' '.repeat(1_000)}\n`);
    expect(faults(await upload.whole())).toMatchObject([{ code: 'BODY_TOO_LARGE' }]);
  });

  test('a sender that falls silent; a blank line is a sign of life', async () => {
    const hasty = await startService({ flags: { 'max-idle-ms': 400 } });
    const upload = startUpload(hasty);
    upload.lines('echo before');
    for (let n = 0; n < 6; n += 1) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      upload.write('\n');
    }
    expect(faults(upload.told)).toEqual([]);
    const told = await upload.whole();
    expect(faults(told)).toMatchObject([{ code: 'REQUEST_TIMEOUT' }]);
    expect(told.at(-1)).toMatchObject({ type: 'batch-finished', state: 'finished' });
  });

  test('the rest of the upload is not read into memory, and the answer comes whole', async () => {
    const upload = startUpload(service);
    upload.lines('echo before', 7);
    const flood = setInterval(() => upload.write(`"${'x'.repeat(60_000)}"\n`), 1);
    const told = await upload.whole();
    clearInterval(flood);
    expect(told.at(-1)).toMatchObject({ type: 'batch-finished' });
    expect((await service.call('/healthz')).status).toBe(200);
  });
});

describe('an upload that breaks off', () => {
  test('closes the batch: what arrived runs, also what was waiting; half a line does not', async () => {
    const { command, letGo } = held('broken');
    const upload = startUpload(service);
    upload.lines(command, `touch ${path('arrived')}`);
    await upload.until(isEvent('accepted', 'c2'));
    const { location } = (await upload.answer()).headers;
    upload.write(`"touch ${path('torn')}"`);
    upload.destroy();
    await until(async () => (await service.call(String(location))).json.state === 'running');
    letGo();
    const batch = await batchOf(location);
    expect(batch.state).toBe('finished');
    expect(batch.commands.map(({ state }) => state)).toEqual(['exited', 'exited']);
    expect([existsSync(path('arrived')), existsSync(path('torn'))]).toEqual([true, false]);
  });

  test('cancels the batch where it was asked to', async () => {
    const upload = startUpload(service);
    upload.lines({ batch: { onDisconnect: 'cancel' } }, 'sleep 60', `touch ${path('never')}`);
    await upload.until(isEvent('started', 'c1'));
    await upload.until(isEvent('accepted', 'c2'));
    const { location } = (await upload.answer()).headers;
    upload.destroy();
    const batch = await batchOf(location);
    expect(batch.state).toBe('cancelled');
    expect(batch.commands.map(({ state }) => state)).toEqual(['cancelled', 'not-started']);
    expect(batch.commands[0]?.note).toBe('Cancelled: The client left');
    expect(existsSync(path('never'))).toBe(false);
  });

  test('cancels it too when only the reading of the answer is broken off', async () => {
    const upload = startUpload(service);
    upload.lines({ batch: { onDisconnect: 'cancel' } }, 'sleep 60');
    upload.end();
    await upload.until(isEvent('started'));
    const { location } = (await upload.answer()).headers;
    upload.destroy();
    expect((await batchOf(location)).state).toBe('cancelled');
  });

  test('leaves a batch that is to stay open as it is', async () => {
    const upload = startUpload(service);
    upload.lines({ batch: { open: true } }, { id: 'a', command: 'echo 1' });
    await upload.until(isEvent('finished', 'a'));
    const { location } = (await upload.answer()).headers;
    upload.destroy();
    const again = await service.call(`${location}/commands`, {
      method: 'POST',
      body: { commands: [{ id: 'a', command: 'echo 1' }, 'echo 2'] },
    });
    expect(again.json.commands).toEqual([
      { id: 'a', known: true },
      { id: 'c2', known: false },
    ]);
    await service.call(`${location}/close`, { method: 'POST' });
    expect((await batchOf(location)).state).toBe('finished');
  });

  test('a sender that falls silent is treated so, where the batch is to be cancelled', async () => {
    const hasty = await startService({ flags: { 'max-idle-ms': 200 } });
    const upload = startUpload(hasty);
    upload.lines({ batch: { onDisconnect: 'cancel' } }, 'sleep 60');
    const told = await upload.whole();
    expect(faults(told)).toMatchObject([{ code: 'REQUEST_TIMEOUT' }]);
    expect(told.at(-1)).toMatchObject({ type: 'batch-finished', state: 'cancelled' });
  });
});

describe('a batch that ends before its upload', () => {
  test('by being cancelled ends the answer, and takes no further line', async () => {
    const upload = startUpload(service);
    upload.lines('sleep 60');
    await upload.until(isEvent('started'));
    await service.call(String((await upload.answer()).headers.location), { method: 'DELETE' });
    expect((await upload.whole()).at(-1)).toMatchObject({ type: 'batch-finished', state: 'cancelled' });
  });

  test('by its deadline', async () => {
    const upload = startUpload(service);
    upload.lines({ batch: { deadlineMs: 300 } }, 'echo 1');
    expect((await upload.whole()).at(-1)).toMatchObject({ type: 'batch-finished' });
  });

  test('by the end of the service, which does not wait for the sender', async () => {
    const ending = await startService({ flags: { 'shutdown-grace-ms': 50, 'shutdown-deadline-ms': 20_000 } });
    const upload = startUpload(ending);
    upload.lines('sleep 60', 'touch never');
    await upload.until(isEvent('started', 'c1'));
    const adding = await ending.run({ commands: [], open: true });
    const append = startUpload(ending, `/batches/${adding.id}/commands`);
    append.lines('touch never');
    await append.until(isEvent('taken'));
    await ending.app.close();
    expect((await upload.whole()).slice(-2)).toMatchObject([
      { type: 'finished', state: 'cancelled' },
      { type: 'batch-finished', state: 'cancelled' },
    ]);
    expect((await append.whole()).at(-1)).toMatchObject({ type: 'error', code: 'SHUTTING_DOWN' });
    expect(existsSync(join(ending.root, 'never'))).toBe(false);
  });
});

describe('a sender that is faster than the commands', () => {
  test('is slowed: nothing is read while too many commands wait, and nothing is lost', async () => {
    const narrow = await startService({
      flags: { 'max-queued-commands': 8, 'max-commands': 8, 'max-stream-bytes': 100_000_000 },
    });
    const { command, letGo } = held('narrow', narrow);
    const other = await narrow.run({ commands: [command, ...Array(7).fill('true')] });
    await until(async () => (await narrow.call(`/batches/${other.id}`)).json.commands[0].state === 'running');
    const upload = startUpload(narrow);
    // The last of those that may wait; the next finds no place.
    upload.lines('echo 1', 'echo 2');
    await upload.until(isEvent('accepted', 'c1'));
    const hasRoom = upload.write(`${' '.repeat(30_000_000)}\n`);
    expect(hasRoom).toBe(false);
    expect(upload.told.filter(isEvent('accepted'))).toHaveLength(1);
    expect(faults(upload.told)).toEqual([]);
    letGo();
    await upload.until(isEvent('finished', 'c2'));
    upload.end();
    // The blanks make a line that is too long; what stood before them has run.
    expect((await upload.whole()).filter(isEvent('finished'))).toHaveLength(2);
  });

  test('is told when its first command finds no place', async () => {
    const narrow = await startService({ flags: { 'max-queued-commands': 1, 'max-commands': 1 } });
    const { command, letGo } = held('full', narrow);
    const first = await narrow.run({ commands: [command] });
    await until(async () => (await narrow.call(`/batches/${first.id}`)).json.commands[0].state === 'running');
    await narrow.run({ commands: ['true'] });
    const upload = startUpload(narrow);
    upload.lines('echo 1');
    const answer = await upload.answer();
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([429, '1']);
    letGo();
  });
});

describe('a JSON batch whose client waits', () => {
  const leave = async (onDisconnect: 'cancel' | 'continue', mark: string) => {
    const gone = new AbortController();
    const asking = fetch(`http://127.0.0.1:${service.port}/batches`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', prefer: 'wait=60' },
      body: JSON.stringify({
        onDisconnect,
        commands: [`touch ${path(mark)}; sleep 0.4; touch ${path(`${mark}-end`)}`],
      }),
      signal: gone.signal,
    });
    await until(() => existsSync(path(mark)));
    gone.abort();
    await expect(asking).rejects.toThrow();
  };

  test('D14: is cancelled when the client leaves, where it was asked to', async () => {
    await leave('cancel', 'left-cancel');
    await until(() => service.logs().includes('"state":"cancelled"'));
    // It needs the same keys, which are free when all of the other is gone.
    const next = await service.run({ commands: ['sleep 0.5; test ! -e left-cancel-end'] }, { prefer: 'wait=30' });
    expect(next.commands[0]).toMatchObject({ state: 'exited', exitCode: 0 });
  });

  test('D14: goes on where it was not', async () => {
    await leave('continue', 'left-continue');
    await until(() => existsSync(path('left-continue-end')));
  });

  test('goes on when the client has its answer, which may come before the end', async () => {
    const { command, letGo } = held('answered');
    const { id } = await service.run({ onDisconnect: 'cancel', commands: [command] }, { prefer: 'wait=0' });
    letGo();
    expect((await batchOf(`/batches/${id}`)).state).toBe('finished');
  });
});

test('the connection serves another request when the answer has ended, and not before', async () => {
  const head = (line: string) => `${line} HTTP/1.1\r\nHost: localhost:${service.port}\r\n`;
  const lines = '"echo first"\n';
  const upload = `${head('POST /batches')}Content-Type: application/x-ndjson\r\nContent-Length: ${lines.length}\r\n\r\n${lines}`;
  const got = await sendRaw(service.port, `${upload}${head('GET /healthz')}Connection: close\r\n\r\n`, 10_000);
  expect(got.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 201', 'HTTP/1.1 200']);
  expect(got.indexOf('batch-finished')).toBeLessThan(got.indexOf('HTTP/1.1 200'));
});

test('lines are read at two addresses only, and only as what they are', async () => {
  const post = (at: string, type: string) =>
    service.call(at, { method: 'POST', headers: { 'content-type': type }, body: '"ls"\n' });
  for (const type of [
    'application/ndjson',
    'application/x-ndjson; charset=latin1',
    'application/jsonl',
    'text/plain',
  ]) {
    const refused = await post('/batches', type);
    expect(refused.json).toMatchObject({ code: 'MEDIA_TYPE_REFUSED' });
    expect(refused.headers['accept-post']).toBe('application/json, application/x-ndjson');
  }
  const elsewhere = await post('/classify', 'application/x-ndjson');
  expect([elsewhere.json.code, elsewhere.headers['accept-post']]).toEqual(['MEDIA_TYPE_REFUSED', 'application/json']);
  expect((await post('/batches', 'Application/X-NDJSON; charset="UTF-8"')).status).toBe(201);
  for (const method of ['HEAD', 'OPTIONS', 'PUT']) {
    const answer = await service.call('/batches', { method });
    expect([answer.status, answer.headers.allow]).toEqual([405, 'POST']);
  }
  const origin = { origin: 'http://evil.example', 'content-type': 'application/x-ndjson' };
  const page = await service.call('/batches', { method: 'POST', headers: origin, body: `"touch ${path('page')}"\n` });
  expect([page.status, existsSync(path('page'))]).toEqual([403, false]);
});

test('capabilities announce it', async () => {
  const { json } = await service.call('/capabilities');
  expect(json.capabilities).toEqual(
    expect.arrayContaining(['batches-streaming', 'batches-open', 'batches-disconnect', 'plan']),
  );
  expect(json.limits).toMatchObject({ maxLineBytes: 2_000, maxStreamBytes: 20_000, maxIdleMs: 60_000 });
});

test('and nothing of all this was a fault of the service', () => {
  expect(service.logs()).not.toContain('"level":50');
});
