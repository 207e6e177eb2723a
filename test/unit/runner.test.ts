import { spawn as nodeSpawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { endFamily } from '../../src/dispatcher/ending.ts';
import { createMarkerSearch } from '../../src/dispatcher/marker-search.ts';
import { createPipeSource, type PipeSource, systemPipes } from '../../src/dispatcher/pipe-source.ts';
import { MARKER_VARIABLE, systemProcesses } from '../../src/dispatcher/process-table.ts';
import { type Running, type RunSpec, type Spawn, type Start, startRun } from '../../src/dispatcher/runner.ts';
import { isAlive, makeFifos, openGate, readLine, temporaryDirectory } from '../support/dispatcher.ts';

const findCarriers = createMarkerSearch(systemProcesses);
const deps = {
  spawn: nodeSpawn as unknown as Spawn,
  table: systemProcesses,
  findCarriers,
  now: Date.now,
  pipes: systemPipes(),
};

type Printed = { stdout: string; stderr: string };

function begin(
  argv: readonly string[],
  options: Partial<RunSpec> = {},
): { start: Start; printed: Printed; spec: RunSpec } {
  const printed: Printed = { stdout: '', stderr: '' };
  const marker = randomUUID();
  const spec: RunSpec = {
    file: argv[0] as string,
    argv,
    cwd: '/',
    env: { PATH: process.env.PATH as string, [MARKER_VARIABLE]: marker, ...options.env },
    stdin: null,
    marker,
    graceMs: 100,
    drainMs: 50,
    orphans: 'kill',
    onOutput: (stream, chunk) => {
      printed[stream] += chunk.toString('latin1');
    },
    ...options,
  };
  return { start: startRun(spec, deps), printed, spec };
}

function run(text: string, options: Partial<RunSpec> = {}): { running: Running; printed: Printed } {
  const { start, printed, spec } = begin(['/bin/bash', '--noprofile', '--norc', '-c', text], options);
  if (!('running' in start)) throw new Error('It did not start');
  const { running } = start;
  onTestFinished(() => {
    const family = { group: running.pid, marker: spec.marker, since: 0, table: systemProcesses, findCarriers };
    return endFamily(family, 0);
  });
  return { running, printed };
}

async function failure(argv: readonly string[], options: Partial<RunSpec> = {}): Promise<string | undefined> {
  const { start } = begin(argv, options);
  if (!('failure' in start)) throw new Error('It started');
  return ((await start.failure) as NodeJS.ErrnoException).code;
}

/** The pids that a command wrote into files, when it has. */
const pidIn = (directory: string, name: string): number => Number(readFileSync(join(directory, name), 'utf8'));

describe('a run', () => {
  test('ends with the exit code, and what it printed on each stream', async () => {
    const { running, printed } = run('echo out; echo err >&2; exit 7');
    expect(await running.ended).toMatchObject({ kind: 'exited', exitCode: 7, signal: null, orphans: [], note: null });
    expect(printed).toEqual({ stdout: 'out\n', stderr: 'err\n' });
    await running.gone;
  });

  test('starts the program itself, under the name it was called by', async () => {
    const { start, printed } = begin(['tool', '-c', 'echo "$0 $1"', 'zero', 'a b'], { file: '/bin/sh' });
    expect('running' in start && (await start.running.ended)).toMatchObject({ exitCode: 0 });
    expect(printed.stdout).toBe('zero a b\n');
  });

  test('is in a process group and session of its own', async () => {
    const { running, printed } = run('cut -d" " -f5,6 /proc/$$/stat');
    await running.ended;
    expect(printed.stdout).toBe(`${running.pid} ${running.pid}\n`);
  });

  test('reads the null device, or the text it was given', async () => {
    const silent = run('cat; echo "<$?>"');
    await silent.running.ended;
    expect(silent.printed.stdout).toBe('<0>\n');
    const fed = run('cat', { stdin: 'some é text\n' });
    await fed.running.ended;
    expect(Buffer.from(fed.printed.stdout, 'latin1').toString()).toBe('some é text\n');
  });

  test('may close its input early, or never read it, whatever was to come', async () => {
    const stdin = 'x'.repeat(4_000_000);
    for (const text of ['exec 0<&-; echo closed', 'head -c 1 >/dev/null; echo read', 'echo ignored']) {
      const { running, printed } = run(text, { stdin });
      expect(await running.ended).toMatchObject({ kind: 'exited', exitCode: 0 });
      expect(printed.stdout).toMatch(/^(closed|read|ignored)\n$/);
      await running.gone;
    }
  });

  test('that somebody else kills is 128 and the signal, by name', async () => {
    const { running } = run('kill -9 $$');
    expect(await running.ended).toMatchObject({ kind: 'exited', exitCode: 137, signal: 'SIGKILL' });
    const terminated = run('kill -TERM $$');
    expect(await terminated.running.ended).toMatchObject({ exitCode: 143, signal: 'SIGTERM' });
  });

  test('that prints 50 MB is read to its end', async () => {
    let bytes = 0;
    const { running } = run('head -c 50000000 /dev/zero', {
      onOutput: (_, chunk) => {
        bytes += chunk.length;
      },
    });
    expect(await running.ended).toMatchObject({ exitCode: 0 });
    expect(bytes).toBe(50_000_000);
  });
});

describe('the three streams', () => {
  test('are pipes that a command can open by name, and the text of its input as well', async () => {
    const text = 'echo out > /dev/stdout; echo err | tee /dev/stderr; wc -c /dev/stdin';
    const { running, printed } = run(text, { stdin: 'x'.repeat(300_000) });
    expect(await running.ended).toMatchObject({ exitCode: 0 });
    expect(printed).toEqual({ stdout: 'out\nerr\n300000 /dev/stdin\n', stderr: 'err\n' });
  });

  test('are what node makes where no pipes can be had', async () => {
    const spec = begin(['true'], { file: '/bin/sh' }).spec;
    let text = '';
    const onOutput: RunSpec['onOutput'] = (_, chunk) => {
      text += chunk.toString();
    };
    const argv = ['sh', '-c', 'cat; echo end'];
    const start = startRun(
      { ...spec, argv, stdin: 'in ', onOutput },
      { ...deps, pipes: { open: () => null, giveBack: () => {} } },
    );
    expect('running' in start && (await start.running.ended)).toMatchObject({ exitCode: 0 });
    expect(text).toBe('in end\n');
  });

  test('leave no descriptor open, whether it runs or cannot be started', async () => {
    const links = () => readdirSync('/proc/self/fd').flatMap((descriptor) => linkOf(descriptor));
    const handedOut = new Set<string>();
    const source: PipeSource = {
      open: (ours) => {
        const pipe = systemPipes().open(ours);
        if (pipe !== null) handedOut.add(linkOf(String(pipe.readEnd))[0] as string);
        return pipe;
      },
      giveBack: () => {},
    };
    const { spec } = begin(['true'], { file: '/bin/sh' });
    const argv = ['sh', '-c', 'echo a; echo b >&2'];
    for (const file of ['/bin/sh', '/nowhere/tool', '/bin/sh', '/nowhere/tool']) {
      const start = startRun({ ...spec, file, argv, stdin: 'x' }, { ...deps, pipes: source });
      if ('running' in start) await start.running.gone;
      else await start.failure;
    }
    expect(handedOut.size).toBe(12);
    await waitUntil(() => !links().some((link) => handedOut.has(link)));
  });

  test('a pipe has no name, so that nobody else can get at it and nothing is left behind', () => {
    const temporary = temporaryDirectory();
    const before = process.env.TMPDIR;
    process.env.TMPDIR = temporary;
    onTestFinished(() => {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
    });
    const source = createPipeSource();
    for (const ours of ['read', 'write'] as const) {
      const pipe = source.open(ours);
      expect(readdirSync(temporary)).toEqual([]);
      expect(pipe).not.toBeNull();
      if (pipe === null) continue;
      writeSync(pipe.writeEnd, 'through');
      const buffer = Buffer.alloc(20);
      expect(buffer.toString('utf8', 0, readSync(pipe.readEnd, buffer))).toBe('through');
      // Our end never waits, the command's does.
      const waits = (end: number) => (readFlags(end) & constants.O_NONBLOCK) === 0;
      expect([waits(pipe.readEnd), waits(pipe.writeEnd)]).toEqual([ours === 'write', ours === 'read']);
      for (const end of [pipe.readEnd, pipe.writeEnd]) closeSync(end);
    }
  });

  test('where no pipe can be made, there is none', () => {
    const before = process.env.TMPDIR;
    process.env.TMPDIR = '/nowhere';
    onTestFinished(() => {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
    });
    expect(createPipeSource().open('read')).toBeNull();
  });
});

describe('what cannot be started', () => {
  test.each([
    ['a program that is missing', ['/nowhere/tool'], {}, 'ENOENT'],
    ['a program that may not be run', ['/etc/passwd'], {}, 'EACCES'],
    ['a directory that is missing', ['/bin/true'], { cwd: '/nowhere' }, 'ENOENT'],
    ['more words than the system takes', ['/bin/true', 'x'.repeat(200_000)], {}, 'E2BIG'],
  ] as const)('%s is the system’s error, and nothing has run', async (_, argv, options, code) => {
    expect(await failure(argv, options)).toBe(code);
  });

  test('an error that comes instead of a process, thrown or told, is no crash', async () => {
    const told: Spawn = (_file, args, options) => {
      const child = nodeSpawn('/nowhere/at/all', args as string[], options as never);
      return Object.assign(child, { stdout: null, stderr: null, stdin: null }) as never;
    };
    const thrown: Spawn = () => {
      throw Object.assign(new Error('spawn EAGAIN'), { code: 'EAGAIN' });
    };
    for (const spawn of [told, thrown]) {
      const start = startRun(begin(['/bin/true']).spec, { ...deps, spawn, pipes: null });
      expect('failure' in start && (await start.failure)).toBeInstanceOf(Error);
    }
  });
});

describe('a command that leaves processes behind', () => {
  test('D21: ends when its shell does; what still holds the pipe is ended', async () => {
    const directory = temporaryDirectory();
    const { running, printed } = run('sleep 1000 & echo $! > pid; echo done', { cwd: directory });
    expect(await running.ended).toMatchObject({ exitCode: 0, note: expect.stringContaining('which was ended') });
    expect(printed.stdout).toBe('done\n');
    await running.gone;
    expect(isAlive(pidIn(directory, 'pid'))).toBe(false);
  });

  test('one that left the process group and session is found by its marker', async () => {
    const directory = temporaryDirectory();
    await makeFifos(directory, 'ready');
    const inner = 'echo $$ > pid; echo > ready; exec sleep 1000';
    const text = `setsid bash -c '${inner}' >/dev/null 2>&1 & read < ready`;
    const { running } = run(text, { cwd: directory });
    expect(await running.ended).toMatchObject({ exitCode: 0, note: expect.stringContaining('which was ended') });
    await running.gone;
    expect(isAlive(pidIn(directory, 'pid'))).toBe(false);
  });

  test('one that goes on to print is not waited for', async () => {
    const { running } = run('yes & echo done');
    expect(await running.ended).toMatchObject({ kind: 'exited', exitCode: 0 });
    await running.gone;
  });

  test('one that ends by itself soon is left in peace', async () => {
    const directory = temporaryDirectory();
    await makeFifos(directory, 'gate');
    const { running } = run('{ read < gate; echo finished > proof; } >/dev/null 2>&1 & exit 0', {
      cwd: directory,
      drainMs: 30_000,
    });
    await openGate(directory, 'gate');
    expect(await running.ended).toMatchObject({ exitCode: 0, note: null });
    await running.gone;
    expect(existsSync(join(directory, 'proof'))).toBe(true);
  });

  test('kept, by policy: they are named, and nobody waits for them', async () => {
    const directory = temporaryDirectory();
    await makeFifos(directory, 'gate');
    const text = '{ echo $BASHPID > pid; read < gate; echo more; echo finished > proof; } & read < begun';
    await makeFifos(directory, 'begun');
    const { running, printed } = run(text, { cwd: directory, orphans: 'keep' });
    await openGate(directory, 'begun');
    const ended = await running.ended;
    await running.gone;
    const pid = pidIn(directory, 'pid');
    expect(ended).toMatchObject({ exitCode: 0, orphans: [pid], note: 'It left processes running' });
    expect(isAlive(pid)).toBe(true);
    expect(printed.stdout).toBe('');
    // Its pipe is still read, so that printing does not kill it.
    await openGate(directory, 'gate');
    await waitUntil(() => existsSync(join(directory, 'proof')));
  });
});

describe('ending a run', () => {
  test('D6: is told at once, and the run is gone only when the whole group is', async () => {
    const directory = temporaryDirectory();
    await makeFifos(directory, 'ready');
    const child = "trap '' TERM; echo $BASHPID > child; echo > ready; while :; do sleep 1000; done";
    const { running } = run(`trap '' TERM; (${child}) & echo $$ > parent; wait; wait`, { cwd: directory });
    await readLine(directory, 'ready');
    let isGone = false;
    void running.gone.then(() => {
      isGone = true;
    });
    running.end();
    expect(await running.ended).toEqual({ kind: 'stopped', at: expect.any(Number) });
    expect(isGone).toBe(false);
    expect(isAlive(pidIn(directory, 'child'))).toBe(true);
    await running.gone;
    expect([pidIn(directory, 'child'), pidIn(directory, 'parent')].map(isAlive)).toEqual([false, false]);
  });

  test('D17: is asked for with SIGTERM first, so that a writer can clean up', async () => {
    const directory = temporaryDirectory();
    await makeFifos(directory, 'ready');
    const text = "touch lock; trap 'rm lock; exit 1' TERM; echo > ready; while :; do sleep 0.05; done";
    const { running } = run(text, { cwd: directory, graceMs: 30_000 });
    await readLine(directory, 'ready');
    running.end();
    await running.gone;
    expect(existsSync(join(directory, 'lock'))).toBe(false);
  });

  test('reaches a child that called setsid, ignores SIGTERM and holds the pipe', async () => {
    const directory = temporaryDirectory();
    await makeFifos(directory, 'ready');
    const inner = 'trap "" TERM; echo $$ > pid; echo > ready; while :; do sleep 1000; done';
    const { running } = run(`setsid bash -c '${inner}' & wait`, { cwd: directory });
    await readLine(directory, 'ready');
    running.end();
    await running.gone;
    expect(isAlive(pidIn(directory, 'pid'))).toBe(false);
  });

  test('reaches a process that is stopped', async () => {
    const directory = temporaryDirectory();
    await makeFifos(directory, 'ready');
    const text = "trap 'echo woken > proof; exit' TERM; echo > ready; kill -STOP $$; while :; do sleep 0.05; done";
    const { running } = run(text, { cwd: directory, graceMs: 30_000 });
    await readLine(directory, 'ready');
    running.end();
    await running.gone;
    expect(existsSync(join(directory, 'proof'))).toBe(true);
  });

  test('twice, or after it has ended, changes nothing', async () => {
    const first = run('exit 3');
    expect(await first.running.ended).toMatchObject({ exitCode: 3 });
    first.running.end();
    await first.running.gone;
    const second = run('sleep 1000');
    second.running.end();
    second.running.end();
    expect(await second.running.ended).toMatchObject({ kind: 'stopped' });
    await second.running.gone;
  });
});

describe('the process table', () => {
  test('finds a marker only as one whole item of the one variable', async () => {
    const marker = randomUUID();
    const directory = temporaryDirectory();
    await makeFifos(directory, 'gate');
    const lives = (env: Record<string, string>) =>
      run('read < gate', { cwd: directory, env: { PATH: process.env.PATH as string, ...env } }).running;
    const carriers = [
      lives({ [MARKER_VARIABLE]: marker }),
      lives({ A: 'x', [MARKER_VARIABLE]: `outer:${marker}` }),
      lives({ [`X${MARKER_VARIABLE}`]: 'x', [MARKER_VARIABLE]: `${marker}:inner` }),
    ];
    const others = [
      lives({ [MARKER_VARIABLE]: `${marker}x` }),
      lives({ OTHER: marker, [MARKER_VARIABLE]: 'y' }),
      lives({ [`X${MARKER_VARIABLE}`]: marker }),
    ];
    const since = performance.now();
    const found = await findCarriers({ marker, group: carriers[0]?.pid ?? 0, since: since - 60_000 });
    expect([...found].sort()).toEqual(carriers.map(({ pid }) => pid).sort());
    for (const running of [...carriers, ...others]) running.end();
    await Promise.all([...carriers, ...others].map(({ gone }) => gone));
    expect(await findCarriers({ marker, group: 2, since: since - 60_000 })).toEqual([]);
  });

  test('a process that is just starting another program is not overlooked', async () => {
    for (let round = 0; round < 60; round += 1) {
      const marker = `m${round}`;
      const env = { PATH: process.env.PATH as string, [MARKER_VARIABLE]: marker };
      const { running } = run('exec sleep 1000', { env });
      const seen = systemProcesses.carriers([{ marker, ageMs: 1, group: running.pid - 1 }]).get(marker);
      running.end();
      await running.gone;
      expect(seen).toEqual([running.pid]);
    }
  });

  test('of a young command only later processes are looked at', async () => {
    const { running } = run('sleep 1000', { env: { PATH: process.env.PATH as string, [MARKER_VARIABLE]: 'm' } });
    const young = { marker: 'm', ageMs: 1 };
    expect(systemProcesses.carriers([{ ...young, group: running.pid - 1 }]).get('m')).toEqual([running.pid]);
    expect(systemProcesses.carriers([{ ...young, group: running.pid }]).get('m')).toBeUndefined();
    expect(systemProcesses.carriers([{ marker: 'm', ageMs: 60_000, group: running.pid }]).get('m')).toEqual([
      running.pid,
    ]);
    running.end();
    await running.gone;
  });

  test('never signals our own group, or everything', () => {
    expect([0, 1, -1, Number.NaN].map((group) => systemProcesses.signalGroup(group, 'SIGCONT'))).toEqual(
      Array(4).fill(false),
    );
    expect([0, 1, -5].map((pid) => systemProcesses.signal(pid, 'SIGCONT'))).toEqual(Array(3).fill(false));
    expect(systemProcesses.isGroupAlive(1)).toBe(false);
  });

  test('a zombie is not alive', async () => {
    // The shell becomes a program that never waits for the child it had.
    const { running } = run('exit 0 & exec sleep 1000');
    const zombies = () => systemProcesses.members(running.pid);
    await waitUntil(() => zombies().length === 1);
    expect(zombies()).toEqual([running.pid]);
    running.end();
    await running.gone;
    expect(systemProcesses.isGroupAlive(running.pid)).toBe(false);
  });
});

/** Where a descriptor of this process leads; nothing when it is closed. */
function linkOf(descriptor: string): readonly string[] {
  try {
    return [readlinkSync(`/proc/self/fd/${descriptor}`)];
  } catch {
    return [];
  }
}

/** The flags that a descriptor of this process was opened with. */
function readFlags(descriptor: number): number {
  const text = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8');
  return Number.parseInt(/^flags:\s+(\d+)/m.exec(text)?.[1] as string, 8);
}

/** For what nobody announces: looks again until it is so; the test's own time limit bounds it. */
async function waitUntil(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}
