import { createHash } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../support/dispatcher.ts';
import { type Route, routesOf } from './routes.ts';
import { type Service, send, startService } from './service.ts';

const hashOf = (token: string): string => `sha256:${createHash('sha256').update(token).digest('hex')}`;
const NAMES = ['ada', 'bob', 'chief', 'overseer'] as const;
type Name = (typeof NAMES)[number];
const secretOf = (name: Name) => `${name}-token-0123456789`;
const by = (name: Name) => ({ authorization: `Bearer ${secretOf(name)}` });
const SCOPES = { ada: 'run', bob: 'classify,run', chief: 'admin', overseer: 'classify,run,admin' } as const;

/** It does not end by itself, and asks before. */
const BLOCKER = { id: 'asks', command: 'while [ ! -e go ]; do sleep 0.02; done', approval: 'required' };

/** What is sent to a route that takes a body. */
function bodyFor(url: string): { readonly body?: object } {
  if (url.endsWith('/commands')) return { body: { commands: ['touch added'] } };
  return url.endsWith('/approvals') ? { body: { approvals: [{ id: BLOCKER.id, decision: 'approve' }] } } : {};
}

let service: Service;
let file: string;
beforeEach(async () => {
  file = join(temporaryDirectory(), 'tokens');
  writeFileSync(file, NAMES.map((name) => `${name} ${SCOPES[name]} ${hashOf(secretOf(name))}`).join('\n'));
  service = await startService({ flags: { 'token-file': file, 'retention-max-batches': 1 } });
});

/** Every route that is about one batch, with the method that it has. */
const routesOfOneBatch = (): readonly Route[] => routesOf(service.app).filter(({ url }) => url.includes('/:id'));

/** Asks something well-formed of a route about this batch; does not wait for the end of a stream. */
async function ask({ method, url }: Route, id: string, name: Name): Promise<{ status: number; code?: string }> {
  const path = url.replace(':id', id);
  const call = { method, headers: by(name), ...bodyFor(url) };
  const incoming = await send(service.port, path, call);
  const status = incoming.statusCode ?? 0;
  if (status < 400 || method === 'HEAD') {
    incoming.destroy();
    return { status };
  }
  let text = '';
  for await (const chunk of incoming) text += chunk;
  return { status, code: JSON.parse(text).code };
}

const open = async (name: Name): Promise<string> =>
  (await service.run({ open: true, commands: [BLOCKER] }, by(name))).id;

describe('a batch of another token', () => {
  test('is not there, whatever is asked of it, and goes on as if nothing had been asked', async () => {
    const id = await open('ada');
    expect(routesOfOneBatch().length).toBeGreaterThanOrEqual(8);
    for (const route of routesOfOneBatch()) {
      const { status, code } = await ask(route, id, 'bob');
      expect([route, status]).toEqual([route, 404]);
      if (route.method !== 'HEAD') expect(code).toBe('BATCH_UNKNOWN');
    }
    const { json } = await service.call(`/batches/${id}`, { headers: by('ada') });
    expect(json.state).toBe('open');
    expect(json.commands).toHaveLength(1);
    expect(json.asks).toEqual([BLOCKER.id]);
    expect(existsSync(join(service.root, 'added'))).toBe(false);
  });

  test('is told from one that never was by nothing in the answer but its id', async () => {
    const id = await open('ada');
    const never = '00000000-0000-4000-8000-000000000000';
    const [foreign, unknown] = await Promise.all(
      [id, never].map(async (each) => {
        const { status, json } = await service.call(`/batches/${each}`, { headers: by('bob') });
        return JSON.stringify({ status, ...json, instance: null }).replace(each, 'ID');
      }),
    );
    expect(foreign).toBe(unknown);
  });

  test('is not there either when it has left', async () => {
    const wait = { prefer: 'wait=30' };
    const { id } = await service.run({ commands: ['true'] }, { ...by('ada'), ...wait });
    await service.run({ commands: ['true'] }, { ...by('ada'), ...wait });
    const code = async (name: Name) => (await service.call(`/batches/${id}`, { headers: by(name) })).json.code;
    expect(await Promise.all(NAMES.map(code))).toEqual(['BATCH_GONE', 'BATCH_UNKNOWN', 'BATCH_GONE', 'BATCH_GONE']);
  });

  test('can be read and cancelled with admin, and neither added to nor closed', async () => {
    for (const name of ['chief', 'overseer'] as const) {
      const id = await open('ada');
      for (const route of routesOfOneBatch().filter(({ method }) => method !== 'DELETE')) {
        const { status, code } = await ask(route, id, name);
        const isChange = route.method === 'POST';
        expect([name, route, status]).toEqual([name, route, isChange ? 403 : 200]);
        if (isChange) expect(code).toBe(name === 'chief' ? 'SCOPE_MISSING' : 'BATCH_FOREIGN');
      }
      expect((await service.call(`/batches/${id}`, { headers: by('ada') })).json.state).toBe('open');
      const cancelled = await service.call(`/batches/${id}`, {
        method: 'DELETE',
        headers: { ...by(name), prefer: 'wait=30' },
      });
      expect([cancelled.status, cancelled.json.state]).toEqual([200, 'cancelled']);
      expect(existsSync(join(service.root, 'added'))).toBe(false);
    }
  });
});

describe("a batch of one's own", () => {
  test('can be read, added to, closed and cancelled', async () => {
    for (const route of routesOfOneBatch()) {
      const id = await open('ada');
      expect([route, (await ask(route, id, 'ada')).status]).toEqual([route, 200]);
    }
  });

  test("that came in lines is its sender's alone", async () => {
    const answer = await service.call('/batches', {
      method: 'POST',
      headers: { ...by('ada'), 'content-type': 'application/x-ndjson' },
      body: '"true"\n',
    });
    const path = answer.headers.location ?? '';
    const status = async (name: Name) => (await service.call(path, { headers: by(name) })).status;
    expect(await Promise.all(NAMES.map(status))).toEqual([200, 404, 200, 200]);
  });

  test('stays so with a new secret under the same name, and is not that of the old secret under another', async () => {
    const id = await open('ada');
    writeFileSync(file, `eve run ${hashOf(secretOf('ada'))}\nada run ${hashOf(secretOf('bob'))}\n`);
    const status = async (name: Name) => (await service.call(`/batches/${id}`, { headers: by(name) })).status;
    expect([await status('bob'), await status('ada')]).toEqual([200, 404]);
  });
});

test('without tokens everybody sees, changes and cancels everything', async () => {
  service = await startService();
  for (const route of routesOfOneBatch()) {
    const { id } = await service.run({ open: true, commands: [BLOCKER] });
    const { url, method } = route;
    const incoming = await send(service.port, url.replace(':id', id), { method, ...bodyFor(url) });
    incoming.destroy();
    expect([route, incoming.statusCode]).toEqual([route, 200]);
  }
});
