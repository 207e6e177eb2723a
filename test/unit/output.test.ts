import { describe, expect, test } from 'vitest';
import { ByteLog } from '../../src/dispatcher/byte-log.ts';
import { CommandOutput, KeptOutput, type Stream } from '../../src/dispatcher/output.ts';
import { OutputBudget } from '../../src/dispatcher/output-budget.ts';
import { TailBuffer } from '../../src/dispatcher/tail-buffer.ts';
import { completeLength } from '../../src/dispatcher/utf8.ts';

type Told = Record<Stream, string>;

function collect(maxBytes: number): { output: CommandOutput; told: Told } {
  const told: Told = { stdout: '', stderr: '' };
  const output = new CommandOutput(maxBytes, (stream, range) => {
    told[stream] += range.told.text;
  });
  return { output, told };
}

/** What was told of one stream, as bytes again. */
function collectBytes(maxBytes: number): { output: CommandOutput; told: () => Buffer } {
  const pieces: Buffer[] = [];
  const output = new CommandOutput(maxBytes, (_, { told }) => {
    pieces.push(Buffer.from(told.text, told.encoding ?? 'utf8'));
  });
  return { output, told: () => Buffer.concat(pieces) };
}

/** What a whole text becomes when it is cut to its first and last bytes. */
const cut = (head: string, bytes: string, tail: string) => `${head}… ${bytes} bytes left out …\n${tail}`;

