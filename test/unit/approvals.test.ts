import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { KeyedLock } from '../../src/dispatcher/keyed-lock.ts';
import { createSlots } from '../../src/dispatcher/slots.ts';
import type { Owner } from '../../src/dispatcher/tool-locks.ts';
import type { Answer, ApproveHook, AsksApproval, Call } from '../../src/dispatcher/types.ts';
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

const asking = (command: string, id?: string) =>
  ({ command, approval: 'required', ...(id === undefined ? {} : { id }) }) as const;
const approve = (id: string): Answer => ({ id, decision: 'approve' });
const decline = (id: string, reason?: string): Answer => ({
  ...{ id, decision: 'decline' },
  ...(reason === undefined ? {} : { reason }),
});

describe('commands that need approval', () => {
  test('T10: a declined call is answered without running, and is no barrier', async () => {
    const { dispatch, directory } = testDispatcher();
    await makeFifos(directory, 'ab');
    const batch = dispatch([parallel('read x < ab; echo $x'), asking('touch ran'), parallel('echo met > ab')], {
      approve: () => ({ decline: 'not today' }),
      onFailure: 'stop',
    });
    // The first ends only because the third, which a serial command between them would hold back, runs beside it.
    const { commands, state } = await batch.done;
    expect(commands.map(brief)).toEqual([
      { id: 'c1', state: 'exited', exitCode: 0, note: null },
      { id: 'c2', state: 'not-started', exitCode: null, note: 'Declined: not today' },
      { id: 'c3', state: 'exited', exitCode: 0, note: null },
    ]);
    expect(commands[0]?.stdout).toBe('met\n');
    expect(state).toBe('finished');
    expect(existsSync(join(directory, 'ran'))).toBe(false);
  });

  test('T11: an asking call stops new starts while running ones finish; the rest runs after the answer, the same way', async () => {
    const lock = new KeyedLock<Owner>();
    const slots = createSlots({ limit: 8 });
    const { open, directory } = testDispatcher({ lock, slots });
    await makeFifos(directory, 'gate', 'ab');
    const batch = open({ maxParallel: 2 });
    batch.addAll([parallel('read < gate; echo 1'), 'echo 2 >> log']);
    await eventOf(batch, 'waiting', 'c2');
    batch.addAll([asking('echo 3 >> log'), parallel('read x < ab; cat log'), parallel('echo > ab; cat log')]);
    expect(batch.snapshot()).toMatchObject({ state: 'open', paused: true, asks: ['c3'] });
    expect(batch.snapshot().commands.map(({ state }) => state)).toEqual([
      ...['running', 'queued', 'queued', 'queued', 'queued'],
    ]);
    // Only what runs holds keys, and nothing stands in a queue.
    expect(lock.snapshot().flatMap(({ waiters }) => waiters)).toEqual([]);
    await openGate(directory, 'gate');
    await eventOf(batch, 'finished', 'c1');
    await expect.poll(() => lock.size).toBe(0);
    expect(slots).toMatchObject({ inUse: 0, waiting: 0 });
    // Another batch works in the same place meanwhile.
    await testDispatcher({ lock, cwd: directory }).dispatch(['echo other >> log']).done;
    expect(batch.snapshot().commands.map(({ state }) => state)).toEqual([
      ...['exited', 'queued', 'queued', 'queued', 'queued'],
    ]);
    batch.answer([approve('c3')]);
    batch.close();
    const events = await allEvents(batch);
    expect(comingsAndGoings(events).slice(0, 6)).toEqual(['+c1', '-c1', '+c2', '-c2', '+c3', '-c3']);
    const { commands, paused, asks } = await batch.done;
    expect(commands.map(({ stdout }) => stdout)).toEqual(['1\n', '', '', 'other\n2\n3\n', 'other\n2\n3\n']);
    expect({ paused, asks }).toEqual({ paused: false, asks: [] });
  });

  test('in a batch that is complete every question is settled before anything runs, in order', async () => {
    const { dispatch } = testDispatcher();
    const order: string[] = [];
    const asked: ApproveHook = async ({ id }) => {
      order.push(`ask ${id}`);
      await new Promise(setImmediate);
      order.push(`told ${id}`);
      return id === 'c4' ? 'decline' : 'approve';
    };
    const batch = dispatch(
      [parallel('echo 1'), asking('echo 2'), parallel('echo 3'), asking('echo 4'), asking('echo 5')],
      {
        approve: asked,
      },
    );
    const events = await allEvents(batch);
    expect(order).toEqual(['ask c2', 'told c2', 'ask c4', 'told c4', 'ask c5', 'told c5']);
    const told = events.flatMap((event) => ('commandId' in event ? [`${event.type} ${event.commandId}`] : []));
    const started = told.findIndex((each) => each.startsWith('started'));
    expect(told.slice(5, started).filter((each) => !each.startsWith('waiting'))).toEqual([
      ...['asking c2', 'asking c4', 'asking c5', 'answered c2', 'answered c4', 'finished c4', 'answered c5'],
    ]);
    expect((await batch.done).commands.map(brief).map(({ state, note }) => [state, note])).toEqual([
      ...[
        ['exited', null],
        ['exited', null],
        ['exited', null],
        ['not-started', 'Declined'],
        ['exited', null],
      ],
    ]);
  });

  test('in a batch that grows a question comes when it would be the turn of its command, and stops later ones', async () => {
    const { open } = testDispatcher();
    const batch = open();
    batch.add(parallel('echo 1'));
    await eventOf(batch, 'finished', 'c1');
    batch.addAll([asking('echo 2'), asking('echo 3'), parallel('echo 4')]);
    expect(batch.snapshot().asks).toEqual(['c2']);
    expect(() => batch.answer([approve('c3')])).toThrowError(expect.objectContaining({ code: 'APPROVAL_UNKNOWN' }));
    batch.answer([approve('c2')]);
    await eventOf(batch, 'asking', 'c3');
    expect(batch.snapshot().commands[3]?.state).toBe('queued');
    batch.answer([decline('c3')]);
    batch.close();
    expect((await batch.done).commands.map(({ stdout }) => stdout)).toEqual(['1\n', '2\n', '', '4\n']);
  });

  test('without a hook whoever has the batch answers: all that are named, or none; the same answer again changes nothing', async () => {
    const { dispatch } = testDispatcher();
    const batch = dispatch([asking('echo a', 'a'), asking('echo b', 'b'), 'echo c']);
    const codeOf = (...answers: Answer[]) => {
      try {
        batch.answer(answers);
        return 'taken';
      } catch (error) {
        const { code, pointer } = error as { code: string; pointer: string };
        return `${code} ${pointer}`;
      }
    };
    expect(batch.snapshot()).toMatchObject({ state: 'running', paused: true, asks: ['a', 'b'] });
    expect(codeOf(approve('a'), approve('nobody'))).toBe('APPROVAL_UNKNOWN /approvals/1/id');
    expect(codeOf(approve('a'), approve('c3'))).toBe('APPROVAL_UNKNOWN /approvals/1/id');
    expect(codeOf(approve('a'), approve('b'), decline('a'))).toBe('APPROVAL_CONFLICT /approvals/2/decision');
    expect(batch.snapshot().asks).toEqual(['a', 'b']);
    // In any order; nothing runs before the last.
    expect(codeOf(decline('b', 'no'), decline('b'))).toBe('taken');
    expect(batch.snapshot().asks).toEqual(['a']);
    expect(batch.snapshot().commands.map(({ state }) => state)).toEqual(['queued', 'not-started', 'queued']);
    expect(codeOf(decline('b', 'another reason'))).toBe('taken');
    expect(codeOf(approve('b'), approve('a'))).toBe('APPROVAL_CONFLICT /approvals/0/decision');
    expect(codeOf(approve('a'))).toBe('taken');
    const { commands } = await batch.done;
    expect(commands.map(({ state, stdout, note }) => [state, stdout, note])).toEqual([
      ['exited', 'a\n', null],
      ['not-started', '', 'Declined: no'],
      ['exited', 'c\n', null],
    ]);
    expect(codeOf(approve('a'), decline('b'))).toBe('taken');
    expect(codeOf(decline('a'))).toBe('APPROVAL_CONFLICT /approvals/0/decision');
    const answered = (await allEvents(batch)).flatMap((event) => (event.type === 'answered' ? [event] : []));
    expect(answered).toMatchObject([
      { commandId: 'b', decision: 'decline', reason: 'no' },
      { commandId: 'a', decision: 'approve' },
    ]);
    expect(answered[1]).not.toHaveProperty('reason');
  });

  test.each<[string, unknown, string]>([
    ['no list', { id: 'c1' }, '/approvals'],
    ['no object', ['c1'], '/approvals/0'],
    ['a field that there is not', [{ id: 'c1', decision: 'approve', why: 'x' }], '/approvals/0/why'],
    ['no id', [{ decision: 'approve' }], '/approvals/0/id'],
    ['another decision', [{ id: 'c1', decision: 'yes' }], '/approvals/0/decision'],
    ['a decision that is merely true', [{ id: 'c1', decision: true }], '/approvals/0/decision'],
    ['a reason that is none', [{ id: 'c1', decision: 'decline', reason: 7 }], '/approvals/0/reason'],
    ['a long reason', [{ id: 'c1', decision: 'decline', reason: 'x'.repeat(1025) }], '/approvals/0/reason'],
  ])('%s is no answer, and approves nothing', async (_what, answers, pointer) => {
    const batch = testDispatcher().dispatch([asking('true')]);
    expect(() => batch.answer(answers as Answer[])).toThrowError(
      expect.objectContaining({ code: 'REQUEST_INVALID', pointer }),
    );
    expect(batch.snapshot().asks).toEqual(['c1']);
    batch.cancel();
    await batch.done;
  });

  test('an answer from outside counts when it comes before that of the hook, whose signal then aborts', async () => {
    const { dispatch } = testDispatcher();
    let told: AbortSignal | undefined;
    const batch = dispatch([asking('echo ran')], {
      approve: ({ signal }) =>
        new Promise((resolve) => {
          told = signal;
          signal.addEventListener('abort', () => resolve('decline'));
        }),
    });
    await expect.poll(() => told).toBeDefined();
    batch.answer([approve('c1')]);
    expect((await batch.done).commands[0]?.stdout).toBe('ran\n');
    expect(told?.aborted).toBe(true);
    expect((await allEvents(batch)).filter(({ type }) => type === 'answered')).toHaveLength(1);
  });

  test.each<[string, 'required' | AsksApproval, readonly string[]]>([
    ['every command', 'required', ['c1', 'c2', 'c3']],
    ['those that a function says', ({ verdict }) => verdict.kind === 'serial', ['c2', 'c3']],
    ['those that a function says later', async ({ command }) => command === 'true', ['c2', 'c3']],
  ])('a batch can require it of %s, besides those that ask themselves', async (_which, approval, ids) => {
    const { dispatch } = testDispatcher();
    const asked: Call[] = [];
    await dispatch([parallel(':'), 'true', asking('true')], {
      approval,
      approve: (call) => {
        asked.push(call);
        return 'approve';
      },
    }).done;
    expect(asked.map(({ id }) => id)).toEqual(ids);
    expect(asked.at(-1)).toMatchObject({ command: 'true', verdict: { kind: 'serial' }, env: {}, lockKeys: [] });
  });

  test('what a hook changes is what is asked about, and what the answer is for', async () => {
    const { dispatch } = testDispatcher();
    const batch = dispatch(['echo meant', 'echo plain'], {
      before: ({ id }) => (id === 'c1' ? { command: 'echo changed' } : undefined),
      approval: ({ command }) => command === 'echo changed',
    });
    expect(await eventOf(batch, 'asking', 'c1')).toMatchObject({ command: 'echo changed' });
    await expect.poll(() => batch.snapshot().asks).toEqual(['c1']);
    batch.answer([approve('c1')]);
    expect((await batch.done).commands.map(({ stdout }) => stdout)).toEqual(['changed\n', 'plain\n']);
  });

  test('the keys of a declined command are not asked for', async () => {
    const { dispatch } = testDispatcher();
    const lockKeys = () => {
      throw new Error('it was asked');
    };
    const { commands } = await dispatch([{ ...asking('true'), lockKeys }], { approve: () => 'decline' }).done;
    expect(commands[0]?.note).toBe('Declined');
  });

  const unwell: readonly (readonly [string, unknown, string])[] = [
    [
      'throws',
      () => {
        throw new Error('nobody there');
      },
      'nobody there',
    ],
    ['rejects', () => Promise.reject(new Error('no line')), 'no line'],
    ['says true', () => true, 'Expected "approve", "decline" or { decline: reason }, got true'],
    ['says nothing', () => undefined, 'Expected "approve", "decline" or { decline: reason }, got undefined'],
    ['says null', () => null, 'Expected "approve", "decline" or { decline: reason }, got null'],
    ['says something else', () => 'yes', 'Expected "approve", "decline" or { decline: reason }, got "yes"'],
    [
      'declines without a reason',
      () => ({ decline: 1 }),
      'Expected "approve", "decline" or { decline: reason }, got a value of type object',
    ],
    [
      'says more',
      () => ({ decline: 'no', approve: true }),
      'Expected "approve", "decline" or { decline: reason }, got a value of type object',
    ],
  ];
  test.each(unwell)('a hook that %s approves nothing: its command fails, and no other', async (_how, hook, why) => {
    const { dispatch, directory } = testDispatcher();
    const { commands } = await dispatch([asking('touch ran'), 'echo on'], { approve: hook as ApproveHook }).done;
    expect(commands.map(brief)).toEqual([
      { id: 'c1', state: 'failed', exitCode: null, note: `Could not ask whether it may run: ${why}` },
      { id: 'c2', state: 'exited', exitCode: 0, note: null },
    ]);
    expect(existsSync(join(directory, 'ran'))).toBe(false);
  });

  test.each<[string, AsksApproval, string]>([
    [
      'throws',
      () => {
        throw new Error('broken');
      },
      'broken',
    ],
    ['is merely falsy', (() => 0) as never, 'Expected approval to say true or false, got 0'],
  ])('a function that is to say which ask, and %s, fails its command, and no other', async (_how, approval, why) => {
    const { dispatch, directory } = testDispatcher();
    const only: AsksApproval = (call) => (call.id === 'c1' ? approval(call) : false);
    const { commands } = await dispatch(['touch ran', 'echo on'], { approval: only }).done;
    expect(commands.map(({ state, note }) => [state, note])).toEqual([
      ['failed', `Could not ask whether it may run: ${why}`],
      ['exited', null],
    ]);
    expect(existsSync(join(directory, 'ran'))).toBe(false);
  });

  test('the deadline runs while somebody is asked, and ends the batch', async () => {
    const { dispatch } = testDispatcher();
    let told: AbortSignal | undefined;
    const batch = dispatch([parallel('echo 1'), asking('echo 2')], {
      ...{ deadlineMs: 60 },
      approve: ({ signal }) => {
        told = signal;
        return new Promise(() => {});
      },
    });
    const { commands, paused, asks } = await batch.done;
    expect(commands.map(({ note }) => note)).toEqual(
      Array(2).fill('Aborted before dispatch: the batch reached its deadline of 60 ms'),
    );
    expect({ paused, asks, aborted: told?.aborted }).toEqual({ paused: false, asks: [], aborted: true });
    expect(() => batch.answer([approve('c2')])).toThrowError(expect.objectContaining({ code: 'APPROVAL_CONFLICT' }));
  });

  test('a batch can be cancelled, and a dispatcher shut down, while somebody is asked', async () => {
    const dispatcher = testDispatcher();
    const cancelled = dispatcher.dispatch([asking('true'), 'true']);
    cancelled.cancel('changed my mind');
    const open = dispatcher.open();
    open.addAll([parallel(':'), asking('true')]);
    await eventOf(open, 'asking', 'c2');
    await dispatcher.shutdown();
    expect((await cancelled.done).commands.map(({ note }) => note)).toEqual(
      Array(2).fill('Aborted before dispatch: changed my mind'),
    );
    expect((await open.done).commands[1]?.note).toBe('Aborted before dispatch: the dispatcher shuts down');
  });

  test('a failure that stops the batch takes back what was asked', async () => {
    const { open, directory } = testDispatcher();
    await makeFifos(directory, 'gate');
    const batch = open({ onFailure: 'stop' });
    batch.add(parallel('read < gate; exit 3'));
    await eventOf(batch, 'started', 'c1');
    batch.add(asking('true'));
    expect(batch.snapshot().asks).toEqual(['c2']);
    await openGate(directory, 'gate');
    batch.close();
    expect((await batch.done).commands[1]).toMatchObject({
      state: 'skipped',
      note: 'Skipped because c1 exited with 3',
    });
  });

  test('commands that ask count as waiting, and no longer once they are declined', async () => {
    const { dispatch } = testDispatcher({ limits: { maxQueuedCommands: 3 } });
    const batch = dispatch([asking('true'), asking('true'), asking('true')]);
    expect(() => dispatch(['true'])).toThrowError(expect.objectContaining({ code: 'QUEUE_FULL' }));
    batch.answer([decline('c2')]);
    const other = dispatch(['echo in between']);
    expect((await other.done).commands[0]?.stdout).toBe('in between\n');
    batch.cancel();
    await batch.done;
  });
});

