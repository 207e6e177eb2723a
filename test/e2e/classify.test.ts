import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Verdict } from '../../src/classifier/verdict.ts';
import { endOf, MAIN, plainEnvironment, ROOT, runCli, startCli, temporaryDirectory } from './cli.ts';

const verdictsOf = (stdout: string): Verdict[] =>
  stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));

const jsonLines = (values: readonly unknown[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');

describe('signalbox', () => {
  test('--version prints the version of the package', async () => {
    const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
    expect(await runCli(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  test.each([[[]], [['classify']], [['explain']], [['run']], [['serve']], [['rules']], [['doctor']]])(
    'the help of %j fits 80 columns and has examples',
    async (command) => {
      const { code, stdout, stderr } = await runCli([...command, '--help']);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain('\nExamples:\n  signalbox ');
      for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    },
  );

  test.each([
    [['frobnicate'], "unknown command 'frobnicate'"],
    [['classify'], 'either one command in quotes or --stdin'],
    [['classify', '--stdin', 'ls'], 'either one command in quotes or --stdin'],
    [['classify', 'git', 'status'], 'in quotes'],
    [['classify', '--format', 'xml', 'ls'], 'Allowed choices'],
    [['classify', '--mode', 'fast', 'ls'], 'Allowed choices are simple, compound'],
    [['explain', '--mode', 'fast', 'ls'], 'Allowed choices are simple, compound'],
    [['run', '--mode', 'fast', 'x'], 'Allowed choices are simple, compound'],
    [['serve', '--mode', 'fast'], 'Allowed choices are simple, compound'],
    [['classify', '--rules', 'nowhere.json', 'ls'], 'nowhere.json'],
    [['explain'], "missing required argument 'command'"],
    [['run'], "missing required argument 'file'"],
    [['run', '--max-parallel', '0', 'x'], 'integer from 1 to 256'],
    [['run', '--max-parallel', '1e3', 'x'], 'integer from 1 to 256'],
    [['serve', '--port', '65536'], 'integer from 0 to 65535'],
  ])('%j is a usage error: exit code 2 and a sentence on standard error', async (args, said) => {
    const { code, stdout, stderr } = await runCli(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^(signalbox: .*\n)+$/);
    expect(stderr).toContain(said);
  });

  test('quotes are named where a command without them looks like this, and not where a value is wrong', async () => {
    const about = async (...args: readonly string[]) => (await runCli(args)).stderr.split('\n').slice(1, -1);
    const quotes = 'signalbox: The command must be one argument, in quotes.';
    expect(await about('explain', 'git', 'log')).toEqual([
      quotes,
      'signalbox: signalbox explain --help tells what there is.',
    ]);
    expect(await about('explain', 'git log', '--oneline')).toContain(quotes);
    expect(await about('explain', '--mode', 'fast', 'ls')).toEqual([
      'signalbox: signalbox explain --help tells what there is.',
    ]);
    expect(await about('rules', 'list', '--format', 'x')).toEqual([
      'signalbox: signalbox rules list --help tells what there is.',
    ]);
    expect(await about('nothing')).toEqual(['signalbox: signalbox --help tells what there is.']);
  });

  test('every fault of a rule file is a line, and its place stands in it once', async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'x.json'), JSON.stringify({ schema: 1, binary: 'x', colour: 1, taste: 2 }));
    const { code, stderr } = await runCli(['classify', '--rules', join(directory, 'x.json'), 'x']);
    const lines = stderr.trimEnd().split('\n');
    expect(code).toBe(2);
    expect(lines.length).toBeGreaterThan(2);
    for (const line of lines) expect(line).toMatch(/^signalbox: .*x\.json/);
    expect(stderr.match(/at \/colour/g)).toHaveLength(1);
    expect(stderr).not.toContain('(at ');
  });

  test('what a broken batch file holds stays on one line', async () => {
    const file = join(temporaryDirectory(), 'broken.json');
    writeFileSync(file, '{"commands": ["ls",]}\n');
    const { code, stderr } = await runCli(['run', file]);
    expect({ code, lines: stderr.split('\n').length }).toEqual({ code: 2, lines: 2 });
    expect(stderr).toContain('broken.json is not JSON');
  });

  test('nothing asked for: the help, on standard error, and exit code 2', async () => {
    const { code, stdout, stderr } = await runCli([]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^Usage: signalbox/);
  });
});

describe('signalbox classify', () => {
  test('answers in words', async () => {
    const parallel = await runCli(['classify', 'git log --oneline -5']);
    expect(parallel).toMatchObject({ code: 0, stderr: '' });
    expect(parallel.stdout).toMatch(/^parallel {2}git log --oneline -5\n {2}rule +git log \(built-in\)\n/);
    const serial = await runCli(['classify', 'git log > log.txt']);
    expect(serial).toMatchObject({ code: 0, stderr: '' });
    expect(serial.stdout).toMatch(/^serial {2}git log > log\.txt\n {2}TEXT_REDIRECTION: /);
  });

  test('answers with the verdict of the library as JSON', async () => {
    const { stdout } = await runCli(['classify', '--format', 'json', 'ls -la']);
    expect(JSON.parse(stdout)).toMatchObject({ kind: 'parallel', run: { form: 'argv', argv: ['ls', '-la'] } });
    const line = await runCli(['classify', '--format', 'ndjson', 'ls -la']);
    expect(line.stdout.split('\n')).toHaveLength(2);
    expect(JSON.parse(line.stdout)).toEqual(JSON.parse(stdout));
  });

  test('shows no control character of the command', async () => {
    const { stdout } = await runCli(['classify', 'ls \u001b[2J']);
    expect(stdout).not.toContain('\u001b');
    expect(stdout).toContain('\\x1b[2J');
  });

  test('asks about the directory that the command would run in', async () => {
    const { stdout } = await runCli(['classify', '--format', 'json', '--cwd', '/dev', 'cat null']);
    expect(JSON.parse(stdout)).toMatchObject({ kind: 'serial' });
  });

  test.each([
    [[], ['parallel', 'parallel']],
    [['--no-network'], ['EFFECT_REFUSED', 'parallel']],
    [['--no-daemon'], ['parallel', 'EFFECT_REFUSED']],
    [
      ['--no-network', '--no-daemon'],
      ['EFFECT_REFUSED', 'EFFECT_REFUSED'],
    ],
  ])('%j says which readers are serial', async (flags, expected) => {
    const input = jsonLines(['npm view react', 'systemctl status sshd']);
    const { stdout } = await runCli(['classify', '--stdin', ...flags], { input });
    expect(verdictsOf(stdout).map((v) => (v.kind === 'serial' ? v.reason.code : v.kind))).toEqual(expected);
    const { stdout: explained } = await runCli(['explain', ...flags, 'npm view react']);
    expect(explained).toMatch(expected[0] === 'parallel' ? /^parallel/ : /^serial: EFFECT_REFUSED/);
  });

  test('a line can refuse readers, and a misspelt name ends the run', async () => {
    const input = jsonLines([
      { command: 'npm view react', allow: { network: false } },
      { command: 'npm view react', allow: { netwrok: false } },
    ]);
    const { code, stdout, stderr } = await runCli(['classify', '--stdin'], { input });
    expect(verdictsOf(stdout)).toMatchObject([{ reason: { code: 'EFFECT_REFUSED' } }]);
    expect(code).toBe(2);
    expect(stderr).toContain('Line 2');
  });

  test('knows further rules', async () => {
    const rule = {
      schema: 1,
      binary: 'frobnicate',
      docs: 'https://example.org/frobnicate',
      reviewed: { version: '1', on: '2026-01-01', how: 'read its source' },
      maturity: 'stable',
      portable: true,
      syntax: 'getopt',
      command: { why: 'prints a line and ends', stdin: 'never', operands: [] },
      examples: { parallel: ['frobnicate'], serial: [{ command: 'frobnicate x', code: 'OPERAND_UNEXPECTED' }] },
    };
    const directory = temporaryDirectory({ 'frobnicate.json': JSON.stringify(rule) });
    const asked = await runCli(['classify', '--rules', 'frobnicate.json', 'frobnicate'], { cwd: directory });
    expect(asked).toMatchObject({ code: 0, stderr: '' });
    expect(asked.stdout).toContain('frobnicate (user)');
  });
});

describe('signalbox classify --stdin', () => {
  test('prints one verdict a line, in the order of the lines', async () => {
    const input = jsonLines(['ls -la', { command: 'git push' }, 'git status', { command: 'cat\tx', other: 1 }, 7]);
    const { code, stdout, stderr } = await runCli(['classify', '--stdin'], { input });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const told = verdictsOf(stdout).map((v) => (v.kind === 'parallel' ? v.rule[0]?.path : v.reason.code));
    expect(told).toEqual(['ls', 'SUBCOMMAND_UNKNOWN', 'git status', 'cat', 'INPUT_NOT_TEXT']);
  });

  test('the directory and the variables of a line are asked about', async () => {
    const input = jsonLines([
      { command: 'ls', cwd: '/proc' },
      { command: 'ls', env: { LD_PRELOAD: '/tmp/x.so' } },
    ]);
    const { stdout } = await runCli(['classify', '--stdin', '--format', 'ndjson'], { input });
    const codes = verdictsOf(stdout).map((v) => (v.kind === 'serial' ? v.reason.code : v.kind));
    expect(codes).toEqual(['DIRECTORY_DEVICE', 'VARIABLE_UNKNOWN']);
  });

  test('in words: one line a command', async () => {
    const input = jsonLines(['ls', 'rm\nx']);
    const { stdout } = await runCli(['classify', '--stdin', '--format', 'text'], { input });
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(/^parallel +ls$/),
      expect.stringMatching(/^serial +TEXT_NEWLINE +rm\\nx$/),
      '',
    ]);
  });

  test.each([
    ['not JSON', 'nonsense', 'expected a JSON value'],
    ['empty', '', 'an empty line'],
    ['an object without a command', '{"cmd":"ls"}', 'an object with "command"'],
    ['in another mode', '{"command":"ls","mode":"fast"}', 'expected "mode" to be "simple" or "compound"'],
  ])('a line that is %s ends it: its number, exit code 2, and the verdicts before it', async (_what, line, said) => {
    const { code, stdout, stderr } = await runCli(['classify', '--stdin'], { input: `"ls"\n"pwd"\n${line}\n"ls"\n` });
    expect(code).toBe(2);
    expect(verdictsOf(stdout)).toHaveLength(2);
    expect(stderr).toMatch(/^signalbox: Line 3 of standard input: /);
    expect(stderr).toContain(said);
  });

  test('answers a line before the next one has come', async () => {
    const child = startCli(['classify', '--stdin']);
    child.stdin?.write('"ls"\n');
    const [answer] = await once(child.stdout ?? process.stdin, 'data');
    expect(JSON.parse(String(answer))).toMatchObject({ kind: 'parallel' });
    child.stdin?.end('"pwd"\n');
    expect(verdictsOf((await endOf(child)).stdout)).toHaveLength(1);
  });

  test('takes in no more than it can print, and loses nothing', async () => {
    const child = startCli(['classify', '--stdin']);
    const count = 60_000;
    child.stdin?.end(jsonLines(Array.from({ length: count }, (_, n) => `ls directory-${n}`)));
    // Nobody reads: what it has taken in must be bounded by buffers, however long this takes.
    await once(child.stdout ?? process.stdin, 'readable');
    await pause(500);
    expect(child.stdin?.writableLength).toBeGreaterThan(0);
    const { code, stdout } = await endOf(child);
    expect(code).toBe(0);
    const verdicts = verdictsOf(stdout);
    expect(verdicts).toHaveLength(count);
    expect(verdicts[count - 1]).toMatchObject({ run: { argv: ['ls', `directory-${count - 1}`] } });
  });

  test('ends quietly when its reader has seen enough', () => {
    const script = `set -o pipefail; yes '"ls"' | "${process.execPath}" "${MAIN}" classify --stdin | head -n 1; echo "\${PIPESTATUS[@]}"`;
    const { stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8', env: plainEnvironment() });
    expect(stderr).toBe('');
    const [verdict = '', statuses] = stdout.split('\n');
    expect(JSON.parse(verdict)).toMatchObject({ kind: 'parallel' });
    expect(statuses?.split(' ')[1]).toBe('0');
  });

  test('says when its output cannot be written', async () => {
    const full = spawn('bash', ['-c', `"${process.execPath}" "${MAIN}" classify ls > /dev/full`], {
      env: plainEnvironment(),
    });
    const { code, stderr } = await endOf(full);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^signalbox: .*ENOSPC/);
  });
});

describe('signalbox explain', () => {
  test('shows the checks as steps and underlines what was refused', async () => {
    const { code, stdout, stderr } = await runCli(['explain', 'git log --oneline > out.txt']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.split('\n');
    const at = lines.findIndex((line) => line.endsWith('git log --oneline > out.txt'));
    const column = (lines[at] ?? '').indexOf('>');
    expect(lines[at + 1]).toBe(`${' '.repeat(column)}^`);
    expect(lines.filter((line) => /^\[(?:ok|no|--)\] /.test(line))).toEqual([
      expect.stringMatching(/^\[no\] Metacharacters: /),
      expect.stringMatching(/^\[--\] Leading token: /),
      expect.stringMatching(/^\[--\] Subcommand and shape: /),
    ]);
  });

  test('says what would make it parallel', async () => {
    const { stdout } = await runCli(['explain', 'git branch new']);
    expect(stdout).toMatch(/^\[ok\] Leading token: [\s\S]*^What would help: /m);
  });

  test('takes a parallel command apart, too', async () => {
    const { stdout } = await runCli(['explain', 'git status']);
    expect(stdout.match(/^\[ok\] /gm)).toHaveLength(3);
    expect(stdout).toMatch(/^parallel/);
    expect(stdout).toMatch(/^ {2}profile {2}git\n {2}effects {2}\S.*$/m);
  });

  test('has no colours in a pipe, and its JSON is the explanation', async () => {
    const { stdout } = await runCli(['explain', 'ls; ls']);
    expect(stdout).not.toContain('\u001b');
    const json = await runCli(['explain', '--format', 'json', 'ls; ls']);
    expect(JSON.parse(json.stdout)).toMatchObject({ kind: 'serial', code: 'TEXT_OPERATOR', span: [2, 3] });
  });
});
