import { createHash } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { type ALL_SCOPES, scopesOf } from '../../src/http/scopes.ts';
import { readTokens } from '../../src/http/token.ts';
import { temporaryDirectory } from '../support/dispatcher.ts';
import { addressOf, routesOf } from './routes.ts';
import { type Service, startService } from './service.ts';

const SECRETS = {
  reader: 'reader-token-0123456789',
  runner: 'runner-token-0123456789',
  both: 'both-token-0123456789',
  chief: 'chief-token-0123456789',
  voucher: 'voucher-token-0123456789',
  watcher: 'watcher-token-0123456789',
  past: 'past-token-0123456789',
} as const;

const hashOf = (token: string): string => `sha256:${createHash('sha256').update(token).digest('hex')}`;
const line = (name: keyof typeof SECRETS, scopes: string, expires = ''): string =>
  `${name} ${scopes} ${hashOf(SECRETS[name])} ${expires}`;

const LINES = [
  '# who may ask',
  '',
  line('reader', 'classify'),
  line('runner', 'run'),
  `  ${line('both', 'classify,run', '2999-01-31T00:00:00Z')}`,
  line('chief', 'admin'),
  line('voucher', 'vouch'),
  line('watcher', 'metrics'),
  line('past', 'classify,run,vouch,admin', '2020-01-31T00:00:00Z'),
].join('\n');

const by = (name: keyof typeof SECRETS) => ({ authorization: `Bearer ${SECRETS[name]}` });

/** What a request of each kind is answered with, as this token. */
async function answersOf(service: Service, headers: Record<string, string>): Promise<Record<string, unknown>> {
  const told: Record<string, unknown> = {};
  for (const [name, path, body] of [
    ['classify', '/classify', { command: 'ls' }],
    ['run', '/batches', { commands: ['echo a'] }],
    ['capabilities', '/capabilities', undefined],
    ['nothing', '/nothing', undefined],
  ] as const) {
    const method = body === undefined ? 'GET' : 'POST';
    const { status, json } = await service.call(path, { method, headers, ...(body === undefined ? {} : { body }) });
    told[name] = json?.code ?? status;
  }
  return told;
}

