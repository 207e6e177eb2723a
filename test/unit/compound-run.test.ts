import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Judge } from '../../src/classifier/judgement.ts';
import { createDispatcher } from '../../src/dispatcher/dispatcher.ts';
import type { DispatcherOptions } from '../../src/dispatcher/options.ts';
import type { Dispatcher } from '../../src/dispatcher/types.ts';
import { loadRules } from '../../src/rules/load.ts';
import {
  allEvents,
  comingsAndGoings,
  eventOf,
  isAlive,
  judgementOf,
  makeFifos,
  openGate,
  readLine,
  temporaryDirectory,
  testDispatcher,
  verdictOf,
} from '../support/dispatcher.ts';
import { makePlace } from '../support/repositories.ts';

const rules = loadRules();

function compoundDispatcher(cwd: string, more: Partial<DispatcherOptions> = {}): Dispatcher {
  const environment = { PATH: process.env.PATH, HOME: cwd, LC_ALL: 'C.UTF-8' };
  const dispatcher = createDispatcher({ rules, cwd, environment, mode: 'compound', ...more });
  onTestFinished(() => dispatcher.shutdown({ graceMs: 0 }));
  return dispatcher;
}

/** Files and directories that the compounds below read. */
function ground(): string {
  const cwd = temporaryDirectory();
  mkdirSync(join(cwd, 'sub/deeper'), { recursive: true });
  writeFileSync(join(cwd, 'three.txt'), 'one\ntwo\nthree\n');
  writeFileSync(join(cwd, 'with space.txt'), 'x y\n');
  writeFileSync(join(cwd, 'sub/in.txt'), 'inside\n');
  writeFileSync(join(cwd, 'big.txt'), 'a line of a big file\n'.repeat(100_000));
  return cwd;
}

/** Each is proved, and answers as plain bash does. */
const COMPOUNDS = [
  'true | false',
  'false | true',
  'true && echo yes',
  'false && echo no',
  'false || echo yes',
  'true || echo no',
  'true && false || echo x',
  'false || true && echo y',
  'false && echo a; echo b',
  'false; true',
  'true; false',
  'echo a; echo b; echo c',
  'echo a;',
  'grep nothing three.txt || true',
  'grep nothing three.txt; echo after',
  'cat gone.txt',
  'cat gone.txt; echo after',
  'cat gone.txt || echo instead',
  'cat gone.txt 2>/dev/null || echo instead',
  'cat gone.txt 2>&1 | wc -l',
  'cat gone.txt three.txt 2>&1 | tail -1',
  'cat gone.txt &>/dev/null; echo done',
  '2>/dev/null cat gone.txt; echo done',
  'echo to errors >&2',
  'echo to errors 1>&2 | wc -l',
  'echo nothing >/dev/null',
  'echo hidden 2>&1 >/dev/null',
  'cat three.txt | head -1',
  'cat big.txt | head -1',
  'cat big.txt | grep line | head -n 2',
  'cat big.txt | false',
  'grep x gone.txt | head -1',
  'head -n 1 big.txt | cat | cat | cat',
  'sort three.txt | uniq -c | sort -rn | head -2',
  'cat three.txt | tr a-z A-Z | cut -c1-2',
  'cat three.txt | grep -c o && echo found',
  'cat three.txt | grep -c z && echo found',
  'cat three.txt | sed -n 2p',
  'cat three.txt | wc -l; wc -c three.txt',
  'cat "with space.txt" | wc -w && echo "a | b" \'; c\'',
  'cat with\\ space.txt&&echo tight||echo no;echo end',
  'cat t*.txt w* | sort | head -3',
  'cd sub && pwd',
  'cd sub && pwd -P',
  'cd ./sub/deeper && ls -a | wc -l',
  'cd sub && cat in.txt && pwd',
  'cd sub && cat gone.txt; pwd',
  'cd sub && cat gone.txt || pwd',
  'cd sub && ls in*.txt | cat',
  'cd sub && false',
  'ls sub | head -1 && test -d sub && echo there',
  'test -f gone.txt || echo missing; test -f three.txt && echo there',
  '[ -d sub ] && ls sub',
  'printf "%s\\n" b a c | sort',
  'type cat >/dev/null 2>&1 && echo yes',
  'command -v nothing-of-this-name || echo no',
  'echo ü€ | wc -m',
  'echo a | cat - three.txt',
  'wc -l three.txt </dev/null',
  '  echo  spaced   |   cat  ',
] as const;

