import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { BeforeHook, Call } from '../../src/dispatcher/types.ts';
import {
  allEvents,
  brief,
  comingsAndGoings,
  eventOf,
  makeFifos,
  openGate,
  parallel,
  testDispatcher,
} from '../support/dispatcher.ts';

describe('a hook before a command joins its queues', () => {
  test('D18: what it changes is judged with what it left; now serial it waits for its siblings, runs alone, and the later ones wait', async () => {
    const { dispatch, directory } = testDispatcher();
    await makeFifos(directory, 'gate');
    const before: BeforeHook = ({ id }) => (id === 'c2' ? { command: 'echo changed > log' } : undefined);
    const batch = dispatch([parallel('read < gate'), parallel('echo meant'), parallel('cat log')], { before });
    expect(await eventOf(batch, 'waiting', 'c2')).toMatchObject({ waitsFor: [{ commandId: 'c1' }] });
    await eventOf(batch, 'waiting', 'c3');
    await openGate(directory, 'gate');
    const events = await allEvents(batch);
    expect(comingsAndGoings(events)).toEqual(['+c1', '-c1', '+c2', '-c2', '+c3', '-c3']);
    const { commands } = await batch.done;
    expect(commands.map(({ verdict, stdout }) => [verdict.kind, stdout])).toEqual([
      ['parallel', ''],
      ['serial', ''],
      ['parallel', 'changed\n'],
    ]);
    expect(commands[1]?.command).toBe('echo changed > log');
    const told = events.flatMap((event) =>
      event.type === 'accepted' || event.type === 'started'
        ? [[event.type, event.commandId, event.verdict.kind, event.command]]
        : [],
    );
    expect(told).toEqual([
      ['accepted', 'c1', 'parallel', parallel('read < gate')],
      ['accepted', 'c2', 'parallel', parallel('echo meant')],
      ['accepted', 'c3', 'parallel', parallel('cat log')],
      ['started', 'c1', 'parallel', undefined],
      ['started', 'c2', 'serial', 'echo changed > log'],
      ['started', 'c3', 'parallel', undefined],
    ]);
  });

  test('the verdict of an accepted command is marked provisional where there is a hook, and only there', async () => {
    const { dispatch } = testDispatcher();
    const marks = async (before?: BeforeHook) => {
      const events = await allEvents(dispatch(['true'], before === undefined ? {} : { before }));
      return events.flatMap((event) => (event.type === 'accepted' ? [event.provisional] : []));
    };
    expect(await marks(() => undefined)).toEqual([true]);
    expect(await marks()).toEqual([undefined]);
  });

  test('a serial command that it makes parallel overlaps its siblings', async () => {
    const { dispatch, directory } = testDispatcher();
    await makeFifos(directory, 'ab');
    const before: BeforeHook = ({ id }) => (id === 'c2' ? { command: parallel('echo met > ab') } : undefined);
    const { commands } = await dispatch([parallel('read x < ab; echo $x'), 'echo met > ab'], { before }).done;
    expect(commands.map(({ verdict, stdout }) => [verdict.kind, stdout])).toEqual([
      ['parallel', 'met\n'],
      ['parallel', ''],
    ]);
  });

  test('it may change text, directory, variables, standard input and keys, and sees what was asked for', async () => {
    const { dispatch, directory } = testDispatcher();
    mkdirSync(join(directory, 'sub'));
    const calls: Call[] = [];
    const before: BeforeHook = async (call) => {
      calls.push(call);
      return { command: 'pwd; cat; echo $WORD', cwd: 'sub', env: { WORD: 'word' }, stdin: 'given\n', lockKeys: ['k'] };
    };
    const batch = dispatch([{ command: 'true', env: { OLD: '1' }, stdin: 'old', lockKeys: ['old'] }], { before });
    const { commands } = await batch.done;
    expect(commands[0]).toMatchObject({
      ...{ exitCode: 0, command: 'pwd; cat; echo $WORD', stdout: `${join(directory, 'sub')}\ngiven\nword\n` },
    });
    expect(calls).toEqual([
      {
        ...{ id: 'c1', batchId: batch.id, command: 'true', cwd: directory, env: { OLD: '1' }, stdin: 'old' },
        lockKeys: [{ key: 'old', mode: 'exclusive' }],
        ...{ verdict: expect.objectContaining({ kind: 'serial' }), signal: expect.any(AbortSignal) },
      },
    ]);
  });

  test('what it does not name stays, and `stdin: null` takes the input away', async () => {
    const { dispatch } = testDispatcher();
    const given = { command: 'cat; echo $A', env: { A: 'a' }, stdin: 'in\n' };
    const outputs = async (before: BeforeHook) => (await dispatch([given], { before }).done).commands[0]?.stdout;
    expect(await outputs(() => ({}))).toBe('in\na\n');
    expect(await outputs(() => ({ stdin: null }))).toBe('a\n');
    expect(await outputs(() => ({ env: {} }))).toBe('in\n\n');
  });

  test('keys that it gives are held, and a function that it gives is asked with what it left', async () => {
    const { dispatch, directory } = testDispatcher();
    await makeFifos(directory, 'gate');
    const asked: string[] = [];
    const before: BeforeHook = ({ id }) => ({
      command: id === 'c1' ? parallel('read < gate') : parallel('echo behind'),
      lockKeys:
        id === 'c1'
          ? ['k']
          : ({ command }) => {
              asked.push(command);
              return ['k'];
            },
    });
    const batch = dispatch([parallel(':'), parallel(':')], { before });
    expect(await eventOf(batch, 'waiting', 'c2')).toMatchObject({ waitsFor: [{ commandId: 'c1' }] });
    await openGate(directory, 'gate');
    await batch.done;
    expect(asked).toEqual([parallel('echo behind')]);
  });

  test('a command that it declines is answered without running, and the others go on', async () => {
    const { dispatch, directory } = testDispatcher();
    const before: BeforeHook = ({ command }) =>
      command.startsWith('touch') ? { decline: command === 'touch a' ? 'no writes here' : '' } : undefined;
    const batch = dispatch([parallel('echo 1'), 'touch a', 'touch b', parallel('echo 2')], {
      ...{ before, onFailure: 'stop' },
    });
    expect((await batch.done).commands.map(brief)).toEqual([
      { id: 'c1', state: 'exited', exitCode: 0, note: null },
      { id: 'c2', state: 'not-started', exitCode: null, note: 'Declined: no writes here' },
      { id: 'c3', state: 'not-started', exitCode: null, note: 'Declined' },
      { id: 'c4', state: 'exited', exitCode: 0, note: null },
    ]);
    expect(existsSync(join(directory, 'a')) || existsSync(join(directory, 'b'))).toBe(false);
  });

  const unwell: readonly (readonly [string, unknown, string])[] = [
    [
      'throws',
      () => {
        throw new Error('broken');
      },
      'broken',
    ],
    ['rejects', () => Promise.reject(new Error('broken later')), 'broken later'],
    ['gives null', () => null, 'Expected changes, { decline: reason } or nothing, got null'],
    ['gives a text', () => 'ls', 'Expected changes, { decline: reason } or nothing, got "ls"'],
    ['gives a list', () => ['ls'], 'Expected changes, { decline: reason } or nothing, got an array'],
    [
      'gives a field that there is not',
      () => ({ comand: 'ls' }),
      'Expected what a before hook changes to be given command, cwd, env, stdin, lockKeys; got `comand`',
    ],
    ['gives a text that is none', () => ({ command: 7 }), 'Expected command to be text, got 7'],
    ['gives a NUL', () => ({ command: 'a\0b' }), 'Expected command to hold no NUL, got one at 1'],
    [
      'gives a variable that makes bash run something',
      () => ({ env: { BASH_ENV: '/x' } }),
      'Expected env not to set BASH_ENV, which is never handed over',
    ],
    [
      'gives a directory that is none',
      () => ({ cwd: '/nowhere/at/all' }),
      'Expected cwd to be a directory, got /nowhere/at/all',
    ],
    ['declines without a reason', () => ({ decline: true }), 'Expected the reason of a decline to be text, got true'],
    [
      'declines and changes',
      () => ({ decline: 'no', command: 'ls' }),
      'Expected a decline to be given decline; got `command`',
    ],
  ];
  test.each(unwell)('one that %s fails its command, of which nothing runs, and no other', async (_how, hook, why) => {
    const { dispatch, directory } = testDispatcher();
    const before: BeforeHook = (call) => (call.id === 'c2' ? (hook as BeforeHook)(call) : undefined);
    const { commands } = await dispatch([parallel('echo 1'), 'touch ran', 'echo 3'], { before }).done;
    expect(commands.map(brief)).toEqual([
      { id: 'c1', state: 'exited', exitCode: 0, note: null },
      { id: 'c2', state: 'failed', exitCode: null, note: `The hook before it failed: ${why}` },
      { id: 'c3', state: 'exited', exitCode: 0, note: null },
    ]);
    expect(existsSync(join(directory, 'ran'))).toBe(false);
  });

  test('while it works, earlier commands run and later ones do not join; it sees one command at a time, in call order', async () => {
    const { dispatch, directory } = testDispatcher();
    let letGo: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const seen: string[] = [];
    const before: BeforeHook = async ({ id }) => {
      seen.push(`+${id}`);
      if (id === 'c2') await gate;
      seen.push(`-${id}`);
      return undefined;
    };
    const batch = dispatch(['echo 1 >> log', 'echo 2 >> log', parallel('cat log')], { before });
    await eventOf(batch, 'finished', 'c1');
    expect(batch.snapshot().commands.map(({ state }) => state)).toEqual(['exited', 'queued', 'queued']);
    expect(seen).toEqual(['+c1', '-c1', '+c2']);
    letGo();
    expect((await batch.done).commands[2]?.stdout).toBe('1\n2\n');
    expect(seen).toEqual(['+c1', '-c1', '+c2', '-c2', '+c3', '-c3']);
    expect(readFileSync(join(directory, 'log'), 'utf8')).toBe('1\n2\n');
  });

  test('a hook of the dispatcher sees the batches that have none of their own', async () => {
    const seen: string[] = [];
    const note =
      (name: string): BeforeHook =>
      ({ id }) => {
        seen.push(`${name} ${id}`);
        return undefined;
      };
    const { dispatch } = testDispatcher({ before: note('dispatcher') });
    await dispatch(['true']).done;
    await dispatch([{ id: 'own', command: 'true' }], { before: note('batch') }).done;
    expect(seen).toEqual(['dispatcher c1', 'batch own']);
  });

  test('its signal aborts when the batch is cancelled, and its answer counts no more', async () => {
    const { open, directory } = testDispatcher();
    const batch = open({
      before: ({ signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve({ command: 'touch ran' }))),
    });
    batch.add('true');
    batch.cancel('not wanted');
    expect((await batch.done).commands.map(brief)).toEqual([
      { id: 'c1', state: 'not-started', exitCode: null, note: 'Aborted before dispatch: not wanted' },
    ]);
    expect(existsSync(join(directory, 'ran'))).toBe(false);
  });

  test('a shutdown does not wait for a hook that never answers', async () => {
    const dispatcher = testDispatcher({ before: () => new Promise(() => {}) });
    const batch = dispatcher.dispatch(['true']);
    await dispatcher.shutdown();
    expect((await batch.done).commands[0]).toMatchObject({ state: 'not-started' });
  });
});