describe('a pause', () => {
  test('nothing new starts, what runs finishes, and no key or place in a queue is held; then it goes on as before', async () => {
    const lock = new KeyedLock<Owner>();
    const { dispatch, directory } = testDispatcher({ lock });
    await makeFifos(directory, 'gate', 'ab');
    const batch = dispatch([
      parallel('read < gate'),
      'echo w >> log',
      parallel('read x < ab; cat log'),
      parallel('echo > ab; cat log'),
    ]);
    await eventOf(batch, 'waiting', 'c2');
    batch.pause();
    batch.pause();
    expect(batch.snapshot()).toMatchObject({ state: 'running', paused: true, asks: [] });
    expect(lock.snapshot().flatMap(({ waiters }) => waiters)).toEqual([]);
    await openGate(directory, 'gate');
    await eventOf(batch, 'finished', 'c1');
    await expect.poll(() => lock.size).toBe(0);
    await testDispatcher({ lock, cwd: directory }).dispatch(['echo other >> log']).done;
    expect(batch.snapshot().commands.map(({ state }) => state)).toEqual(['exited', 'queued', 'queued', 'queued']);
    batch.resume();
    batch.resume();
    const events = await allEvents(batch);
    expect((await batch.done).commands.map(({ stdout }) => stdout)).toEqual(['', '', 'other\nw\n', 'other\nw\n']);
    expect(events.flatMap(({ type }) => (type === 'paused' || type === 'resumed' ? [type] : []))).toEqual([
      ...['paused', 'resumed'],
    ]);
    expect(comingsAndGoings(events).slice(0, 4)).toEqual(['+c1', '-c1', '+c2', '-c2']);
  });

  test('what holds its keys and waits for a slot gives up both, and starts when the batch goes on', async () => {
    const lock = new KeyedLock<Owner>();
    const slots = createSlots({ limit: 1 });
    const { dispatch, directory } = testDispatcher({ lock, slots });
    await makeFifos(directory, 'gate');
    const first = dispatch([{ command: parallel('read < gate'), lockKeys: [] }]);
    await eventOf(first, 'started');
    const batch = dispatch([{ command: parallel('echo on'), lockKeys: ['k'] }]);
    expect(await eventOf(batch, 'waiting')).toMatchObject({ waitsFor: [] });
    expect(slots.waiting).toBe(1);
    batch.pause();
    expect(slots.waiting).toBe(0);
    expect(lock.snapshot().find(({ key }) => key === 'k')).toBeUndefined();
    // At once again: it is in nobody's way, least of all in its own.
    batch.resume();
    expect(lock.snapshot().find(({ key }) => key === 'k')?.waiters).toEqual([]);
    await openGate(directory, 'gate');
    expect((await batch.done).commands[0]).toMatchObject({ state: 'exited', stdout: 'on\n' });
    await first.done;
  });

  test('a batch that is paused takes commands, is closed, and can be cancelled', async () => {
    const { open } = testDispatcher();
    const batch = open();
    batch.pause();
    batch.add('true');
    batch.close();
    expect(batch.snapshot().commands[0]?.state).toBe('queued');
    batch.cancel('enough');
    expect((await batch.done).commands[0]).toMatchObject({ note: 'Aborted before dispatch: enough' });
  });

  test('a pause and a question are two things: it goes on when both are over', async () => {
    const { open } = testDispatcher();
    const batch = open();
    batch.addAll([asking('echo 1'), 'echo 2']);
    batch.pause();
    batch.answer([approve('c1')]);
    expect(batch.snapshot()).toMatchObject({ paused: true, asks: [] });
    batch.resume();
    batch.close();
    expect((await batch.done).commands.map(({ stdout }) => stdout)).toEqual(['1\n', '2\n']);
  });

  test('nobody is asked, and no hook is called, while a batch is paused', async () => {
    const { open } = testDispatcher();
    const seen: string[] = [];
    const batch = open({
      before: ({ id }) => {
        seen.push(id);
        return undefined;
      },
    });
    batch.pause();
    batch.addAll([asking('true'), 'true']);
    await new Promise(setImmediate);
    expect([seen, batch.snapshot().asks]).toEqual([[], []]);
    batch.resume();
    await eventOf(batch, 'asking', 'c1');
    batch.answer([approve('c1')]);
    batch.close();
    await batch.done;
    expect(seen).toEqual(['c1', 'c2']);
  });

  test('after the end neither does anything', async () => {
    const batch = testDispatcher().dispatch(['true']);
    const ended = await batch.done;
    batch.pause();
    batch.resume();
    expect(batch.snapshot()).toEqual(ended);
    expect((await allEvents(batch)).at(-1)).toMatchObject({ type: 'batch-finished' });
  });

  test('paused and resumed at any moment, every command runs once, and serial ones alone', async () => {
    const lock = new KeyedLock<Owner>();
    const { dispatch, directory } = testDispatcher({ lock });
    const batch = dispatch(
      Array.from({ length: 40 }, (_, n) => {
        const text = `echo +${n} >> log; echo -${n} >> log; echo ${n}`;
        return n % 3 === 0 ? text : parallel(`echo ${n}`);
      }),
      { maxParallel: 3 },
    );
    let changes = 0;
    for await (const event of batch.events()) {
      if (event.type !== 'started' && event.type !== 'finished') continue;
      changes += 1;
      batch.pause();
      if (changes % 2 === 0) await new Promise(setImmediate);
      batch.resume();
    }
    const { commands } = await batch.done;
    expect(commands.map(({ stdout }) => stdout)).toEqual(Array.from({ length: 40 }, (_, n) => `${n}\n`));
    const order = comingsAndGoings(await allEvents(batch));
    expect(new Set(order).size).toBe(80);
    for (let n = 0; n < 40; n += 3) {
      const at = order.indexOf(`+c${n + 1}`);
      expect(order[at + 1]).toBe(`-c${n + 1}`);
      expect(order.slice(0, at).every((change) => Number(change.slice(2)) <= n)).toBe(true);
    }
    expect(existsSync(join(directory, 'log'))).toBe(true);
    await expect.poll(() => lock.size).toBe(0);
  });
});
