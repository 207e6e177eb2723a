import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { endOf, plainEnvironment, ROOT, runCli, startCli, temporaryDirectory } from './cli.ts';

/** What the batches of examples/ look at: a repository with a commit, sources and a README. */
function smallRepository(): string {
  const directory = temporaryDirectory({
    'README.md': '# small\n',
    'package.json': '{}\n',
    'src/one.ts': "import { two } from './two.ts';\nexport function one() { return two; }\n",
    'src/two.ts': 'export const two = 2;\n',
  });
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args], { cwd: directory });
  git('init', '-q');
  git('add', '.');
  git('commit', '-q', '-m', 'one');
  return directory;
}

/** The programs that ask a service, and what they print. */
const WITH_SERVICE: Readonly<Record<string, RegExp>> = {
  'agent-loop.mjs':
    /call_1 runs \(parallel\)[\s\S]*call_3 runs \(serial\)\ncall_4 runs \(parallel\)[\s\S]*call_4: found by the agent\nThe notes are written\.\n$/,
  'ci-list.mjs': /^ok {4}merge markers: exited 0[\s\S]*ok {4}size: exited 0 \d+ ms\n$/,
  'one-liner.sh': /^0 parallel ls\n0 parallel git --version\n0 serial echo written > made\.txt\n$/,
};

/** Waits until the output holds what is looked for; rejects when the process ends before that. */
function told(child: ChildProcess, what: RegExp): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const match = what.exec(text);
      if (match !== null) resolve(match);
    });
    child.once('exit', () => reject(new Error(`It ended without ${what}: ${text}`)));
  });
}

const examples = readdirSync(join(ROOT, 'examples'));

describe('examples/', () => {
  test('holds batches and a program', () => {
    expect(examples).toEqual(expect.arrayContaining(['inspect.json', 'embed.mjs']));
  });

  test.each(examples.filter((name) => name.endsWith('.json')))(
    '%s runs, every command with exit code 0',
    async (name) => {
      const call = ['run', join(ROOT, 'examples', name), '--format', 'json'];
      const { code, stdout, stderr } = await runCli(call, { cwd: smallRepository() });
      const outcomes = JSON.parse(stdout).commands.map(
        (one: { id: string; exitCode: number }) => `${one.id} ${one.exitCode}`,
      );
      expect(outcomes.filter((outcome: string) => !outcome.endsWith(' 0'))).toEqual([]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const kinds = JSON.parse(stdout).commands.map((one: { verdict: { kind: string } }) => one.verdict.kind);
      expect(kinds).toContain('parallel');
      expect(kinds).toContain('serial');
    },
  );

  test('embed.mjs runs', () => {
    const env = plainEnvironment();
    const program = join(ROOT, 'examples', 'embed.mjs');
    const ended = spawnSync(process.execPath, [program], { cwd: ROOT, env, encoding: 'utf8' });
    expect(ended.stderr).toBe('');
    expect(ended.status).toBe(0);
    expect(ended.stdout).toMatch(/^parallel {2}git status\nserial {4}git push\nserial {4}ls src \| wc -l\n/);
    expect(ended.stdout).toMatch(/c3: serial, exit code 0, ran \d+ ms\n$/);
  });

  test('every one is run by a test', () => {
    const byName = ['embed.mjs', ...Object.keys(WITH_SERVICE)];
    expect(examples.filter((name) => !name.endsWith('.json')).sort()).toEqual(byName.sort());
  });

  test.each(Object.entries(WITH_SERVICE))('%s runs against a service', async (name, expected) => {
    const cwd = smallRepository();
    const server = startCli(['serve', '--port', '0'], { cwd });
    try {
      const [, address = ''] = await told(server, /listens on (\S+) /);
      const program = join(ROOT, 'examples', name);
      const [command = '', ...args] = name.endsWith('.mjs') ? [process.execPath, program] : [program];
      const child = spawn(command, [...args, address], { cwd, env: plainEnvironment() });
      const { code, stdout, stderr } = await endOf(child);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(expected);
    } finally {
      server.kill('SIGTERM');
      await endOf(server);
    }
  });

  test('ci-list.mjs fails with the check that fails, and runs none behind it', async () => {
    const cwd = smallRepository();
    writeFileSync(join(cwd, 'src', 'one.ts'), '<<<<<<< ours\n');
    const server = startCli(['serve', '--port', '0'], { cwd });
    try {
      const [, address = ''] = await told(server, /listens on (\S+) /);
      const child = spawn(process.execPath, [join(ROOT, 'examples', 'ci-list.mjs'), address], {
        env: plainEnvironment(),
      });
      const { code, stdout } = await endOf(child);
      expect(code).toBe(1);
      expect(stdout).toMatch(/^FAIL {2}merge markers: exited 1/);
      expect(stdout).toMatch(/FAIL {2}build: skipped/);
      expect(existsSync(join(cwd, 'out'))).toBe(false);
    } finally {
      server.kill('SIGTERM');
      await endOf(server);
    }
  });
});
