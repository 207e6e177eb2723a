import { createHash } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../support/dispatcher.ts';
import { addressOf, routesOf } from './routes.ts';
import { type Service, send, startService, until } from './service.ts';

const hashOf = (token: string): string => `sha256:${createHash('sha256').update(token).digest('hex')}`;
const secretOf = (name: string) => `${name}-token-0123456789`;
const by = (name: string) => ({ authorization: `Bearer ${secretOf(name)}` });
const wait = { prefer: 'wait=30' };
const BLOCKER = 'while [ ! -e go ]; do sleep 0.02; done';

/** A service that knows Ada, who may do all but vouch, and Bob, who may run and ask. */
function serviceFor(flags: Record<string, string | number>): Promise<Service> {
  const file = join(temporaryDirectory(), 'tokens');
  const lineOf = (name: string, scopes: string) => `${name} ${scopes} ${hashOf(secretOf(name))}\n`;
  writeFileSync(file, lineOf('ada', 'classify,run,admin') + lineOf('bob', 'classify,run'));
  return startService({ flags: { 'token-file': file, ...flags } });
}

describe('batches of one token that have not ended', () => {
  const lines = { 'content-type': 'application/x-ndjson' };

  test('are limited however they are opened, and leave room for those of another', async () => {
    const service = await serviceFor({ 'max-batches-per-token': 2 });
    const first = await service.run({ commands: [BLOCKER] }, by('ada'));
    const second = await service.run({ open: true, commands: [] }, by('ada'));
    for (const [body, headers] of [
      [{ commands: ['touch made'] }, {}],
      [{ open: true, commands: ['touch made'] }, {}],
      ['"touch made"\n', lines],
    ] as const) {
      const answer = await service.call('/batches', { method: 'POST', body, headers: { ...by('ada'), ...headers } });
      expect([answer.status, answer.json.code, answer.headers['retry-after']]).toEqual([429, 'BATCHES_TOO_MANY', '1']);
    }
    expect(existsSync(join(service.root, 'made'))).toBe(false);
    // In another place, since that of Ada's is hers until her command has ended.
    expect((await service.run({ commands: ['true'] }, by('bob'))).commands).toHaveLength(1);
    await service.call(`/batches/${second.id}`, { method: 'DELETE', headers: { ...by('ada'), ...wait } });
    const third = await service.run({ commands: ['true'] }, by('ada'));
    writeFileSync(join(service.root, 'go'), '');
    for (const { id } of [first, third]) await service.call(`/batches/${id}`, { headers: { ...by('ada'), ...wait } });
    await service.run({ commands: ['true'] }, by('ada'));
  });

  test('that were refused count for nothing', async () => {
    const service = await serviceFor({ 'max-batches-per-token': 1 });
    for (const body of [{ commands: ['true', { id: 'x', command: 'a\0b' }] }, { open: true, commands: ['a\0b'] }])
      expect((await service.call('/batches', { method: 'POST', body, headers: by('ada') })).status).toBe(400);
    const broken = await service.call('/batches', {
      method: 'POST',
      body: '{"no":1}\n',
      headers: { ...by('ada'), ...lines },
    });
    expect(broken.status).toBe(400);
    await service.run({ commands: ['true'] }, { ...by('ada'), ...wait });
  });
});

describe('streams of one token', () => {
  const events = async (service: Service, id: string, name: string): Promise<IncomingMessage> => {
    const incoming = await send(service.port, `/batches/${id}/events`, { headers: by(name) });
    onTestFinished(() => {
      incoming.destroy();
    });
    return incoming;
  };

  test('are limited, a new one is taken when one has ended, and a short answer is always given', async () => {
    const service = await serviceFor({ 'max-streams-per-token': 2 });
    const { id } = await service.run({ open: true, commands: ['true'] }, by('ada'));
    const open = [await events(service, id, 'ada'), await events(service, id, 'ada')];
    expect(open.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
    const lines = { ...by('ada'), 'content-type': 'application/x-ndjson' };
    for (const [path, call] of [
      [`/batches/${id}/events`, { headers: by('ada') }],
      [`/batches/${id}/commands`, { method: 'POST', headers: lines, body: '"touch made"\n' }],
      ['/batches', { method: 'POST', headers: lines, body: '"touch made"\n' }],
    ] as const) {
      const answer = await service.call(path, call);
      expect([path, answer.status, answer.json.code]).toEqual([path, 429, 'STREAMS_TOO_MANY']);
      expect(answer.headers['retry-after']).toBe('1');
    }
    expect(existsSync(join(service.root, 'made'))).toBe(false);
    expect((await service.call(`/batches/${id}`, { headers: by('ada') })).status).toBe(200);
    const { id: other } = await service.run({ commands: ['true'] }, by('bob'));
    expect((await events(service, other, 'bob')).statusCode).toBe(200);
    open[0]?.destroy();
    await until(async () => (await events(service, id, 'ada')).statusCode === 200);
  });
});

describe('requests in a minute', () => {
  test('are limited for each token, at every route, and told when to come back', async () => {
    const service = await serviceFor({ 'max-requests-per-minute': 3 });
    const ask = (name: string, path = '/capabilities') => service.call(path, { headers: by(name) });
    for (let n = 0; n < 3; n += 1) expect((await ask('ada')).status).toBe(200);
    const refused = await ask('ada');
    expect([refused.status, refused.json.code]).toEqual([429, 'RATE_LIMITED']);
    expect(refused.headers['content-type']).toContain('application/problem+json');
    const seconds = Number(refused.headers['retry-after']);
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
    const letIn: string[] = [];
    for (const route of routesOf(service.app)) {
      const { status } = await service.call(addressOf(route), { method: route.method, headers: by('ada') });
      if (status !== 429) letIn.push(`${route.method} ${route.url}: ${status}`);
    }
    // A health check asks for ever, and is told nothing.
    expect(letIn).toEqual(['GET /healthz: 200', 'HEAD /healthz: 200']);
    expect((await ask('ada', '/nothing')).status).toBe(429);
    expect((await ask('bob')).status).toBe(200);
    expect((await service.call('/capabilities', { headers: by('bob') })).json.limits.maxRequestsPerMinute).toBe(3);
  });

  test('that are refused are limited too, and use up nothing of those who are let in', async () => {
    const service = await serviceFor({ 'max-requests-per-minute': 2 });
    const codes: unknown[] = [];
    for (let n = 0; n < 4; n += 1)
      codes.push(
        (await service.call('/capabilities', { headers: { authorization: 'Bearer guess-0123456789012' } })).json.code,
      );
    expect(codes).toEqual(['TOKEN_REFUSED', 'TOKEN_REFUSED', 'RATE_LIMITED', 'RATE_LIMITED']);
    expect((await service.call('/capabilities', { headers: by('ada') })).status).toBe(200);
  });

  test('count by address where there are no tokens, and a page of another site uses up nothing', async () => {
    const service = await startService({ flags: { 'max-requests-per-minute': 2 } });
    for (let n = 0; n < 5; n += 1) await service.call('/capabilities', { headers: { origin: 'http://evil.example' } });
    const statuses: number[] = [];
    for (let n = 0; n < 3; n += 1) statuses.push((await service.call('/capabilities')).status);
    expect(statuses).toEqual([200, 200, 429]);
  });
});