describe('a proved compound', () => {
  test('ends, prints and complains as plain bash does', async () => {
    const cwd = ground();
    const dispatcher = compoundDispatcher(cwd);
    const { commands } = await dispatcher.dispatch([...COMPOUNDS]).done;
    const env = { PATH: process.env.PATH, HOME: cwd, LC_ALL: 'C.UTF-8', PWD: cwd };
    for (const { command, verdict, state, exitCode, signal, stdout, stderr } of commands) {
      const {
        status,
        stdout: out,
        stderr: err,
      } = spawnSync('bash', ['--noprofile', '--norc', '-c', command], {
        cwd,
        env,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const kind = verdict.kind === 'parallel' ? verdict.kind : verdict.reason.code;
      const told = { command, kind, state, signal, exitCode, stdout, stderr };
      expect(told).toEqual({
        command,
        kind: 'parallel',
        state: 'exited',
        signal: null,
        exitCode: status,
        stdout: out,
        stderr: err,
      });
    }
  });

  test('prints what is its own, live and in the result, beside others', async () => {
    const cwd = ground();
    const names = Array.from({ length: 6 }, (_, index) => `file-${index}`);
    for (const name of names) writeFileSync(join(cwd, name), `${name} and more\n`.repeat(500));
    const dispatcher = compoundDispatcher(cwd);
    const batch = dispatcher.dispatch(
      names.map((name) => `cat ${name} | tr a-z A-Z; echo ${name} >&2; head -1 ${name} | cat`),
    );
    const events = await allEvents(batch);
    const { commands } = await batch.done;
    for (const [index, { id, stdout, stderr }] of commands.entries()) {
      const name = names[index] as string;
      expect(stdout).toBe(`${`${name} and more\n`.toUpperCase().repeat(500)}${name} and more\n`);
      expect(stderr).toBe(`${name}\n`);
      const printed = (stream: string) =>
        events.flatMap((event) =>
          event.type === 'output' && event.commandId === id && event.stream === stream ? [event.text] : [],
        );
      expect(printed('stdout').join('')).toBe(stdout);
      expect(printed('stderr').join('')).toBe(stderr);
    }
  });

  test('reads repositories where it changes to, as `-C` would', async () => {
    const place = makePlace();
    const here = place.repository('here');
    const there = place.repository('there');
    const dispatcher = compoundDispatcher(here, { environment: { PATH: process.env.PATH, HOME: place.home } });
    const { commands, groups } = dispatcher.plan([
      'cd ../there && git log --oneline | head -5',
      'git -C ../there log --oneline && git -C ../here log --oneline',
      'git status --short | wc -l',
    ]);
    expect(commands.map(({ verdict }) => (verdict.kind === 'parallel' ? verdict.assumes : verdict.reason))).toEqual([
      [],
      [],
      [],
    ]);
    expect(groups).toEqual([{ kind: 'parallel', commandIds: ['c1', 'c2', 'c3'] }]);
    place.git(there, 'config', 'diff.external', place.trap);
    const codes = [
      'cd ../there && git diff | head -5',
      'git diff | head -5; git -C ../there diff',
      'git diff | head -5',
    ].map((command) => {
      const verdict = dispatcher.plan([command]).commands[0]?.verdict;
      return verdict?.kind === 'serial' ? verdict.reason.code : verdict?.kind;
    });
    expect(codes).toEqual(['REPOSITORY_CONFIGURED', 'REPOSITORY_CONFIGURED', 'parallel']);
    expect(place.sprung()).toBe(false);
  });

  test('is off by default, and a batch says otherwise', () => {
    const cwd = ground();
    const kinds = (dispatcher: Dispatcher, mode?: 'simple' | 'compound') =>
      dispatcher
        .plan(['cat three.txt | head -1', 'cat three.txt'], mode === undefined ? {} : { mode })
        .groups.map(({ kind }) => kind);
    const [on, off] = [compoundDispatcher(cwd), compoundDispatcher(cwd, { mode: 'simple' })];
    const byDefault = createDispatcher({ rules, cwd });
    onTestFinished(() => byDefault.shutdown({ graceMs: 0 }));
    expect(kinds(byDefault)).toEqual(['serial', 'parallel']);
    expect(kinds(byDefault, 'compound')).toEqual(['parallel']);
    expect(kinds(off)).toEqual(['serial', 'parallel']);
    expect(kinds(on)).toEqual(['parallel']);
    expect(kinds(on, 'simple')).toEqual(['serial', 'parallel']);
  });
});

describe('whatever is called parallel', () => {
  /** Calls a text parallel that has a pipe in it, whatever it does. */
  const piped: Judge = (command) => judgementOf(verdictOf(command.includes('|') ? 'parallel' : 'serial'));

  test('overlaps its siblings; a serial compound is alone', async () => {
    const { dispatch, directory } = testDispatcher({ judge: piped });
    await makeFifos(directory, 'pass', 'gate');
    // The first two can end only while both run.
    const batch = dispatch([
      'echo word | cat > pass',
      'cat pass | cat',
      'echo alone > out; read < gate && cat out',
      'cat out | cat',
      'true | cat out',
    ]);
    await eventOf(batch, 'started', 'c3');
    expect(batch.snapshot().commands.map(({ state }) => state)).toEqual([
      'exited',
      'exited',
      'running',
      'waiting',
      'waiting',
    ]);
    await openGate(directory, 'gate');
    const order = comingsAndGoings(await allEvents(batch));
    expect(order.slice(0, 2).sort()).toEqual(['+c1', '+c2']);
    expect(order.slice(4, 6)).toEqual(['+c3', '-c3']);
    const { commands } = await batch.done;
    expect(commands.map(({ stdout }) => stdout)).toEqual(['', 'word\n', 'alone\n', 'alone\n', 'alone\n']);
  });

  /** A pipeline of which each stage tells who it is and then waits for ever. */
  const pipeline = ['one', 'two', 'three'].map((name) => `{ echo $BASHPID > ${name}; exec sleep 300; }`).join(' | ');
  const stagesOf = (directory: string) =>
    ['one', 'two', 'three'].map((name) => Number(readFileSync(join(directory, name), 'utf8')));

  test('is ended as a whole when its time is up, and lets go of its keys only then', async () => {
    const { dispatch, directory } = testDispatcher({ judge: piped, limits: { graceMs: 200 } });
    await makeFifos(directory, 'ready');
    const text = `${pipeline.replaceAll('exec sleep', 'trap "" TERM; exec sleep')} | { echo go > ready; cat; }`;
    const batch = dispatch([{ command: text, timeoutMs: 1500 }, 'cat one two three']);
    await readLine(directory, 'ready');
    const { commands } = await batch.done;
    expect(commands[0]).toMatchObject({ state: 'timed-out', note: 'Timed out after 1500 ms' });
    expect(commands[1]).toMatchObject({ state: 'exited', exitCode: 0 });
    for (const pid of stagesOf(directory)) {
      expect(pid).toBeGreaterThan(1);
      expect(isAlive(pid)).toBe(false);
    }
  });

  test('is ended as a whole when its batch is cancelled', async () => {
    const { dispatch, directory } = testDispatcher({ judge: piped });
    await makeFifos(directory, 'ready');
    const batch = dispatch([`${pipeline} | { sleep 0.2; echo go > ready; cat; }`]);
    await readLine(directory, 'ready');
    const stages = stagesOf(directory);
    expect(stages.map(isAlive)).toEqual([true, true, true]);
    batch.cancel('enough');
    const { commands } = await batch.done;
    expect(commands[0]).toMatchObject({ state: 'cancelled', note: 'Cancelled: enough' });
    const next = dispatch(['true']);
    await next.done;
    expect(stages.map(isAlive)).toEqual([false, false, false]);
  });
});
