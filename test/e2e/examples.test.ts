import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { plainEnvironment, ROOT, runCli, temporaryDirectory } from './cli.ts';

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

  test.each(examples.filter((name) => name.endsWith('.mjs')))('%s runs', (name) => {
    const env = plainEnvironment();
    const ended = spawnSync(process.execPath, [join(ROOT, 'examples', name)], { cwd: ROOT, env, encoding: 'utf8' });
    expect(ended.stderr).toBe('');
    expect(ended.status).toBe(0);
    expect(ended.stdout).toMatch(/^parallel {2}git status\nserial {4}git push\nserial {4}ls src \| wc -l\n/);
    expect(ended.stdout).toMatch(/c3: serial, exit code 0, ran \d+ ms\n$/);
  });
});
