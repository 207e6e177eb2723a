import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../support/dispatcher.ts';
import { openService, type Service, startService } from './service.ts';

/** Asks through a socket, as `curl --unix-socket` does. */
function ask(
  socketPath: string,
  path: string,
  headers: Record<string, string> = {},
  body?: object,
): Promise<{ status: number; json: unknown }> {
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const type = payload === undefined ? {} : { 'content-type': 'application/json' };
  const method = payload === undefined ? 'GET' : 'POST';
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { socketPath, path, method, headers: { host: 'localhost', ...type, ...headers } },
      (answer) => {
        text(answer).then((all) => resolve({ status: answer.statusCode ?? 0, json: JSON.parse(all) }), reject);
      },
    );
    outgoing.once('error', reject);
    outgoing.end(payload);
  });
}

const at = (socket: string, more: Record<string, string> = {}): Promise<Service> =>
  startService({ flags: { socket, ...more } });

async function listening(path: string): Promise<Server> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => void server.close());
  return server;
}

describe('a service on a Unix socket', () => {
  test('answers there, with the rights that were asked for, and leaves nothing behind', async () => {
    for (const [mode, rights] of [
      [undefined, 0o600],
      ['660', 0o660],
      ['000', 0],
    ] as const) {
      const directory = temporaryDirectory();
      const socket = join(directory, 's');
      const service = await openService({ flags: { socket, ...(mode === undefined ? {} : { 'socket-mode': mode }) } });
      expect([mode, statSync(socket).mode & 0o777]).toEqual([mode, rights]);
      expect(readdirSync(directory)).toEqual(['s']);
      if (mode === undefined) {
        const { json } = await ask(socket, '/batches', { prefer: 'wait=30' }, { commands: ['echo in'] });
        expect(json).toMatchObject({ commands: [{ stdout: 'in\n' }] });
      }
      await service.close();
      expect(readdirSync(directory)).toEqual([]);
    }
  });

  test('asks for the same names, origins and tokens as on an address', async () => {
    const directory = temporaryDirectory();
    const [socket, token] = [join(directory, 's'), join(directory, 'token')];
    writeFileSync(token, 'a-token-for-tests-0123456789');
    await at(socket, { 'token-file': token });
    const authorization = 'Bearer a-token-for-tests-0123456789';
    const status = async (headers: Record<string, string>) => (await ask(socket, '/capabilities', headers)).status;
    expect(await status({ authorization })).toBe(200);
    expect(await status({})).toBe(401);
    expect(await status({ authorization, origin: 'http://evil.example' })).toBe(403);
    expect(await status({ authorization, host: 'evil.example' })).toBe(421);
    expect(await status({ authorization, host: 'localhost:7311' })).toBe(421);
  });

  test('takes the place of one that a dead server left, and of nothing else', async () => {
    const directory = temporaryDirectory();
    const left = join(directory, 'left');
    const dead = createServer();
    await new Promise<void>((resolve) => dead.listen(join(directory, 'made'), resolve));
    // A file of a socket outlives its server when it has another name by then.
    renameSync(join(directory, 'made'), left);
    await new Promise((resolve) => dead.close(resolve));
    expect(lstatSync(left).isSocket()).toBe(true);
    await at(left);
    expect((await ask(left, '/capabilities')).status).toBe(200);

    const used = join(directory, 'used');
    await listening(used);
    await expect(at(used)).rejects.toMatchObject({ code: 'BIND_FAILED', message: expect.stringContaining('in use') });
    const file = join(directory, 'file');
    writeFileSync(file, 'precious');
    mkdirSync(join(directory, 'dir'));
    for (const path of [file, join(directory, 'dir')]) {
      await expect(at(path)).rejects.toMatchObject({
        code: 'BIND_FAILED',
        message: expect.stringContaining('to be free'),
      });
    }
    expect(existsSync(file)).toBe(true);
    await expect(at(join(directory, 'missing', 's'))).rejects.toMatchObject({ code: 'BIND_FAILED' });
    await expect(at(join(directory, 'x'.repeat(100)))).rejects.toMatchObject({
      code: 'BIND_FAILED',
      message: expect.stringContaining('bytes'),
    });
    expect(readdirSync(directory).sort()).toEqual(['dir', 'file', 'left', 'used']);
  });

  test('leaves what another server has put in its place', async () => {
    const socket = join(temporaryDirectory(), 's');
    const first = await openService({ flags: { socket } });
    await listening(`${socket}.other`);
    renameSync(`${socket}.other`, socket);
    chmodSync(socket, 0o600);
    await first.close();
    expect(existsSync(socket)).toBe(true);
  });
});

test('a service that only judges takes no batch and runs nothing', async () => {
  const service = await startService({ flags: { 'classify-only': 'true' } });
  const body = { commands: ['touch ran'] };
  for (const [path, method] of [
    ['/batches', 'POST'],
    ['/batches/x', 'GET'],
    ['/batches/x', 'DELETE'],
    ['/batches/x/events', 'GET'],
  ] as const) {
    const answer = await service.call(path, { method, ...(method === 'POST' ? { body } : {}) });
    expect([path, answer.status, answer.json?.code]).toEqual([path, 403, 'CLASSIFY_ONLY']);
  }
  const verdicts = await service.call('/classify', { method: 'POST', body });
  expect(verdicts.json.verdicts).toHaveLength(1);
  const { capabilities } = (await service.call('/capabilities')).json;
  expect(capabilities).toContain('classify');
  expect(capabilities.filter((token: string) => /batch|event|wait|approval/.test(token))).toEqual([]);
  expect(readdirSync(service.root)).toEqual([]);
});
