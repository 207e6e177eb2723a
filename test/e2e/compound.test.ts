import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { BatchResult } from '../../src/dispatcher/types.ts';
import { endOf, ROOT, runCli, startCli, temporaryDirectory } from './cli.ts';

const jsonLines = (values: readonly unknown[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join('');
const answersOf = (stdout: string): readonly string[] =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    .map((verdict) => (verdict.kind === 'serial' ? verdict.reason.code : verdict.kind));

const PIPE = 'cat three.txt | head -1';

describe('compound mode on the command line', () => {
  test('is off unless it is asked for', async () => {
    expect((await runCli(['classify', PIPE])).stdout).toContain('TEXT_OPERATOR');
    const { code, stdout, stderr } = await runCli(['classify', '--mode', 'compound', PIPE]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.split('\n')).toEqual([
      `parallel  ${PIPE}`,
      '  rule     cat (built-in), head (built-in)',
      '  profile  generic',
      '  effects  reads-files',
      '  part     cat three.txt  [cat (built-in); generic]',
      '  part     head -1  [head (built-in); generic; reads the pipe]',
      '',
    ]);
  });

  test('explains what was refused of which part', async () => {
    const explained = await runCli(['explain', '--mode', 'compound', 'ls | rm x; pwd']);
    expect(explained.stdout).toMatch(/^serial: COMMAND_REFUSED/);
    expect(explained.stdout).toContain('  ls | rm x; pwd\n       ^^\n');
    const proved = await runCli(['explain', '--mode', 'compound', PIPE]);
    expect(proved.stdout).toContain('\n[ok] Part 2 of 2: the built-in rule of `head`, behind a pipe\n');
    expect(proved.stdout).not.toContain('  part     ');
  });

  test('line by line: the flag counts for lines that name no mode', async () => {
    const lines = [PIPE, { command: PIPE, mode: 'simple' }, { command: PIPE, mode: 'compound' }];
    const ask = async (...flags: string[]) =>
      answersOf((await runCli(['classify', '--stdin', ...flags], { input: jsonLines(lines) })).stdout);
    expect(await ask()).toEqual(['TEXT_OPERATOR', 'TEXT_OPERATOR', 'parallel']);
    expect(await ask('--mode', 'compound')).toEqual(['parallel', 'TEXT_OPERATOR', 'parallel']);
  });

  test('runs a batch: the flag counts more than the file, and the timeline has a row for each', async () => {
    const commands = [
      { id: 'first', command: PIPE },
      { id: 'second', command: 'cd sub && pwd' },
    ];
    const batch = (more: object) => JSON.stringify({ commands, ...more });
    const cwd = temporaryDirectory({
      'three.txt': 'one\ntwo\nthree\n',
      'sub/in.txt': '',
      'plain.json': batch({}),
      'compound.json': batch({ mode: 'compound' }),
    });
    const kinds = async (...args: string[]) => {
      const { code, stdout } = await runCli(['run', '--format', 'json', ...args], { cwd });
      const result = JSON.parse(stdout) as BatchResult;
      expect(result.commands.map((one) => one.stdout)).toEqual(['one\n', `${cwd}/sub\n`]);
      expect(code).toBe(0);
      return result.commands.map(({ verdict }) => verdict.kind);
    };
    expect(await kinds('plain.json')).toEqual(['serial', 'serial']);
    expect(await kinds('compound.json')).toEqual(['parallel', 'parallel']);
    expect(await kinds('--mode', 'simple', 'compound.json')).toEqual(['serial', 'serial']);
    const { stdout } = await runCli(['run', '--output', 'all', 'compound.json'], { cwd });
    expect(stdout).toMatch(/^first +cat three\.txt \| head -1 .* parallel +0 /m);
    expect(stdout).toMatch(/^second +cd sub && pwd .* parallel +0 /m);
  });

  test('is what a service is started with, and announces', async () => {
    const cwd = temporaryDirectory({ 'three.txt': 'one\n' });
    const start = async (args: readonly string[], env: Readonly<Record<string, string>>) => {
      const child = startCli(['serve', '--port', '0', ...args], {
        cwd,
        env: { SIGNALBOX_LOG_LEVEL: 'silent', ...env },
      });
      const [said] = await once(child.stdout ?? process.stdin, 'data');
      const url = /http:\/\/[^ ]+/.exec(String(said))?.[0];
      const told = (await (await fetch(`${url}/capabilities`)).json()) as {
        mode: string;
        capabilities: readonly string[];
      };
      const asked = await fetch(`${url}/classify`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ command: PIPE }),
      });
      const { kind } = (await asked.json()) as { kind: string };
      child.kill('SIGTERM');
      await endOf(child);
      expect(told.capabilities).toContain('compound');
      return [told.mode, kind];
    };
    expect(await start(['--mode', 'compound'], {})).toEqual(['compound', 'parallel']);
    expect(await start([], { SIGNALBOX_MODE: 'compound' })).toEqual(['compound', 'parallel']);
    expect(await start(['--mode', 'simple'], { SIGNALBOX_MODE: 'compound' })).toEqual(['simple', 'serial']);
  });

  test('the example overlaps its lists and pipelines', async () => {
    const cwd = temporaryDirectory({ 'src/a.ts': 'function a() {}\n' });
    const { stdout } = await runCli(['run', '--format', 'json', join(ROOT, 'examples/compound.json')], { cwd });
    const { commands } = JSON.parse(stdout) as BatchResult;
    expect(commands.filter(({ verdict }) => verdict.kind === 'serial').map(({ id }) => id)).toEqual(['write']);
  });
});
