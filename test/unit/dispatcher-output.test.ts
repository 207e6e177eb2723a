import { describe, expect, test } from 'vitest';
import type { BatchEvent } from '../../src/dispatcher/types.ts';
import { allEvents, makeFifos, openGate, parallel, testDispatcher } from '../support/dispatcher.ts';

const textOf = (events: readonly BatchEvent[], id: string, stream: 'stdout' | 'stderr') =>
  events
    .flatMap((event) =>
      event.type === 'output' && event.commandId === id && event.stream === stream ? [event.text] : [],
    )
    .join('');

describe('what the commands of a batch print', () => {
  test('is told while it happens, and never credited to another command', async () => {
    const { dispatch, directory } = testDispatcher();
    await makeFifos(directory, 'gate');
    const batch = dispatch([parallel('echo before; read < gate; echo after >&2'), parallel('echo other')]);
    const events: BatchEvent[] = [];
    for await (const event of batch.events()) {
      events.push(event);
      if (event.type === 'output' && event.text === 'before\n') {
        expect(batch.snapshot().commands[0]).toMatchObject({ state: 'running', stdout: 'before\n', truncated: null });
        await openGate(directory, 'gate');
      }
    }
    const { commands } = await batch.done;
    expect(commands.map(({ stdout, stderr }) => [stdout, stderr])).toEqual([
      ['before\n', 'after\n'],
      ['other\n', ''],
    ]);
    expect([textOf(events, 'c1', 'stdout'), textOf(events, 'c1', 'stderr'), textOf(events, 'c2', 'stdout')]).toEqual([
      ...['before\n', 'after\n', 'other\n'],
    ]);
  });

  test('D20: a flood from 20 commands stays within the caps, and what is left out is counted exactly', async () => {
    const limits = { maxOutputBytesPerCommand: 50_000, maxOutputBytesPerBatch: 400_000 };
    const { dispatch } = testDispatcher({ limits });
    const flood = parallel('printf "%0.s0123456789" {1..20000}');
    const batch = dispatch(Array(20).fill(flood));
    const events = await allEvents(batch);
    const { commands } = await batch.done;
    let kept = 0;
    for (const { id, stdout, truncated, exitCode } of commands) {
      const left = stdout.replace(/\n?… [0-9,]+ bytes left out …\n/, '');
      expect(exitCode).toBe(0);
      expect(left.length + (truncated?.stdoutBytes ?? 0)).toBe(200_000);
      expect(stdout).toContain(`… ${truncated?.stdoutBytes.toLocaleString('en-US')} bytes left out …`);
      expect(left.length).toBeLessThanOrEqual(50_000);
      expect(left.length).toBeGreaterThanOrEqual(4096);
      expect(textOf(events, id, 'stdout')).toBe(stdout);
      kept += left.length;
    }
    expect(kept).toBeLessThanOrEqual(400_000);
    const finished = events.filter((event) => event.type === 'finished');
    expect(finished.map((event) => event.truncated)).toHaveLength(20);
    expect(finished.every((event) => (event.truncated?.stdoutBytes ?? 0) > 0)).toBe(true);
  });

  test('50 MB stay within the cap, with the beginning, the end and the exact count', async () => {
    const { dispatch } = testDispatcher({ limits: { maxOutputBytesPerCommand: 1000 } });
    const [result] = (await dispatch(['echo first; head -c 50000000 /dev/zero | tr "\\0" x; echo; echo last']).done)
      .commands;
    const total = 6 + 50_000_000 + 1 + 5;
    expect(result?.truncated).toEqual({ stdoutBytes: total - 1000, stderrBytes: 0 });
    expect(result?.stdout.startsWith('first\nxxx')).toBe(true);
    expect(result?.stdout.endsWith('xxx\nlast\n')).toBe(true);
  });

  test('is base64 where it is no text, and says so; in the events too', async () => {
    const { dispatch } = testDispatcher();
    const batch = dispatch(['printf "a\\xff\\xc3"; printf "\\xa9\\xe2\\x82"; printf "\\xac"; echo words >&2']);
    const [result] = (await batch.done).commands;
    const bytes = Buffer.concat([Buffer.from([0x61, 0xff]), Buffer.from('é€')]);
    expect(result).toMatchObject({ encoding: { stdout: 'base64', stderr: 'utf8' }, stderr: 'words\n' });
    expect(result?.stdout).toBe(bytes.toString('base64'));
    const told: Buffer[] = [];
    for await (const event of batch.events()) {
      if (event.type === 'output' && event.stream === 'stdout')
        told.push(Buffer.from(event.text, event.encoding ?? 'utf8'));
    }
    expect(Buffer.concat(told).equals(bytes)).toBe(true);
  });

  test('bytes of a character that come apart in time are one character in the events', async () => {
    const { dispatch, directory } = testDispatcher();
    await makeFifos(directory, 'gate');
    const batch = dispatch([parallel('printf "x\\xe2\\x82"; read < gate; printf "\\xac"')]);
    const texts: string[] = [];
    for await (const event of batch.events()) {
      if (event.type !== 'output') continue;
      texts.push(event.text);
      if (texts.length === 1) await openGate(directory, 'gate');
    }
    expect(texts).toEqual(['x', '€']);
  });

  test('what a timed-out command had printed is in its result', async () => {
    const { dispatch, directory } = testDispatcher();
    await makeFifos(directory, 'never');
    const batch = dispatch([{ command: 'echo so far; read < never', timeoutMs: 500 }]);
    expect((await batch.done).commands[0]).toMatchObject({ state: 'timed-out', stdout: 'so far\n' });
  });
});
