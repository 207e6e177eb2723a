/**
 * Report: two readers wait for a writer that sends the first one's directory elsewhere, where somebody else works. The
 * first waits anew; the second, which it does not concern, stood back for it, was granted at once, stood back again …
 */
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { KeyedLock } from '../../src/dispatcher/keyed-lock.ts';
import { workspaceKeys } from '../../src/dispatcher/lock-keys.ts';
import { createMarkerSearch } from '../../src/dispatcher/marker-search.ts';
import { systemProcesses } from '../../src/dispatcher/process-table.ts';
import type { Owner } from '../../src/dispatcher/tool-locks.ts';
import { eventOf, parallel, temporaryDirectory, testDispatcher } from '../support/dispatcher.ts';

test('a reader does not stand back for a sibling that waits anew for what does not concern it', async () => {
  const lock = new KeyedLock<Owner>();
  const directory = temporaryDirectory();
  for (const name of ['a', 'b', 'work']) mkdirSync(join(directory, name));
  symlinkSync('../a', join(directory, 'work/link'));
  symlinkSync('../b', join(directory, 'work/next'));
  const { dispatch } = testDispatcher({ lock, cwd: join(directory, 'work') });
  const release = await lock.acquire(workspaceKeys(join(directory, 'b')).keys);
  const batch = dispatch([
    // A text that names the place itself would wait for it.
    'rm link; mv nex* link',
    { command: parallel('pwd -P'), cwd: 'link' },
    parallel('echo on'),
  ]);
  expect(await eventOf(batch, 'finished', 'c3')).toMatchObject({ state: 'exited', exitCode: 0 });
  expect(batch.snapshot().commands[1]?.state).toBe('waiting');
  release();
  const [, moved] = (await batch.done).commands;
  expect(moved).toMatchObject({ state: 'exited', stdout: `${join(directory, 'b')}\n` });
});

test('a look at the processes that fails proves nothing, and is repeated', async () => {
  let looks = 0;
  const search = createMarkerSearch({
    ...systemProcesses,
    carriers: (wanted) => {
      looks += 1;
      if (looks < 3) throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
      return new Map(wanted.map(({ marker }) => [marker, [4711]]));
    },
  });
  const ask = (marker: string) => search({ marker, group: 1, since: 0 });
  expect(await Promise.all([ask('m'), ask('n')])).toEqual([[4711], [4711]]);
  expect(looks).toBe(3);
});