describe('what a command prints', () => {
  test('is kept whole up to the cap, both streams together', () => {
    const { output } = collect(10);
    output.push('stdout', Buffer.from('12345'));
    output.push('stderr', Buffer.from('67890'));
    expect(output.finish()).toMatchObject({ stdout: '12345', stderr: '67890', truncated: null });
    expect(output.keptBytes).toBe(10);
  });

  test('one byte over the cap is left out, and said', () => {
    const { output } = collect(10);
    output.push('stdout', Buffer.from('12345678901'));
    const { stdout, truncated } = output.finish();
    expect(stdout).toBe(cut('12345\n', '1', '78901'));
    expect(truncated).toEqual({ stdoutBytes: 1, stderrBytes: 0 });
  });

  test('keeps the beginning and the end of 50 MB and counts the rest exactly', () => {
    const { output, told } = collect(1000);
    const line = Buffer.from('0123456789'.repeat(6553));
    const total = line.length * 800;
    for (let times = 0; times < 800; times += 1) output.push('stdout', line);
    const { stdout, truncated } = output.finish();
    expect(total).toBeGreaterThan(50_000_000);
    expect(truncated).toEqual({ stdoutBytes: total - 1000, stderrBytes: 0 });
    expect(stdout).toBe(
      cut(`${'0123456789'.repeat(50)}\n`, (total - 1000).toLocaleString('en-US'), '0123456789'.repeat(50)),
    );
    expect(told.stdout).toBe(stdout);
  });

  test('a flood on one stream does not push the words of the other out of the end', () => {
    const { output } = collect(100);
    output.push('stdout', Buffer.alloc(60, 'a'));
    output.push('stderr', Buffer.from('why it failed'));
    for (let times = 0; times < 100; times += 1) output.push('stdout', Buffer.alloc(40, 'b'));
    const { stdout, stderr, truncated } = output.finish();
    expect(stderr).toBe('why it failed');
    expect(truncated).toEqual({ stdoutBytes: 60 + 4000 - 50 - 37, stderrBytes: 0 });
    expect(stdout.endsWith('b'.repeat(37))).toBe(true);
  });

  test('two floods share the end', () => {
    const { output } = collect(100);
    for (let times = 0; times < 50; times += 1) {
      output.push('stdout', Buffer.alloc(30, 'a'));
      output.push('stderr', Buffer.alloc(30, 'b'));
    }
    const { stdout, stderr, truncated } = output.finish();
    expect(stdout.endsWith('a'.repeat(25))).toBe(true);
    expect(stderr.endsWith('b'.repeat(25))).toBe(true);
    expect(output.keptBytes).toBe(100);
    expect((truncated?.stdoutBytes ?? 0) + (truncated?.stderrBytes ?? 0)).toBe(3000 - 100);
  });

  test('no character is cut in two: its bytes count as left out', () => {
    const { output } = collect(8);
    // Two bytes each; the head of four ends inside the third character when it is preceded by one byte.
    output.push('stdout', Buffer.from(`x${'é'.repeat(20)}`));
    const { stdout, truncated } = output.finish();
    expect(stdout).toBe(cut('xé\n', '34', 'éé'));
    expect(truncated).toEqual({ stdoutBytes: 41 - 3 - 4, stderrBytes: 0 });
    expect(stdout).not.toContain('\ufffd');
  });

  test('a character that is broken by the cut is left out of the end as well', () => {
    const { output } = collect(10);
    output.push('stdout', Buffer.from('€'.repeat(10)));
    const { stdout, truncated } = output.finish();
    expect(stdout).toBe(cut('€\n', '24', '€'));
    expect(truncated).toEqual({ stdoutBytes: 30 - 3 - 3, stderrBytes: 0 });
  });

  test('characters that come in pieces are put together, and what is no UTF-8 comes out as it went in, in base64', () => {
    const bytes = Buffer.from([0x61, 0xff, 0xc3, 0xa9, 0xe2, 0x82, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x80, 0xc3]);
    for (let size = 1; size <= bytes.length; size += 1) {
      const { output, told } = collectBytes(1000);
      for (let at = 0; at < bytes.length; at += size) {
        output.push('stdout', bytes.subarray(at, at + size));
        output.flush();
      }
      const kept = output.finish();
      expect(kept).toMatchObject({
        ...{ encoding: { stdout: 'base64', stderr: 'utf8' }, stdout: bytes.toString('base64'), stderr: '' },
      });
      expect(told().equals(bytes)).toBe(true);
    }
  });

  test('of one stream is base64 while the other is text, and a piece that is text is told as text', () => {
    const texts: unknown[] = [];
    const output = new CommandOutput(1000, (stream, { told }) => texts.push([stream, told]));
    output.push('stdout', Buffer.from('plain '));
    output.flush();
    output.push('stdout', Buffer.from([0xff]));
    output.push('stderr', Buffer.from('words'));
    const kept = output.finish();
    expect(texts).toEqual([
      ['stdout', { text: 'plain ' }],
      ['stdout', { text: '/w==', encoding: 'base64' }],
      ['stderr', { text: 'words' }],
    ]);
    expect(kept.encoding).toEqual({ stdout: 'base64', stderr: 'utf8' });
    expect(kept.stdout).toBe(Buffer.from('plain \xff', 'latin1').toString('base64'));
    expect(KeptOutput.NONE.encoding).toEqual({ stdout: 'utf8', stderr: 'utf8' });
  });

  test('in base64 is read in pieces that are, joined, the base64 of all', () => {
    const output = new CommandOutput(1_000_000, () => undefined);
    output.push('stdout', Buffer.alloc(200_001, 0xfe));
    const kept = output.finish();
    const pieces = [...kept.texts('stdout')];
    expect(pieces.length).toBeGreaterThan(3);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(65_536);
    expect(pieces.join('') === kept.stdout).toBe(true);
  });

  test('cutting at a border changes nothing, whatever comes next, and holds back one begun character at most', () => {
    const bytes = [
      0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xed, 0xef, 0xf0, 0xf4,
    ];
    const next = [[], [0x41], [0x80], [0x90, 0x80], [0xa0, 0x80], [0xbf, 0xbf, 0xbf], [0xc3, 0xa9]];
    let wrong = 0;
    for (const a of bytes)
      for (const b of bytes)
        for (const c of [...bytes, 0xf1, 0xf5, 0xff]) {
          const chunk = Buffer.from([a, b, c]);
          const complete = completeLength(chunk);
          const held = chunk.subarray(complete);
          if (held.length > 0 && held.toString() !== '\ufffd') wrong += 1;
          for (const more of next) {
            const whole = Buffer.concat([chunk, Buffer.from(more)]).toString();
            const parts = chunk.toString('utf8', 0, complete) + Buffer.concat([held, Buffer.from(more)]).toString();
            if (parts !== whole) wrong += 1;
          }
        }
    expect(wrong).toBe(0);
  });

  test('the texts that are told are, joined, the text of the result', () => {
    for (const cap of [0, 1, 7, 40, 64, 200]) {
      const { output, told } = collect(cap);
      for (let line = 0; line < 12; line += 1) {
        output.push(line % 3 === 0 ? 'stderr' : 'stdout', Buffer.from(`line ${line} é\n`));
        if (line % 4 === 0) output.flush();
      }
      const { stdout, stderr } = output.finish();
      expect(told).toEqual({ stdout, stderr });
    }
  });

  test('with a cap of nothing everything is counted and nothing kept', () => {
    const { output } = collect(0);
    output.push('stderr', Buffer.from('hello'));
    expect(output.finish()).toMatchObject({
      stdout: '',
      stderr: cut('', '5', ''),
      truncated: { stdoutBytes: 0, stderrBytes: 5 },
    });
    expect(output.keptBytes).toBe(0);
  });

  test('what comes after the end is dropped, and ending twice gives the same', () => {
    const { output, told } = collect(100);
    output.push('stdout', Buffer.from('before'));
    const first = output.finish();
    output.push('stdout', Buffer.from('after'));
    expect(output.finish()).toBe(first);
    expect(told.stdout).toBe('before');
  });

  test('chunks are copied: the reader may use its buffer again', () => {
    const { output } = collect(8);
    const chunk = Buffer.from('abcdefgh');
    output.push('stdout', chunk);
    output.push('stdout', chunk);
    chunk.fill('X');
    expect(output.finish().stdout).toBe(cut('abcd\n', '8', 'efgh'));
  });
});

