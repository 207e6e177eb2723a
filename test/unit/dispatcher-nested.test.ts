import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { KeyedLock } from '../../src/dispatcher/keyed-lock.ts';
import { fileLockKey } from '../../src/dispatcher/lock-keys.ts';
import { createSlots } from '../../src/dispatcher/slots.ts';
import type { Owner } from '../../src/dispatcher/tool-locks.ts';
import type { Batch } from '../../src/dispatcher/types.ts';
import { eventOf, makeFifos, openGate, parallel, testDispatcher } from '../support/dispatcher.ts';
import { settled } from '../support/locks.ts';

const stamped = (name: string, text = ':') => `echo +${name} >> log; ${text}; echo -${name} >> log`;
const logOf = (directory: string) => readFileSync(join(directory, 'log'), 'utf8').trim().split('\n');

const firstOf = ({ id }: Batch): Owner => ({ batchId: id, commandId: 'c1' });
const outcomes = async (batch: Batch) => (await batch.done).commands.map(({ state, note }) => [state, note]);

/** One slot for the process, two directories beside each other, and in the first a command that runs until it is released. */
async function crowded() {
  const all = watched(1);
  const { directory, dispatch } = all;
  for (const name of ['here', 'there']) mkdirSync(join(directory, name));
  for (const name of ['here', 'there']) await makeFifos(join(directory, name), 'gate');
  const outer = dispatch([{ command: 'read < gate', cwd: 'here' }]);
  await eventOf(outer, 'started');
  const release = async (): Promise<void> => {
    await openGate(join(directory, 'here'), 'gate');
    await outer.done;
  };
  return { ...all, outer, release };
}

/** A dispatcher whose lock and slots can be looked at. */
function watched(limit = 32) {
  const [lock, slots] = [new KeyedLock<Owner>(), createSlots({ limit })];
  const { directory, ...dispatcher } = testDispatcher({ lock, slots });
  const expectIdle = (): void => expect([lock.size, slots.inUse, slots.waiting]).toEqual([0, 0, 0]);
  return { lock, slots, directory, expectIdle, ...dispatcher };
}

