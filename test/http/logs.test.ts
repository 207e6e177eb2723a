import { existsSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ask, type Service, sendRaw, startService } from './service.ts';

const CANARY = 'canary7f3a';

/** Everything that a client can say the canary in, and everything that can go wrong with it. */
async function sing(service: Service): Promise<void> {
  const { port } = service;
  const json = { 'content-type': 'application/json' };
  const host = `Host: localhost:${port}\r\n`;
  const post = (path: string, body: object | string, headers = {}) =>
    service.call(path, { method: 'POST', body, headers });

  // As a query, in a good question and in every bad one.
  for (const query of [
    `command=${CANARY}`,
    `command=ls%20${CANARY}`,
    `x=${CANARY}`,
    `command=%zz${CANARY}`,
    `command=a&command=${CANARY}`,
  ]) {
    await service.call(`/classify?${query}`);
    await service.call(`/classify?${query}`, { headers: { accept: 'text/html' } });
    await service.call(`/classify?${query}`, { headers: { origin: `http://${CANARY}` } });
    await service.call(`/classify?${query}`, { headers: { host: CANARY } });
    await service.call(`/classify?${query}`, { method: 'DELETE' });
    await service.call(`/nothing?${query}`);
  }
  await sendRaw(port, `GET /classify?command=${CANARY}\xff HTTP/1.1\r\n${host}\r\n`, 300);
  await sendRaw(port, `GET /classify?command=${CANARY}${'x'.repeat(20_000)} HTTP/1.1\r\n${host}\r\n`, 300);
  await sendRaw(port, `GET http://${CANARY}/ HTTP/1.1\r\n${host}\r\n`, 300);

  // As a path, an id, a field.
  for (const path of [
    `/${CANARY}`,
    `/${CANARY}/%zz`,
    `/batches/${CANARY}`,
    `/batches/${CANARY}/events`,
    `/batches/${CANARY.repeat(40)}`,
    `/docs/static/${CANARY}`,
  ]) {
    await service.call(path);
  }
  await service.call('/capabilities', {
    headers: { authorization: `Bearer ${CANARY}-long-enough-for-a-token`, 'x-thing': CANARY },
  });
  await service.call('/batches/x/events', { headers: { 'last-event-id': CANARY } });
  await sendRaw(port, `${CANARY} / HTTP/1.1\r\n${host}\r\n`, 300);
  await sendRaw(port, `GET / HTTP/1.1\r\n${host}Expect: ${CANARY}\r\n\r\n`, 300);

  // As text, environment, input, directory, key, and output of commands.
  await post('/classify', { commands: [`echo ${CANARY}`, { command: `${CANARY} x` }] });
  await post('/classify', { command: `${CANARY}; x`, cwd: `/${CANARY}` });
  const batch = await service.run(
    {
      commands: [
        `echo ${CANARY}`,
        `${CANARY} unknown`,
        { command: 'cat', stdin: CANARY },
        { command: `echo "$V"; echo ${CANARY} >&2; exit 4`, env: { V: CANARY }, lockKeys: [CANARY] },
      ],
    },
    { prefer: `wait=30, x=${CANARY}` },
  );
  expect(batch.commands.map(({ stdout }) => stdout)).toEqual([`${CANARY}\n`, '', CANARY, `${CANARY}\n`]);
  await ask(port, `/batches/${batch.id}/events`);
  await post('/batches', { commands: [`touch ${CANARY}`], cwd: CANARY });
  await post('/batches', { commands: [`touch ${CANARY}\0`] });
  await post('/batches', { commands: [{ command: CANARY, [CANARY]: 1 }] });
  await post('/batches', `{"commands": ["${CANARY}`, json);
  await post('/batches', CANARY, { 'content-type': CANARY });
}

describe.each(['trace', 'info'])('at the level %s', (level) => {
  test('no line holds anything that a client or a command said', async () => {
    const service = await startService({ flags: { 'log-level': level } });
    await sing(service);
    const lines = service
      .logs()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.length).toBeGreaterThan(50);
    expect(service.logs()).not.toContain(CANARY);
    expect(service.logs()).not.toContain('command=');

    // What there is instead: who, what kind, how long, which rule, which code.
    const accepted = lines.filter(({ msg }) => msg === 'command accepted');
    expect(accepted.slice(0, 2)).toMatchObject([
      { commandId: 'c1', verdict: 'parallel', binary: 'echo', length: 5 + CANARY.length },
      { commandId: 'c2', verdict: 'COMMAND_UNKNOWN', binary: null },
    ]);
    const completed = lines.filter(({ msg }) => msg === 'request completed');
    expect(completed).toContainEqual(expect.objectContaining({ method: 'GET', route: '/classify', status: 200 }));
    expect(completed).toContainEqual(
      expect.objectContaining({ method: 'GET', route: null, status: 404, code: 'ROUTE_UNKNOWN' }),
    );
    expect(completed).toContainEqual(
      expect.objectContaining({ route: '/batches/:id', status: 404, code: 'BATCH_UNKNOWN' }),
    );
    expect(lines).toContainEqual(expect.objectContaining({ msg: 'message refused', code: 'HTTP_MALFORMED' }));
    expect(lines).toContainEqual(expect.objectContaining({ msg: 'batch ended', state: 'finished' }));
    for (const line of completed) expect(line.reqId).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('a token is in no line', async () => {
    const outside = await startService();
    const file = join(outside.root, 'token');
    writeFileSync(file, `${CANARY}-and-sixteen-more`);
    const service = await startService({ flags: { 'token-file': file, 'log-level': level } });
    const headers = { authorization: `Bearer ${CANARY}-and-sixteen-more` };
    expect((await service.call('/capabilities', { headers })).status).toBe(200);
    expect((await service.call('/capabilities', { headers: { authorization: `Bearer ${CANARY}` } })).status).toBe(401);
    expect(service.logs()).toContain('TOKEN_REFUSED');
    expect(service.logs()).not.toContain(CANARY);
  });
});

test('a level that is not reached writes nothing', async () => {
  const service = await startService({ flags: { 'log-level': 'silent' } });
  await sing(service);
  expect(service.logs()).toBe('');
});

test('a client that leaves before its answer has begun is no error of the service', async () => {
  const service = await startService({ flags: { 'log-level': 'debug' } });
  // More than goes into one piece, so that the answer is a stream, with nobody to take it.
  const command = 'head -c 300000 /dev/zero | tr "\\0" x; mkfifo gate; read < gate';
  const body = JSON.stringify({ commands: [command] });
  const headers = { 'content-type': 'application/json', prefer: 'wait=30' };
  const waiting = request({ host: '127.0.0.1', port: service.port, path: '/batches', method: 'POST', headers });
  waiting.on('error', () => {});
  waiting.end(body);
  await expect.poll(() => existsSync(join(service.root, 'gate')), { timeout: 20_000 }).toBe(true);
  waiting.destroy();
  await expect.poll(service.logs, { timeout: 20_000 }).toContain('response ended early');
  writeFileSync(join(service.root, 'gate'), 'go\n');
  await expect.poll(service.logs, { timeout: 20_000 }).toContain('batch ended');
  const lines = service
    .logs()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.filter(({ level }) => level > 30)).toEqual([]);
});
