import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readTokens } from '../../src/http/token.ts';
import { addressOf, type Route, routesOf } from './routes.ts';
import { bodyOf, openService, type Service, sendRaw, startService } from './service.ts';

const TOKEN = 'a-token-for-tests-0123456789';

let open: Awaited<ReturnType<typeof openService>>;
let locked: Awaited<ReturnType<typeof openService>>;
beforeAll(async () => {
  open = await openService();
  const file = join(open.root, 'token');
  writeFileSync(file, `${TOKEN}\n`);
  locked = await openService({ flags: { 'token-file': file } });
});
afterAll(() => Promise.all([open.close(), locked.close()]));

const MARK = 'ran.txt';
const BATCH = JSON.stringify({ commands: [`touch ${MARK}`] });

/** Every route, and addresses that are none, with every method that a client could try. */
function everywhere(service: Service): readonly Route[] {
  const urls = [...new Set(routesOf(service.app).map(({ url }) => url))];
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY', 'PROPFIND'];
  const none = ['/', '/nothing', '/batches/x/y', '/%zz', `/batches/${'x'.repeat(300)}`];
  return [...urls, ...none].flatMap((url) => methods.map((method) => ({ method, url })));
}

/** Tries everything everywhere; answers the tries that were not refused as they should be. */
async function notRefused(
  service: Service,
  call: { headers?: Record<string, string>; body?: string },
  expected: string,
) {
  const wrong: string[] = [];
  for (const route of everywhere(service)) {
    // A GET or HEAD without a body has no content type to look at.
    const answer = await service.call(addressOf(route), { ...call, method: route.method });
    const code = route.method === 'HEAD' ? undefined : answer.json?.code;
    const isRight = route.method === 'HEAD' ? answer.status >= 400 : code === expected;
    if (!isRight) wrong.push(`${route.method} ${route.url}: ${answer.status} ${code}`);
  }
  return wrong;
}

test('the walk sees every route', () => {
  const routes = routesOf(open.app).map(({ method, url }) => `${method} ${url}`);
  expect(routes).toContain('POST /batches');
  expect(routes).toContain('GET /docs/static/*');
  expect(routes.length).toBeGreaterThan(25);
});

