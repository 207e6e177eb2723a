import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Judge, Judgement } from '../../src/classifier/judgement.ts';
import type { ReasonCode } from '../../src/classifier/verdict.ts';
import { createJudge } from '../../src/dispatcher/judge.ts';
import { probePlatform } from '../../src/dispatcher/platform.ts';
import { MARKER_VARIABLE } from '../../src/dispatcher/process-table.ts';
import { profilesOf } from '../../src/dispatcher/profiles.ts';
import type { CommandResult } from '../../src/dispatcher/types.ts';
import { loadRules } from '../../src/rules/load.ts';
import {
  allEvents,
  comingsAndGoings,
  eventOf,
  judgeByMark,
  judgementOf,
  makeFifos,
  openGate,
  parallel,
  temporaryDirectory,
  testDispatcher,
  verdictOf,
} from '../support/dispatcher.ts';

/** A judge that calls a text parallel as a program with words, and answers by mark otherwise. */
function judgeOf(words: Record<string, Partial<Judgement>>): Judge {
  return (command, context) =>
    Object.hasOwn(words, command)
      ? judgementOf(verdictOf('parallel', { form: 'argv', argv: command.split(' '), env: {} }), words[command])
      : judgeByMark(command, context);
}

const codeOf = ({ verdict }: Pick<CommandResult, 'verdict'>): ReasonCode | null =>
  verdict.kind === 'serial' ? verdict.reason.code : null;

function executable(path: string, text: string): void {
  writeFileSync(path, text);
  chmodSync(path, 0o755);
}

