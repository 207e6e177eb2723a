import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { batchResult, problem } from '../../src/http/answers.ts';
import { verdict, verdicts } from '../../src/http/verdict-answers.ts';
import { openService } from './service.ts';

let service: Awaited<ReturnType<typeof openService>>;
beforeAll(async () => {
  service = await openService();
});
afterAll(() => service.close());

/** A small generator (mulberry32): the same numbers for the same seed, on every machine. */
function generator(seed: number) {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (count: number): number => Math.floor(next() * count);
  return { below, oneOf: <T>(values: readonly T[]): T => values[below(values.length)] as T };
}

type Random = ReturnType<typeof generator>;

/** Values that somebody forgot. The only commands among them do nothing. */
const ODD: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1.5, 1e308, -0, 2 ** 53, '', ' ', 'true', '\0', '\ud800', '\u202e', '../..', '/', '~'],
  ...['__proto__', 'constructor', 'toString', 'x'.repeat(5_000), [], [[]], {}, [null], ['true'], [{}], { a: 1 }],
  ...[
    { command: 'true' },
    { command: null },
    { key: 'k' },
    { length: 3 },
    { toJSON: 1 },
    ['true', ['true']],
    'sha256:',
  ],
];

const batch = () => ({
  cwd: '.',
  mode: 'simple',
  maxParallel: 2,
  onFailure: 'continue',
  deadlineMs: 5_000,
  commands: [
    'true',
    {
      id: 'a',
      command: 'true',
      cwd: '.',
      env: { A: 'b' },
      timeoutMs: 1_000,
      stdin: 'x',
      lockKeys: ['k', { key: 'l', mode: 'shared' }],
    },
  ],
});

const questions = () => ({
  commands: ['true', { command: 'ls', cwd: '/tmp', env: { A: 'b' } }, null],
  cwd: '/tmp',
  mode: 'simple',
});

type Place = { readonly of: Record<string, unknown>; readonly key: string };

/** Every field and element of a value. */
function places(value: unknown): readonly Place[] {
  if (typeof value !== 'object' || value === null) return [];
  const of = value as Record<string, unknown>;
  return Object.keys(of).flatMap((key) => [{ of, key }, ...places(of[key])]);
}

/** The value with one thing changed: another value, a field less, a field more. */
function changed(value: object, random: Random): string {
  const { of, key } = random.oneOf(places(value));
  switch (random.below(4)) {
    case 0:
      delete of[key];
      break;
    case 1:
      Object.defineProperty(of, random.oneOf(['extra', '__proto__', 'constructor', 'command', 'id', '0', '']), {
        value: random.oneOf(ODD),
        enumerable: true,
        configurable: true,
      });
      break;
    default:
      of[key] = random.oneOf(ODD);
  }
  return JSON.stringify(value);
}

/** The text with one of its marks gone, doubled or another, or cut off. Words stay words. */
function broken(text: string, random: Random): string {
  const marks = [...text.matchAll(/[{}[\],:"]/g)].map(({ index }) => index);
  const at = random.oneOf(marks);
  switch (random.below(4)) {
    case 0:
      return text.slice(0, at) + text.slice(at + 1);
    case 1:
      return text.slice(0, at) + text.slice(at, at + 1) + text.slice(at);
    case 2:
      return (
        text.slice(0, at) +
        random.oneOf(['{', '}', '[', ']', ',', ':', '"', '\\', '\u0001', '\ufeff']) +
        text.slice(at + 1)
      );
    default:
      return text.slice(0, at);
  }
}

async function send(path: string, body: string, headers: Record<string, string> = {}): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${service.port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  const answer: unknown = await response.json();
  const where = `${response.status} for ${body.slice(0, 300)}: ${JSON.stringify(answer).slice(0, 300)}`;
  if (response.status >= 400) {
    expect(response.status, where).toBeLessThan(500);
    expect(problem.safeParse(answer).success, where).toBe(true);
  } else {
    const schema = path === '/batches' ? batchResult : verdict.or(verdicts);
    expect(schema.safeParse(answer).success, where).toBe(true);
  }
  return response.status;
}

describe.each<[string, () => object]>([
  ['/batches', batch],
  ['/classify', questions],
])('POST %s', (path, valid) => {
  test('takes the request that the others are made from', async () => {
    expect(await send(path, JSON.stringify(valid()))).toBeLessThan(300);
  });

  test('answers a request with one thing changed by 2xx or 4xx, as its schemas say', async () => {
    const random = generator(20_261);
    const statuses = new Set<number>();
    for (let n = 0; n < 400; n += 1) statuses.add(await send(path, changed(valid(), random)));
    expect([...statuses]).toEqual(expect.arrayContaining([path === '/batches' ? 201 : 200, 400]));
  });

  test('answers broken JSON by 4xx, or by 2xx where it is still JSON', async () => {
    const random = generator(7);
    const statuses = new Set<number>();
    for (let n = 0; n < 200; n += 1) statuses.add(await send(path, broken(JSON.stringify(valid()), random)));
    expect(statuses).toContain(400);
  });

  test('answers odd fields beside a good body', async () => {
    const random = generator(99);
    const oddities = [
      'wait=',
      'wait=0',
      'wait=0, wait=0',
      ';;;,,,=',
      'wait="0"',
      'x'.repeat(4_000),
      '*/*;q=',
      ',',
      'a/b/c;q=2',
    ];
    for (let n = 0; n < 60; n += 1) {
      const headers = { prefer: random.oneOf(oddities), accept: random.oneOf(['*/*', ...oddities]) };
      await send(path, JSON.stringify(valid()), headers);
    }
    expect(service.logs()).not.toContain('request failed');
  });
});

test('values of any other kind are refused', async () => {
  for (const value of ODD) {
    for (const path of ['/batches', '/classify']) {
      const isQuestion = path === '/classify' && JSON.stringify(value).includes('"command"');
      if (!isQuestion) expect(await send(path, JSON.stringify(value))).toBe(400);
    }
  }
});

test('and nothing of all this was a fault of the service', async () => {
  expect(service.logs()).not.toContain('"level":50');
  expect((await service.call('/healthz')).status).toBe(200);
});
