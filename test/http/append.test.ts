import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BatchResult } from '../../src/dispatcher/types.ts';
import { appended, batchResult, lineRecord } from '../../src/http/answers.ts';
import { openService, startService, until } from './service.ts';
import { isEvent, startUpload } from './upload.ts';

let service: Awaited<ReturnType<typeof openService>>;
beforeAll(async () => {
  service = await openService({ flags: { 'max-commands': 10 } });
});
afterAll(() => service.close());

const path = (name: string): string => join(service.root, name);
const open = (body: object = {}): Promise<BatchResult> => service.run({ commands: [], open: true, ...body });
const add = (id: string, ...commands: readonly unknown[]) =>
  service.call(`/batches/${id}/commands`, { method: 'POST', body: { commands } });
const close = async (id: string): Promise<BatchResult> => {
  const answer = await service.call(`/batches/${id}/close`, { method: 'POST', headers: { prefer: 'wait=30' } });
  expect([answer.status, answer.headers['preference-applied']]).toEqual([200, 'wait=30']);
  return batchResult.parse(answer.json);
};

describe('a batch that is opened to grow', () => {
  test('takes commands until it is closed, and runs them meanwhile', async () => {
    const { id, state } = await open();
    expect(state).toBe('open');
    expect(appended.parse((await add(id, 'echo 1', { id: 'two', command: 'echo 2' })).json)).toEqual({
      batchId: id,
      commands: [
        { id: 'c1', known: false },
        { id: 'two', known: false },
      ],
    });
    await until(async () => (await service.call(`/batches/${id}`)).json.commands[1].state === 'exited');
    expect((await service.call(`/batches/${id}`)).json.state).toBe('open');
    await add(id, 'echo 3');
    const batch = await close(id);
    expect(batch.state).toBe('finished');
    expect(batch.commands.map((command) => [command.id, command.stdout])).toEqual([
      ['c1', '1\n'],
      ['two', '2\n'],
      ['c3', '3\n'],
    ]);
    expect(await close(id)).toEqual(batch);
  });

  test('may begin with commands, of which one that is wrong opens nothing', async () => {
    const { id, commands } = await open({ commands: ['echo 1', { id: 'b', command: 'echo 2' }] });
    expect(commands.map((command) => command.id)).toEqual(['c1', 'b']);
    expect((await add(id, { id: 'c1', command: 'echo 1' })).json.commands).toEqual([{ id: 'c1', known: true }]);
    await close(id);
    const live = async () => (await service.call('/readyz')).status;
    const twice = [
      { id: 'a', command: `touch ${path('twice')}` },
      { id: 'a', command: 'ls' },
    ];
    const refused = await service.call('/batches', { method: 'POST', body: { open: true, commands: twice } });
    expect(refused.json).toMatchObject({ code: 'COMMAND_ID_DUPLICATE', pointer: '/commands/1/id' });
    expect([await live(), existsSync(path('twice'))]).toEqual([200, false]);
  });

  test('counts among the live ones, until it is closed', async () => {
    const narrow = await startService({ flags: { 'max-live-batches': 1 } });
    const { id } = await narrow.run({ commands: [], open: true });
    const body = { commands: ['ls'] };
    expect((await narrow.call('/batches', { method: 'POST', body })).json.code).toBe('BATCHES_TOO_MANY');
    await narrow.call(`/batches/${id}/close`, { method: 'POST', headers: { prefer: 'wait=30' } });
    expect((await narrow.call('/batches', { method: 'POST', body })).status).toBe(201);
  });

  test('ends by its deadline though nobody closes it', async () => {
    const { id } = await open({ deadlineMs: 200 });
    await until(async () => (await service.call(`/batches/${id}`)).json.state === 'finished');
    expect((await add(id, 'ls')).json.code).toBe('BATCH_CLOSED');
  });

  test('resolves directories against its own, and no directory outside the roots', async () => {
    const { id } = await open();
    expect((await add(id, 'ls', { command: 'ls', cwd: '..' })).json).toMatchObject({
      status: 403,
      code: 'DIRECTORY_OUTSIDE_ROOTS',
      pointer: '/commands/1/cwd',
    });
    expect((await close(id)).commands).toEqual([]);
  });

  test('is limited in commands as a whole', async () => {
    const { id } = await open({ commands: Array(8).fill('true') });
    expect((await add(id, 'true', 'true', `touch ${path('eleventh')}`)).json.code).toBe('COMMANDS_TOO_MANY');
    expect((await add(id, 'true', 'true')).status).toBe(200);
    expect((await add(id, `touch ${path('eleventh')}`)).json.code).toBe('COMMANDS_TOO_MANY');
    expect((await close(id)).commands).toHaveLength(10);
    expect(existsSync(path('eleventh'))).toBe(false);
  });
});

