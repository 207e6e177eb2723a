import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { plan } from '../../src/http/answers.ts';
import { runCli, temporaryDirectory } from './cli.ts';

const FILE = JSON.stringify({
  commands: [
    'ls',
    { id: 'here', command: 'pwd', lockKeys: ['db', { key: 'cache', mode: 'shared' }] },
    { id: 'write', command: 'echo hello > made.txt' },
    'cat made.txt',
  ],
});

describe('signalbox plan', () => {
  test('draws groups, verdicts and keys, and runs nothing', async () => {
    const cwd = temporaryDirectory({ 'batch.json': FILE });
    const { code, stdout, stderr } = await runCli(['plan', 'batch.json'], { cwd });
    expect([code, stderr]).toEqual([0, '']);
    const lines = stdout.split('\n');
    expect(lines.filter((line) => line.startsWith('group'))).toEqual([
      'group 1  parallel, 2 commands at once',
      'group 2  serial',
      'group 3  parallel',
    ]);
    const at = lines.indexOf('  here   pwd');
    expect(lines.slice(at + 1, at + 4)).toEqual([
      expect.stringMatching(/^ {9}profile /),
      expect.stringMatching(/^ {9}shared: .*file:.*, cache$/),
      '         exclusive: db',
    ]);
    expect(stdout).toMatch(/ {2}write {2}echo hello > made.txt\n {9}[A-Z_]+: .*\n {9}exclusive: /);
    expect(existsSync(join(cwd, 'made.txt'))).toBe(false);
  });

  test.each([['--json'], ['--format=json']])('%s prints the plan of the library', async (flag) => {
    const cwd = temporaryDirectory({ 'batch.json': FILE });
    const { code, stdout } = await runCli(['plan', flag, 'batch.json'], { cwd });
    const planned = plan.parse(JSON.parse(stdout));
    expect(code).toBe(0);
    expect(planned.groups).toEqual([
      { kind: 'parallel', commandIds: ['c1', 'here'] },
      { kind: 'serial', commandIds: ['write'] },
      { kind: 'parallel', commandIds: ['c4'] },
    ]);
  });

  test('no character of a command reaches the terminal as such', async () => {
    const cwd = temporaryDirectory();
    const input = JSON.stringify({ commands: [{ id: 'a\u001b[2J', command: 'echo \u001b[31m\u202e' }] });
    const { stdout } = await runCli(['plan', '-'], { cwd, input });
    expect(stdout).toContain('echo \\x1b[31m\\u{202e}');
    expect(stdout).not.toMatch(/[\u001b\u202e]/);
  });

  test.each([
    ['no commands', '{"commands":[]}', 'Expected at least one command'],
    ['what only a service can be asked', '{"commands":["ls"],"open":true}', 'open'],
    ['a directory that is not there', '{"commands":["ls"],"cwd":"nowhere"}', 'nowhere'],
    ['an id twice', '{"commands":[{"id":"a","command":"ls"},{"id":"a","command":"pwd"}]}', 'unique'],
  ])('%s ends with 2', async (_name, input, expected) => {
    const { code, stdout, stderr } = await runCli(['plan', '-'], { cwd: temporaryDirectory(), input });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(expected);
  });
});
