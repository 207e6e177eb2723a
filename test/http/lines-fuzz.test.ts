import { afterAll, beforeAll, expect, test } from 'vitest';
import { batchEvent, lineRecord, problem } from '../../src/http/answers.ts';
import { openService } from './service.ts';
import { isEvent, startUpload } from './upload.ts';

let service: Awaited<ReturnType<typeof openService>>;
beforeAll(async () => {
  service = await openService({ flags: { 'max-line-bytes': 4_000, 'max-stream-bytes': 50_000, 'max-commands': 6 } });
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

/** Lines, of which the only commands do nothing. */
const LINES: readonly string[] = [
  ...['"true"', '{"command":"true"}', '{"id":"a","command":"true"}', '{"id":"a","command":"true","env":{"A":"b"}}'],
  ...['{"batch":{}}', '{"batch":{"onDisconnect":"cancel"}}', '{"batch":{"open":false,"maxParallel":1}}', ''],
  ...['{"batch":{"deadlineMs":5000,"mode":"compound"}}', '{"batch":null}', '{"batch":{"batch":{}}}', '{"batch":1}'],
  ...[
    'null',
    'true',
    '7',
    '[]',
    '{}',
    '""',
    '" "',
    '"\\u0000"',
    '"\\ud800"',
    '{"command":null}',
    '{"command":["true"]}',
  ],
  ...[
    '{"__proto__":{"command":"true"}}',
    '{"command":"true","constructor":1}',
    '{"id":"","command":"true"}',
    '\ufeff"true"',
  ],
  ...[
    '{"id":"c2","command":"true"}',
    '{"command":"true","cwd":"../.."}',
    '{"command":"true","cwd":"\\u0000"}',
    '   ',
    '\r',
  ],
  ...['{"command":"true","lockKeys":[1]}', '{"command":"true","stdin":"x","timeoutMs":1000}', `"${'x'.repeat(5_000)}"`],
  ...[
    '"true" "true"',
    '{"command":"true","command":"true"}',
    '{"command":"true"',
    '"true',
    'true"',
    "'true'",
    '\0',
    '\u2028',
  ],
];

/** What is written: lines, sometimes cut, doubled, or with a byte of no UTF-8 in them. */
function body(random: ReturnType<typeof generator>): Buffer {
  const text = Array.from({ length: random.below(9) }, () => random.oneOf(LINES)).join(
    random.oneOf(['\n', '\n', '\r\n']),
  );
  const bytes = Buffer.from(random.below(3) === 0 ? text : `${text}\n`);
  if (random.below(6) === 0 && bytes.length > 0)
    bytes[random.below(bytes.length)] = random.oneOf([0xff, 0x0a, 0x22, 0x00]);
  return random.below(8) === 0 ? bytes.subarray(0, random.below(bytes.length + 1)) : bytes;
}

test.each([
  ['/batches', 400],
  ['/batches/:id/commands', 300],
])('%s answers any lines by a problem of 4xx, or by events and records that end', async (route, rounds) => {
  const random = generator(route.length);
  const statuses = new Set<number>();
  const codes = new Set<string>();
  for (let n = 0; n < rounds; n += 1) {
    const { id } = route === '/batches' ? { id: '' } : await service.run({ commands: [], open: true });
    const upload = startUpload(service, route.replace(':id', id));
    const bytes = body(random);
    const cut = random.below(bytes.length + 1);
    upload.write(bytes.subarray(0, cut));
    if (random.below(2) === 0) await new Promise((resolve) => setImmediate(resolve));
    upload.write(bytes.subarray(cut));
    upload.end();
    const { statusCode = 0 } = await upload.answer();
    const told = await upload.whole();
    const where = `${statusCode} for ${JSON.stringify(bytes.toString())}: ${upload.text().slice(0, 500)}`;
    statuses.add(statusCode);
    if (statusCode >= 400) {
      expect(statusCode, where).toBeLessThan(500);
      codes.add(problem.parse(JSON.parse(upload.text())).code);
    } else {
      for (const each of told)
        expect(('line' in each ? lineRecord : batchEvent).safeParse(each).success, where).toBe(true);
      const errors = told.filter(isEvent('error'));
      expect(errors.length, where).toBeLessThan(2);
      for (const each of errors) if ('code' in each) codes.add(each.code);
      const accepted = told.filter(isEvent('accepted')).length;
      if (route === '/batches') {
        expect(told.filter(isEvent('finished')), where).toHaveLength(accepted);
        expect(told.at(-1)?.type, where).toBe('batch-finished');
      }
    }
    if (id !== '') await service.call(`/batches/${id}/close`, { method: 'POST' });
  }
  expect([...statuses]).toEqual(expect.arrayContaining([route === '/batches' ? 201 : 200, 400, 413]));
  expect([...codes]).toEqual(
    expect.arrayContaining(['BODY_NOT_JSON', 'REQUEST_INVALID', 'LINE_TOO_LONG', 'COMMAND_EMPTY', 'COMMAND_HAS_NUL']),
  );
  expect(codes).not.toContain('INTERNAL');
});

test('uploads that break off anywhere leave a service that answers, and no batch that runs on', async () => {
  const random = generator(3);
  for (let n = 0; n < 100; n += 1) {
    const upload = startUpload(service, '/batches', random.below(2) === 0 ? {} : { accept: 'text/event-stream' });
    upload.write(body(random));
    for (let turns = random.below(6); turns > 0; turns -= 1) await new Promise((resolve) => setImmediate(resolve));
    upload.destroy();
  }
  await expect
    .poll(
      async () => {
        const counts = ['batch accepted', 'batch ended'].map((line) => service.logs().split(`"msg":"${line}"`).length);
        return counts[0] === counts[1];
      },
      { timeout: 20_000 },
    )
    .toBe(true);
  expect((await service.call('/readyz')).status).toBe(200);
});

test('and nothing of all this was a fault of the service', () => {
  expect(service.logs()).not.toContain('"level":50');
  expect(service.logs()).not.toContain('request failed');
});
