import { readFileSync } from 'node:fs';
import { createServer as createHttpServer, request } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ERROR_CODES, SignalboxError } from '../../src/errors.ts';
import { problem } from '../../src/http/answers.ts';
import { answerClientError } from '../../src/http/problem.ts';
import { limitArrival } from '../../src/http/transport.ts';
import { ask, bodyOf, openService, sendRaw, startService } from './service.ts';

let service: Awaited<ReturnType<typeof openService>>;
beforeAll(async () => {
  service = await openService();
});
afterAll(() => service.close());

const JSON_TYPE = { 'content-type': 'application/json' };
const host = () => `Host: localhost:${service.port}\r\n`;

describe('the page of the codes', () => {
  const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');

  test.each(ERROR_CODES)('%s has its anchor and its status', (code) => {
    const { status } = new SignalboxError(code, 'x');
    expect(page.split(`### <a id="${code}"></a>\`${code}\` (${status})\n`)).toHaveLength(2);
  });

  test('names no code that there is not', () => {
    const named = [...page.matchAll(/<a id="([^"]+)">/g)].map(([, code]) => code);
    expect(named.sort()).toEqual([...ERROR_CODES].sort());
  });

  test('lies where the type of a problem leads', async () => {
    const { json } = await service.call('/nothing');
    const [address = '', anchor] = json.type.split('#');
    const answer = await service.call(address);
    expect(answer.headers['content-type']).toContain('text/markdown');
    expect(answer.text).toContain(`<a id="${anchor}"></a>`);
  });
});

describe('every refusal is a problem document', () => {
  test.each<[string, number, string, string, Parameters<typeof ask>[2]]>([
    ['an unknown address', 404, 'ROUTE_UNKNOWN', '/nothing', {}],
    ['an unknown address that is POSTed to', 404, 'ROUTE_UNKNOWN', '/nothing', { method: 'POST', body: {} }],
    ['a longer address', 404, 'ROUTE_UNKNOWN', '/batches/a/b', {}],
    ['a trailing slash', 404, 'ROUTE_UNKNOWN', '/capabilities/', {}],
    ['another case', 404, 'ROUTE_UNKNOWN', '/Capabilities', {}],
    ['an unknown file', 404, 'ROUTE_UNKNOWN', '/docs/static/nothing.js', {}],
    ['a way out of the files', 404, 'ROUTE_UNKNOWN', '/docs/static/..%2f..%2fpackage.json', {}],
    ['an unknown batch', 404, 'BATCH_UNKNOWN', '/batches/nobody', {}],
    ['the events of an unknown batch', 404, 'BATCH_UNKNOWN', '/batches/nobody/events', {}],
    ['cancelling an unknown batch', 404, 'BATCH_UNKNOWN', '/batches/nobody', { method: 'DELETE' }],
    ['an id that every object has', 404, 'BATCH_UNKNOWN', '/batches/__proto__', {}],
    ['an id too long to be one', 404, 'ROUTE_UNKNOWN', `/batches/${'x'.repeat(300)}`, {}],
    ['an answer in another form', 406, 'NOT_ACCEPTABLE', '/capabilities', { headers: { accept: 'text/html' } }],
    ['a document in another form', 406, 'NOT_ACCEPTABLE', '/openapi.json', { headers: { accept: 'application/yaml' } }],
    ['no body', 400, 'REQUEST_INVALID', '/batches', { method: 'POST' }],
    ['an empty body', 400, 'REQUEST_INVALID', '/batches', { method: 'POST', headers: JSON_TYPE, body: '' }],
    ['half a body', 400, 'BODY_NOT_JSON', '/batches', { method: 'POST', headers: JSON_TYPE, body: '{"commands": [' }],
    [
      'two bodies',
      400,
      'BODY_NOT_JSON',
      '/batches',
      { method: 'POST', headers: JSON_TYPE, body: '{"commands": ["ls"]} {}' },
    ],
    [
      'a mark before the body',
      400,
      'BODY_NOT_JSON',
      '/batches',
      { method: 'POST', headers: JSON_TYPE, body: '\ufeff{"commands": ["ls"]}' },
    ],
    [
      'bytes that are no UTF-8',
      400,
      'BODY_NOT_JSON',
      '/batches',
      { method: 'POST', headers: JSON_TYPE, body: Buffer.from('{"commands": ["ls \xff"]}', 'latin1') },
    ],
    ['a text as a body', 400, 'REQUEST_INVALID', '/batches', { method: 'POST', headers: JSON_TYPE, body: '"ls"' }],
    ['null as a body', 400, 'REQUEST_INVALID', '/batches', { method: 'POST', headers: JSON_TYPE, body: 'null' }],
    ['a list as a body', 400, 'REQUEST_INVALID', '/batches', { method: 'POST', headers: JSON_TYPE, body: '["ls"]' }],
    [
      'a compressed body',
      415,
      'MEDIA_TYPE_REFUSED',
      '/batches',
      { method: 'POST', headers: { ...JSON_TYPE, 'content-encoding': 'gzip' }, body: 'x' },
    ],
    [
      'a body that nests too deep',
      400,
      'REQUEST_INVALID',
      '/batches',
      { method: 'POST', headers: JSON_TYPE, body: `{"commands": ${'['.repeat(100_000)}${']'.repeat(100_000)}}` },
    ],
    [
      'the same with escapes',
      400,
      'BODY_NOT_JSON',
      '/batches',
      { method: 'POST', headers: JSON_TYPE, body: `{"\\u0063ommands": ${'['.repeat(100_000)}${']'.repeat(100_000)}}` },
    ],
    ['an address with broken encoding', 400, 'URL_MALFORMED', '/%zz', {}],
    ['a query with broken encoding', 400, 'URL_MALFORMED', '/capabilities?x=%', {}],
  ])('%s: %i %s', async (_, status, code, path, call) => {
    const answer = await ask(service.port, path, call);
    expect([answer.status, answer.json?.code]).toEqual([status, code]);
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
    const found = problem.parse(answer.json);
    expect(found).toMatchObject({
      status,
      type: `/docs/errors.md#${code}`,
      title: new SignalboxError(found.code, '').title,
    });
    expect(found.instance).toBe(`urn:uuid:${answer.headers['x-request-id']}`);
  });

  test.each<[string, string, string]>([
    ['/batches', 'PUT', 'POST'],
    ['/batches', 'GET', 'POST'],
    ['/batches/x', 'POST', 'DELETE, GET, HEAD'],
    ['/batches/x/events', 'DELETE', 'GET, HEAD'],
    ['/classify', 'DELETE', 'GET, HEAD, POST'],
    ['/healthz', 'POST', 'GET, HEAD'],
    ['/healthz', 'PROPFIND', 'GET, HEAD'],
    ['/openapi.json?x=1', 'OPTIONS', 'GET, HEAD'],
  ])('%s has no %s, and says which it has', async (path, method, allow) => {
    const answer = await service.call(path, { method });
    expect(answer.json).toMatchObject({ status: 405, code: 'METHOD_REFUSED' });
    expect(answer.headers.allow).toBe(allow);
  });

  test('an unsupported type says which is supported', async () => {
    const answer = await service.call('/batches', {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: 'x',
    });
    expect(answer.headers['accept-post']).toBe('application/json, application/x-ndjson');
  });

  test('an unforeseen fault is INTERNAL, tells nothing, and is logged without its text', async () => {
    const canary = 'canary-in-a-message';
    const broken = await startService({
      dispatcher: (real) =>
        Object.create(real, {
          shutdown: { value: real.shutdown.bind(real) },
          dispatch: {
            value: () => {
              throw new TypeError(`${canary}\n    at ${canary}`);
            },
          },
        }),
    });
    const answer = await broken.call('/batches', { method: 'POST', body: { commands: ['echo x'] } });
    expect(problem.parse(answer.json)).toMatchObject({ status: 500, code: 'INTERNAL' });
    expect(answer.text).not.toContain(canary);
    expect(broken.logs()).toContain('"name":"TypeError"');
    expect(broken.logs()).toContain('errors.test.ts');
    expect(broken.logs()).not.toContain(canary);
    expect((await broken.call('/healthz')).status).toBe(200);
  });
});

