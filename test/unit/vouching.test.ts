import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fileLockKey } from '../../src/dispatcher/lock-keys.ts';
import type { CommandInput } from '../../src/dispatcher/types.ts';
import {
  allEvents,
  brief,
  eventOf,
  makeFifos,
  openGate,
  parallel,
  temporaryDirectory,
  testDispatcher,
} from '../support/dispatcher.ts';

const vouched = (command: string, ...lockKeys: readonly string[]): CommandInput => ({
  ...{ command, lockKeys, assume: 'parallel' },
});

describe('a command that its caller vouches for', () => {
  test('two writes to separate things overlap, with each other and with a read; the verdicts stay serial, and it is told', async () => {
    const { dispatch, directory } = testDispatcher();
    await makeFifos(directory, 'ab', 'bc');
    const batch = dispatch([
      vouched('read x < ab; echo $x > one', 'file:/one'),
      vouched('echo from two > ab; read x < bc; echo $x > two', 'file:/two'),
      parallel('echo from three > bc; echo done'),
    ]);
    const { commands } = await batch.done;
    expect(commands.map(({ verdict, vouched, exitCode }) => [verdict.kind, vouched, exitCode])).toEqual([
      ['serial', true, 0],
      ['serial', true, 0],
      ['parallel', undefined, 0],
    ]);
    expect(['one', 'two'].map((name) => readFileSync(join(directory, name), 'utf8'))).toEqual([
      'from two\n',
      'from three\n',
    ]);
    const started = (await allEvents(batch)).flatMap((event) =>
      event.type === 'started' ? [[event.commandId, event.vouched]] : [],
    );
    expect(new Map(started as [string, unknown][])).toEqual(
      new Map<string, unknown>([
        ['c1', true],
        ['c2', true],
        ['c3', undefined],
      ]),
    );
  });

  test('those that name one thing exclude each other, first come, first served', async () => {
    const { dispatch, directory } = testDispatcher();
    await makeFifos(directory, 'gate');
    const key = fileLockKey(join(directory, 'log'));
    const batch = dispatch([
      vouched('read < gate; echo 1 >> log', key),
      vouched('echo 2 >> log', key),
      vouched('echo 3 >> log', key),
    ]);
    expect(await eventOf(batch, 'waiting', 'c2')).toMatchObject({ waitsFor: [{ commandId: 'c1' }] });
    await openGate(directory, 'gate');
    await batch.done;
    expect(readFileSync(join(directory, 'log'), 'utf8')).toBe('1\n2\n3\n');
  });

  test('a serial command that nobody vouches for still waits for it, and holds back those behind', async () => {
    const { dispatch, directory } = testDispatcher();
    await makeFifos(directory, 'gate');
    const batch = dispatch([vouched('read < gate', 'k'), 'echo alone', vouched('echo behind', 'l')]);
    expect(await eventOf(batch, 'waiting', 'c2')).toMatchObject({ waitsFor: [{ commandId: 'c1' }] });
    expect(await eventOf(batch, 'waiting', 'c3')).toMatchObject({ waitsFor: [{ commandId: 'c2' }] });
    // Of another batch in the same place, too.
    const other = dispatch(['echo other']);
    expect(await eventOf(other, 'waiting')).toMatchObject({
      waitsFor: [{ batchId: batch.id }, { commandId: 'c2' }, { commandId: 'c3' }],
    });
    await openGate(directory, 'gate');
    await Promise.all([batch.done, other.done]);
  });

  test('shares the repositories elsewhere that its text names, where an unvouched one would have them to itself', async () => {
    const { plan, directory } = testDispatcher();
    const elsewhere = temporaryDirectory();
    execFileSync('git', ['init', '-q', elsewhere]);
    mkdirSync(join(directory, 'here'));
    const locksOf = (command: CommandInput) =>
      plan([command]).commands[0]?.locks.flatMap((lock) =>
        typeof lock === 'object' && lock.mode === 'exclusive' ? [lock.key] : [],
      );
    const text = `touch ${elsewhere}/a`;
    expect(locksOf({ command: text, lockKeys: ['k'] })?.length).toBeGreaterThan(2);
    expect(locksOf(vouched(text, 'k'))).toEqual(['k']);
  });

  test('a plan puts it with its neighbours and says so, but not before a function has told its keys', () => {
    const { plan } = testDispatcher();
    const planned = plan([
      parallel(':'),
      vouched('touch a', 'a'),
      { command: 'touch b', lockKeys: () => ['b'], assume: 'parallel' },
    ]);
    expect(planned.groups).toEqual([
      { kind: 'parallel', commandIds: ['c1', 'c2'] },
      { kind: 'serial', commandIds: ['c3'] },
    ]);
    expect(planned.commands.map(({ vouched }) => vouched)).toEqual([undefined, true, undefined]);
  });

  test('of a command that is proved nothing is vouched', async () => {
    const { dispatch } = testDispatcher();
    const { commands } = await dispatch([vouched(parallel('echo a'), 'k')]).done;
    expect(commands[0]).not.toHaveProperty('vouched');
  });

  test.each<[string, unknown, string, string]>([
    ['no keys', { assume: 'parallel' }, 'VOUCH_WITHOUT_KEYS', '/commands/0/lockKeys'],
    ['an empty list', { assume: 'parallel', lockKeys: [] }, 'VOUCH_WITHOUT_KEYS', '/commands/0/lockKeys'],
    [
      'shared keys only',
      { assume: 'parallel', lockKeys: [{ key: 'k', mode: 'shared' }] },
      'VOUCH_WITHOUT_KEYS',
      '/commands/0/lockKeys',
    ],
    ['another word', { assume: 'serial', lockKeys: ['k'] }, 'REQUEST_INVALID', '/commands/0/assume'],
    ['a word that is merely true', { assume: true, lockKeys: ['k'] }, 'REQUEST_INVALID', '/commands/0/assume'],
  ])('with %s is refused, and nothing runs', (_what, fields, code, pointer) => {
    const { dispatch, batches } = testDispatcher();
    expect(() => dispatch([{ command: 'true', ...(fields as object) }])).toThrowError(
      expect.objectContaining({ code, pointer }),
    );
    expect(batches()).toEqual([]);
  });

  test('a function may tell its keys; without an exclusive one the command fails and nothing of it runs', async () => {
    const { dispatch, directory } = testDispatcher();
    await makeFifos(directory, 'ab');
    const { commands } = await dispatch([
      { command: 'read x < ab; echo $x', lockKeys: async () => ['a'], assume: 'parallel' },
      { command: 'echo met > ab', lockKeys: () => [{ key: 'c', mode: 'shared' }, 'b'], assume: 'parallel' },
      { command: 'touch ran', lockKeys: () => [], assume: 'parallel' },
    ]).done;
    expect(commands[0]).toMatchObject({ stdout: 'met\n', vouched: true });
    expect(commands.map(brief)[2]).toMatchObject({
      state: 'failed',
      note: 'Could not tell what the call changes: Expected lockKeys to name at least one exclusive key where parallel is assumed, got none',
    });
  });

  test('a hook may change it, and cannot take its keys away', async () => {
    const { dispatch } = testDispatcher();
    const { commands } = await dispatch([vouched('echo a', 'k'), vouched('echo b', 'k')], {
      before: ({ id }) => (id === 'c1' ? { command: 'echo changed' } : { lockKeys: [] }),
    }).done;
    expect(commands[0]).toMatchObject({ stdout: 'changed\n', vouched: true });
    expect(commands[1]).toMatchObject({ state: 'failed', note: expect.stringContaining('at least one exclusive key') });
  });
});