describe('a batch inside of a running command', () => {
  test('D10: does not wait for that command, nor for those who wait for it', async () => {
    const { dispatch, directory, expectIdle } = watched();
    await makeFifos(directory, 'gate');
    const outer = dispatch([stamped('outer', 'read < gate')]);
    await eventOf(outer, 'started');
    const stranger = dispatch([stamped('stranger')]);
    await eventOf(stranger, 'waiting');
    const inner = dispatch([stamped('one'), parallel('cat log'), stamped('two')], { inside: firstOf(outer) });
    expect((await inner.done).commands[1]?.stdout).toBe('+outer\n+one\n-one\n');
    expect(stranger.snapshot().commands[0]?.state).toBe('waiting');
    await openGate(directory, 'gate');
    await stranger.done;
    expect(logOf(directory)).toEqual(['+outer', '+one', '-one', '+two', '-two', '-outer', '+stranger', '-stranger']);
    expectIdle();
  });

  test('ten deep with one slot for the process each runs on that of the one around it', async () => {
    const { dispatch, directory, slots, expectIdle } = watched(1);
    const depths = Array.from({ length: 10 }, (_, index) => index + 1);
    await makeFifos(directory, ...depths.map((depth) => `g${depth}`));
    const batches: Batch[] = [];
    for (const depth of depths) {
      const around = batches.at(-1);
      const options = around === undefined ? {} : { inside: firstOf(around) };
      const batch = dispatch([stamped(`${depth}`, `read < g${depth}`)], options);
      await eventOf(batch, 'started');
      batches.push(batch);
    }
    expect([slots.inUse, slots.waiting]).toEqual([1, 0]);
    for (const depth of depths.toReversed()) {
      await openGate(directory, `g${depth}`);
      expect(await outcomes(batches[depth - 1] as Batch)).toEqual([['exited', null]]);
    }
    const names = depths.map(String);
    expect(logOf(directory)).toEqual([
      ...names.map((name) => `+${name}`),
      ...names.toReversed().map((name) => `-${name}`),
    ]);
    expectIdle();
  });

  test('of a hundred commands inside of one, one at a time runs where there is no other slot', async () => {
    const { dispatch, directory, expectIdle } = watched(1);
    await makeFifos(directory, 'gate');
    const outer = dispatch([parallel('read < gate')]);
    await eventOf(outer, 'started');
    const inner = dispatch(
      Array.from({ length: 100 }, () => parallel(stamped('one'))),
      { inside: firstOf(outer) },
    );
    await inner.done;
    expect(logOf(directory)).toEqual(Array.from({ length: 100 }, () => ['+one', '-one']).flat());
    await openGate(directory, 'gate');
    await outer.done;
    expectIdle();
  });

  test('two of them, each with a writer, never overlap', async () => {
    const { dispatch, directory, expectIdle } = watched();
    await makeFifos(directory, 'gate', 'first');
    const outer = dispatch(['read < gate']);
    await eventOf(outer, 'started');
    const inside = firstOf(outer);
    const one = dispatch([parallel('true'), stamped('one', 'read < first')], { inside });
    await eventOf(one, 'started', 'c2');
    const other = dispatch([parallel('echo beside >> log'), stamped('other')], { inside });
    expect(await eventOf(other, 'waiting', 'c1')).toMatchObject({ waitsFor: [{ batchId: one.id, commandId: 'c2' }] });
    await openGate(directory, 'first');
    await other.done;
    expect(logOf(directory)).toEqual(['+one', '-one', 'beside', '+other', '-other']);
    await openGate(directory, 'gate');
    await outer.done;
    expectIdle();
  });

  test('two of them inside of a hold that other work has, each with a writer, never overlap', async () => {
    const { lock, dispatch, directory, expectIdle } = watched();
    await makeFifos(directory, 'first');
    const stranger = await lock.run(fileLockKey(directory), async (inside) => {
      const outside = dispatch([stamped('stranger')]);
      const one = dispatch([stamped('one', 'read < first')], { inside });
      await eventOf(one, 'started');
      const other = dispatch([stamped('other')], { inside });
      await eventOf(other, 'waiting');
      await openGate(directory, 'first');
      await other.done;
      return outside;
    });
    await stranger.done;
    expect(logOf(directory)).toEqual(['+one', '-one', '+other', '-other', '+stranger', '-stranger']);
    expectIdle();
  });

  test('outlives the command: its own keys stay its own, and strangers wait for it', async () => {
    const { dispatch, directory, slots, expectIdle } = watched(1);
    await makeFifos(directory, 'outer', 'inner');
    const outer = dispatch([stamped('outer', 'read < outer')]);
    await eventOf(outer, 'started');
    const inner = dispatch([stamped('inner', 'read < inner')], { inside: firstOf(outer) });
    await eventOf(inner, 'started');
    await openGate(directory, 'outer');
    await outer.done;
    const stranger = dispatch([stamped('stranger')]);
    expect(await eventOf(stranger, 'waiting')).toMatchObject({ waitsFor: [firstOf(inner)] });
    expect(slots.inUse).toBe(1);
    await openGate(directory, 'inner');
    await stranger.done;
    expect(logOf(directory)).toEqual(['+outer', '+inner', '-outer', '-inner', '+stranger', '-stranger']);
    expectIdle();
  });

  test('of a command that has ended waits like any other', async () => {
    const { dispatch, directory, expectIdle } = watched();
    await makeFifos(directory, 'gate');
    const ended = dispatch(['true']);
    await ended.done;
    const holder = dispatch([stamped('holder', 'read < gate')]);
    await eventOf(holder, 'started');
    const late = dispatch([stamped('late')], { inside: firstOf(ended) });
    expect(await eventOf(late, 'waiting')).toMatchObject({ waitsFor: [firstOf(holder)] });
    await openGate(directory, 'gate');
    await late.done;
    expect(logOf(directory)).toEqual(['+holder', '-holder', '+late', '-late']);
    expectIdle();
  });

  test('whoever has the keys that it waits for, and no slot, runs on that of the command around it meanwhile', async () => {
    const { dispatch, slots, outer, release, expectIdle } = await crowded();
    // It has its keys at once, and waits for the only slot.
    const stranger = dispatch([{ command: 'echo stranger', cwd: 'there', lockKeys: ['k'] }]);
    await eventOf(stranger, 'waiting');
    const inner = dispatch([{ command: 'echo inner', cwd: 'here', lockKeys: ['k'] }], { inside: firstOf(outer) });
    expect(await eventOf(inner, 'waiting')).toMatchObject({ waitsFor: [firstOf(stranger)] });
    expect(await outcomes(inner)).toEqual([['exited', null]]);
    expect([stranger, outer].map((batch) => batch.snapshot().commands[0]?.state)).toEqual(['exited', 'running']);
    expect(slots.inUse).toBe(1);
    await release();
    expectIdle();
  });

  test('D12: a writer inside of a reader of the same place fails at once, by code, and the reader goes on', async () => {
    const { dispatch, directory, expectIdle } = watched();
    await makeFifos(directory, 'gate');
    const outer = dispatch([parallel('read < gate; echo read')]);
    await eventOf(outer, 'started');
    const inner = dispatch([parallel('echo beside'), 'touch written', parallel('test ! -e written')], {
      inside: firstOf(outer),
    });
    const { commands } = await inner.done;
    expect(commands.map(({ state, exitCode }) => [state, exitCode])).toEqual([
      ...[
        ['exited', 0],
        ['failed', null],
        ['exited', 0],
      ],
    ]);
    expect(commands[1]?.note).toMatch(/^It was not run: Expected a nested hold to ask for no more .*\(LOCK_UPGRADE\)$/);
    await openGate(directory, 'gate');
    expect((await outer.done).commands[0]).toMatchObject({ exitCode: 0, stdout: 'read\n' });
    expectIdle();
  });

  test('D11: of two that want each other’s place exactly one fails, by code, and the other completes', async () => {
    const { dispatch, directory, expectIdle } = watched();
    for (const name of ['a', 'b']) {
      mkdirSync(join(directory, name));
      await makeFifos(join(directory, name), 'gate');
    }
    const [a, b] = ['a', 'b'].map((cwd) => dispatch([{ command: 'read < gate', cwd }])) as [Batch, Batch];
    for (const batch of [a, b]) await eventOf(batch, 'started');
    const first = dispatch([{ command: 'echo first', cwd: 'b' }], { inside: firstOf(a) });
    expect(await eventOf(first, 'waiting')).toMatchObject({ waitsFor: [firstOf(b)] });
    const second = dispatch([{ command: 'echo second', cwd: 'a' }], { inside: firstOf(b) });
    const [outcome] = await outcomes(second);
    expect(outcome).toEqual(['failed', expect.stringMatching(/\(LOCK_CYCLE\)$/)]);
    await openGate(join(directory, 'b'), 'gate');
    expect(await outcomes(first)).toEqual([['exited', null]]);
    await openGate(join(directory, 'a'), 'gate');
    await a.done;
    expectIdle();
  });

  test('an abort while it waits gives up its place, and nobody runs on the slot of the command around it any more', async () => {
    const { dispatch, directory, slots, outer, release, expectIdle } = await crowded();
    const stranger = dispatch([{ command: 'read < gate', cwd: 'there', lockKeys: ['k'] }]);
    const inner = dispatch([{ command: 'true', cwd: 'here', lockKeys: ['k'] }], { inside: firstOf(outer) });
    await eventOf(stranger, 'started');
    inner.cancel();
    expect(await outcomes(inner)).toEqual([['not-started', 'Aborted before dispatch']]);
    const next = dispatch([{ command: 'true', cwd: 'there' }]);
    await openGate(join(directory, 'there'), 'gate');
    await stranger.done;
    await settled();
    expect([slots.inUse, next.snapshot().commands[0]?.state]).toEqual([1, 'waiting']);
    await release();
    await next.done;
    expectIdle();
  });
});

