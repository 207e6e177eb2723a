import { describe, expect, test } from 'vitest';
import { type Import, parseSource, readSources, type SourceFile } from './source-files.ts';

/** What a layer is made of: a file belongs to the first layer that claims it. */
type Layer = {
  readonly name: string;
  readonly holds: (path: string) => boolean;
  /** Names of layers, `node:`, and packages. */
  readonly may: readonly string[];
  /** Allowed where only types are imported: they are gone when the code runs. */
  readonly types?: readonly string[];
};

const within = (folder: string) => (path: string) => path.startsWith(`${folder}/`);
const is =
  (...paths: string[]) =>
  (path: string) =>
    paths.includes(path);

/** The table of the design, a row a layer. */
const LAYERS: readonly Layer[] = [
  { name: 'ground', holds: is('errors.ts', 'classifier/verdict.ts'), may: [] },
  // A second reading must come from another parser; the strict scanner never asks it for a yes.
  {
    name: 'second-reading',
    holds: is('classifier/second-reading.ts'),
    may: ['ground', 'classifier', 'shell-quote/parse', 'shell-quote/parse.js', 'unbash'],
  },
  {
    name: 'classifier',
    holds: within('classifier'),
    may: ['ground', 'classifier', 'second-reading'],
    types: ['rules/schema.ts', 'rules/profiles-schema.ts'],
  },
  { name: 'rules', holds: within('rules'), may: ['ground', 'classifier', 'second-reading', 'rules', 'zod', 'node:'] },
  {
    name: 'dispatcher',
    holds: within('dispatcher'),
    may: ['ground', 'classifier', 'second-reading', 'dispatcher', 'node:'],
  },
  {
    name: 'entries',
    holds: (path) => !path.includes('/') && path !== 'server.ts',
    may: ['ground', 'classifier', 'second-reading', 'rules', 'dispatcher', 'entries', 'zod', 'node:'],
  },
  // One file knows the library that counts, so that another can take its place.
  {
    name: 'metrics',
    holds: is('http/metrics.ts'),
    may: ['ground', 'classifier', 'dispatcher', 'http', 'prom-client'],
  },
  {
    name: 'http',
    holds: within('http'),
    may: [
      ...[
        'ground',
        'classifier',
        'second-reading',
        'rules',
        'dispatcher',
        'entries',
        'http',
        'metrics',
        'zod',
        'node:',
      ],
      ...[
        'fastify',
        'fastify-type-provider-zod',
        '@fastify/swagger',
        '@fastify/swagger-ui',
        '@fastify/rate-limit',
        'pino',
      ],
    ],
  },
  // It runs unchanged in a browser, and knows nothing of how it is answered.
  { name: 'client', holds: within('client'), may: ['ground', 'classifier', 'client'] },
  { name: 'top', holds: (path) => path === 'server.ts' || path.startsWith('cli/'), may: ['*'] },
];

function layerOf(path: string): Layer | undefined {
  return LAYERS.find((layer) => layer.holds(path));
}

function isAllowed(layer: Layer, { target, typesOnly }: Import): boolean {
  const kind = target.endsWith('.ts') ? (layerOf(target)?.name ?? '') : target.startsWith('node:') ? 'node:' : target;
  if (layer.may.includes('*') || layer.may.includes(kind)) return true;
  return typesOnly && (layer.types ?? []).includes(target);
}

/**
 * The first circle of imports, as the paths along it, or nothing. Types count: a circle of types is one of ideas. Those
 * that the table lends downwards (the classifier may know the types of the schema) are not steps of a circle.
 */
