import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { createDispatcher } from '../../src/dispatcher/dispatcher.ts';
import { createJudge } from '../../src/dispatcher/judge.ts';
import { loadRules } from '../../src/rules/load.ts';
import { buildServer, listen } from '../../src/server.ts';
import { ask, parseLines, send, startService, until } from './service.ts';

describe('closing', () => {
  test('tells everybody the truth, answers until the last command has ended, and then is gone', async () => {
    const service = await startService({ flags: { 'shutdown-grace-ms': 20_000, 'shutdown-deadline-ms': 30_000 } });
    const mark = join(service.root, 'ended');
    const go = join(service.root, 'go');
    const { id } = await service.run({
      commands: [`while [ ! -e ${go} ]; do sleep 0.02; done; touch ${mark}`, 'touch never'],
    });
    await until(async () => (await service.call(`/batches/${id}`)).json.commands[0].state === 'running');
    const stream = text(
      await send(service.port, `/batches/${id}/events`, { headers: { accept: 'application/x-ndjson' } }),
    );
    const waiting = service.call(`/batches/${id}`, { headers: { prefer: 'wait=60' } });

    const closed = service.app.close();
    await until(async () => (await service.call('/readyz')).status === 503);
    expect((await service.call('/readyz')).json).toMatchObject({ code: 'SHUTTING_DOWN' });
    expect((await service.call('/healthz')).status).toBe(200);
    const refused = await service.call('/batches', { method: 'POST', body: { commands: ['touch late'] } });
    expect(refused.json).toMatchObject({ status: 503, code: 'SHUTTING_DOWN' });
    expect(refused.headers['retry-after']).toBe('5');
    expect((await service.call('/classify', { method: 'POST', body: { command: 'ls' } })).json.kind).toBe('parallel');
    expect(existsSync(mark)).toBe(false);

    writeFileSync(go, '');
    const events = parseLines(await stream);
    expect(events.at(-1)).toMatchObject({ type: 'batch-finished' });
    const { commands } = (await waiting).json;
    expect(commands.map(({ state }: { state: string }) => state)).toEqual(['exited', 'not-started']);
    await closed;
    expect(existsSync(mark)).toBe(true);
    expect(existsSync(join(service.root, 'never')) || existsSync(join(service.root, 'late'))).toBe(false);
    await expect(service.call('/healthz')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('ends commands that do not end by themselves', async () => {
    const service = await startService({ flags: { 'shutdown-grace-ms': 50 } });
    const { id } = await service.run({ commands: ['sleep 60'] });
    const stream = text(
      await send(service.port, `/batches/${id}/events`, { headers: { accept: 'application/x-ndjson' } }),
    );
    await service.app.close();
    expect(parseLines(await stream).slice(-2)).toMatchObject([
      { type: 'finished', state: 'cancelled' },
      { type: 'batch-finished' },
    ]);
  });

  test('does not wait for connections that are idle', async () => {
    const service = await startService();
    const sockets = Array.from({ length: 20 }, () => connect(service.port, '127.0.0.1'));
    const gone = sockets.map(
      (socket) =>
        new Promise((resolve) =>
          socket
            .on('error', () => undefined)
            .once('close', resolve)
            .resume(),
        ),
    );
    for (const socket of sockets) socket.write(`GET /healthz HTTP/1.1\r\nHost: localhost:${service.port}\r\n\r\n`);
    await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('data', resolve))));
    await service.app.close();
    await Promise.all(gone);
  });

  test('cuts off at the deadline a reader that takes nothing, and a request that never ends', async () => {
    const service = await startService({
      flags: {
        'shutdown-grace-ms': 10,
        'shutdown-deadline-ms': 1_000,
        'max-output-bytes': 32_000_000,
        'max-batch-output-bytes': 32_000_000,
      },
    });
    const batch = await service.run({ commands: ["head -c 24000000 /dev/zero | tr '\\0' x"] }, { prefer: 'wait=60' });
    const stuck = await send(service.port, `/batches/${batch.id}/events`);
    stuck.pause();
    stuck.on('error', () => undefined);
    const endless = connect(service.port, '127.0.0.1', () => endless.write('POST /batches HTTP/1.1\r\nContent-Le'));
    endless.on('error', () => undefined);
    const gone = new Promise((resolve) => endless.once('close', resolve));
    await new Promise((resolve) => endless.once('connect', resolve));
    await service.app.close();
    endless.resume();
    await gone;
    stuck.destroy();
    await expect(service.call('/healthz')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('is safe to ask for twice', async () => {
    const service = await startService();
    await Promise.all([service.app.close(), service.app.close()]);
    await expect(service.call('/healthz')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});

describe('a service that cannot listen says why', () => {
  const rules = loadRules();
  const attempt = async (flags: Record<string, string | number>) => {
    const config = loadConfig({ env: {}, flags });
    const app = await buildServer({
      config,
      dispatcher: createDispatcher({ rules }),
      judge: createJudge(rules),
      ruleset: rules.hash,
      version: 'test',
      log: pino({ level: 'silent' }),
    });
    try {
      return await listen(app, config);
    } finally {
      await app.close();
    }
  };

  test('the port is in use', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    await expect(attempt({ port })).rejects.toMatchObject({
      code: 'BIND_FAILED',
      message: expect.stringContaining(`${port} of 127.0.0.1 is in use`),
      hint: expect.stringContaining('--port'),
    });
    await new Promise((resolve) => other.close(resolve));
  });

  test('the address is not of this machine', async () => {
    await expect(attempt({ port: 0, host: '203.0.113.7', 'token-file': tokenFile() })).rejects.toMatchObject({
      code: 'BIND_FAILED',
      message: expect.stringContaining('203.0.113.7'),
    });
  });

  test('the name leads nowhere', async () => {
    await expect(attempt({ port: 0, host: 'no-such-host.invalid', 'token-file': tokenFile() })).rejects.toMatchObject({
      code: 'BIND_FAILED',
      message: expect.stringContaining('no-such-host.invalid'),
    });
  });

  test.each<[string, string, string]>([
    ['EACCES', 'no permission', '--port'],
    ['EMFILE', 'too many of something', '--host'],
  ])('the system says %s', async (code, said, hint) => {
    const refusing = { listen: () => Promise.reject(Object.assign(new Error('too many of something'), { code })) };
    await expect(
      listen(refusing as unknown as FastifyInstance, {
        host: '127.0.0.1',
        port: 80,
        tokenFile: null,
        socket: null,
        socketMode: '600',
      }),
    ).rejects.toMatchObject({
      code: 'BIND_FAILED',
      message: expect.stringContaining(said),
      hint: expect.stringContaining(hint),
    });
  });

  test('and where it does listen', async () => {
    const found = await attempt({ port: 0, host: 'localhost' });
    expect(found).toEqual({
      url: `http://127.0.0.1:${found.port}`,
      host: '127.0.0.1',
      port: expect.any(Number),
      socket: null,
    });
    expect(found.port).toBeGreaterThan(0);
    await expect(ask(found.port, '/healthz')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});

function tokenFile(): string {
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-token-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'token');
  writeFileSync(path, 'a-token-for-tests-0123');
  return path;
}
