import { expect, onTestFinished, test } from 'vitest';
import { childrenOf, openDescriptors, processesOf, strayFiles } from '../support/soak/leftovers.ts';
import { startServed } from '../support/soak/service.ts';
import { soak } from '../support/soak/soak.ts';
import { prepareGround } from '../support/soak/trees.ts';

/** Pipes that the service keeps ready (docs/soak.md), two descriptors each. */
const READY_DESCRIPTORS = 64;

test('several hundred random commands leave no finding, no process, no file, no key and no descriptor (the short form of `npm run soak`)', async () => {
  const ground = prepareGround();
  onTestFinished(ground.remove);
  const served = await startServed(ground);
  onTestFinished(() => {
    served.kill();
  });
  const idle = openDescriptors(served.pid);
  const { findings, commands, parallel, states } = await soak(served.port, ground, {
    seed: 5,
    commands: 300,
    clients: 4,
  });
  expect(findings).toEqual([]);
  expect(commands).toBeGreaterThanOrEqual(300);
  // It has tried something: both kinds ran, and some were ended before their time.
  expect(parallel).toBeGreaterThan(50);
  expect((states.exited ?? 0) - parallel).toBeGreaterThan(20);
  expect((states['not-started'] ?? 0) + (states.cancelled ?? 0) + (states['timed-out'] ?? 0)).toBeGreaterThan(5);
  await expect
    .poll(() => openDescriptors(served.pid), { timeout: 10_000 })
    .toBeLessThanOrEqual(idle + READY_DESCRIPTORS);
  expect(childrenOf(served.pid)).toEqual([]);
  expect(await served.stop()).toEqual([]);
  expect(served.complaints()).toBe('');
  expect([...processesOf(ground, []), ...strayFiles(ground)]).toEqual([]);
});
