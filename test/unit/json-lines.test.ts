import { Readable } from 'node:stream';
import { fc, test as prop } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { type Line, parseQuestion, readLines } from '../../src/cli/json-lines.ts';

async function linesOf(chunks: readonly Uint8Array[]): Promise<Line[]> {
  const lines: Line[] = [];
  for await (const line of readLines(Readable.from(chunks))) lines.push(line);
  return lines;
}

/** The bytes of a text, cut into pieces of these lengths. */
function pieces(text: string, lengths: readonly number[]): Uint8Array[] {
  const bytes = Buffer.from(text);
  const cut: Uint8Array[] = [];
  let at = 0;
  for (const length of lengths) {
    cut.push(bytes.subarray(at, at + length));
    at += length;
  }
  return [...cut, bytes.subarray(at)];
}

describe('lines of standard input', () => {
  prop.prop([fc.array(fc.string({ unit: 'binary' }).map((text) => Buffer.from(text).toString())), fc.array(fc.nat(5))])(
    'are the same however the stream was cut, and number themselves',
    async (texts, lengths) => {
      const lines = texts.map((text) => text.replaceAll('\n', ''));
      const read = await linesOf(pieces(lines.map((line) => `${line}\n`).join(''), lengths));
      expect(read).toEqual(lines.map((text, index) => ({ number: index + 1, text })));
    },
  );

  test('end at LF only, and the last needs none', async () => {
    const read = await linesOf([Buffer.from('"a\u2028b"\r\n"c\rd"')]);
    expect(read.map(({ text }) => text)).toEqual(['"a\u2028b"\r', '"c\rd"']);
  });

  test('nothing is no line, and one line feed is one empty line', async () => {
    expect(await linesOf([])).toEqual([]);
    expect(await linesOf([Buffer.from('\n')])).toEqual([{ number: 1, text: '' }]);
  });

  test('bytes that are not UTF-8 are told by their line', async () => {
    await expect(linesOf([Buffer.from('"a"\n'), Buffer.from([0x22, 0xff, 0x22, 0x0a])])).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
      message: expect.stringContaining('Line 2'),
    });
  });

  test('a line without end is refused instead of kept', async () => {
    const megabyte = Buffer.alloc(1024 * 1024, 'x');
    await expect(linesOf(Array<Uint8Array>(65).fill(megabyte))).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
  });
});

describe('a line as a question', () => {
  const parse = (text: string) => parseQuestion({ number: 7, text });

  test('is a text, or an object with a command', () => {
    expect(parse('"ls -la"')).toEqual({ command: 'ls -la' });
    expect(parse('{"command":"ls","count":3}')).toEqual({ command: 'ls' });
    expect(parse('{"command":"ls","cwd":"/x","env":{"A":"b"},"mode":"simple"}\r')).toEqual({
      command: 'ls',
      cwd: '/x',
      env: { A: 'b' },
      mode: 'simple',
    });
  });

  test('what may be parallel is never ignored', () => {
    const allow = { network: false };
    expect(parse(JSON.stringify({ command: 'ls', allow }))).toEqual({ command: 'ls', allow });
  });

  test('a command that is no text is kept, so that it gets its own verdict', () => {
    expect(parse('5')).toEqual({ command: 5 });
    expect(parse('null')).toEqual({ command: null });
    expect(parse('["ls"]')).toEqual({ command: ['ls'] });
    expect(parse('{"command":["ls"]}')).toEqual({ command: ['ls'] });
  });

  test.each([
    ['', 'an empty line'],
    ['ls -la', 'expected a JSON value'],
    ['"ls" "la"', 'expected a JSON value'],
    ['{"cmd":"ls"}', '"command"'],
    ['{}', '"command"'],
    ['{"__proto__":{"command":"ls"}}', '"command"'],
    ['{"command":"ls","cwd":5}', '"cwd"'],
    ['{"command":"ls","env":["A=b"]}', '"env"'],
    ['{"command":"ls","env":{"A":1}}', '"env"'],
    ['{"command":"ls","mode":true}', '"mode"'],
    ['{"command":"ls","allow":false}', 'allow'],
    ['{"command":"ls","allow":null}', 'allow'],
    ['{"command":"ls","allow":{"netwrok":false}}', '"netwrok"'],
    ['{"command":"ls","allow":{"network":"no"}}', 'allow.network'],
  ])('%j is refused by its line number', (text, said) => {
    expect(() => parse(text)).toThrow(
      expect.objectContaining({ code: 'REQUEST_INVALID', message: expect.stringMatching(/^Line 7 /) }),
    );
    expect(() => parse(text)).toThrow(said);
  });
});