describe('the bytes that are kept', () => {
  test('are those that were printed, once, whatever the characters and however often they were told', () => {
    const { output } = collect(100_000);
    for (let times = 0; times < 100; times += 1) {
      output.push('stdout', Buffer.from('x'.repeat(300)));
      output.push('stderr', Buffer.from('漢'));
      output.flush();
    }
    expect(output.finish().bytes).toBe(30_000 + 300);
  });

  test('stay as they were for whoever looked while more came', () => {
    const { output } = collect(100_000);
    output.push('stdout', Buffer.from('first'));
    const early = output.peek();
    for (let times = 0; times < 50; times += 1) output.push('stdout', Buffer.alloc(1000, 'y'));
    output.finish();
    expect(early).toMatchObject({ stdout: 'first', stderr: '', truncated: null, bytes: 5 });
  });

  test('of a long text are told and read in pieces of at most 64 KiB, with no character torn', () => {
    const texts: string[] = [];
    const output = new CommandOutput(1_000_000, (_stream, range) => texts.push(range.told.text));
    output.push('stdout', Buffer.from('漢'.repeat(100_000)));
    const kept = output.finish();
    for (const pieces of [texts, [...kept.texts('stdout')]]) {
      expect(pieces).toHaveLength(5);
      expect(Math.max(...pieces.map((text) => Buffer.byteLength(text)))).toBeLessThanOrEqual(65_536);
      expect(pieces.join('')).toBe(kept.stdout);
    }
    expect([...kept.texts('stderr')]).toEqual([]);
    expect(KeptOutput.NONE).toMatchObject({ stdout: '', stderr: '', truncated: null, bytes: 0 });
  });

  test('take no more room than they need once they are complete', () => {
    const log = new ByteLog();
    log.append(Buffer.from('abc'));
    log.append(Buffer.alloc(1000, 'd'));
    const sealed = log.seal();
    expect(sealed.buffer.byteLength).toBe(1003);
    expect(sealed.toString()).toBe(`abc${'d'.repeat(1000)}`);
    expect(new ByteLog().seal()).toHaveLength(0);
  });
});

describe('the end of a stream', () => {
  test('is what was appended less what was dropped, across blocks', () => {
    const tail = new TailBuffer();
    let expected = '';
    for (let round = 0; round < 60; round += 1) {
      const text = String.fromCharCode(97 + (round % 26)).repeat(1 + ((round * 977) % 9000));
      tail.append(Buffer.from(text));
      expected += text;
      const drop = Math.min(expected.length, (round * 1511) % 12_000);
      tail.drop(drop);
      expected = expected.slice(drop);
      expect(tail.length).toBe(expected.length);
    }
    expect(tail.toBuffer().toString()).toBe(expected);
    tail.drop(tail.length);
    tail.append(Buffer.from('again'));
    expect(tail.toBuffer().toString()).toBe('again');
  });
});

describe('the output cap of a batch', () => {
  test('a lone command gets its own cap, and gives back what it did not use', () => {
    const budget = new OutputBudget(100_000, 60_000);
    expect(budget.reserve(0, false)).toBe(60_000);
    expect(budget.reserve(0, false)).toBe(40_000);
    expect(budget.reserve(0, false)).toBe(0);
    budget.giveBack(50_000);
    expect(budget.reserve(0, false)).toBe(50_000);
  });

  test('room of 4 KiB stays for each command that waits', () => {
    const budget = new OutputBudget(100_000, 1_000_000);
    expect(budget.reserve(10, false)).toBe(100_000 - 10 * 4096);
    for (let waiting = 9; waiting >= 0; waiting -= 1) expect(budget.reserve(waiting, false)).toBe(4096);
  });

  test('when there is less than that for each, they share it evenly', () => {
    const budget = new OutputBudget(1000, 1_000_000);
    const shares = Array.from({ length: 10 }, (_, index) => budget.reserve(9 - index, false));
    expect(shares).toEqual(Array(10).fill(100));
  });

  test('in an open batch no command takes more than half of what is left', () => {
    const budget = new OutputBudget(1000, 1_000_000);
    expect([budget.reserve(0, true), budget.reserve(0, true), budget.reserve(0, true)]).toEqual([500, 250, 125]);
  });
});
