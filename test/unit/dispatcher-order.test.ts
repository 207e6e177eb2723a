import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { KeyedLock } from '../../src/dispatcher/keyed-lock.ts';
import { createSlots } from '../../src/dispatcher/slots.ts';
import type { Owner } from '../../src/dispatcher/tool-locks.ts';
import type { Batch } from '../../src/dispatcher/types.ts';
import {
  allEvents,
  brief,
  comingsAndGoings,
  eventOf,
  makeFifos,
  openGate,
  parallel,
  temporaryDirectory,
  testDispatcher,
} from '../support/dispatcher.ts';

/** Appends to a file when it begins and when it ends; overlap shows as two beginnings in a row. */
const stamped = (name: string, text = ':') => `echo +${name} >> log; ${text}; echo -${name} >> log`;
const logOf = (directory: string) => readFileSync(join(directory, 'log'), 'utf8').trim().split('\n');

const outputs = async (batch: Batch) => (await batch.done).commands.map(({ stdout }) => stdout);

describe('the order of a batch', () => {
  test('D1, T6: [P, P, S, P] runs as three groups, tells as things happen, and answers in call order', async () => {
    const { dispatch, directory } = testDispatcher();
    await makeFifos(directory, 'ab');
    const batch = dispatch([
      // The first ends only because the second runs at the same time, and ends after it.
      parallel('read x < ab; echo "got $x"'),
      parallel('echo from-second > ab; echo sent'),
      'test ! -e late; echo alone',
      parallel('touch late; echo last'),
    ]);
    const events = await allEvents(batch);
    const { commands, state } = await batch.done;
    expect(commands.map(({ stdout }) => stdout)).toEqual(['got from-second\n', 'sent\n', 'alone\n', 'last\n']);
    expect(commands.map(({ exitCode, verdict }) => [exitCode, verdict.kind])).toEqual([
      ...[
        [0, 'parallel'],
        [0, 'parallel'],
        [0, 'serial'],
        [0, 'parallel'],
      ],
    ]);
    expect(state).toBe('finished');
    const order = comingsAndGoings(events);
    expect(order.slice(0, 2)).toEqual(['+c1', '+c2']);
    expect(order.slice(2, 4).sort()).toEqual(['-c1', '-c2']);
    expect(order.slice(4)).toEqual(['+c3', '-c3', '+c4', '-c4']);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.at(-1)).toMatchObject({ type: 'batch-finished', state: 'finished' });
    expect(events.filter(({ type }) => type === 'accepted').map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
  });

  test('T9: results come in call order when the last is the first to finish', async () => {
    const { dispatch, directory } = testDispatcher();
    await makeFifos(directory, 'one', 'two');
    const batch = dispatch([
      parallel('read < one; echo first'),
      parallel('read < two; echo second; echo > one'),
      parallel('echo third; echo > two'),
    ]);
    expect(await outputs(batch)).toEqual(['first\n', 'second\n', 'third\n']);
  });

  test('T7: never more than the limit run, and a slot is filled again as soon as one ends', async () => {
    const { dispatch, directory } = testDispatcher();
    await makeFifos(directory, 'g1', 'g2', 'g3', 'g4', 'g5', 'g6');
    const batch = dispatch(
      [1, 2, 3, 4, 5, 6].map((n) => parallel(`read < g${n}`)),
      { maxParallel: 3 },
    );
    await eventOf(batch, 'started', 'c3');
    expect(batch.snapshot().commands.map(({ state }) => state)).toEqual([
      ...['running', 'running', 'running', 'waiting', 'waiting', 'waiting'],
    ]);
    for (const [gate, next] of [
      ['g2', 'c4'],
      ['g4', 'c5'],
      ['g1', 'c6'],
    ] as const) {
      await openGate(directory, gate);
      await eventOf(batch, 'started', next);
      expect(batch.snapshot().commands.filter(({ state }) => state === 'running')).toHaveLength(3);
    }
    for (const gate of ['g3', 'g5', 'g6']) await openGate(directory, gate);
    const running = new Set<string>();
    let most = 0;
    for (const change of comingsAndGoings(await allEvents(batch))) {
      if (change.startsWith('+')) running.add(change.slice(1));
      else running.delete(change.slice(1));
      most = Math.max(most, running.size);
    }
    expect(most).toBe(3);
  });

  test('T8, D19: with a limit of one everything is in sequence', async () => {
    const { dispatch, directory } = testDispatcher();
    const names = ['a', 'b', 'c', 'd'];
    await dispatch(
      names.map((name) => parallel(stamped(name))),
      { maxParallel: 1 },
    ).done;
    expect(logOf(directory)).toEqual(names.flatMap((name) => [`+${name}`, `-${name}`]));
  });

  test('D4: exit 1 of a search that finds nothing is an answer; its siblings go on', async () => {
    const { dispatch } = testDispatcher();
    const { commands, state } = await dispatch([parallel('exit 1'), parallel('echo b'), 'exit 2', parallel('echo d')])
      .done;
    expect(commands.map(({ state, exitCode }) => [state, exitCode])).toEqual([
      ...[
        ['exited', 1],
        ['exited', 0],
        ['exited', 2],
        ['exited', 0],
      ],
    ]);
    expect(state).toBe('finished');
  });

  test('D8: the same command twice runs twice', async () => {
    const { dispatch, directory } = testDispatcher();
    await dispatch(['echo x >> log', 'echo x >> log']).done;
    expect(logOf(directory)).toEqual(['x', 'x']);
  });

  test('D9: of 100 readers, a writer and 100 readers, the writer runs after the first hundred and before the rest', async () => {
    const { dispatch } = testDispatcher();
    const readers = Array.from({ length: 100 }, () => parallel(':'));
    const order = comingsAndGoings(await allEvents(dispatch([...readers, 'true', ...readers])));
    const first = order.indexOf('+c101');
    expect(order[first + 1]).toBe('-c101');
    expect(order.slice(0, first)).toHaveLength(200);
    expect(order.slice(0, first).every((change) => Number(change.slice(2)) <= 100)).toBe(true);
    expect(order.slice(first + 2).every((change) => Number(change.slice(2)) > 101)).toBe(true);
  });

  test('1,000 commands: every one runs once, in one batch', async () => {
    const { dispatch } = testDispatcher({ limits: { maxParallel: 20 } });
    const batch = dispatch(Array.from({ length: 1000 }, (_, index) => parallel(`echo ${index}`)));
    const { commands } = await batch.done;
    expect(commands.map(({ stdout }) => stdout)).toEqual(Array.from({ length: 1000 }, (_, index) => `${index}\n`));
    const finished = (await allEvents(batch)).filter(({ type }) => type === 'finished');
    expect(finished).toHaveLength(1000);
  });

  test('a batch that is open starts each command as soon as it may, while more are to come', async () => {
    const { open, directory } = testDispatcher();
    await makeFifos(directory, 'gate');
    const batch = open();
    expect(batch.snapshot()).toMatchObject({ state: 'open', commands: [] });
    expect(batch.add(parallel('echo early'))).toBe('c1');
    await eventOf(batch, 'finished', 'c1');
    expect(batch.add({ id: 'writer', command: 'read < gate' })).toBe('writer');
    await eventOf(batch, 'started', 'writer');
    batch.add(parallel('echo behind'));
    expect(await eventOf(batch, 'waiting', 'c3')).toMatchObject({
      waitsFor: [{ batchId: batch.id, commandId: 'writer' }],
    });
    expect(batch.snapshot().commands.map(({ state }) => state)).toEqual(['exited', 'running', 'waiting']);
    batch.close();
    batch.close();
    expect(batch.snapshot().state).toBe('running');
    expect(() => batch.add('true')).toThrowError(expect.objectContaining({ code: 'BATCH_CLOSED' }));
    await openGate(directory, 'gate');
    expect(await outputs(batch)).toEqual(['early\n', '', 'behind\n']);
  });

  test('an open batch without a command ends when it is closed', async () => {
    const batch = testDispatcher().open();
    batch.close();
    expect(await batch.done).toMatchObject({ state: 'finished', commands: [] });
    expect(await allEvents(batch)).toMatchObject([{ type: 'batch-finished' }]);
  });
});

