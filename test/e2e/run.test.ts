import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { BatchEvent, BatchResult } from '../../src/dispatcher/types.ts';
import { endOf, MAIN, plainEnvironment, runCli, startCli, temporaryDirectory } from './cli.ts';
import { startInTerminal } from './pty.ts';
import { Screen } from './screen.ts';

const batch = (commands: readonly unknown[], more: object = {}) => JSON.stringify({ ...more, commands });

const writeAndRead = batch([
  'ls',
  { id: 'write', command: 'echo hello > made.txt' },
  'cat made.txt',
  'grep absent made.txt',
]);

/** Only a process that is gone makes this true. */
function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}

describe('signalbox run', () => {
  test('runs the file and prints the results as JSON, in call order', async () => {
    const cwd = temporaryDirectory({ 'batch.json': writeAndRead, 'other.txt': '' });
    const { code, stdout, stderr } = await runCli(['run', 'batch.json', '--format', 'json'], { cwd });
    expect(stderr).toBe('');
    const result: BatchResult = JSON.parse(stdout);
    expect(result.commands.map(({ id, command, exitCode, state }) => [id, command, exitCode, state])).toEqual([
      ['c1', 'ls', 0, 'exited'],
      ['write', 'echo hello > made.txt', 0, 'exited'],
      ['c3', 'cat made.txt', 0, 'exited'],
      ['c4', 'grep absent made.txt', 1, 'exited'],
    ]);
    expect(result.commands.map(({ verdict }) => verdict.kind)).toEqual(['parallel', 'serial', 'parallel', 'parallel']);
    expect(result.commands.map(({ stdout: text }) => text)).toEqual(['batch.json\nother.txt\n', '', 'hello\n', '']);
    expect(code).toBe(1);
  });

  test('ends with 0 when every command did', async () => {
    const cwd = temporaryDirectory({ 'batch.json': batch(['pwd', 'ls']) });
    expect(await runCli(['run', 'batch.json'], { cwd })).toMatchObject({ code: 0, stderr: '' });
  });

  test('streams events as lines, dense and credited', async () => {
    const cwd = temporaryDirectory({
      'batch.json': batch([
        { id: 'one', command: 'echo 1' },
        { id: 'two', command: 'echo 2' },
      ]),
    });
    const { stdout } = await runCli(['run', 'batch.json', '--format', 'ndjson'], { cwd });
    const events: BatchEvent[] = stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    const printed = events.flatMap((event) => (event.type === 'output' ? [`${event.commandId}: ${event.text}`] : []));
    expect(printed.sort()).toEqual(['one: 1\n', 'two: 2\n']);
    expect(events.at(-1)).toMatchObject({ type: 'batch-finished', state: 'finished' });
  });

  test('--no-network, or the file, makes readers of the network serial', async () => {
    const commands = ['getent hosts localhost'];
    const cwd = temporaryDirectory({
      'batch.json': batch(commands),
      'strict.json': batch(commands, { allow: { network: false } }),
      'loose.json': batch(commands, { allow: { network: true } }),
    });
    const kindOf = async (...args: readonly string[]) => {
      const { stdout } = await runCli(['run', '--format', 'json', ...args], { cwd });
      return JSON.parse(stdout).commands[0].verdict.kind;
    };
    expect(await kindOf('batch.json')).toBe('parallel');
    expect(await kindOf('strict.json')).toBe('serial');
    expect(await kindOf('--no-network', 'loose.json')).toBe('serial');
    expect(await kindOf('--no-daemon', 'batch.json')).toBe('parallel');
  });

  test('--max-parallel wins over the file: with 1, nothing overlaps', async () => {
    const cwd = temporaryDirectory({ 'batch.json': batch(Array(6).fill('ls'), { maxParallel: 6 }) });
    const { stdout } = await runCli(['run', 'batch.json', '--format', 'ndjson', '--max-parallel', '1'], { cwd });
    const kinds = stdout
      .split('\n')
      .slice(0, -1)
      .map((line): string => JSON.parse(line).type);
    const turns = kinds.filter((type) => type === 'started' || type === 'finished');
    expect(turns).toEqual(Array(6).fill(['started', 'finished']).flat());
  });

  test('in a pipe: a line at each start and end, the timeline, and what failed with its output', async () => {
    const cwd = temporaryDirectory({ 'batch.json': batch(['pwd', { id: 'bad', command: 'echo why >&2; exit 3' }]) });
    const { code, stdout } = await runCli(['run', 'batch.json'], { cwd });
    expect(code).toBe(1);
    expect(stdout).not.toContain('\u001b');
    expect(stdout).toMatch(/ms {2}c1 started, parallel: pwd\n/);
    expect(stdout).toMatch(/ms {2}bad started, serial TEXT_(?:OPERATOR|REDIRECTION): echo why >&2; exit 3\n/);
    expect(stdout).toMatch(/ms {2}bad ended with exit code 3 after \d+ ms\n/);
    expect(stdout).toMatch(/\nid +command +0 .* ms verdict +exit +waited +ran\n/);
    expect(stdout).toMatch(/\nc1 +pwd +[·░█ ]+ parallel 0 /);
    expect(stdout).toMatch(/\nbad +echo why >&2; exit 3 +[·░█ ]+ serial +3 /);
    expect(stdout).toContain('2 commands, 1 with exit code 0, 1 otherwise');
    expect(stdout.endsWith('\nbad  echo why >&2; exit 3\n  stderr\n  why\n')).toBe(true);
  });

  test('--output chooses whose output is shown', async () => {
    const cwd = temporaryDirectory({ 'batch.json': batch(['echo shown', 'exit 1']) });
    const shown = async (which: string) => (await runCli(['run', 'batch.json', '--output', which], { cwd })).stdout;
    expect(await shown('all')).toMatch(/\n {2}stdout\n {2}shown\n/);
    expect(await shown('failed')).not.toContain('  stdout\n');
    expect(await shown('none')).not.toContain('\nc2  exit 1\n');
  });

  test('output and commands show no control character', async () => {
    const cwd = temporaryDirectory({ 'batch.json': batch(["printf 'a\\033[2Jb'; exit 1", 'echo "\u001b[31m"']) });
    const { stdout } = await runCli(['run', 'batch.json', '--output', 'all'], { cwd });
    expect(stdout).not.toContain('\u001b');
    expect(stdout).toContain('a\\x1b[2Jb');
  });

  test('reads a batch from standard input, in the directory that was asked for', async () => {
    const cwd = temporaryDirectory({ 'below/file.txt': '' });
    const options = { cwd, input: batch(['ls'], { cwd: 'below' }) };
    const { stdout } = await runCli(['run', '-', '--format', 'json'], options);
    expect(JSON.parse(stdout).commands[0].stdout).toBe('file.txt\n');
    const moved = await runCli(['run', '-', '--format', 'json', '--cwd', 'below'], { cwd, input: batch(['ls']) });
    expect(JSON.parse(moved.stdout).commands[0].stdout).toBe('file.txt\n');
  });

  test('letters stand for blocks where the locale has none', async () => {
    const cwd = temporaryDirectory({ 'batch.json': batch(['pwd']) });
    const { stdout } = await runCli(['run', 'batch.json'], { cwd, env: { LC_ALL: 'C' } });
    expect(stdout).toMatch(/\nc1 +pwd +[.# -]+ parallel/);
    expect(stdout).not.toContain('█');
  });

  test.each([
    ['a file that is not there', undefined, 'Cannot read batch.json'],
    ['a file that is not JSON', 'nonsense', 'batch.json is not JSON'],
    ['an unknown field', '{"comands":[]}', '/comands'],
    ['no commands', '{"commands":[]}', 'at least one command'],
    ['a command that is no text', '{"commands":["ls",5]}', '/commands/1'],
    [
      'a duplicate id',
      batch([
        { id: 'a', command: 'ls' },
        { id: 'a', command: 'ls' },
      ]),
      '/commands/1/id',
    ],
    ['a NUL', batch(['ls \u0000']), '/commands/0'],
    ['a directory that is not there', batch(['echo ran > ran.txt'], { cwd: 'nowhere' }), '/cwd'],
    ['another mode', batch(['ls'], { mode: 'fast' }), '/mode'],
  ])('%s: exit code 2, where it is, and nothing run', async (_what, content, said) => {
    const cwd = temporaryDirectory(content === undefined ? {} : { 'batch.json': content });
    const { code, stdout, stderr } = await runCli(['run', 'batch.json'], { cwd });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^signalbox: /);
    expect(stderr).toContain(said);
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('%s cancels, ends what runs, and prints the results', async (signal) => {
    const commands = [{ id: 'long', command: 'echo $$ > pid; exec sleep 300' }, 'cat pid'];
    const cwd = temporaryDirectory({ 'batch.json': batch(commands) });
    const child = startCli(['run', 'batch.json'], { cwd });
    await new Promise<void>((resolve) => {
      child.stdout?.on('data', (text) => String(text).includes('long started') && resolve());
    });
    let pid = 0;
    while (pid === 0) pid = Number(readIfThere(join(cwd, 'pid')));
    child.kill(signal);
    const { code, stdout } = await endOf(child);
    expect(code).toBe(1);
    expect(isGone(pid)).toBe(true);
    expect(stdout).toMatch(/\nlong +echo .* serial +cancelled/);
    expect(stdout).toMatch(/\nc2 +cat pid .* parallel (?:not-started|cancelled|skipped)/);
    expect(stdout).toContain(`Cancelled by ${signal}`);
  });
});

test('signalbox run ends what runs when nobody reads the results any more', () => {
  const cwd = temporaryDirectory({ 'batch.json': batch(['echo 1', 'echo $$ > pid; exec sleep 300']) });
  const call = `"${process.execPath}" "${MAIN}" run batch.json --format ndjson | head -n 1; echo "\${PIPESTATUS[0]}"`;
  const { stdout, stderr } = spawnSync('bash', ['-c', call], { cwd, encoding: 'utf8', env: plainEnvironment() });
  expect(stderr).toBe('');
  expect(stdout).toMatch(/^{.*"type":"accepted".*}\n1\n$/);
  const pid = Number(readIfThere(join(cwd, 'pid')));
  expect(pid === 0 || isGone(pid)).toBe(true);
});

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

describe('signalbox run in a terminal', () => {
  test('redraws in place, and leaves the timeline and nothing else', async () => {
    const commands = [
      'sleep 1',
      { id: 'wide', command: 'echo 日本語 > 文.txt; sleep 1' },
      `echo ${'long '.repeat(60)}`,
    ];
    const cwd = temporaryDirectory({ 'batch.json': batch(commands) });
    const call = startInTerminal(['run', 'batch.json'], { columns: 110, rows: 24, cwd });
    expect(await call.ended).toBe(0);
    const written = call.written();
    expect(written.match(/\u001b\[\d+A/g)?.length).toBeGreaterThan(3);
    expect(written).toContain('\u001b[33m');
    const screen = new Screen(110);
    screen.write(written);
    const lines = screen.text().split('\n');
    expect(lines).toHaveLength(5);
    expect(lines[0]).toMatch(/^id +command +0 .* s verdict +exit +waited +ran$/);
    expect(lines[1]).toMatch(/^c1 +sleep 1 +[·░█ ]+serial +0 +\d+ ms +[\d.]+ m?s$/);
    expect(lines[2]).toMatch(/^wide +echo 日本語 > 文\.txt; sleep 1 +[·░█ ]+serial +0 /);
    expect(lines[3]).toMatch(/^c3 +echo long long .*… +[·░█ ]+parallel 0 /);
    expect(lines[4]).toMatch(/^3 commands, 3 with exit code 0; /);
  });

  test('NO_COLOR: redrawn without colours', async () => {
    const cwd = temporaryDirectory({ 'batch.json': batch(['sleep 0.5']) });
    const call = startInTerminal(['run', 'batch.json'], { columns: 80, rows: 24, cwd, env: { NO_COLOR: '1' } });
    expect(await call.ended).toBe(0);
    expect(call.written()).toMatch(/\u001b\[\d+A/);
    expect(call.written()).not.toMatch(/\u001b\[\d*m/);
  });

  test('a narrow terminal gets short lines', async () => {
    const cwd = temporaryDirectory({ 'batch.json': batch(['sleep 0.5', 'ls -la batch.json']) });
    const call = startInTerminal(['run', 'batch.json'], { columns: 50, rows: 24, cwd });
    await call.ended;
    for (const line of stripVTControlCharacters(call.written()).split(/\r?\n/)) expect(line.length).toBeLessThan(50);
  });

  test('Ctrl-C cancels and still draws the whole', async () => {
    const cwd = temporaryDirectory({ 'batch.json': batch(['sleep 300', 'pwd']) });
    const call = startInTerminal(['run', 'batch.json'], { columns: 80, rows: 24, cwd });
    await call.until('running');
    call.type('\u0003');
    expect(await call.ended).toBe(1);
    const screen = new Screen(80);
    screen.write(call.written());
    expect(screen.text()).toMatch(/c1 +sleep 300 .* cancelled/);
    expect(screen.text()).toContain('2 commands, 0 with exit code 0, 2 otherwise');
  });
});