describe('a command that is sent again', () => {
  const counting = (name: string) => ({ id: name, command: `echo x >> ${path(name)}`, env: { A: '1' } });

  test('is known and not run twice, though many send it at the same time', async () => {
    const { id } = await open();
    const command = counting('many');
    const answers = await Promise.all(Array.from({ length: 20 }, () => add(id, command)));
    const known = answers.map(({ json }) => json.commands[0].known);
    expect(known.filter((each) => !each)).toHaveLength(1);
    await close(id);
    expect(readFileSync(path('many'), 'utf8')).toBe('x\n');
  });

  test('is known beside new ones, and also when the batch has ended', async () => {
    const { id } = await open();
    await add(id, counting('one'));
    expect((await add(id, 'true', counting('one'), counting('two'))).json.commands).toEqual([
      { id: 'c2', known: false },
      { id: 'one', known: true },
      { id: 'two', known: false },
    ]);
    await close(id);
    expect((await add(id, counting('two'), counting('one'))).json.commands).toEqual([
      { id: 'two', known: true },
      { id: 'one', known: true },
    ]);
    expect((await add(id, counting('one'), counting('three'))).json).toMatchObject({
      status: 409,
      code: 'BATCH_CLOSED',
    });
    expect([readFileSync(path('one'), 'utf8'), existsSync(path('three'))]).toEqual(['x\n', false]);
  });

  test.each<[string, object]>([
    ['another text', { command: 'echo y' }],
    ['a field more', { timeoutMs: 1_000 }],
    ['another variable', { env: { A: '2' } }],
    ['a key', { lockKeys: ['k'] }],
  ])('with %s is refused, and so is all that was sent with it', async (name, change) => {
    const { id } = await open();
    const first = counting('first');
    await add(id, first);
    const mark = path(`beside ${name}`);
    const answer = await add(id, `touch '${mark}'`, { ...first, ...change });
    expect(answer.json).toMatchObject({ status: 409, code: 'COMMAND_ID_CONFLICT', pointer: '/commands/1/id' });
    await close(id);
    expect(existsSync(mark)).toBe(false);
  });

  test('in one request is a fault, as in every batch, and the place that is told is that of the request', async () => {
    const { id } = await open();
    await add(id, counting('before'));
    const answer = await add(id, counting('before'), counting('in'), counting('in'));
    expect(answer.json).toMatchObject({ code: 'COMMAND_ID_DUPLICATE', pointer: '/commands/2/id' });
    expect((await close(id)).commands).toHaveLength(1);
  });

  test('without an id is a new one', async () => {
    const { id } = await open();
    for (let n = 0; n < 2; n += 1) await add(id, `echo x >> ${path('anonymous')}`);
    await close(id);
    expect(readFileSync(path('anonymous'), 'utf8')).toBe('x\nx\n');
  });
});

