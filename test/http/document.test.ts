import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { appended, capabilities, lineRecord } from '../../src/http/answers.ts';
import { appendRequest, approvalsRequest, batchHead, batchRequest } from '../../src/http/schemas.ts';
import { routesOf } from './routes.ts';
import { openService, startService } from './service.ts';

type Node = Record<string, unknown>;
type Operation = {
  operationId: string;
  summary: string;
  parameters?: Node[];
  requestBody?: Node;
  responses: Record<string, Node>;
};
type Document = {
  openapi: string;
  info: { title: string; version: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Node>; securitySchemes: Node };
  security?: Node[];
};

let service: Awaited<ReturnType<typeof openService>>;
let document: Document;
beforeAll(async () => {
  service = await openService();
  document = (await service.call('/openapi.json')).json;
});
afterAll(() => service.close());

/** Every object of a JSON value, with its path. */
function nodes(value: unknown, path = ''): { path: string; node: Node }[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.entries(value).flatMap(([key, each]) => nodes(each, `${path}/${key.replaceAll('/', '~1')}`));
  return Array.isArray(value) ? inner : [{ path, node: value as Node }, ...inner];
}

const operations = () =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );

describe('/openapi.json', () => {
  test('is an OpenAPI 3.1 document of this version', () => {
    expect(document.openapi).toBe('3.1.0');
    expect(document.info).toMatchObject({ title: 'Signalbox', version: '0.0.0-test' });
    expect(document.components.securitySchemes).toEqual({ token: { type: 'http', scheme: 'bearer' } });
  });

  test('names every route of the service, and none that there is not', () => {
    const registered = routesOf(service.app)
      // HEAD goes with every GET; the page that shows this document serves its own files.
      .filter(({ method, url }) => method !== 'HEAD' && (!url.startsWith('/docs') || url.endsWith('.md')))
      .map(({ method, url }) => `${method.toLowerCase()} ${url.replace(/:(\w+)/g, '{$1}')}`);
    expect(
      operations()
        .map(({ method, path }) => `${method} ${path}`)
        .sort(),
    ).toEqual(registered.sort());
  });

  test('every operation has a name of its own, a summary, its parameters and its answers', () => {
    const all = operations();
    expect(new Set(all.map(({ operation }) => operation.operationId)).size).toBe(all.length);
    for (const { path, method, operation } of all) {
      expect(operation.summary.length, path).toBeGreaterThan(10);
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const declared = (operation.parameters ?? []).filter((each) => each.in === 'path').map(({ name }) => name);
      expect(declared, path).toEqual(inPath);
      // Closing says all that there is to say by its address.
      const hasBody = method === 'post' && !path.endsWith('/close');
      expect(operation.requestBody !== undefined, `${method} ${path}`).toBe(hasBody);
      const statuses = Object.keys(operation.responses);
      expect(statuses.some((status) => status.startsWith('2'))).toBe(true);
      for (const [status, response] of Object.entries(operation.responses)) {
        expect(typeof response.description, `${path} ${status}`).toBe('string');
        const content = Object.keys((response.content ?? {}) as Node);
        if (Number(status) >= 400) expect(content).toEqual(['application/problem+json']);
        else expect(content.length > 0 || status === '204').toBe(true);
      }
    }
  });

  test('every reference leads somewhere, and every schema is referred to', () => {
    const references = nodes(document).flatMap(({ node }) => (typeof node.$ref === 'string' ? [node.$ref] : []));
    const names = Object.keys(document.components.schemas);
    expect(new Set(references)).toEqual(new Set(names.map((name) => `#/components/schemas/${name}`)));
  });

  test('lists each schema once', () => {
    const { schemas } = document.components;
    expect(Object.keys(schemas)).toEqual(
      expect.arrayContaining(['Batch', 'BatchEvent', 'BatchRequest', 'Problem', 'Verdict']),
    );
    expect(Object.keys(schemas).filter((name) => name.endsWith('Input'))).toEqual([]);
    const texts = Object.values(schemas).map((schema) => JSON.stringify(schema));
    expect(new Set(texts).size).toBe(texts.length);
  });

  test('every schema is one that JSON Schema knows', () => {
    const types = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      for (const { path, node } of nodes(schema, name)) {
        if (typeof node.type === 'string' && !path.endsWith('/properties') && !path.includes('/examples/'))
          expect(types.has(node.type), `${path} is a ${node.type}`).toBe(true);
        if (Array.isArray(node.required)) {
          const properties = Object.keys((node.properties ?? {}) as Node);
          expect(properties, path).toEqual(expect.arrayContaining(node.required));
        }
        expect(Object.hasOwn(node, '$id') || Object.hasOwn(node, '$schema'), path).toBe(false);
      }
    }
  });

  test('tells bodies and answers of lines beside those of JSON, with examples that fit', () => {
    const post = (path: string) => document.paths[path]?.post as Operation;
    for (const path of ['/batches', '/batches/{id}/commands']) {
      expect(Object.keys(post(path).requestBody?.content as Node)).toEqual([
        'application/json',
        'application/x-ndjson',
      ]);
      expect(Object.keys(post(path).responses)).toEqual(
        expect.arrayContaining(['400', '408', '413', '415', '429', '503']),
      );
    }
    expect(Object.keys(post('/batches').responses['201']?.content as Node)).toContain('text/event-stream');
    expect(Object.keys(post('/batches/{id}/commands').responses)).toContain('409');
    const { schemas } = document.components;
    for (const [name, schema] of [
      ['BatchRequest', batchRequest],
      ['BatchHead', batchHead],
      ['AppendRequest', appendRequest],
      ['ApprovalsRequest', approvalsRequest],
      ['LineRecord', lineRecord],
      ['Appended', appended],
    ] as const) {
      const examples = (schemas[name]?.examples ?? []) as unknown[];
      expect([name, examples.length > 0]).toEqual([name, true]);
      for (const example of examples) expect(schema.parse(example)).toEqual(example);
    }
  });

  test('says that a request may hold no other fields', () => {
    for (const name of ['BatchRequest', 'BatchHead', 'AppendRequest', 'Command', 'ClassifyRequest', 'Question']) {
      expect(document.components.schemas[name]).toMatchObject({ type: 'object', additionalProperties: false });
    }
  });

  test('asks for the token where there is one', async () => {
    expect(document.security).toBeUndefined();
    writeFileSync(`${service.root}/token`, 'a-token-for-tests-0123');
    const locked = await startService({ flags: { 'token-file': `${service.root}/token` } });
    const headers = { authorization: 'Bearer a-token-for-tests-0123' };
    const { json } = await locked.call('/openapi.json', { headers });
    expect(json.security).toEqual([{ token: [] }]);
    expect(json.paths['/healthz'].get.security).toEqual([]);
  });
});

