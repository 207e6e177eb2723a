import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import type { Stream } from '../../src/dispatcher/output.ts';
import { Redaction } from '../../src/dispatcher/redaction.ts';
import type { Redact } from '../../src/dispatcher/types.ts';
import { makeFifos, openGate, parallel, testDispatcher } from '../support/dispatcher.ts';

const WHOSE = { batchId: 'b', commandId: 'c1' };
const MAX_LINE_BYTES = 262_144;

const hide: Redact = (line) => line.replaceAll('secret', '******');

function collect(...redactors: readonly Redact[]) {
  const out: Record<Stream, Buffer[]> = { stdout: [], stderr: [] };
  const redaction = new Redaction(redactors, WHOSE, (stream, bytes) => out[stream].push(Buffer.from(bytes)));
  return {
    redaction,
    bytes: (stream: Stream) => Buffer.concat(out[stream]),
    text: (stream: Stream) => String(Buffer.concat(out[stream])),
  };
}

describe('a redactor', () => {
  test('sees whole lines, however they come, with the stream that they are of', () => {
    const seen: unknown[] = [];
    const { redaction, text } = collect((line, of) => {
      seen.push([line, of]);
      return hide(line, of);
    });
    for (const chunk of ['a se', 'cr', 'et\nb', '\n\nlast sec']) redaction.push('stdout', Buffer.from(chunk));
    redaction.push('stderr', Buffer.from('secret\n'));
    redaction.push('stdout', Buffer.from('ret'));
    expect(text('stdout')).toBe('a ******\nb\n\n');
    redaction.end();
    expect(text('stdout')).toBe('a ******\nb\n\nlast ******');
    expect(text('stderr')).toBe('******\n');
    expect(seen).toEqual([
      ['a secret\n', { ...WHOSE, stream: 'stdout' }],
      ['b\n', { ...WHOSE, stream: 'stdout' }],
      ['\n', { ...WHOSE, stream: 'stdout' }],
      ['secret\n', { ...WHOSE, stream: 'stderr' }],
      ['last secret', { ...WHOSE, stream: 'stdout' }],
    ]);
    redaction.end();
    expect(text('stdout')).toBe('a ******\nb\n\nlast ******');
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
    ['gives nothing', () => undefined],
    ['gives a promise', async (line: string) => line],
    ['gives bytes', (line: string) => Buffer.from(line)],
  ])('that %s lets nothing of that line through, and says so', (_, broken) => {
    const { redaction, text } = collect((line, of) =>
      line.startsWith('bad') ? (broken as unknown as Redact)(line, of) : line,
    );
    redaction.push('stdout', Buffer.from('good\nbad secret\ngood\n'));
    expect(text('stdout')).toBe('good\n… a line of 11 bytes withheld …\ngood\n');
  });

  test('is shown no line that is too long, of which nothing is let through and nothing kept', () => {
    const { redaction, text } = collect((line) => line);
    const longest = `${'x'.repeat(MAX_LINE_BYTES - 1)}\n`;
    redaction.push('stdout', Buffer.from(longest));
    expect(text('stdout') === longest).toBe(true);
    for (let times = 0; times < 100; times += 1) redaction.push('stderr', Buffer.alloc(10_000, 'y'));
    redaction.push('stderr', Buffer.from('z\nshort\n'));
    expect(text('stderr')).toBe('… a line of 1,000,002 bytes withheld …\nshort\n');
  });

  test('of a batch comes before that of its dispatcher', () => {
    const { redaction, text } = collect(
      (line) => line.replace('one', 'two'),
      (line) => line.replace('two', 'three'),
    );
    redaction.push('stdout', Buffer.from('one\n'));
    expect(text('stdout')).toBe('three\n');
  });

  test('without one, bytes go through as they come', () => {
    const { redaction, text } = collect();
    redaction.push('stdout', Buffer.from('begun'));
    expect(text('stdout')).toBe('begun');
  });

  property.prop([
    fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 20 }),
    fc.array(fc.nat(30), { maxLength: 30 }),
  ])('that changes nothing leaves every byte, and how they are cut into chunks makes no difference', (pieces, cuts) => {
    const all = Buffer.concat(pieces);
    const { redaction, bytes } = collect((line) => line);
    let at = 0;
    for (const cut of [...cuts, all.length]) {
      redaction.push('stdout', all.subarray(at, at + cut));
      at = Math.min(all.length, at + cut);
    }
    redaction.push('stdout', all.subarray(at));
    redaction.end();
    expect(bytes('stdout').equals(all)).toBe(true);
  });
});

describe('what a command prints', () => {
  test('is redacted before it is told, kept or cut', async () => {
    const { dispatch } = testDispatcher({ redact: hide, limits: { maxOutputBytesPerCommand: 40 } });
    const batch = dispatch([
      parallel('printf "my sec"; printf "ret\\n"; yes secret | head -n 1000; printf secret >&2'),
    ]);
    const [result] = (await batch.done).commands;
    const told: string[] = [];
    for await (const event of batch.events()) if (event.type === 'output') told.push(event.text);
    expect(JSON.stringify([result?.stdout, result?.stderr, told])).not.toContain('secret');
    expect(result?.stdout).toContain('my ******\n');
    const kept = Buffer.byteLength(result?.stdout ?? '') + Buffer.byteLength(result?.stderr ?? '');
    expect(result?.truncated?.stdoutBytes).toBeGreaterThan(6_900);
    expect(kept).toBeLessThan(120);
  });

  test('goes through the redactor of its batch, then through that of the dispatcher', async () => {
    const { dispatch } = testDispatcher({ redact: (line) => line.replace('b', 'c') });
    const [result] = (await dispatch(['echo a'], { redact: (line) => line.replace('a', 'b') }).done).commands;
    expect(result?.stdout).toBe('c\n');
    const [other] = (await dispatch(['echo b']).done).commands;
    expect(other?.stdout).toBe('c\n');
  });

  test('on a begun line is told when that ends, or the command does', async () => {
    const { dispatch, directory } = testDispatcher({ redact: (line) => line });
    await makeFifos(directory, 'gate');
    const batch = dispatch([parallel('echo first; printf begun; read x < gate')]);
    for await (const event of batch.events()) {
      if (event.type !== 'output') continue;
      if (event.text === 'first\n') {
        expect(batch.snapshot().commands[0]?.stdout).toBe('first\n');
        await openGate(directory, 'gate');
      } else expect(event.text).toBe('begun');
    }
    expect((await batch.done).commands[0]?.stdout).toBe('first\nbegun');
  });

  test('is not redacted by what is no function', () => {
    expect(() => testDispatcher({ redact: 'secret' as never })).toThrow(
      'Expected redact to be a function, got "secret"',
    );
    const { dispatch } = testDispatcher();
    expect(() => dispatch(['echo'], { redact: 1 as never })).toThrow('Expected redact to be a function, got 1');
  });
});