describe('a proved command', () => {
  test('is started without a shell, with what its profile hands over', async () => {
    const { dispatch, directory } = testDispatcher({
      judge: judgeOf({ env: {} }),
      environment: { PATH: process.env.PATH, HOME: '/h', SECRET: 's', BASH_ENV: '/nowhere', LC_ALL: 'C' },
    });
    const { commands } = await dispatch(['env', 'env; :', { command: 'env; :', env: { MINE: 'm' } }]).done;
    const variables = commands.map(({ stdout }) =>
      Object.fromEntries(
        stdout
          .trim()
          .split('\n')
          .map((line) => line.split('=')),
      ),
    );
    const [direct, serial, mine] = variables as [
      Record<string, string>,
      Record<string, string>,
      Record<string, string>,
    ];
    expect(Object.keys(direct).sort()).toEqual(['HOME', 'LC_ALL', 'PATH', 'PWD', MARKER_VARIABLE].sort());
    expect(direct).toMatchObject({ PWD: directory, HOME: '/h' });
    expect(serial).toMatchObject({
      SECRET: 's',
      PWD: directory,
      [MARKER_VARIABLE]: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(serial).not.toHaveProperty('BASH_ENV');
    expect(mine).toMatchObject({ MINE: 'm' });
    expect(direct[MARKER_VARIABLE]).not.toBe(serial[MARKER_VARIABLE]);
  });

  test('whose rule shows the environment gets all of it', async () => {
    const judge = judgeOf({ env: { wholeEnvironment: true } });
    const { dispatch } = testDispatcher({ judge, environment: { PATH: process.env.PATH, SECRET: 's' } });
    const [result] = (await dispatch(['env']).done).commands;
    expect(result?.verdict.kind).toBe('parallel');
    expect(result?.stdout).toContain('SECRET=s\n');
  });

  test('in bash reads characters as UTF-8, whatever the locale', async () => {
    const { dispatch } = testDispatcher({ environment: { PATH: process.env.PATH, LC_ALL: 'C' } });
    const count = 'case é in ?) echo one;; *) echo more;; esac';
    const { commands } = await dispatch([parallel(count), count, parallel('echo $LC_CTYPE')]).done;
    expect(commands.map(({ stdout }) => stdout)).toEqual(['one\n', 'more\n', 'C.UTF-8\n']);
  });

  test('that cannot be run answers with bash’s own words and code', async () => {
    const directory = temporaryDirectory();
    const bin = join(directory, 'bin');
    const work = join(directory, 'work');
    for (const each of [bin, work]) mkdirSync(each, { mode: 0o755 });
    writeFileSync(join(bin, 'unrunnable'), '', { mode: 0o644 });
    executable(join(bin, 'orphaned'), '#!/nowhere/interpreter\n');
    executable(join(bin, 'bare'), 'echo without an interpreter; exit 5\n');
    const texts = ['missing', 'unrunnable -x', 'orphaned'];
    const { dispatch } = testDispatcher({
      judge: judgeOf(Object.fromEntries(texts.map((text) => [text, {}]))),
      environment: { PATH: bin },
      cwd: work,
    });
    const { commands } = await dispatch(texts).done;
    for (const [index, text] of texts.entries()) {
      const bash = probePlatform().bash as string;
      const args = ['--noprofile', '--norc', '-c', text];
      const asked = spawnSync(bash, args, { argv0: 'bash', env: { PATH: bin }, cwd: work, encoding: 'utf8' });
      const { verdict, state, exitCode, stdout, stderr } = commands[index] as CommandResult;
      expect({ kind: verdict.kind, state, exitCode, stdout, stderr }).toEqual({
        ...{ kind: 'parallel', state: 'exited', exitCode: asked.status, stdout: asked.stdout, stderr: asked.stderr },
      });
    }
    expect(commands[0]?.stderr).toBe('bash: line 1: missing: command not found\n');
  });

  test('an unknown program in a serial command is 127 as well', async () => {
    const [result] = (await testDispatcher().dispatch(['no-such-program-anywhere']).done).commands;
    expect(result).toMatchObject({
      ...{ state: 'exited', exitCode: 127, stderr: 'bash: line 1: no-such-program-anywhere: command not found\n' },
    });
  });
});

describe('what surrounds a command can only take the yes away', () => {
  test('nothing is proved on another platform, unless somebody says otherwise', async () => {
    const platform = { ...probePlatform(), unproven: 'This is another system' };
    const strict = testDispatcher({ platform });
    const [refused] = strict.plan([parallel(':')]).commands;
    expect(refused?.verdict).toMatchObject({
      kind: 'serial',
      reason: { code: 'PLATFORM_UNPROVEN', check: 'environment', message: 'This is another system' },
    });
    const trusting = testDispatcher({ platform, allowUnprovenPlatform: true });
    expect(trusting.plan([parallel(':')]).commands[0]?.verdict.kind).toBe('parallel');
  });

  test('a judge that throws says serial', () => {
    const { plan } = testDispatcher({
      judge: () => {
        throw new Error('out of order');
      },
    });
    const [planned] = plan(['ls']).commands;
    expect(planned?.verdict).toMatchObject({
      kind: 'serial',
      reason: { message: expect.stringContaining('out of order') },
    });
    expect(planned?.locks.every((request) => typeof request !== 'string' && request.mode === 'exclusive')).toBe(true);
  });

  test('a program that the workspace brings makes it serial; what bash finds is what runs', async () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, 'bin'), { mode: 0o755 });
    executable(join(directory, 'bin', 'tool'), '#!/bin/sh\necho mine\n');
    const { dispatch } = testDispatcher({
      judge: judgeOf({ tool: {} }),
      cwd: directory,
      environment: { PATH: `${join(directory, 'bin')}:${process.env.PATH}` },
    });
    const [result] = (await dispatch(['tool']).done).commands;
    expect(result).toMatchObject({ exitCode: 0, stdout: 'mine\n', verdict: { reason: { code: 'PROGRAM_UNTRUSTED' } } });
  });

  test('a text whose program is looked up by bash is held to the same', () => {
    const directory = temporaryDirectory();
    executable(join(directory, 'tool'), '#!/bin/sh\n');
    const judge: Judge = () => judgementOf(verdictOf('parallel'));
    const { plan } = testDispatcher({ judge, cwd: directory, environment: { PATH: `:${process.env.PATH}` } });
    expect(plan(['tool a*', 'echo a*', 'ls a*']).commands.map(codeOf)).toEqual(['PROGRAM_UNTRUSTED', null, null]);
  });

  test('a name that bash answers itself is not the program that was proved', () => {
    const { plan } = testDispatcher({ judge: judgeOf({ 'pwd -P': {} }) });
    expect(plan(['pwd -P']).commands.map(codeOf)).toEqual(['PROGRAM_UNTRUSTED']);
  });

  test('an operand that is a FIFO, a device or a link to one', async () => {
    const directory = temporaryDirectory();
    await makeFifos(directory, 'pipe');
    symlinkSync('/dev/zero', join(directory, 'zero'));
    writeFileSync(join(directory, 'file'), '');
    const use = (text: string, glob = false) => ({ paths: [{ text, glob }] });
    const judge = judgeOf({
      'cat pipe': use('pipe'),
      'cat zero': use('zero'),
      'cat file': use('file'),
      'cat z': use('z*', true),
    });
    const { plan } = testDispatcher({ judge, cwd: directory });
    const codes = plan(['cat pipe', 'cat zero', 'cat file', 'cat z']).commands.map(codeOf);
    expect(codes).toEqual(['OPERAND_NOT_REGULAR', 'OPERAND_NOT_REGULAR', null, 'OPERAND_NOT_REGULAR']);
  });

  test('a directory that leads into one of the kernel’s file systems', () => {
    const directory = temporaryDirectory();
    symlinkSync('/proc/self', join(directory, 'self'));
    const { plan } = testDispatcher({ cwd: directory });
    expect(plan([parallel(':'), { command: parallel(':'), cwd: 'self' }]).commands.map(codeOf)).toEqual([
      ...[null, 'DIRECTORY_DEVICE'],
    ]);
  });

  test('a variable that the profile sets to another value, and a profile that nobody knows', () => {
    const profiles = new Map([['generic', { set: { PAGER: 'cat' }, pass: new Set(['PATH']) }]]);
    const given = (env: Record<string, string>) => ({ command: parallel(':'), env });
    const { plan } = testDispatcher({ profiles });
    expect(plan([given({ PAGER: 'less' }), given({ PAGER: 'cat' })]).commands.map(codeOf)).toEqual([
      'VARIABLE_UNKNOWN',
      null,
    ]);
    expect(
      testDispatcher({ profiles: new Map() })
        .plan([parallel(':')])
        .commands.map(codeOf),
    ).toEqual(['VARIABLE_UNKNOWN']);
  });
});

