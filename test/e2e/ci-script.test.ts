import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT, temporaryDirectory } from './cli.ts';

const SCRIPT = join(ROOT, '.ci', 'run');

/** What the tests start, by the script's own list. */
const needed = [...readFileSync(SCRIPT, 'utf8').matchAll(/(?<= |^)([\w-]+):([\w-]+)(?= |$)/gm)].map(
  ([, program = '', pack = '']) => ({ program, pack }),
);

/** A machine that has these programs and no others: each is the text of a script, or the real one. */
function runOn(programs: Readonly<Record<string, string>>, without: readonly string[] = []) {
  const bin = join(temporaryDirectory(), 'bin');
  mkdirSync(bin);
  for (const name of ['bash', 'dirname', 'env', 'cat']) symlinkSync(`/usr/bin/${name}`, join(bin, name));
  const rest = Object.fromEntries(needed.map(({ program }) => [program, 'exit 0']));
  for (const [name, text] of Object.entries({ ...rest, ...programs })) {
    if (without.includes(name)) continue;
    writeFileSync(join(bin, name), `#!/usr/bin/bash\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const { status, stdout, stderr } = spawnSync('/usr/bin/bash', [SCRIPT], { env: { PATH: bin }, encoding: 'utf8' });
  return { status, stdout, stderr };
}

const node = 'exit 0';
const npm = 'echo "npm $*"; if [ "$1" = test ]; then echo; echo "3 passed, 0 failed"; fi';

describe('.ci/run', () => {
  test('knows what the tests need', () => {
    const programs = needed.map(({ program }) => program);
    expect(programs).toEqual(expect.arrayContaining(['git', 'rg', 'jq', 'tree', 'file', 'strace', 'curl', 'script']));
  });

  test('installs from the lock file, then runs exactly npm test, and its last line is the counts', () => {
    expect(runOn({ node, npm })).toEqual({
      status: 0,
      stdout: 'npm ci\nnpm test\n\n3 passed, 0 failed\n',
      stderr: '',
    });
  });

  test('ends with the exit code of npm test', () => {
    const failing = 'if [ "$1" = test ]; then echo "2 passed, 1 failed"; exit 1; fi';
    expect(runOn({ node, npm: failing })).toMatchObject({ status: 1, stdout: '2 passed, 1 failed\n' });
  });

  test('asks apt for what is missing, and for nothing else', () => {
    const log = 'echo "apt-get $*" >&2';
    const asRoot = { node, npm, 'apt-get': log, sudo: 'shift; "$@"' };
    const { status, stderr } = runOn(asRoot, ['rg', 'tree']);
    expect(stderr.split('\n').filter((line) => line.startsWith('apt-get'))).toEqual([
      'apt-get update -qq',
      'apt-get install -y -qq --no-install-recommends ripgrep tree',
    ]);
    expect(status).toBe(0);
    expect(runOn(asRoot).stderr).toBe('');
  });

  test('says what is missing where it cannot install', () => {
    const { status, stderr } = runOn({ node, npm }, ['rg', 'strace']);
    expect(status).toBe(1);
    expect(stderr).toContain('Missing programs: rg strace.');
  });

  test('says which Node is needed', () => {
    const old = 'if [ "$1" = --version ]; then echo v18.20.0; else exit 1; fi';
    const { status, stderr } = runOn({ node: old, npm });
    expect({ status, stderr }).toEqual({ status: 1, stderr: 'Node 20.19 or later is needed; found: v18.20.0.\n' });
  });
});
