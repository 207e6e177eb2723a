import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parallel, temporaryDirectory } from '../support/dispatcher.ts';
import { startLone } from '../support/lone.ts';

/** What a good run of `COMMANDS` comes to. */
const GOOD = [
  { state: 'exited', exitCode: 0, stdout: 'read\n', note: null },
  { state: 'exited', exitCode: 0, stdout: '', note: null },
  { state: 'exited', exitCode: 0, stdout: 'given', note: null },
];
const COMMANDS = [parallel('echo read'), 'touch written', { command: 'cat', stdin: 'given' }];
const nothingHeld = { locks: 0, slots: 0 };

/** Descriptors that are kept ready, at most (docs/soak.md). */
const READY = 64;

describe('without descriptors (a real limit, really reached)', () => {
  const LIMIT = 160;

  test('every command gets one clear answer, nothing is held, and with some again all goes as before', async () => {
    const directory = temporaryDirectory();
    const temporary = temporaryDirectory();
    const { ask, end } = startLone(directory, {
      before: ['bash', '-c', `ulimit -n ${LIMIT}; exec "$@"`, 'bash'],
      env: { TMPDIR: temporary },
    });
    // Before anything was made ready that could be given back.
    await ask({ do: 'take-descriptors', spare: 0 });
    const short = await ask({ do: 'dispatch', commands: COMMANDS });
    expect(short).toMatchObject(nothingHeld);
    for (const result of short.results) {
      expect(result).toMatchObject({ state: 'failed', exitCode: null, stdout: '' });
      expect(result.note).toMatch(/^It could not be started: this process has no file descriptor left; .*\(EMFILE\)$/);
    }
    expect(existsSync(`${directory}/written`)).toBe(false);
    const before = await ask({ do: 'give-descriptors' });
    expect(await ask({ do: 'dispatch', commands: COMMANDS })).toMatchObject({ ...nothingHeld, results: GOOD });

    // However few there are: it goes well or it fails, nothing between, and nothing is lost on the way.
    for (const spare of [0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 24]) {
      await ask({ do: 'take-descriptors', spare });
      const { results, ...rest } = await ask({ do: 'dispatch', commands: COMMANDS });
      expect(rest).toMatchObject(nothingHeld);
      for (const [index, result] of results.entries()) {
        const good = GOOD[index];
        if (result.state === 'exited') expect(result).toMatchObject(good as object);
        else expect(result).toMatchObject({ state: 'failed', stdout: '', note: expect.stringContaining('(EMFILE)') });
      }
      await ask({ do: 'give-descriptors' });
      const after = await ask({ do: 'dispatch', commands: COMMANDS });
      expect(after).toMatchObject({ ...nothingHeld, results: GOOD });
    }
    const left = async (): Promise<number> => (await ask({ do: 'count' })).descriptors;
    await expect.poll(left, { timeout: 10_000 }).toBeLessThanOrEqual(before.descriptors + READY);
    expect(await end()).toEqual({ code: 0, complaints: '' });
    expect(readdirSync(temporary).filter((name) => name.startsWith('signalbox'))).toEqual([]);
  });

  test('what is made ready for later commands is given back to the one that needs it', async () => {
    const { ask, end } = startLone(temporaryDirectory(), {
      before: ['bash', '-c', `ulimit -n ${LIMIT}; exec "$@"`, 'bash'],
    });
    expect(await ask({ do: 'dispatch', commands: COMMANDS })).toMatchObject({ results: GOOD });
    await ask({ do: 'take-descriptors', spare: 0 });
    expect(await ask({ do: 'dispatch', commands: COMMANDS })).toMatchObject({ ...nothingHeld, results: GOOD });
    expect(await end()).toEqual({ code: 0, complaints: '' });
  });
});

describe('without processes (a real limit, really reached)', () => {
  test('every command gets one clear answer, nothing is held, and with some again all goes as before', async () => {
    const directory = temporaryDirectory();
    chmodSync(directory, 0o777);
    // The super-user has no such limit. Nobody else is of this number.
    const user = process.getuid?.() === 0 ? 60_000 + (process.pid % 5_000) : null;
    const as = user === null ? {} : { uid: user, gid: user };
    const { ask, end, pid } = startLone(directory, { user });
    const limits = readFileSync(`/proc/${pid}/limits`, 'utf8');
    const hard = /^Max processes +\S+ +(\S+)/m.exec(limits)?.[1] ?? '';
    const allow = (count: string): void => {
      execFileSync('prlimit', ['--pid', `${pid}`, `--nproc=${count}:`], as);
    };
    expect(await ask({ do: 'dispatch', commands: COMMANDS })).toMatchObject({ results: GOOD });
    allow('1');
    for (let time = 0; time < 3; time++) {
      const short = await ask({ do: 'dispatch', commands: COMMANDS });
      expect(short).toMatchObject(nothingHeld);
      for (const result of short.results) {
        expect(result).toMatchObject({ state: 'failed', exitCode: null, stdout: '' });
        expect(result.note).toMatch(/^It could not be started: the system starts no more processes .*\(EAGAIN\)$/);
      }
    }
    allow(hard);
    expect(await ask({ do: 'dispatch', commands: COMMANDS })).toMatchObject({ ...nothingHeld, results: GOOD });
    expect(await end()).toEqual({ code: 0, complaints: '' });
  });
});

describe('without disk', () => {
  /** A file system of its own with room for no further name, where one may be mounted; else no directory at all. */
  const FULL = 'mount -t tmpfs -o size=16k,nr_inodes=1 none "$TMPDIR" && exec "$@"';
  const mayMount = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;
  const before = mayMount ? ['unshare', '-rm', 'bash', '-c', FULL, 'bash'] : [];

  test('commands run all the same where nothing can be made in the temporary directory', async () => {
    const directory = temporaryDirectory();
    const temporary = mayMount ? temporaryDirectory() : '/nowhere';
    const { ask, end } = startLone(directory, { before, env: { TMPDIR: temporary, TSX_DISABLE_CACHE: '1' } });
    const commands = [...COMMANDS, { command: 'mktemp -d', env: { TMPDIR: temporary } }];
    for (let time = 0; time < 2; time++) {
      const { results, ...rest } = await ask({ do: 'dispatch', commands });
      expect(rest).toMatchObject(nothingHeld);
      expect(results.slice(0, 3)).toMatchObject(GOOD);
      // It is as full as it was meant to be.
      expect(results[3]?.exitCode).toBe(1);
    }
    expect(await end()).toEqual({ code: 0, complaints: '' });
  });

  test('a command that cannot write says so itself, and its siblings go on', async () => {
    const { ask, end } = startLone(temporaryDirectory());
    const [full, next] = (await ask({ do: 'dispatch', commands: ['echo lost > /dev/full', 'echo next'] })).results;
    expect(full).toMatchObject({ state: 'exited', exitCode: 1, stderr: expect.stringContaining('No space left') });
    expect(next).toMatchObject({ state: 'exited', exitCode: 0, stdout: 'next\n' });
    expect(await end()).toEqual({ code: 0, complaints: '' });
  });
});
