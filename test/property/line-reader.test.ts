import { Readable } from 'node:stream';
import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { LineReader } from '../../src/http/line-reader.ts';

const limits = { maxLineBytes: 64, maxStreamBytes: 4_096, maxIdleMs: 60_000 };
const never = new AbortController().signal;

/** What a reader gives of chunks: lines with their numbers, then how it ended, or the code of what was wrong. */
async function read(source: Readable) {
  const reader = new LineReader(source, limits);
  const lines: [number, string][] = [];
  try {
    for (;;) {
      const line = await reader.next(never);
      if (typeof line === 'string') return { lines, ending: line };
      lines.push([line.number, line.bytes.toString('latin1')]);
    }
  } catch (error) {
    return { lines, ending: (error as { code: string }).code };
  }
}

/** The same by splitting the whole. */
function expected(whole: Buffer) {
  const all = whole.toString('latin1').split('\n');
  const lines: [number, string][] = [];
  for (const [index, line] of all.entries()) {
    if (line.length > limits.maxLineBytes) return { lines, ending: 'LINE_TOO_LONG' };
    if (/[^ \t\r]/.test(line)) lines.push([index + 1, line]);
  }
  return { lines, ending: 'end' };
}

const bytes = fc
  .array(fc.oneof(fc.constantFrom(0x0a, 0x0a, 0x20, 0x0d, 0x22, 0x00, 0xff), fc.nat(255)), { maxLength: 400 })
  .map((list) => Buffer.from(list));

test.prop([bytes, fc.array(fc.nat(400), { maxLength: 12 })], {
  examples: [
    [Buffer.from('a\nb'), [1, 2]],
    [Buffer.from('\n\n'), []],
    [Buffer.alloc(65, 0x61), [64]],
    [Buffer.from(`${'a'.repeat(64)}\n${'b'.repeat(64)}`), [64, 65]],
  ],
})('however a body is cut into chunks, its lines are those of the whole', async (whole, cuts) => {
  const places = [0, ...cuts.map((cut) => Math.min(cut, whole.length)).sort((a, b) => a - b), whole.length];
  const chunks = places.slice(1).map((end, index) => whole.subarray(places[index], end));
  const some = chunks.filter((chunk) => chunk.length > 0);
  expect(await read(Readable.from(some, { objectMode: false }))).toEqual(expected(whole));
});

test.prop([bytes, fc.nat(400)])('a connection that breaks gives no line without an end', async (whole, cut) => {
  const arrived = whole.subarray(0, cut);
  const source = new Readable({ read: () => undefined });
  source.push(arrived);
  setImmediate(() => setImmediate(() => source.destroy(new Error('aborted'))));
  const { lines, ending } = await read(source);
  const complete = expected(arrived.subarray(0, arrived.lastIndexOf(0x0a) + 1));
  expect(lines).toEqual(complete.lines);
  expect(['broken', 'LINE_TOO_LONG']).toContain(ending);
});
