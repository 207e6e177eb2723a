import { describe, expect, test } from 'vitest';
import { KeyedLock } from '../../src/dispatcher/keyed-lock.ts';
import type { Owner } from '../../src/dispatcher/tool-locks.ts';
import { eventOf, makeFifos, openGate, parallel, temporaryDirectory, testDispatcher } from '../support/dispatcher.ts';

/** A dispatcher, and three directories that have nothing to do with each other. */
async function places() {
  const directories = [temporaryDirectory(), temporaryDirectory(), temporaryDirectory()] as const;
  for (const directory of directories) await makeFifos(directory, 'gate');
  const lock = new KeyedLock<Owner>();
  return { directories, lock, dispatcher: testDispatcher({ lock }) };
}

describe('a serial command of a batch with the scope of the host', () => {
  test('runs while no other command does, in whatever directory, and is not overtaken', async () => {
    const { directories, dispatcher, lock } = await places();
    const [one, two, three] = directories;
    const reader = dispatcher.dispatch([parallel('read x < gate; echo first')], { cwd: one });
    await eventOf(reader, 'started');
    const alone = dispatcher.dispatch(['read x < gate; echo alone'], { cwd: two, scope: 'host' });
    expect(await eventOf(alone, 'waiting')).toMatchObject({
      waitsFor: [{ batchId: reader.id, commandId: 'c1' }],
    });
    const later = [parallel('echo later'), 'echo later'].map((text) => dispatcher.dispatch([text], { cwd: three }));
    for (const batch of later) {
      const { waitsFor } = await eventOf(batch, 'waiting');
      expect(waitsFor).toContainEqual({ batchId: alone.id, commandId: 'c1' });
    }
    await openGate(one, 'gate');
    await eventOf(alone, 'started');
    expect(reader.snapshot().state).toBe('finished');
    expect(later.map((batch) => batch.snapshot().commands[0]?.state)).toEqual(['waiting', 'waiting']);
    await openGate(two, 'gate');
    const results = await Promise.all([reader, alone, ...later].map(({ done }) => done));
    expect(results.map(({ commands }) => commands[0]?.stdout)).toEqual(['first\n', 'alone\n', 'later\n', 'later\n']);
    expect(lock.size).toBe(0);
  });

  test('leaves the parallel ones of its batch what they are', async () => {
    const { directories, dispatcher } = await places();
    const [one, two] = directories;
    const reader = dispatcher.dispatch([parallel('read x < gate')], { cwd: one });
    await eventOf(reader, 'started');
    const other = dispatcher.dispatch([parallel('echo beside')], { cwd: two, scope: 'host' });
    expect((await other.done).commands[0]?.stdout).toBe('beside\n');
    await openGate(one, 'gate');
    await reader.done;
  });

  test('is asked for: by itself a serial command keeps to its workspace', async () => {
    const { directories, dispatcher } = await places();
    const [one, two] = directories;
    const reader = dispatcher.dispatch([parallel('read x < gate')], { cwd: one });
    await eventOf(reader, 'started');
    for (const options of [{}, { scope: 'workspace' } as const]) {
      const { commands } = await dispatcher.dispatch(['echo beside'], { cwd: two, ...options }).done;
      expect(commands[0]?.stdout).toBe('beside\n');
    }
    await openGate(one, 'gate');
    await reader.done;
  });

  test('is told by a plan, and another word is refused', async () => {
    const { dispatcher } = await places();
    const { commands } = dispatcher.plan(['echo x', parallel('echo x')], { scope: 'host' });
    const everywhere = { key: 'file:/', mode: 'exclusive' };
    expect(
      commands.map(({ locks }) => locks.some((lock) => JSON.stringify(lock) === JSON.stringify(everywhere))),
    ).toEqual([true, false]);
    expect(() => dispatcher.open({ scope: 'world' as never })).toThrow(
      'Expected scope to be "workspace" or "host", got "world"',
    );
  });
});