describe('across batches', () => {
  test('two batches in one directory never overlap when one is serial', async () => {
    const { dispatch, directory } = testDispatcher();
    await makeFifos(directory, 'gate');
    const first = dispatch([parallel(stamped('r1', 'read < gate')), stamped('w1'), parallel(stamped('r2'))]);
    await eventOf(first, 'started', 'c1');
    const second = dispatch([stamped('w2'), parallel(stamped('r3'))]);
    expect(await eventOf(second, 'waiting', 'c1')).toMatchObject({
      waitsFor: ['c1', 'c2', 'c3'].map((commandId) => ({ batchId: first.id, commandId })),
    });
    await openGate(directory, 'gate');
    await Promise.all([first.done, second.done]);
    expect(logOf(directory)).toEqual(['r1', 'w1', 'r2', 'w2', 'r3'].flatMap((name) => [`+${name}`, `-${name}`]));
  });

  test('parallel commands of two batches in one directory overlap', async () => {
    const { dispatch, directory } = testDispatcher();
    await makeFifos(directory, 'ab');
    const first = dispatch([parallel('read x < ab; echo $x')]);
    const second = dispatch([parallel('echo met > ab')]);
    expect(await outputs(first)).toEqual(['met\n']);
    expect((await second.done).commands[0]?.exitCode).toBe(0);
  });

  test('D3: serial commands of batches in different directories overlap', async () => {
    const { dispatch, directory } = testDispatcher();
    for (const name of ['a', 'b']) mkdirSync(join(directory, name));
    await makeFifos(directory, 'ab');
    const first = dispatch(['read x < ../ab; echo $x'], { cwd: join(directory, 'a') });
    const second = dispatch(['echo met > ../ab'], { cwd: join(directory, 'b') });
    expect(await outputs(first)).toEqual(['met\n']);
    await second.done;
  });

  test('a subdirectory of a work tree is the same workspace, from any dispatcher with the same lock', async () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, '.git', 'objects'), { recursive: true });
    mkdirSync(join(directory, '.git', 'refs'));
    writeFileSync(join(directory, '.git', 'HEAD'), 'ref: refs/heads/main\n');
    mkdirSync(join(directory, 'sub'));
    const lock = new KeyedLock<Owner>();
    await makeFifos(directory, 'gate');
    const first = testDispatcher({ lock, cwd: directory }).dispatch(['read < gate']);
    await eventOf(first, 'started');
    const second = testDispatcher({ lock, cwd: join(directory, 'sub') }).dispatch([parallel('echo after')]);
    expect(await eventOf(second, 'waiting')).toMatchObject({ waitsFor: [{ batchId: first.id, commandId: 'c1' }] });
    await openGate(directory, 'gate');
    await Promise.all([first.done, second.done]);
    expect(lock.size).toBe(0);
  });

  test('lock keys of the caller exclude each other across batches, in the modes asked for', async () => {
    const { dispatch, directory } = testDispatcher();
    for (const name of ['a', 'b', 'c']) mkdirSync(join(directory, name));
    await makeFifos(directory, 'gate', 'meet');
    const shared = [{ key: 'port:80', mode: 'shared' }] as const;
    const first = dispatch([{ command: 'read x < ../meet; read < ../gate', cwd: 'a', lockKeys: shared }]);
    await eventOf(first, 'started');
    const second = dispatch([{ command: 'echo > ../meet', cwd: 'b', lockKeys: shared }]);
    await second.done;
    const third = dispatch([{ command: 'true', cwd: 'c', lockKeys: ['port:80'] }]);
    expect(await eventOf(third, 'waiting')).toMatchObject({ waitsFor: [{ batchId: first.id }] });
    await openGate(directory, 'gate');
    expect((await third.done).commands[0]).toMatchObject({ state: 'exited', exitCode: 0 });
  });

  test('the limit of the process holds for all batches together, and waiting for a slot is told', async () => {
    const slots = createSlots({ limit: 1 });
    const { dispatch, directory } = testDispatcher({ slots });
    await makeFifos(directory, 'gate');
    const first = dispatch([parallel('read < gate')]);
    await eventOf(first, 'started');
    const second = dispatch([parallel('echo b')]);
    expect(await eventOf(second, 'waiting')).toMatchObject({ waitsFor: [] });
    expect(slots.inUse).toBe(1);
    await openGate(directory, 'gate');
    await Promise.all([first.done, second.done]);
    await expect.poll(() => slots.inUse).toBe(0);
  });

  test('batches take turns: one of three commands is not held up by the two hundred of one before it', async () => {
    let moment = 0;
    const { dispatch, directory } = testDispatcher({ limits: { processLimit: 2 }, now: () => ++moment });
    const [large, small] = [200, 3].map((size) => dispatch(Array.from({ length: size }, () => parallel(':')))) as [
      Batch,
      Batch,
    ];
    const told = [...(await allEvents(large)), ...(await allEvents(small))].sort((one, other) => one.at - other.at);
    const starts = told
      .filter(({ type }) => type === 'started')
      .map(({ batchId }) => (batchId === small.id ? 's' : 'L'));
    expect(starts).toHaveLength(203);
    // The first two had the slots before anybody else was there; then each in turn.
    expect(starts.join('')).toMatch(/^LL{1,2}(sLL?){2}sL+$/);
    expect(readdirSync(directory)).toEqual([]);
  });

  test('at most four times its pool of a batch stands in the queues', async () => {
    const lock = new KeyedLock<Owner>();
    const { dispatch, directory } = testDispatcher({ lock });
    await makeFifos(directory, 'gate');
    const batch = dispatch(['read < gate', ...Array.from({ length: 50 }, () => parallel(':'))], { maxParallel: 2 });
    await eventOf(batch, 'started', 'c1');
    const states = batch.snapshot().commands.map(({ state }) => state);
    expect(states.filter((state) => state === 'waiting')).toHaveLength(8);
    expect(states.filter((state) => state === 'queued')).toHaveLength(42);
    const places = lock.snapshot().map(({ holders, waiters }) => holders.length + waiters.length);
    expect(Math.max(...places)).toBe(9);
    await openGate(directory, 'gate');
    expect((await batch.done).commands.every(({ exitCode }) => exitCode === 0)).toBe(true);
  });
});

