import { readFile } from 'node:fs/promises';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { App } from './context.ts';
import { requireAccept } from './gate.ts';
import { problems } from './responses.ts';

/** Where the page that explains every code lies, beside `src` and `dist` alike. */
const ERRORS_PAGE = new URL('../../docs/errors.md', import.meta.url);

/** The page of the documentation loads its own scripts and styles, and nothing from anywhere else. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

type Node = Record<string, unknown>;
const SCHEMAS = '#/components/schemas/';

/** The API document, made from the schemas of the routes. Must be registered before them. */
export async function registerDocuments(app: App, version: string, hasToken: boolean): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Signalbox',
        version,
        description:
          'May this shell command run at the same time as its siblings? Verdicts, and batches that run on them.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/' }],
      tags: [{ name: 'batches' }, { name: 'classify' }, { name: 'service' }],
      components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
      ...(hasToken ? { security: [{ token: [] }] } : {}),
    },
    convertConstToEnum: false,
    transform: describeRoute,
    transformObject: (document) => {
      const transformed = jsonSchemaTransformObject(document);
      return pruneSchemas(transformed as unknown as Node) as unknown as typeof transformed;
    },
  });
}

/** The provider's own transformation, which knows no bodies of several types: each of those is put in as if it were alone. */
const describeRoute: typeof jsonSchemaTransform = (route) => {
  const { body } = route.schema;
  if (!isByType(body)) return jsonSchemaTransform(route);
  const { body: _, ...rest } = route.schema;
  const { schema, url } = jsonSchemaTransform({ ...route, schema: rest });
  const content = Object.entries(body.content).map(([type, each]) => {
    const alone = jsonSchemaTransform({ ...route, schema: { body: each.schema } });
    return [type, { schema: (alone.schema as { readonly body: object }).body }] as const;
  });
  return { schema: { ...schema, body: { content: Object.fromEntries(content) } }, url };
};

type ByType = { readonly content: Readonly<Record<string, { readonly schema: z.ZodType }>> };

function isByType(body: unknown): body is ByType {
  return typeof body === 'object' && body !== null && !(body instanceof z.ZodType) && 'content' in body;
}

/** `/openapi.json`, the page that shows it, and the page that explains the codes. */
export async function documentRoutes(app: App): Promise<void> {
  // Browsers send an Origin with every POST, and any is refused: the page only shows.
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: PAGE_POLICY,
    uiConfig: { supportedSubmitMethods: [] },
  });

  const openapi = {
    operationId: 'getDocument',
    summary: 'This document',
    tags: ['service'],
    response: { 200: z.looseObject({ openapi: z.string() }).describe('OpenAPI 3.1'), ...problems('plain') },
  };
  app.get('/openapi.json', { schema: openapi }, async (request) => {
    requireAccept(request, 'application/json');
    return app.swagger() as { openapi: string };
  });

  const errors = {
    operationId: 'getErrors',
    summary: 'What every code of a problem means, and what to do',
    tags: ['service'],
    response: {
      200: { description: 'Markdown', content: { 'text/markdown': { schema: z.string() } } },
      ...problems('plain'),
    },
  };
  app.get('/docs/errors.md', { schema: errors }, async (request, reply) => {
    requireAccept(request, 'text/markdown');
    const page = await readFile(ERRORS_PAGE, 'utf8');
    return reply.type('text/markdown; charset=utf-8').send(page);
  });
}

/**
 * Each schema once: every one is listed as what comes in (`XInput`) and as what goes out (`X`), and most are only one
 * of the two. What nothing refers to is dropped, and an `XInput` that is left takes its own name.
 */
function pruneSchemas(document: Node): Node {
  const schemas = ((document.components as Node).schemas ?? {}) as Record<string, unknown>;
  const used = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      if (key !== '$ref' || typeof inner !== 'string') visit(inner);
      else if (!used.has(inner)) {
        used.add(inner);
        visit(schemas[inner.slice(SCHEMAS.length)]);
      }
    }
  };
  visit(document.paths);

  const name = (given: string): string => {
    const plain = given.replace(/Input$/, '');
    return used.has(SCHEMAS + plain) ? given : plain;
  };
  const renamed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(renamed);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) =>
        key === '$ref' && typeof inner === 'string'
          ? [key, SCHEMAS + name(inner.slice(SCHEMAS.length))]
          : [key, renamed(inner)],
      ),
    );
  };
  const kept = Object.entries(schemas).filter(([key]) => used.has(SCHEMAS + key));
  const pruned = kept
    .map(([key, schema]) => [name(key), renamed(schema)] as const)
    .sort(([a], [b]) => a.localeCompare(b));
  return {
    ...document,
    paths: renamed(document.paths),
    components: { ...(document.components as Node), schemas: Object.fromEntries(pruned) },
  };
}
