import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './source-files.ts';

/** Runs a script in a shell that lets it write to a pipe which nobody reads any more; the exit code is the script's. */
function withoutReader(script: string): { readonly code: number | null; readonly stderr: string } {
  const command = 'set -o pipefail; { sleep 0.2; exec node --import tsx "$0"; } | true';
  const { status, stderr } = spawnSync('bash', ['-c', command, script], { cwd: ROOT, encoding: 'utf8' });
  return { code: status, stderr };
}

test('a script whose reader has left says nothing of it, and ends as it would have', () => {
  expect(withoutReader('scripts/score.ts')).toEqual({ code: 0, stderr: '' });
});

test('every script that prints stands a reader that leaves', () => {
  const scripts = readdirSync(join(ROOT, 'scripts')).filter((name) => name.endsWith('.ts'));
  const paths = [...scripts.map((name) => `scripts/${name}`), 'bench/main.ts'];
  const texts = paths.map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
  const printing = texts.filter(({ text }) => text.includes('console.log') || text.includes('process.stdout.write'));
  expect(printing.length).toBeGreaterThan(6);
  expect(printing.filter(({ text }) => !/^import '.*closed-pipe\.ts';$/m.test(text)).map(({ path }) => path)).toEqual(
    [],
  );
});