describe('what happens to the rest of a batch', () => {
  test('stop: running siblings go on, and nothing that has not started does', async () => {
    const { dispatch, directory } = testDispatcher();
    await makeFifos(directory, 'gate');
    const batch = dispatch(
      [
        parallel('read < gate; echo finished'),
        parallel('exit 3'),
        parallel('touch ran'),
        'touch ran',
        parallel('touch ran'),
      ],
      { onFailure: 'stop', maxParallel: 2 },
    );
    await eventOf(batch, 'finished', 'c5');
    await openGate(directory, 'gate');
    const { commands, state } = await batch.done;
    const skipped = { state: 'skipped', exitCode: null, note: 'Skipped because c2 exited with 3' };
    expect(commands.map(brief)).toEqual([
      { id: 'c1', state: 'exited', exitCode: 0, note: null },
      { id: 'c2', state: 'exited', exitCode: 3, note: null },
      { id: 'c3', ...skipped },
      { id: 'c4', ...skipped },
      { id: 'c5', ...skipped },
    ]);
    expect(existsSync(join(directory, 'ran'))).toBe(false);
    expect(state).toBe('finished');
  });

  test('stop: what is added afterwards is answered at once', async () => {
    const batch = testDispatcher().open({ onFailure: 'stop' });
    batch.add('exit 1');
    await eventOf(batch, 'finished', 'c1');
    batch.add('echo never');
    batch.close();
    expect((await batch.done).commands.map(brief)[1]).toEqual({
      ...{ id: 'c2', state: 'skipped', exitCode: null, note: 'Skipped because c1 exited with 1' },
    });
  });

  test('cancel-siblings: what runs is ended as well, and is told why', async () => {
    const { dispatch } = testDispatcher();
    const { commands } = await dispatch(
      [parallel('sleep 1000'), parallel('exit 4'), parallel('sleep 1000'), 'echo never'],
      { onFailure: 'cancel-siblings' },
    ).done;
    const cancelled = { state: 'cancelled', exitCode: null, note: 'Cancelled because c2 exited with 4' };
    expect(commands.map(brief)).toEqual([
      { id: 'c1', ...cancelled },
      { id: 'c2', state: 'exited', exitCode: 4, note: null },
      { id: 'c3', ...cancelled },
      { id: 'c4', state: 'skipped', exitCode: null, note: 'Skipped because c2 exited with 4' },
    ]);
  });

  test('a time-out and a failure to start count as well', async () => {
    const { dispatch } = testDispatcher();
    const late = await dispatch([{ command: 'sleep 1000', timeoutMs: 20 }, 'true'], { onFailure: 'stop' }).done;
    expect(late.commands.map(({ note }) => note)).toEqual(['Timed out after 20 ms', 'Skipped because c1 timed out']);
    const broken = await dispatch([`: ${'x'.repeat(200_000)}`, 'true'], { onFailure: 'stop' }).done;
    expect(broken.commands.map(brief)).toEqual([
      { id: 'c1', state: 'failed', exitCode: null, note: expect.stringContaining('longer') },
      { id: 'c2', state: 'skipped', exitCode: null, note: 'Skipped because c1 could not be run' },
    ]);
  });
});