describe('lines for a batch that is open', () => {
  test('are each answered when they come, and run meanwhile', async () => {
    const { id } = await open();
    const upload = startUpload(service, `/batches/${id}/commands`);
    upload.lines({ id: 'a', command: 'echo 1' });
    expect(await upload.until(isEvent('taken', 'a'))).toMatchObject({ line: 1, batchId: id });
    await until(async () => (await service.call(`/batches/${id}`)).json.commands[0].state === 'exited');
    upload.write('\n');
    upload.lines({ id: 'a', command: 'echo 1' }, 'echo 2');
    upload.end();
    const told = (await upload.whole()).map((record) => lineRecord.parse(record));
    expect(told.map(({ type, line }) => [type, line])).toEqual([
      ['taken', 1],
      ['known', 3],
      ['taken', 4],
    ]);
    expect((await upload.answer()).statusCode).toBe(200);
    expect((await close(id)).commands.map(({ stdout }) => stdout)).toEqual(['1\n', '2\n']);
  });

  test('that are wrong end the reading, and leave the batch open', async () => {
    const { id } = await open();
    const upload = startUpload(service, `/batches/${id}/commands`);
    upload.lines('echo 1', { id: 'a', command: 'echo 2' }, { id: 'a', command: 'echo 3' }, `touch ${path('behind')}`);
    const told = await upload.whole();
    expect(told.at(-1)).toMatchObject({ type: 'error', line: 3, code: 'COMMAND_ID_CONFLICT', pointer: '/id' });
    expect((await add(id, 'echo 4')).json.commands).toEqual([{ id: 'c3', known: false }]);
    expect((await close(id)).commands.map(({ stdout }) => stdout)).toEqual(['1\n', '2\n', '4\n']);
    expect(existsSync(path('behind'))).toBe(false);
  });

  test('that break off leave it open too', async () => {
    const { id } = await open();
    const upload = startUpload(service, `/batches/${id}/commands`);
    upload.lines('echo 1');
    await upload.until(isEvent('taken'));
    upload.write(`"touch ${path('torn')}"`);
    upload.destroy();
    expect((await add(id, 'echo 2')).status).toBe(200);
    expect((await close(id)).commands.map(({ stdout }) => stdout)).toEqual(['1\n', '2\n']);
    expect(existsSync(path('torn'))).toBe(false);
  });

  test('of more than one sender come into one order', async () => {
    const { id } = await open({ commands: [] });
    const uploads = [1, 2].map(() => startUpload(service, `/batches/${id}/commands`));
    for (const [at, upload] of uploads.entries())
      for (let n = 0; n < 4; n += 1) upload.lines({ id: `${at}-${n}`, command: 'true' });
    for (const upload of uploads) upload.end();
    for (const upload of uploads) expect((await upload.whole()).every(isEvent('taken'))).toBe(true);
    const ids = (await close(id)).commands.map((command) => command.id);
    for (const at of [0, 1])
      expect(ids.filter((each) => each.startsWith(`${at}-`))).toEqual([0, 1, 2, 3].map((n) => `${at}-${n}`));
  });

  test('are limited in number, known ones too', async () => {
    const { id } = await open();
    const upload = startUpload(service, `/batches/${id}/commands`);
    upload.lines(...Array(12).fill({ id: 'a', command: 'true' }));
    const told = await upload.whole();
    expect(told.at(-1)).toMatchObject({ type: 'error', line: 12, code: 'COMMANDS_TOO_MANY' });
    expect((await close(id)).commands).toHaveLength(1);
  });

  test.each<[string, string, number, string]>([
    ['none', '', 400, 'COMMANDS_EMPTY'],
    ['options', '{"batch":{}}\n', 400, 'REQUEST_INVALID'],
    ['a first one that is wrong', 'ls\n', 400, 'BODY_NOT_JSON'],
  ])('%s is answered by a problem', async (_name, body, status, code) => {
    const { id } = await open();
    const upload = startUpload(service, `/batches/${id}/commands`);
    upload.write(body);
    upload.end();
    expect((await upload.answer()).statusCode).toBe(status);
    await upload.whole();
    expect(JSON.parse(upload.text()).code).toBe(code);
    await close(id);
  });

  test('cannot be answered as events', async () => {
    const { id } = await open();
    const upload = startUpload(service, `/batches/${id}/commands`, { accept: 'text/event-stream' });
    upload.lines('ls');
    expect((await upload.answer()).statusCode).toBe(406);
    await close(id);
  });
});

