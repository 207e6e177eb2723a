import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { BatchResult } from '../../src/dispatcher/types.ts';
import { endOf, plainEnvironment, runCli, startCli, temporaryDirectory } from './cli.ts';

/** A directory whose name no shell may take apart, with a repository in it. */
function oddRepository(): string {
  const directory = temporaryDirectory({
    "it's $HOME/README.md": 'one\ntwo\n',
    "it's $HOME/src/a.ts": 'export const a = 1;\n',
  });
  const cwd = join(directory, "it's $HOME");
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args], { cwd });
  git('init', '-q');
  git('add', '.');
  git('commit', '-q', '-m', 'the first commit');
  return cwd;
}

type Service = {
  readonly child: ReturnType<typeof startCli>;
  /** Everything that the service said on standard output. */
  readonly said: string;
  readonly url: string;
  /** The request to paste. */
  readonly curl: string;
};

async function startService(args: readonly string[], cwd: string, env = {}): Promise<Service> {
  const child = startCli(['serve', '--port', '0', ...args], { cwd, env: { SIGNALBOX_LOG_LEVEL: 'silent', ...env } });
  let said = '';
  let complaints = '';
  child.stderr?.on('data', (text) => {
    complaints += text;
  });
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`The service ended before it listened: ${complaints}`)));
    child.stdout?.on('data', (text) => {
      said += text;
      if (said.includes('\ncurl ') && said.endsWith('\n\n')) resolve();
    });
  });
  const url = /http:\/\/[^ ]+/.exec(said)?.[0] ?? '';
  return { child, said, url, curl: said.slice(said.indexOf('\ncurl ') + 1).trim() };
}

