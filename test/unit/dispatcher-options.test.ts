import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { createDispatcher } from '../../src/dispatcher/dispatcher.ts';
import type { DispatcherOptions } from '../../src/dispatcher/options.ts';
import type { BatchOptions, CommandInput } from '../../src/dispatcher/types.ts';
import { SignalboxError } from '../../src/errors.ts';
import { allEvents, judgeByMark, parallel, testDispatcher } from '../support/dispatcher.ts';

/** The error of a call as `CODE pointer: message`. */
function errorOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    if (error instanceof SignalboxError) return `${error.code} ${error.pointer ?? '-'}: ${error.message}`;
    throw error;
  }
  return 'nothing was thrown';
}

describe('the options of a dispatcher', () => {
  test.each<[string, Partial<DispatcherOptions>, string]>([
    ['no judge', { judge: undefined as never }, 'Expected rules or a judge, got undefined'],
    [
      'maxParallel',
      { limits: { maxParallel: 0 } },
      'Expected limits.maxParallel to be an integer from 1 to 256, got 0',
    ],
    [
      'a fraction',
      { limits: { graceMs: 1.5 } },
      'Expected limits.graceMs to be an integer from 0 to 86400000, got 1.5',
    ],
    [
      'text',
      { limits: { timeoutMs: '5' as never } },
      'Expected limits.timeoutMs to be an integer from 1 to 86400000, got "5"',
    ],
    [
      'no number',
      { limits: { maxCommands: Number.NaN } },
      'Expected limits.maxCommands to be an integer of at least 1, got NaN',
    ],
    [
      'endless output',
      { limits: { maxOutputBytesPerBatch: Infinity } },
      'Expected limits.maxOutputBytesPerBatch to be an integer from 0 to 1073741824, got Infinity',
    ],
    [
      'a misspelt option',
      { mod: 'compound' } as never,
      'Expected createDispatcher to be given rules, judge, profiles, lock, slots, environment, cwd, limits, orphans, ' +
        'allowUnprovenPlatform, trustRepository, mode, roots, allow, bash, platform, retention, mayRunIn, before, approval, ' +
        'approve, redact, observe, now, newId, spawn, processes; got `mod`',
    ],
    [
      'a misspelt retention',
      { retention: { maxAge: 1 } as never },
      'Expected retention to be given maxBatches, maxAgeMs, maxBytes; got `maxAge`',
    ],
    [
      'a misspelt limit',
      { limits: { maxParalel: 2 } as never },
      'Expected limits to be given maxParallel, processLimit, maxCommands, maxLiveBatches, maxQueuedCommands, timeoutMs, ' +
        'deadlineMs, maxOutputBytesPerCommand, maxOutputBytesPerBatch, graceMs, drainMs; got `maxParalel`',
    ],
    ['orphans', { orphans: 'adopt' as never }, 'Expected orphans to be "kill" or "keep", got "adopt"'],
    [
      'allowUnprovenPlatform',
      { allowUnprovenPlatform: 'yes' as never },
      'Expected allowUnprovenPlatform to be true or false, got "yes"',
    ],
    [
      'retention',
      { retention: { maxBatches: -1 } },
      'Expected retention.maxBatches to be an integer of at least 0, got -1',
    ],
  ])('%s: says what was expected and what came', (_, options, message) => {
    expect(errorOf(() => createDispatcher({ judge: judgeByMark, ...options }))).toBe(`OPTION_INVALID -: ${message}`);
  });

  test('without options, and without rules, it says so', () => {
    expect(errorOf(() => createDispatcher(undefined as never))).toMatch(/^OPTION_INVALID -: Expected the options/);
    expect(errorOf(() => createDispatcher({}))).toMatch(/^OPTION_INVALID -: Expected rules or a judge/);
  });

  test('a directory that does not exist is refused', () => {
    expect(errorOf(() => createDispatcher({ judge: judgeByMark, cwd: '/nowhere' }))).toMatch(/^DIRECTORY_MISSING/);
  });

  describe('SIGNALBOX_MAX_PARALLEL', () => {
    afterEach(() => {
      delete process.env.SIGNALBOX_MAX_PARALLEL;
    });

    test('is the limit of a batch unless the options or the batch say otherwise', async () => {
      process.env.SIGNALBOX_MAX_PARALLEL = '1';
      const most = async (options: Partial<DispatcherOptions>, batchOptions: BatchOptions = {}) => {
        const batch = testDispatcher(options).dispatch(Array(4).fill(parallel(':')), batchOptions);
        let running = 0;
        let seen = 0;
        for (const { type } of await allEvents(batch)) {
          running += type === 'started' ? 1 : type === 'finished' ? -1 : 0;
          seen = Math.max(seen, running);
        }
        return seen;
      };
      expect(await most({})).toBe(1);
      expect(await most({ limits: { maxParallel: 4 } }, { maxParallel: 1 })).toBe(1);
    });

    test.each(['0', '257', 'ten', '1e2', ' 5', '-1'])('%j is refused', (value) => {
      process.env.SIGNALBOX_MAX_PARALLEL = value;
      expect(errorOf(() => createDispatcher({ judge: judgeByMark }))).toMatch(
        /^OPTION_INVALID -: Expected SIGNALBOX_MAX_PARALLEL to be an integer from 1 to 256/,
      );
    });
  });
});