describe('a batch that takes none', () => {
  const lines = { 'content-type': 'application/x-ndjson' };

  test('because it was complete from the start', async () => {
    const { id } = await service.run({ commands: [{ id: 'a', command: 'pwd' }] }, { prefer: 'wait=30' });
    const answer = await add(id, { id: 'a', command: 'pwd' });
    expect(answer.json).toMatchObject({ status: 409, code: 'BATCH_CLOSED', hint: expect.stringContaining('open') });
  });

  test('because it was closed, cancelled, or its lines have ended', async () => {
    const { id } = await open();
    await close(id);
    const cancelled = await open();
    await service.call(`/batches/${cancelled.id}`, { method: 'DELETE' });
    const upload = startUpload(service);
    upload.lines('pwd');
    upload.end();
    await upload.whole();
    const streamed = String((await upload.answer()).headers.location).slice('/batches/'.length);
    for (const each of [id, cancelled.id, streamed]) {
      expect((await add(each, 'ls')).json.code).toBe('BATCH_CLOSED');
      const body = '"ls"\n';
      expect((await service.call(`/batches/${each}/commands`, { method: 'POST', headers: lines, body })).status).toBe(
        409,
      );
    }
  });

  test('because nobody knows it', async () => {
    for (const at of ['commands', 'close']) {
      const answer = await service.call(`/batches/nobody/${at}`, { method: 'POST', body: { commands: ['ls'] } });
      expect(answer.json).toMatchObject({ status: 404, code: 'BATCH_UNKNOWN' });
    }
  });

  test('because it is no longer kept', async () => {
    const short = await startService({ flags: { 'retention-max-batches': 1 } });
    const first = await short.run({ commands: ['pwd'], open: true });
    await short.call(`/batches/${first.id}/close`, { method: 'POST', headers: { prefer: 'wait=30' } });
    await short.run({ commands: ['pwd'] }, { prefer: 'wait=30' });
    for (const at of ['commands', 'close']) {
      const answer = await short.call(`/batches/${first.id}/${at}`, { method: 'POST', body: { commands: ['ls'] } });
      expect(answer.json).toMatchObject({ status: 410, code: 'BATCH_GONE' });
    }
  });
});

test('adding is refused while a service ends, and by one that only judges', async () => {
  const ending = await startService({ flags: { 'shutdown-grace-ms': 20_000, 'shutdown-deadline-ms': 30_000 } });
  const go = join(ending.root, 'go');
  const { id } = await ending.run({ commands: [`while [ ! -e ${go} ]; do sleep 0.02; done`], open: true });
  await until(async () => (await ending.call(`/batches/${id}`)).json.commands[0].state === 'running');
  const closed = ending.app.close();
  await until(async () => (await ending.call('/readyz')).status === 503);
  const answer = await ending.call(`/batches/${id}/commands`, { method: 'POST', body: { commands: ['touch late'] } });
  expect(answer.json).toMatchObject({ status: 503, code: 'SHUTTING_DOWN' });
  const upload = startUpload(ending);
  upload.lines('touch late');
  expect((await upload.answer()).statusCode).toBe(503);
  writeFileSync(go, '');
  await closed;
  expect(existsSync(join(ending.root, 'late'))).toBe(false);

  const judging = await startService({ flags: { 'classify-only': 'true' } });
  for (const at of ['/batches', `/batches/${id}/commands`, `/batches/${id}/close`])
    expect((await judging.call(at, { method: 'POST', body: {} })).json.code).toBe('CLASSIFY_ONLY');
  const told = (await judging.call('/capabilities')).json.capabilities;
  expect(told.filter((token: string) => token.startsWith('batches'))).toEqual([]);
});

test('what is logged of lines holds no text of a command', async () => {
  const { id } = await open({ commands: ['echo canary-open'] });
  await add(id, 'echo canary-json');
  const upload = startUpload(service, `/batches/${id}/commands`);
  upload.lines({ id: 'x', command: 'echo canary-line', env: { SECRET: 'canary-env' } }, { canary: 1 });
  await upload.whole();
  await close(id);
  expect(service.logs()).toContain('line taken');
  expect(service.logs()).not.toContain('canary');
  expect(service.logs()).not.toContain('"level":50');
});