describe('at every address, known or not, with every method', () => {
  test.each([
    'text/plain',
    'text/plain;charset=UTF-8',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=utf-16',
    'application/json-patch+json',
    'text/json',
    'application/ndjson',
    '',
    'application/json, text/plain',
  ])('a body as %j is refused', async (type) => {
    expect(await notRefused(open, { headers: { 'content-type': type }, body: BATCH }, 'MEDIA_TYPE_REFUSED')).toEqual(
      [],
    );
  });

  test('a body of lines is refused, but where lines are read', async () => {
    const headers = { 'content-type': 'application/x-ndjson' };
    expect(await notRefused(open, { headers, body: BATCH }, 'MEDIA_TYPE_REFUSED')).toEqual([
      'POST /batches: 400 REQUEST_INVALID',
      'POST /batches/:id/commands: 404 BATCH_UNKNOWN',
    ]);
  });

  test('a body without a type is refused', async () => {
    expect(await notRefused(open, { body: BATCH }, 'MEDIA_TYPE_REFUSED')).toEqual([]);
  });

  test.each(['http://evil.example', 'null', 'http://127.0.0.1:7311', 'http://localhost', 'file://', ''])(
    'the origin %j is refused',
    async (origin) => {
      const headers = { origin, 'content-type': 'application/json' };
      expect(await notRefused(open, { headers, body: BATCH }, 'ORIGIN_REFUSED')).toEqual([]);
      expect(await notRefused(open, { headers: { origin } }, 'ORIGIN_REFUSED')).toEqual([]);
    },
  );

  test('a request that a browser makes for another site is refused', async () => {
    for (const site of ['cross-site', 'same-site']) {
      const headers = { 'sec-fetch-site': site, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' };
      expect(await notRefused(open, { headers }, 'ORIGIN_REFUSED')).toEqual([]);
    }
  });

  test.each([
    'evil.example',
    'evil.example:{port}',
    'localhost',
    'localhost:1',
    '127.0.0.1.evil.example:{port}',
    'localhost.:{port}',
    '0.0.0.0:{port}',
    '2130706433:{port}',
    'localhost:{port}.',
    '[::ffff:127.0.0.1]:{port}',
    'user@localhost:{port}',
  ])('the host %j is refused', async (host) => {
    const headers = { host: host.replace('{port}', String(open.port)), 'content-type': 'application/json' };
    expect(await notRefused(open, { headers, body: BATCH }, 'HOST_REFUSED')).toEqual([]);
  });

  test.each<[string, Record<string, string>, string]>([
    ['no token', {}, 'TOKEN_MISSING'],
    ['a wrong token', { authorization: 'Bearer another-token-0123456789' }, 'TOKEN_REFUSED'],
    ['the beginning of the token', { authorization: `Bearer ${TOKEN.slice(0, -1)}` }, 'TOKEN_REFUSED'],
    ['the token and more', { authorization: `Bearer ${TOKEN}x` }, 'TOKEN_REFUSED'],
    ['the token in another scheme', { authorization: `Basic ${TOKEN}` }, 'TOKEN_MISSING'],
    ['the token without a scheme', { authorization: TOKEN }, 'TOKEN_MISSING'],
    ['an empty token', { authorization: 'Bearer ' }, 'TOKEN_MISSING'],
    ['the token among others', { authorization: `Bearer x ${TOKEN}` }, 'TOKEN_MISSING'],
  ])('%s is not enough', async (_, headers, code) => {
    const wrong = await notRefused(
      locked,
      { headers: { ...headers, 'content-type': 'application/json' }, body: BATCH },
      code,
    );
    expect(wrong.filter((each) => !each.includes(' /healthz:'))).toEqual([]);
    expect(wrong.filter((each) => each.startsWith('GET /healthz: 200'))).toHaveLength(1);
  });

  test('and nothing ran in all of this', () => {
    for (const { root } of [open, locked]) expect(existsSync(join(root, MARK))).toBe(false);
  });
});

describe('what is let in', () => {
  test.each(['localhost:{port}', '127.0.0.1:{port}', '[::1]:{port}', 'LocalHost:{port}'])(
    'the host %s',
    async (host) => {
      const headers = { host: host.replace('{port}', String(open.port)) };
      expect((await open.call('/capabilities', { headers })).status).toBe(200);
    },
  );

  test('a host and an origin that are configured, with the exact port or any', async () => {
    const flags = {
      'allowed-hosts': 'Box.example:80,proxy.example,any.example:*',
      'allowed-origins': 'http://app.example',
    };
    const service = await startService({ flags });
    const status = async (headers: Record<string, string>) => (await service.call('/capabilities', { headers })).status;
    for (const host of ['box.example:80', 'PROXY.example', 'any.example', 'any.example:9'])
      expect(await status({ host })).toBe(200);
    for (const host of ['box.example', 'box.example:81', 'proxy.example:80', 'xany.example:9'])
      expect(await status({ host })).toBe(421);
    expect(await status({ origin: 'http://app.example' })).toBe(200);
    for (const origin of ['http://app.example:80', 'https://app.example', 'http://app.example.evil', 'null']) {
      expect(await status({ origin })).toBe(403);
    }
    // It may ask, and still no page may read: there is no CORS.
    const answer = await service.call('/capabilities', { headers: { origin: 'http://app.example' } });
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  test('a page that somebody followed a link to', async () => {
    const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    expect((await open.call('/docs/', { headers })).status).toBe(200);
    expect((await open.call('/batches', { method: 'POST', headers, body: {} })).status).toBe(403);
    expect((await open.call('/docs/', { headers: { ...headers, 'sec-fetch-dest': 'iframe' } })).status).toBe(403);
    expect((await open.call('/docs/', { headers: { 'sec-fetch-site': 'same-origin' } })).status).toBe(200);
  });

  test('the token, at every address', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      const headers = { authorization: `${scheme} ${TOKEN}` };
      expect((await locked.call('/capabilities', { headers })).status).toBe(200);
      const answer = await locked.call('/batches', {
        method: 'POST',
        headers: { ...headers, prefer: 'wait=30' },
        body: { commands: ['echo in'] },
      });
      expect(answer.json.commands[0].stdout).toBe('in\n');
    }
  });

  test('JSON in UTF-8, however it is written', async () => {
    for (const type of [
      'application/json',
      'Application/JSON',
      'application/json; charset=utf-8',
      'application/json;charset="UTF-8"',
    ]) {
      const answer = await open.call('/classify', {
        method: 'POST',
        headers: { 'content-type': type },
        body: '{"command":"ls"}',
      });
      expect(answer.status).toBe(200);
    }
  });
});

test('a request says how to come in', async () => {
  const missing = await locked.call('/batches', { method: 'POST', body: {} });
  expect(missing.headers['www-authenticate']).toBe('Bearer realm="signalbox"');
  const refused = await locked.call('/nowhere', { headers: { authorization: 'Bearer wrong-token-0123456789' } });
  expect(refused.headers['www-authenticate']).toContain('invalid_token');
  expect(refused.text).not.toContain('wrong-token');
});

describe('a message that two readers could understand differently', () => {
  const host = () => `Host: localhost:${open.port}\r\n`;

  test.each<[string, () => string]>([
    ['two hosts', () => `GET /healthz HTTP/1.1\r\n${host()}${host()}\r\n`],
    [
      'two content types',
      () =>
        `POST /batches HTTP/1.1\r\n${host()}Content-Type: application/json\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}`,
    ],
    [
      'two lengths',
      () =>
        `POST /batches HTTP/1.1\r\n${host()}Content-Type: application/json\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
    ],
    [
      'a length and chunks',
      () =>
        `POST /batches HTTP/1.1\r\n${host()}Content-Type: application/json\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`,
    ],
    [
      'two tokens',
      () => `GET /healthz HTTP/1.1\r\n${host()}Authorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n`,
    ],
  ])('%s', async (_, message) => {
    expect(bodyOf(await sendRaw(open.port, message(), 500))).toMatchObject({ status: 400, code: 'HTTP_MALFORMED' });
  });

  test('an absolute address must name us as well', async () => {
    const evil = await sendRaw(open.port, `GET http://evil.example/healthz HTTP/1.1\r\n${host()}\r\n`, 500);
    expect(bodyOf(evil).code).toBe('HOST_REFUSED');
    const ours = await sendRaw(open.port, `GET http://localhost:${open.port}/healthz HTTP/1.1\r\n${host()}\r\n`, 500);
    expect(ours).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('no host at all', async () => {
    expect(bodyOf(await sendRaw(open.port, 'GET /healthz HTTP/1.1\r\n\r\n', 500)).code).toBe('HOST_REFUSED');
    expect(bodyOf(await sendRaw(open.port, 'GET /healthz HTTP/1.0\r\n\r\n', 500)).code).toBe('HOST_REFUSED');
    expect(bodyOf(await sendRaw(open.port, 'GET /healthz HTTP/1.1\r\nHost:\r\n\r\n', 500)).code).toBe('HOST_REFUSED');
  });
});

describe('a token file', () => {
  const failure = (content: string | null): string => {
    const path = join(open.root, 'bad-token');
    if (content !== null) writeFileSync(path, content);
    try {
      readTokens(content === null ? join(open.root, 'missing') : path);
    } catch (error) {
      return `${(error as { code: string }).code} ${(error as Error).message}`;
    }
    return 'accepted';
  };

  test.each<[string, string | null]>([
    ['is missing', null],
    ['is empty', ''],
    ['holds too short a token', 'fifteen-chars!!'],
    ['holds two tokens', `${TOKEN}\n${TOKEN}\n`],
    ['holds a blank', 'a token with blanks in it'],
    ['holds what is not ASCII', 'ein-schlüssel-mit-ü'],
    ['holds too long a token', 'x'.repeat(513)],
  ])('that %s is a bad configuration, and its content is not told', (_, content) => {
    const message = failure(content);
    expect(message).toMatch(/^CONFIG_INVALID /);
    if (content !== null && content !== '') expect(message).not.toContain(content.slice(0, 12));
  });

  test.each(['', '\n', '\r\n'])('may end in %j', (end) => {
    const path = join(open.root, 'good-token');
    writeFileSync(path, TOKEN + end);
    const tokens = readTokens(path);
    expect([...(tokens.find(TOKEN)?.scopes ?? [])]).toEqual(['classify', 'run', 'vouch', 'metrics', 'admin']);
    expect(tokens.find(`${TOKEN}${end}x`)).toBeUndefined();
  });

  test('that cannot be used keeps the service from starting', async () => {
    const path = join(open.root, 'short-token');
    writeFileSync(path, 'short');
    await expect(openService({ flags: { 'token-file': path } })).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });
});
