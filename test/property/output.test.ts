import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { CommandOutput, type Stream } from '../../src/dispatcher/output.ts';

/** Bytes as programs print them: mostly text, sometimes anything. */
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 60 }).map((array) => Buffer.from(array)),
  fc.string({ unit: 'grapheme', maxLength: 30 }).map((text) => Buffer.from(text)),
);
const chunk = fc.record({ stream: fc.constantFrom<Stream>('stdout', 'stderr'), bytes, isFlushed: fc.boolean() });
const chunks = fc.array(chunk, { maxLength: 30 });

/** What goes in and what comes out, by streams. */
function through(given: readonly { stream: Stream; bytes: Buffer; isFlushed: boolean }[], maxBytes: number) {
  const printed = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  const told = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  const output = new CommandOutput(maxBytes, (stream, range) => {
    const { text, encoding } = range.told;
    // Text that is none would not come out of its own bytes.
    expect(Buffer.from(text, encoding ?? 'utf8').toString(encoding ?? 'utf8')).toBe(text);
    told[stream].push(Buffer.from(text, encoding ?? 'utf8'));
  });
  for (const { stream, bytes: some, isFlushed } of given) {
    printed[stream].push(some);
    output.push(stream, some);
    if (isFlushed) output.flush();
  }
  const kept = output.finish();
  const side = (stream: Stream) => ({
    printed: Buffer.concat(printed[stream]),
    told: Buffer.concat(told[stream]),
    kept: Buffer.from(kept[stream], kept.encoding[stream]),
  });
  return { kept, sides: { stdout: side('stdout'), stderr: side('stderr') } };
}

test.prop([chunks], { numRuns: 500 })('whatever the bytes and the chunks, they come out as they went in', (given) => {
  const { kept, sides } = through(given, 1_000_000);
  expect(kept.truncated).toBe(null);
  for (const { printed, told, kept: out } of Object.values(sides)) {
    expect(out.equals(printed)).toBe(true);
    expect(told.equals(printed)).toBe(true);
  }
});

test.prop([chunks, fc.integer({ min: 0, max: 200 })], { numRuns: 500 })(
  'whatever is cut, what is kept is a beginning and an end with the exact count between them, and is what was told',
  (given, maxBytes) => {
    const { kept, sides } = through(given, maxBytes);
    let all = 0;
    for (const stream of ['stdout', 'stderr'] as const) {
      const { printed, told, kept: out } = sides[stream];
      expect(told.equals(out)).toBe(true);
      const missing = kept.truncated?.[`${stream}Bytes`] ?? 0;
      all += printed.length - missing;
      if (missing === 0) {
        expect(out.equals(printed)).toBe(true);
        continue;
      }
      const mark = Buffer.from(`… ${missing.toLocaleString('en-US')} bytes left out …\n`);
      const at = out.indexOf(mark);
      const [before, after] = [out.subarray(0, at), out.subarray(at + mark.length)];
      // A mark begins a line of its own, if need be with a newline that nobody printed.
      const isAdded = before.length + after.length + missing === printed.length + 1;
      const head = isAdded ? before.subarray(0, -1) : before;
      expect(head.length + after.length + missing).toBe(printed.length);
      expect(printed.subarray(0, head.length).equals(head)).toBe(true);
      expect(printed.subarray(printed.length - after.length).equals(after)).toBe(true);
    }
    expect(all).toBeLessThanOrEqual(maxBytes);
  },
);
