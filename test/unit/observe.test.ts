import { expect, test, vi } from 'vitest';
import { createDispatcher } from '../../src/dispatcher/dispatcher.ts';
import { type Observation, observing } from '../../src/dispatcher/observation.ts';
import { judgeByMark, temporaryDirectory } from '../support/dispatcher.ts';

test('an observer is told of every event but output, of batches that open and close, and of locks', async () => {
  const told: Observation[] = [];
  const dispatcher = createDispatcher({
    judge: judgeByMark,
    allowUnprovenPlatform: true,
    cwd: temporaryDirectory(),
    observe: (observation) => told.push(observation),
  });
  const batch = dispatcher.dispatch(['echo one', 'echo two']);
  await batch.done;
  await dispatcher.shutdown();
  const types = told.map(({ type }) => type);
  const count = (type: Observation['type']) => types.filter((each) => each === type).length;
  expect(types[0]).toBe('batch-opened');
  for (const type of ['accepted', 'locks-granted', 'started', 'finished', 'locks-freed'] as const)
    expect([type, count(type)]).toEqual([type, 2]);
  for (const type of ['batch-closed', 'batch-finished'] as const) expect([type, count(type)]).toEqual([type, 1]);
  for (const each of told) {
    if (each.type === 'locks-granted') expect(each.waitedMs).toBeGreaterThanOrEqual(0);
    if (each.type === 'locks-freed') expect(each.heldMs).toBeGreaterThan(0);
  }
});

test('the fault of an observer is thrown where it stops nothing that is under way', () => {
  const thrown = vi.spyOn(globalThis, 'queueMicrotask').mockImplementation(() => undefined);
  try {
    const observe = observing(() => {
      throw new Error('its own');
    });
    expect(observe({ type: 'batch-opened' })).toBeUndefined();
    expect(thrown.mock.calls[0]?.[0]).toThrow('its own');
  } finally {
    thrown.mockRestore();
  }
});