function findCircle(files: readonly SourceFile[]): readonly string[] | undefined {
  const steps = ({ path, imports }: SourceFile) =>
    imports
      .filter(({ target, typesOnly }) => !(typesOnly && (layerOf(path)?.types ?? []).includes(target)))
      .map(({ target }) => target);
  const next = new Map(files.map((file) => [file.path, steps(file)]));
  const finished = new Set<string>();
  function walk(path: string, trail: readonly string[]): readonly string[] | undefined {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
    if (finished.has(path)) return undefined;
    for (const target of next.get(path) ?? []) {
      const circle = walk(target, [...trail, path]);
      if (circle !== undefined) return circle;
    }
    finished.add(path);
    return undefined;
  }
  for (const path of next.keys()) {
    const circle = walk(path, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}

const sources = readSources();

describe('the import table', () => {
  test('there are sources to hold to it', () => {
    expect(sources.map(({ path }) => path)).toContain('errors.ts');
    expect(sources.length).toBeGreaterThan(20);
  });

  test.each(sources)('$path imports only what its layer may', ({ path, imports }) => {
    const layer = layerOf(path);
    expect(layer, `${path} belongs to no layer`).toBeDefined();
    expect(imports.filter((one) => layer !== undefined && !isAllowed(layer, one))).toEqual([]);
  });

  test('every relative import names a file under src, with its extension', () => {
    const paths = new Set(sources.map(({ path }) => path));
    const dangling = sources.flatMap(({ path, text, imports }) =>
      imports
        .filter(({ target }) => text.includes("from '.") && target.endsWith('.ts') && !paths.has(target))
        .map(({ target }) => `${path} -> ${target}`),
    );
    expect(dangling).toEqual([]);
  });

  test('there is no circle of imports', () => {
    expect(findCircle(sources)).toBeUndefined();
  });

  test('the table refuses what it should', () => {
    const allowed = (path: string, code: string) => {
      const layer = layerOf(path);
      return parseSource(path, code).imports.every((one) => layer !== undefined && isAllowed(layer, one));
    };
    expect(allowed('errors.ts', "import x from 'node:fs';")).toBe(false);
    expect(allowed('classifier/verdict.ts', "import type { x } from '../errors.ts';")).toBe(false);
    expect(allowed('classifier/a.ts', "import type { x } from '../rules/schema.ts';")).toBe(true);
    expect(allowed('classifier/a.ts', "import { x } from '../rules/schema.ts';")).toBe(false);
    expect(allowed('classifier/a.ts', "import { type x, y } from '../rules/schema.ts';")).toBe(false);
    expect(allowed('classifier/a.ts', "import '../rules/schema.ts';")).toBe(false);
    expect(allowed('classifier/a.ts', "import type { x } from '../rules/load.ts';")).toBe(false);
    expect(allowed('classifier/a.ts', "export * from 'zod';")).toBe(false);
    expect(allowed('classifier/programs/a.ts', "const x = await import('node:fs');")).toBe(false);
    expect(allowed('classifier/a.ts', "import parse from 'shell-quote/parse';")).toBe(false);
    expect(allowed('classifier/second-reading.ts', "import parse from 'shell-quote/parse';")).toBe(true);
    expect(allowed('classifier/second-reading.ts', "import { parse } from 'shell-quote';")).toBe(false);
    expect(allowed('dispatcher/a.ts', "import { z } from 'zod';")).toBe(false);
    expect(allowed('dispatcher/a.ts', "import { load } from '../rules/load.ts';")).toBe(false);
    expect(allowed('config.ts', "import { build } from './server.ts';")).toBe(false);
    expect(allowed('http/a.ts', "import { main } from '../cli/main.ts';")).toBe(false);
    expect(allowed('rules/a.ts', "import { d } from '../dispatcher/dispatcher.ts';")).toBe(false);
  });

  test('a circle is found', () => {
    const file = (path: string, code: string) => parseSource(path, code);
    const circle = [file('a.ts', "import './b.ts';"), file('b.ts', "import type { x } from './a.ts';")];
    expect(findCircle(circle)).toEqual(['a.ts', 'b.ts', 'a.ts']);
    expect(findCircle([file('a.ts', "import './b.ts';"), file('b.ts', '')])).toBeUndefined();
    const schema = file('rules/schema.ts', "import '../classifier/a.ts';");
    const lent = file('classifier/a.ts', "import type { x } from '../rules/schema.ts';");
    expect(findCircle([schema, lent])).toBeUndefined();
  });
});