describe('a service with several tokens', () => {
  let service: Service;
  let file: string;
  beforeEach(async () => {
    file = join(temporaryDirectory(), 'tokens');
    writeFileSync(file, LINES);
    service = await startService({ flags: { 'token-file': file } });
  });

  test('lets each do what its scopes say, and nothing else', async () => {
    const may = { capabilities: 200, nothing: 'ROUTE_UNKNOWN' };
    expect(await answersOf(service, by('reader'))).toEqual({ ...may, classify: 200, run: 'SCOPE_MISSING' });
    expect(await answersOf(service, by('runner'))).toEqual({ ...may, classify: 'SCOPE_MISSING', run: 201 });
    expect(await answersOf(service, by('both'))).toEqual({ ...may, classify: 200, run: 201 });
    expect(await answersOf(service, by('chief'))).toEqual({ ...may, classify: 'SCOPE_MISSING', run: 'SCOPE_MISSING' });
    const expired = 'TOKEN_EXPIRED';
    expect(await answersOf(service, by('past'))).toEqual({
      classify: expired,
      run: expired,
      capabilities: expired,
      nothing: expired,
    });
  });

  test('says what is missing, and never repeats the token', async () => {
    const answer = await service.call('/batches', {
      method: 'POST',
      headers: by('reader'),
      body: { commands: ['ls'] },
    });
    expect(answer.status).toBe(403);
    expect(answer.json.detail).toBe('Expected a token with the scope run, got one with classify');
    expect(answer.headers['www-authenticate']).toContain('insufficient_scope');
    expect(answer.text + service.logs()).not.toContain(SECRETS.reader);
  });

  test('takes over what the file says now, without a restart', async () => {
    const status = async (name: keyof typeof SECRETS): Promise<unknown> =>
      (await service.call('/classify', { method: 'POST', headers: by(name), body: { command: 'ls' } })).status;
    expect(await status('reader')).toBe(200);
    writeFileSync(`${file}.new`, line('chief', 'classify'));
    renameSync(`${file}.new`, file);
    expect([await status('reader'), await status('chief')]).toEqual([401, 200]);
    // A fault: those that were known stay, and the log says so.
    writeFileSync(file, 'chief everything');
    expect([await status('reader'), await status('chief')]).toEqual([401, 200]);
    expect(service.logs()).toContain('token file not taken over');
    // Nobody is left to be let in.
    writeFileSync(file, '# all gone\n');
    expect([await status('reader'), await status('chief')]).toEqual([401, 401]);
    writeFileSync(file, line('reader', 'classify'));
    expect([await status('reader'), await status('chief')]).toEqual([200, 401]);
    rmSync(file);
    expect([await status('reader'), await status('chief')]).toEqual([401, 401]);
  });

  test('lets nobody in at any route without the right token and scope, and who has them everywhere', async () => {
    const routes = routesOf(service.app);
    expect(routes.length).toBeGreaterThan(25);
    const wrong: string[] = [];
    for (const { method, url } of routes) {
      const told = async (headers: Record<string, string>) =>
        (await service.call(addressOf({ method, url }), { method, headers })).status;
      const expected = async (who: string, headers: Record<string, string>, isRight: (status: number) => boolean) => {
        const status = await told(headers);
        if (!isRight(status)) wrong.push(`${method} ${url} as ${who}: ${status}`);
      };
      const isOpen = url === '/healthz';
      for (const [who, headers] of [
        ['nobody', {}],
        ['somebody unknown', { authorization: 'Bearer another-token-0123456789' }],
        ['past', by('past')],
      ] as const)
        await expected(who, headers, (status) => (status === 401) === !isOpen);
      const scopes = scopesOf(method, url);
      for (const [name, has] of [
        ['reader', 'classify'],
        ['runner', 'run'],
        ['voucher', 'vouch'],
        ['watcher', 'metrics'],
        ['chief', 'admin'],
      ] as const) {
        const isRefused = scopes !== null && !scopes.includes(has);
        await expected(name, by(name), (status) => (status === 403) === isRefused && status !== 401);
      }
    }
    expect(wrong).toEqual([]);
  });

  test('asks for the scopes that the documentation says', () => {
    const asked = (scope: (typeof ALL_SCOPES)[number]) =>
      routesOf(service.app)
        .filter(({ method, url }) => method !== 'HEAD' && scopesOf(method, url)?.includes(scope))
        .map(({ method, url }) => `${method} ${url}`)
        .sort();
    expect(asked('classify')).toEqual(['GET /classify', 'POST /classify']);
    expect(asked('run').filter((route) => !route.includes(' /batches'))).toEqual(['POST /plan']);
    expect(asked('vouch')).toEqual([]);
    expect(asked('metrics')).toEqual(['GET /metrics']);
    expect(asked('admin').filter((route) => route.startsWith('POST'))).toEqual([]);
  });
});

test('an address that nobody gave a scope asks for the highest', () => {
  expect(['/locks', '/anything/else', '', '/'].map((url) => scopesOf('GET', url))).toEqual(Array(4).fill(['admin']));
});

describe('a token file', () => {
  test.each([
    ['a name that is none', `a/b run ${hashOf('x')}`, 'a name of 1 to 64'],
    ['no scope', `a , ${hashOf('x')}`, 'scopes out of classify, run, vouch, metrics, admin'],
    ['a scope that is none', `a classify,root ${hashOf('x')}`, 'scopes out of'],
    ['a token in the open', 'a run my-secret-token-0123456789', 'sha256: and the 64'],
    ['a hash in capitals', `a run ${hashOf('x').toUpperCase()}`, 'sha256: and the 64'],
    ['a time that is none', `a run ${hashOf('x')} tomorrow`, 'a time such as'],
    ['a day that is none', `a run ${hashOf('x')} 2027-02-31T25:00:00Z`, 'a time such as'],
    ['more than that', `a run ${hashOf('x')} 2027-01-31T00:00:00Z b`, 'a time such as'],
    ['one name twice', `a run ${hashOf('x')}\na run ${hashOf('y')}`, 'one token named a'],
    ['no token', '# nobody\n\n', 'Expected a token'],
    ['too many', Array.from({ length: 1001 }, (_, at) => `a${at} run ${hashOf('x')}`).join('\n'), 'at most 1000'],
  ])('with %s is a bad configuration that says where', (_, content, expected) => {
    const file = join(temporaryDirectory(), 'tokens');
    writeFileSync(file, content);
    expect(() => readTokens(file)).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(expected) }),
    );
    expect(() => readTokens(file)).not.toThrow(expect.objectContaining({ message: /secret/ }));
  });
});