describe('where a text may change to', () => {
  test.each([['relative'], [['/a', 'b']], [[5]], ['/a'], [['/a\0']]])('%j is no list of directories', (roots) => {
    const create = () => createDispatcher({ judge: judgeByMark, roots: roots as never });
    expect(errorOf(create)).toMatch(/^OPTION_INVALID -: Expected roots to be a list of absolute directories/);
  });
});

describe('the options of a batch', () => {
  test.each<[BatchOptions, string]>([
    [{ mode: 'fancy' as never }, 'OPTION_INVALID -: Expected mode to be "simple" or "compound", got "fancy"'],
    [{ maxparallel: 2 } as never, 'OPTION_INVALID -: Expected a batch to be given cwd, mode, allow, maxParallel'],
    [null as never, 'OPTION_INVALID -: Expected the options of a batch to be an object'],
    [{ maxParallel: 257 }, 'OPTION_INVALID -: Expected maxParallel to be an integer from 1 to 256, got 257'],
    [
      { onFailure: 'panic' as never },
      'OPTION_INVALID -: Expected onFailure to be "continue" or "stop" or "cancel-siblings"',
    ],
    [{ deadlineMs: 0 }, 'OPTION_INVALID -: Expected deadlineMs to be an integer from 1 to 86400000, got 0'],
    [{ cwd: '/nowhere' }, 'DIRECTORY_MISSING /cwd: Expected cwd to be a directory, got /nowhere'],
  ])('%j', (options, expected) => {
    const { open, dispatch, plan } = testDispatcher();
    for (const call of [() => open(options), () => dispatch(['true'], options), () => plan(['true'], options)]) {
      expect(errorOf(call)).toContain(expected);
    }
  });
});