describe('what a batch cannot be inside of', () => {
  test.each<[string, string, (running: Batch, waiting: Batch) => unknown]>([
    ['a batch that nobody knows', 'BATCH_UNKNOWN', () => ({ batchId: 'no-such', commandId: 'c1' })],
    ['a command that the batch does not have', 'OPTION_INVALID', ({ id }) => ({ batchId: id, commandId: 'c9' })],
    ['a command that has not started', 'OPTION_INVALID', (_, waiting) => firstOf(waiting)],
    ['more than a command', 'OPTION_INVALID', (running) => ({ ...firstOf(running), more: 1 })],
    ['less than a command', 'OPTION_INVALID', ({ id }) => ({ batchId: id })],
    ['a hold of another lock', 'OPTION_INVALID', () => new KeyedLock<Owner>().tryAcquire('k')],
    ['a function', 'OPTION_INVALID', () => () => {}],
    ['a text', 'OPTION_INVALID', ({ id }) => id],
    ['nothing', 'OPTION_INVALID', () => null],
  ])('%s: %s', async (_, code, insideOf) => {
    const { dispatch, open, plan, directory, batches } = watched();
    await makeFifos(directory, 'gate');
    const running = dispatch(['read < gate']);
    await eventOf(running, 'started');
    const waiting = dispatch(['true']);
    const inside = insideOf(running, waiting) as Owner;
    for (const attempt of [
      () => open({ inside }),
      () => dispatch(['true'], { inside }),
      () => plan(['true'], { inside }),
    ]) {
      expect(attempt).toThrow(expect.objectContaining({ code }));
    }
    expect(batches()).toHaveLength(2);
    await openGate(directory, 'gate');
    await waiting.done;
  });
});