describe('what is no request', () => {
  test.each<[string, number, string, () => string]>([
    ['noise', 400, 'HTTP_MALFORMED', () => 'noise\r\n\r\n'],
    ['a TLS greeting', 400, 'HTTP_MALFORMED', () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['a field without a colon', 400, 'HTTP_MALFORMED', () => `GET /healthz HTTP/1.1\r\n${host()}nonsense\r\n\r\n`],
    ['bytes in the address', 400, 'HTTP_MALFORMED', () => `GET /classify?command=\xff HTTP/1.1\r\n${host()}\r\n`],
    [
      'a field too large',
      431,
      'HEADERS_TOO_LARGE',
      () => `GET /healthz HTTP/1.1\r\n${host()}X: ${'x'.repeat(20_000)}\r\n\r\n`,
    ],
    [
      'an address too long',
      431,
      'HEADERS_TOO_LARGE',
      () => `GET /classify?command=${'x'.repeat(20_000)} HTTP/1.1\r\n${host()}\r\n`,
    ],
    [
      'an unknown expectation',
      417,
      'EXPECTATION_REFUSED',
      () => `GET /healthz HTTP/1.1\r\n${host()}Expect: a-miracle\r\n\r\n`,
    ],
    [
      'a chunk that is none',
      400,
      'HTTP_MALFORMED',
      () =>
        `POST /batches HTTP/1.1\r\n${host()}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
    ],
  ])('%s: %i %s', async (_, status, code, message) => {
    const raw = await sendRaw(service.port, message());
    expect(raw).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(raw.toLowerCase()).toContain('content-type: application/problem+json');
    expect(problem.parse(bodyOf(raw))).toMatchObject({ status, code });
  });

  test('and the service goes on', async () => {
    expect((await service.call('/healthz')).json).toEqual({ status: 'ok' });
  });
});

test('what Node gave up on is answered on the bare socket, once', async () => {
  const answers: (string | undefined)[] = [];
  const server = createServer((socket) => {
    const code = path.shift() ?? '';
    answers.push(answerClientError(Object.assign(new Error(), { code }), socket, 'an-id'));
  });
  const path = ['ERR_HTTP_REQUEST_TIMEOUT', 'HPE_INVALID_METHOD', 'ECONNRESET'];
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const raw = [await sendRaw(port, 'x'), await sendRaw(port, 'x'), await sendRaw(port, 'x')];
  expect(raw[0]).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
  expect(problem.parse(bodyOf(raw[0] ?? ''))).toMatchObject({ code: 'REQUEST_TIMEOUT', instance: 'urn:uuid:an-id' });
  expect(raw[1]).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  expect(raw[2]).toBe('');
  expect(answers).toEqual(['REQUEST_TIMEOUT', 'HTTP_MALFORMED', undefined]);
  server.close();
});

describe('a body that is too large', () => {
  const BIG = 5_000_000;

  test('is refused although the client sends it to its end: 413', async () => {
    const answer = await service.call('/batches', { method: 'POST', headers: JSON_TYPE, body: 'x'.repeat(BIG) });
    expect(answer.json).toMatchObject({
      status: 413,
      code: 'BODY_TOO_LARGE',
      detail: expect.stringContaining(String(BIG)),
    });
    const fetched = await fetch(`http://127.0.0.1:${service.port}/batches`, {
      method: 'POST',
      headers: JSON_TYPE,
      body: 'x'.repeat(BIG),
    });
    expect(fetched.status).toBe(413);
  });

  test('is refused by what its head says, before any of it is sent', async () => {
    const head = `POST /batches HTTP/1.1\r\n${host()}Content-Type: application/json\r\nContent-Length: ${BIG}\r\n\r\n`;
    expect(bodyOf(await sendRaw(service.port, head, 800))).toMatchObject({ status: 413 });
  });

  test('is refused when it comes in pieces without a length, and is not read for ever', async () => {
    let sent = 0;
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const outgoing = request({
        port: service.port,
        host: '127.0.0.1',
        path: '/batches',
        method: 'POST',
        headers: JSON_TYPE,
        agent: false,
      });
      const piece = Buffer.alloc(65_536, 120);
      const pump = (): void => {
        while (sent < 2 * BIG && outgoing.write(piece)) sent += piece.length;
        if (sent < 2 * BIG) outgoing.once('drain', pump);
      };
      outgoing.once('response', (incoming) => {
        incoming.resume();
        outgoing.destroy();
        resolve(incoming.statusCode);
      });
      outgoing.once('error', reject);
      pump();
    });
    expect(status).toBe(413);
  });

  test('a client that never stops sending is cut off', async () => {
    const piece = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    await new Promise<void>((resolve) => {
      const socket = connect(service.port, '127.0.0.1', () => {
        socket.write(
          `POST /batches HTTP/1.1\r\n${host()}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
        );
      });
      const timer = setInterval(() => socket.writable && socket.write(piece), 20);
      socket.on('data', () => undefined);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        clearInterval(timer);
        resolve();
      });
    });
    expect((await service.call('/healthz')).status).toBe(200);
  });

  test('of a client that asks first never travels', async () => {
    const head = (length: number) =>
      `POST /batches HTTP/1.1\r\n${host()}Expect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
    expect(await sendRaw(service.port, head(BIG), 800)).toMatch(/^HTTP\/1\.1 413 /);
    expect(await sendRaw(service.port, head(5), 800)).toMatch(/^HTTP\/1\.1 100 /);
  });

  test('is what the configuration says', async () => {
    const small = await startService({ flags: { 'max-body-bytes': 40 } });
    const body = (length: number) => `{"commands": ["echo ${'x'.repeat(length - 23)}"]}`;
    expect(body(40)).toHaveLength(40);
    expect((await small.call('/batches', { method: 'POST', headers: JSON_TYPE, body: body(40) })).status).toBe(201);
    expect((await small.call('/batches', { method: 'POST', headers: JSON_TYPE, body: body(41) })).status).toBe(413);
  });
});

test('a body that takes too long is answered, one that comes in time is not', async () => {
  const server = createHttpServer((incoming, response) => {
    limitArrival(server, incoming, 100);
    incoming.resume().once('end', () => setTimeout(() => response.end('whole'), 200));
  });
  server.on('clientError', (error, socket) => answerClientError(error, socket as Socket, 'an-id'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const late = await sendRaw(port, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n1');
  expect(problem.parse(bodyOf(late))).toMatchObject({ code: 'REQUEST_TIMEOUT', status: 408 });
  for (const body of ['Content-Length: 2\r\n\r\n12', '\r\n']) {
    const got = await sendRaw(port, `POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${body}`);
    expect(got).toContain('whole');
  }
  server.close();
});