describe('what a command locks', () => {
  test('its batch, its workspace, the directories it names, resources, operands elsewhere, and the caller’s keys', () => {
    const directory = temporaryDirectory();
    const elsewhere = temporaryDirectory();
    for (const name of ['work', 'named', 'named/deeper']) mkdirSync(join(directory, name));
    const work = join(directory, 'work');
    const named = {
      directories: ['../named', 'deeper'],
      paths: [
        { text: 'inside', glob: false },
        { text: join(elsewhere, 'file'), glob: false },
      ],
      resources: ['daemon'],
    };
    const judge: Judge = (command) => judgementOf(verdictOf(command === 'write' ? 'serial' : 'parallel'), named);
    const { plan } = testDispatcher({
      judge,
      cwd: work,
      platform: { ...probePlatform(), builtins: new Set(['read']) },
    });
    const lockKeys = ['mine', { key: 'ours', mode: 'shared' }] as const;
    const locksOf = (command: string) => plan([{ command, lockKeys }]).commands[0]?.locks;
    const in_ = (mode: 'shared' | 'exclusive') => [
      { key: 'batch:planned', mode },
      { key: `file:${work}`, mode },
      { key: `file:${join(directory, 'named')}`, mode },
      { key: `file:${join(directory, 'named', 'deeper')}`, mode },
      { key: `file:${join(work, 'deeper')}`, mode },
      { key: 'resource:daemon', mode },
      { key: `file:${join(elsewhere, 'file')}`, mode: 'shared' },
      { key: 'mine', mode: 'exclusive' },
      { key: 'ours', mode: 'shared' },
    ];
    expect(locksOf('read')).toEqual(expect.arrayContaining(in_('shared')));
    expect(locksOf('write')).toEqual(expect.arrayContaining(in_('exclusive')));
    expect(
      locksOf('write')?.filter((request) => typeof request !== 'string' && request.mode === 'exclusive').length,
    ).toBe(7);
  });
});