describe('the commands of a batch', () => {
  const command = (fields: Readonly<Record<string, unknown>>) => ({ command: 'true', ...fields }) as CommandInput;

  test.each<[unknown, string]>([
    [5, 'REQUEST_INVALID /commands/1: Expected a command as text or as an object, got 5'],
    [null, 'REQUEST_INVALID /commands/1'],
    [['true'], 'REQUEST_INVALID /commands/1: Expected a command as text or as an object, got an array'],
    [{}, 'REQUEST_INVALID /commands/1/command: Expected command to be text, got undefined'],
    ['a\0b', 'COMMAND_HAS_NUL /commands/1: Expected command to hold no NUL, got one at 1'],
    [command({ command: 'x\0' }), 'COMMAND_HAS_NUL /commands/1/command'],
    ['echo \ud800', 'TEXT_UNREPRESENTABLE /commands/1'],
    [command({ colour: 'red' }), 'REQUEST_INVALID /commands/1/colour'],
    [command({ id: '' }), 'REQUEST_INVALID /commands/1/id: Expected id to be 1 to 128 characters, got ""'],
    [command({ id: 'x'.repeat(129) }), 'REQUEST_INVALID /commands/1/id'],
    [command({ id: 7 }), 'REQUEST_INVALID /commands/1/id'],
    [
      command({ id: 'c1' }),
      'COMMAND_ID_DUPLICATE /commands/1/id: Expected ids to be unique in the batch, got "c1" twice',
    ],
    [command({ cwd: 'missing' }), 'DIRECTORY_MISSING /commands/1/cwd'],
    [command({ cwd: 'file' }), 'DIRECTORY_MISSING /commands/1/cwd'],
    [command({ cwd: '' }), 'REQUEST_INVALID /commands/1/cwd'],
    [command({ cwd: 'a\0b' }), 'REQUEST_INVALID /commands/1/cwd'],
    [command({ timeoutMs: 0 }), 'REQUEST_INVALID /commands/1/timeoutMs'],
    [command({ timeoutMs: 86_400_001 }), 'REQUEST_INVALID /commands/1/timeoutMs'],
    [command({ stdin: 5 }), 'REQUEST_INVALID /commands/1/stdin'],
    [command({ stdin: '\udc00' }), 'TEXT_UNREPRESENTABLE /commands/1/stdin'],
    [command({ env: [] }), 'REQUEST_INVALID /commands/1/env'],
    [command({ env: { 'A=B': 'x' } }), 'REQUEST_INVALID /commands/1/env/A=B'],
    [command({ env: { 'a/b~c': 5 } }), 'REQUEST_INVALID /commands/1/env/a~1b~0c'],
    [command({ env: { A: 'x\0' } }), 'REQUEST_INVALID /commands/1/env/A'],
    [command({ env: { A: '\ud800' } }), 'TEXT_UNREPRESENTABLE /commands/1/env/A'],
    [command({ env: { BASH_ENV: 'x' } }), 'REQUEST_INVALID /commands/1/env/BASH_ENV'],
    [command({ env: { 'BASH_FUNC_ls%%': '() { :; }' } }), 'REQUEST_INVALID /commands/1/env/BASH_FUNC_ls%%'],
    [command({ env: { SIGNALBOX_COMMAND: 'x' } }), 'REQUEST_INVALID /commands/1/env/SIGNALBOX_COMMAND'],
    [command({ lockKeys: 'key' }), 'REQUEST_INVALID /commands/1/lockKeys'],
    [command({ lockKeys: Array(65).fill('k') }), 'REQUEST_INVALID /commands/1/lockKeys'],
    [command({ lockKeys: ['ok', ''] }), 'REQUEST_INVALID /commands/1/lockKeys/1'],
    [command({ lockKeys: [{ key: 'k', mode: 'loud' }] }), 'REQUEST_INVALID /commands/1/lockKeys/0/mode'],
    [command({ lockKeys: [null] }), 'REQUEST_INVALID /commands/1/lockKeys/0'],
  ])('%j is refused with a pointer, and nothing of the batch runs', (given, expected) => {
    const { dispatch, plan, batches, directory } = testDispatcher();
    writeFileSync(join(directory, 'file'), '');
    const commands = [{ id: 'c1', command: 'true' }, given as CommandInput];
    expect(errorOf(() => dispatch(commands))).toContain(expected);
    expect(errorOf(() => plan(commands))).toContain(expected);
    expect(batches()).toEqual([]);
  });

  test('one that is added alone is pointed at without a place', () => {
    const batch = testDispatcher().open();
    expect(errorOf(() => batch.add(command({ timeoutMs: -1 })))).toMatch(/^REQUEST_INVALID \/timeoutMs:/);
    batch.add({ id: 'a', command: 'true' });
    expect(errorOf(() => batch.add({ id: 'a', command: 'true' }))).toMatch(/^COMMAND_ID_DUPLICATE \/id:/);
    batch.cancel();
  });

  test('none, or more than the limit', () => {
    const { dispatch, plan, open } = testDispatcher({ limits: { maxCommands: 2 } });
    expect(errorOf(() => dispatch([]))).toMatch(/^COMMANDS_EMPTY \/commands/);
    expect(errorOf(() => plan('ls' as never))).toMatch(/^OPTION_INVALID \/commands: .*a list of commands, got "ls"/);
    expect(errorOf(() => dispatch(['a', 'b', 'c']))).toBe(
      'COMMANDS_TOO_MANY /commands: Expected at most 2 commands in a batch, got 3',
    );
    const batch = open();
    batch.add('true');
    batch.add('true');
    expect(errorOf(() => batch.add('true'))).toMatch(/^COMMANDS_TOO_MANY/);
    batch.cancel();
  });

  test('defaults: an id by place, the directory of the batch, no input, no variables', async () => {
    const { dispatch, directory } = testDispatcher();
    mkdirSync(join(directory, 'sub'));
    const { commands } = await dispatch(
      ['pwd', { command: 'pwd', cwd: '..' }, { command: 'cat; echo "$A"', stdin: 'in\n', env: { A: 'a' } }, 'cat'],
      { cwd: join(directory, 'sub') },
    ).done;
    expect(commands.map(({ id, stdout }) => [id, stdout])).toEqual([
      ['c1', `${join(directory, 'sub')}\n`],
      ['c2', `${directory}\n`],
      ['c3', 'in\na\n'],
      ['c4', ''],
    ]);
  });

  test('what the caller changes afterwards changes nothing', async () => {
    const { dispatch } = testDispatcher();
    const env = { A: 'before' };
    const input = { command: 'echo $A', env };
    const batch = dispatch([input]);
    env.A = 'after';
    input.command = 'echo changed';
    expect((await batch.done).commands[0]).toMatchObject({ command: 'echo $A', stdout: 'before\n' });
  });

  test('a plan tells groups, verdicts and locks, and runs nothing', () => {
    const { plan, batches } = testDispatcher();
    const { groups, commands } = plan([parallel('a'), { id: 'w', command: 'touch ran' }, parallel('b')]);
    expect(groups).toEqual([
      { kind: 'parallel', commandIds: ['c1'] },
      { kind: 'serial', commandIds: ['w'] },
      { kind: 'parallel', commandIds: ['c3'] },
    ]);
    expect(commands.map(({ verdict }) => verdict.kind)).toEqual(['parallel', 'serial', 'parallel']);
    expect(batches()).toEqual([]);
  });
});