describe('the page of the documentation', () => {
  test('shows the document, with its own scripts and nothing else', async () => {
    const page = await service.call('/docs/');
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toContain('text/html');
    const policy = String(page.headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('http');
    expect(page.text).not.toMatch(/<script>|<script [^>]*src="http/);
    for (const [, file] of page.text.matchAll(/(?:src|href)="\.\/(static\/[^"]+)"/g)) {
      expect((await service.call(`/docs/${file}`)).status, file).toBe(200);
    }
    expect((await service.call('/docs/json')).text).toBe((await service.call('/openapi.json')).text);
  });
});

describe('/capabilities, /healthz, /readyz', () => {
  test('tell what there is', async () => {
    const found = capabilities.parse((await service.call('/capabilities')).json);
    expect(found).toMatchObject({
      name: 'signalbox',
      version: '0.0.0-test',
      modes: ['simple', 'compound'],
      mode: 'simple',
    });
    expect(found.ruleset).toMatch(/^sha256:/);
    expect(found.capabilities).toEqual(
      expect.arrayContaining(['batches', 'classify', 'compound', 'events-carry-command-ids', 'wait']),
    );
    expect(found.limits).toEqual(service.config.limits);
    expect((await service.call('/healthz')).json).toEqual({ status: 'ok' });
    expect((await service.call('/readyz')).json).toEqual({ status: 'ok' });
  });
});

test.each(['/capabilities', '/nothing', '/docs/', '/docs/static/index.css', '/openapi.json', '/%zz', '/batches/x'])(
  '%s is kept by nobody, framed by nobody and guessed at by nobody',
  async (path) => {
    const { headers } = await service.call(path);
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
      'x-frame-options': 'DENY',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    // The files of the page hold no data.
    if (!path.startsWith('/docs/static/')) expect(headers['cache-control']).toBe('no-store');
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  },
);