describe('what changed between a command’s coming and its start', () => {
  test('D18: it is judged again; now serial it waits for its siblings, runs alone, and the later ones wait', async () => {
    const judge = judgeOf({ 'ls pipe': { paths: [{ text: 'pipe', glob: false }] } });
    const { dispatch, directory } = testDispatcher({ judge });
    await makeFifos(directory, 'gate');
    const batch = dispatch(['mkfifo pipe', parallel('read < gate'), 'ls pipe', parallel(':'), parallel(':'), 'true']);
    expect(batch.snapshot().commands[2]?.verdict.kind).toBe('parallel');
    await eventOf(batch, 'started', 'c2');
    let waiting = 0;
    for await (const event of batch.events()) {
      if (event.type === 'waiting' && event.commandId === 'c3') waiting += 1;
      if (waiting === 2) break;
    }
    expect(batch.snapshot().commands.map(({ state }) => state)).toEqual([
      ...['exited', 'running', 'waiting', 'waiting', 'waiting', 'waiting'],
    ]);
    await openGate(directory, 'gate');
    const events = await allEvents(batch);
    const order = comingsAndGoings(events);
    expect(order.slice(0, 6)).toEqual(['+c1', '-c1', '+c2', '-c2', '+c3', '-c3']);
    expect(order.slice(-2)).toEqual(['+c6', '-c6']);
    const { commands } = await batch.done;
    expect(commands.map(codeOf)[2]).toBe('OPERAND_NOT_REGULAR');
    expect(commands[2]).toMatchObject({ state: 'exited', stdout: 'pipe\n' });
    // The verdict that was first given stands in `accepted`, the binding one in `started`.
    const verdicts = events.flatMap((event) =>
      (event.type === 'accepted' || event.type === 'started') && event.commandId === 'c3' ? [event.verdict.kind] : [],
    );
    expect(verdicts).toEqual(['parallel', 'serial']);
  });

  test('a serial verdict stands, even if what spoke against it is gone', async () => {
    const judge = judgeOf({ 'ls -d pipe': { paths: [{ text: 'pipe', glob: false }] } });
    const directory = temporaryDirectory();
    await makeFifos(directory, 'pipe');
    const { dispatch } = testDispatcher({ judge, cwd: directory });
    const { commands } = await dispatch(['rm pipe', 'ls -d pipe']).done;
    expect(commands.map(codeOf)[1]).toBe('OPERAND_NOT_REGULAR');
  });

  test('a directory that became another one is locked as what it is now', async () => {
    const { dispatch, directory } = testDispatcher();
    for (const name of ['a', 'b']) mkdirSync(join(directory, name));
    symlinkSync('a', join(directory, 'link'));
    await makeFifos(directory, 'gate');
    const batch = dispatch(['ln -sfn b link', { command: parallel('read < ../gate; pwd -P'), cwd: 'link' }]);
    await eventOf(batch, 'started', 'c2');
    const writer = dispatch(['true'], { cwd: join(directory, 'b') });
    expect(await eventOf(writer, 'waiting')).toMatchObject({ waitsFor: [{ batchId: batch.id, commandId: 'c2' }] });
    await openGate(directory, 'gate');
    expect((await batch.done).commands[1]?.stdout).toBe(`${join(directory, 'b')}\n`);
    await writer.done;
  });

  test('a directory that is gone is a failure, and never "program not found"', async () => {
    const { dispatch, directory } = testDispatcher({ judge: judgeOf({ ls: {} }) });
    mkdirSync(join(directory, 'sub'));
    const { commands } = await dispatch([
      'rmdir sub',
      { command: 'ls', cwd: 'sub' },
      { command: 'true', cwd: 'sub' },
      parallel('echo on'),
    ]).done;
    const gone = {
      state: 'failed',
      exitCode: null,
      note: `The working directory ${join(directory, 'sub')} no longer exists`,
    };
    expect(commands.slice(1, 3)).toEqual([expect.objectContaining(gone), expect.objectContaining(gone)]);
    expect(commands[3]?.stdout).toBe('on\n');
  });
});

describe('with the rules themselves', () => {
  test('a batch of everyday commands in a repository: readers together, the writer alone, then a read of what it wrote', async () => {
    const directory = temporaryDirectory();
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], { cwd: directory });
    git('init', '-q');
    writeFileSync(join(directory, 'README.md'), 'export nothing\n');
    git('add', '.');
    git('commit', '-q', '-m', 'A first commit');
    const rules = loadRules();
    const { dispatch, plan } = testDispatcher({
      judge: createJudge(rules),
      cwd: directory,
      profiles: profilesOf(rules),
    });
    const texts = [
      ...['git log --oneline -5', 'git status', 'ls -la', 'grep -rn "export" .', 'wc -l README.md', 'cat R*.md'],
      ...['echo scratch > scratch.txt', 'cat scratch.txt'],
    ];
    expect(plan(texts).groups).toEqual([
      { kind: 'parallel', commandIds: ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'] },
      { kind: 'serial', commandIds: ['c7'] },
      { kind: 'parallel', commandIds: ['c8'] },
    ]);
    const { commands } = await dispatch(texts).done;
    expect(commands.map(({ state, exitCode, stderr }) => ({ state, exitCode, stderr }))).toEqual(
      texts.map(() => ({ state: 'exited', exitCode: 0, stderr: '' })),
    );
    expect(commands.map(({ stdout }) => stdout)).toEqual([
      expect.stringContaining('A first commit'),
      expect.stringContaining('working tree clean'),
      expect.stringContaining('README.md'),
      './README.md:1:export nothing\n',
      '1 README.md\n',
      'export nothing\n',
      '',
      'scratch\n',
    ]);
  });
});