/** Pastes a text into an interactive-like bash: the text is its standard input, not its argument. */
async function paste(text: string, cwd: string): Promise<string> {
  const shell = spawn('bash', ['--noprofile', '--norc'], { cwd, env: plainEnvironment() });
  shell.stdin.end(`${text}\n`);
  const { code, stdout, stderr } = await endOf(shell);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

const scratchOf = (result: BatchResult) => result.commands.at(-1)?.command.split(' ').at(-1) ?? '';

describe('signalbox serve', () => {
  test('the printed request works as it is: verdicts, order, output and timings', async () => {
    const cwd = oddRepository();
    const { child, said, curl, url } = await startService([], cwd);
    expect(said).toContain(`listens on ${url}`);
    expect(said.match(/^curl /gm)).toHaveLength(1);
    const result: BatchResult = JSON.parse(await paste(curl, '/'));
    const scratch = scratchOf(result);
    expect(existsSync(scratch)).toBe(true);
    rmSync(scratch);
    expect(result.state).toBe('finished');
    expect(result.commands.map(({ command }) => command)).toEqual([
      'git log --oneline -5',
      'git status',
      'ls -la',
      'grep -rn "export" src',
      'wc -l README.md',
      `date > ${scratch}`,
      `cat ${scratch}`,
    ]);
    const kinds = result.commands.map(({ verdict }) => verdict.kind);
    expect(kinds).toEqual([...Array(5).fill('parallel'), 'serial', 'parallel']);
    expect(result.commands.map(({ exitCode }) => exitCode)).toEqual(Array(7).fill(0));
    expect(result.commands[0]?.stdout).toContain('the first commit');
    expect(result.commands[3]?.stdout).toBe('src/a.ts:1:export const a = 1;\n');
    expect(result.commands[4]?.stdout).toBe('2 README.md\n');
    expect(result.commands[6]?.stdout).toMatch(/\d\d:\d\d:\d\d/);
    for (const { queuedMs, waitedMs, ranMs } of result.commands)
      expect([queuedMs, waitedMs, ranMs].every((ms) => typeof ms === 'number' && ms >= 0)).toBe(true);
    child.kill('SIGTERM');
    expect((await once(child, 'exit'))[0]).toBe(0);
  });

  test('with a token: the printed request reads it from its file, and without it nothing runs', async () => {
    const cwd = oddRepository();
    const directory = temporaryDirectory({ 'my token': 'a-secret-token-of-some-length-0123456789\n' });
    const { curl, url, said } = await startService(['--token-file', join(directory, 'my token')], cwd);
    expect(said).not.toContain('a-secret-token');
    const result: BatchResult = JSON.parse(await paste(curl, '/'));
    expect(result.commands).toHaveLength(7);
    rmSync(scratchOf(result));
    const marker = join(cwd, 'marker');
    const refused = await fetch(`${url}/batches`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', prefer: 'wait=5' },
      body: JSON.stringify({ commands: [`echo > '${marker}'`] }),
    });
    expect(refused.status).toBe(401);
    expect(existsSync(marker)).toBe(false);
  });

  test('the request runs in a root when the service was started outside of all', async () => {
    const root = oddRepository();
    const { curl } = await startService(['--root', root], temporaryDirectory());
    const result: BatchResult = JSON.parse(await paste(curl, '/'));
    rmSync(scratchOf(result));
    expect(result.commands[4]?.stdout).toBe('2 README.md\n');
  });

  test.each(['SIGTERM', 'SIGINT'] as const)('%s: what runs may end, and its answer is delivered', async (signal) => {
    const cwd = temporaryDirectory();
    const { child, url } = await startService([], cwd);
    const answer = fetch(`${url}/batches`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', prefer: 'wait=30' },
      body: JSON.stringify({ commands: ['echo begun > begun; sleep 1; echo done'] }),
    });
    while (!existsSync(join(cwd, 'begun'))) await new Promise((resolve) => setTimeout(resolve, 20));
    child.kill(signal);
    const result = (await (await answer).json()) as BatchResult;
    expect(result.commands[0]).toMatchObject({ state: 'exited', exitCode: 0, stdout: 'done\n' });
    expect((await once(child, 'exit'))[0]).toBe(0);
  });

  test('a port that is taken: it says so and ends with 1', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const { code, stdout, stderr } = await runCli(['serve', '--port', String(port)], { cwd: temporaryDirectory() });
    taken.close();
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^signalbox: .*${port}.* in use`, 'm'));
  });

  test.each([
    [['--host', '0.0.0.0'], 'token'],
    [['--token-file', 'nowhere'], 'nowhere'],
    [['--root', 'nowhere'], 'nowhere'],
    [['--config', 'nowhere.json'], 'nowhere.json'],
  ])('%j is refused before it listens: exit code 2 and why', async (args, said) => {
    const { code, stdout, stderr } = await runCli(['serve', ...args], { cwd: temporaryDirectory() });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^signalbox: /);
    expect(stderr).toContain(said);
  });

  test('flags win over variables, and variables over the file', async () => {
    const cwd = temporaryDirectory({
      'config.json': JSON.stringify({ port: 1, logLevel: 'silent', limits: { maxCommands: 2 } }),
    });
    const { url } = await startService(['--config', 'config.json'], cwd, {
      SIGNALBOX_PORT: '2',
      SIGNALBOX_MAX_COMMANDS: '3',
    });
    const body = (count: number) => JSON.stringify({ commands: Array(count).fill('true') });
    const post = (count: number) =>
      fetch(`${url}/batches`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: body(count) });
    expect((await post(3)).status).toBe(201);
    expect((await post(4)).status).toBe(400);
  });

  test('--no-network counts more than what the environment says', async () => {
    const { url } = await startService(['--no-network'], temporaryDirectory(), {
      SIGNALBOX_ALLOW_NETWORK: 'true',
      SIGNALBOX_ALLOW_DAEMON: 'false',
    });
    const commands = ['npm view react', 'systemctl status sshd', 'ls'];
    const body = JSON.stringify({ commands, allow: { network: true, daemon: true } });
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${url}/classify`, { method: 'POST', headers, body });
    const { verdicts } = (await answer.json()) as { verdicts: { kind: string; reason?: { code: string } }[] };
    expect(verdicts.map(({ kind, reason }) => reason?.code ?? kind)).toEqual([
      'EFFECT_REFUSED',
      'EFFECT_REFUSED',
      'parallel',
    ]);
  });

  test('at the default level the log says what happened and never a command', async () => {
    const { child, url } = await startService([], temporaryDirectory(), { SIGNALBOX_LOG_LEVEL: 'info' });
    let log = '';
    child.stderr?.on('data', (text) => {
      log += text;
    });
    await fetch(`${url}/batches`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', prefer: 'wait=5' },
      body: JSON.stringify({ commands: ['echo a-canary-in-a-command'] }),
    });
    child.kill('SIGTERM');
    await once(child, 'exit');
    expect(log).toContain('"level"');
    expect(log).not.toContain('canary');
  });
});
