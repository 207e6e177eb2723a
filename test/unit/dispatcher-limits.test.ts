import { existsSync, mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SignalboxError } from '../../src/errors.ts';
import { makeFifos, openGate, parallel, temporaryDirectory, testDispatcher } from '../support/dispatcher.ts';

function codeOf(act: () => unknown): string | null {
  try {
    act();
    return null;
  } catch (error) {
    return error instanceof SignalboxError ? error.code : String(error);
  }
}

describe('how much is taken in', () => {
  test('batches that have not ended are limited in number, open ones too', async () => {
    const { dispatch, open, batches, directory } = testDispatcher({ limits: { maxLiveBatches: 2 } });
    await makeFifos(directory, 'gate');
    const first = dispatch([parallel('read < gate')]);
    const second = open();
    expect(codeOf(() => dispatch(['touch made']))).toBe('BATCHES_TOO_MANY');
    expect(codeOf(() => open())).toBe('BATCHES_TOO_MANY');
    expect(batches()).toHaveLength(2);
    second.close();
    await second.done;
    const third = dispatch([parallel('true')]);
    await openGate(directory, 'gate');
    await Promise.all([first.done, third.done]);
    expect(existsSync(join(directory, 'made'))).toBe(false);
  });

  test('commands that wait are limited over all batches, and a batch is taken whole or not at all', async () => {
    const { dispatch, open, directory } = testDispatcher({ limits: { maxQueuedCommands: 3 } });
    await makeFifos(directory, 'gate');
    const first = dispatch(['read < gate', 'true', 'true']);
    await expect.poll(() => first.snapshot().commands[0]?.state).toBe('running');
    expect(codeOf(() => dispatch(['touch made', 'touch made']))).toBe('QUEUE_FULL');
    const second = open();
    expect(second.add('true')).toBe('c1');
    expect(codeOf(() => second.add('touch made'))).toBe('QUEUE_FULL');
    expect(second.snapshot().commands).toHaveLength(1);
    await openGate(directory, 'gate');
    await first.done;
    expect(second.add('true')).toBe('c2');
    second.close();
    await second.done;
    expect(existsSync(join(directory, 'made'))).toBe(false);
  });

  test('several are added in one step, or none of them, and a fault is told by its place', async () => {
    const { open, directory } = testDispatcher({ limits: { maxCommands: 4, maxQueuedCommands: 3 } });
    const batch = open();
    const [first, second] = [
      { id: 'a', command: 'touch made' },
      { id: 'a', command: 'true' },
    ];
    for (const [code, pointer, commands] of [
      ['COMMAND_ID_DUPLICATE', '/commands/1/id', [first, second]],
      ['COMMAND_HAS_NUL', '/commands/1', ['touch made', 'a\0b']],
      ['QUEUE_FULL', undefined, Array(4).fill('touch made')],
      ['OPTION_INVALID', '/commands', 'ls'],
    ] as const)
      expect(() => batch.addAll(commands as never)).toThrow(expect.objectContaining({ code, pointer }));
    expect([batch.addAll([]), batch.addAll(['true', second])]).toEqual([[], ['c1', 'a']]);
    batch.close();
    expect(codeOf(() => batch.addAll(['touch made']))).toBe('BATCH_CLOSED');
    expect((await batch.done).commands.map(({ id, exitCode }) => [id, exitCode])).toEqual([
      ['c1', 0],
      ['a', 0],
    ]);
    expect(existsSync(join(directory, 'made'))).toBe(false);
  });

  test('is without limit unless one is given', async () => {
    const { dispatch } = testDispatcher();
    const batches = Array.from({ length: 70 }, () => dispatch(Array(200).fill(parallel('true'))));
    for (const batch of batches) batch.cancel();
    const states = (await Promise.all(batches.map(({ done }) => done))).map(({ state }) => state);
    expect(new Set(states)).toEqual(new Set(['cancelled']));
  });
});

describe('where a command may run', () => {
  test('is asked with the real path right before it starts, after all waiting', async () => {
    const outside = temporaryDirectory();
    const asked: string[] = [];
    const { dispatch, directory } = testDispatcher({
      mayRunIn: (real) => {
        asked.push(real);
        return real !== outside;
      },
    });
    await makeFifos(directory, 'gate');
    mkdirSync(join(directory, 'sub'));
    const batch = dispatch(['read < gate', { command: 'touch made', cwd: 'sub' }, 'true']);
    await expect.poll(() => batch.snapshot().commands[0]?.state).toBe('running');
    renameSync(join(directory, 'sub'), join(directory, 'moved'));
    symlinkSync(outside, join(directory, 'sub'));
    await openGate(directory, 'gate');
    const { commands } = await batch.done;
    expect(commands.map(({ state }) => state)).toEqual(['exited', 'failed', 'exited']);
    expect(commands[1]?.note).toContain('its working directory no longer lies where commands may run');
    expect(asked).toEqual([directory, outside, directory]);
    expect(existsSync(join(outside, 'made'))).toBe(false);
  });

  test('a question that throws, or is not answered with yes, is a no', async () => {
    for (const mayRunIn of [
      () => {
        throw new Error('broken');
      },
      () => 'yes' as unknown as boolean,
    ]) {
      const { dispatch, directory } = testDispatcher({ mayRunIn });
      expect((await dispatch(['touch made']).done).commands[0]).toMatchObject({ state: 'failed' });
      expect(existsSync(join(directory, 'made'))).toBe(false);
    }
  });

  test('only a function can be asked', () => {
    expect(codeOf(() => testDispatcher({ mayRunIn: true as never }))).toBe('OPTION_INVALID');
  });
});
