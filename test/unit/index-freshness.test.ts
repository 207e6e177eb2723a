import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, readFileSync, renameSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createDispatcher } from '../../src/dispatcher/index.ts';
import { staleEntry } from '../../src/dispatcher/index-freshness.ts';
import { loadRules } from '../../src/rules/load.ts';
import { temporaryDirectory } from '../support/dispatcher.ts';

const rules = loadRules();

function git(cwd: string, ...words: string[]): string {
  const env = { PATH: process.env.PATH, HOME: cwd, GIT_CONFIG_NOSYSTEM: '1' };
  return execFileSync('git', ['-c', 'user.name=n', '-c', 'user.email=e@example.org', ...words], {
    cwd,
    env,
    encoding: 'utf8',
  });
}

/** A repository with three files whose index has just been written. */
function repository(): string {
  const top = temporaryDirectory();
  git(top, 'init', '-q');
  for (const name of ['a', 'b', 'c']) writeFileSync(join(top, name), `${name}\n`);
  symlinkSync('a', join(top, 'link'));
  git(top, 'add', '.');
  git(top, 'commit', '-qm', 'one');
  git(top, 'update-index', '-q', '--refresh');
  return top;
}

function stale(top: string): string | null {
  return staleEntry(readFileSync(join(top, '.git', 'index')), 20, top);
}

const LONG_AGO = new Date('2020-01-01T00:00:00Z');

describe('a stale entry', () => {
  test('is a file with new times and its recorded content, in every version of the index', () => {
    for (const version of ['2', '3', '4']) {
      const top = repository();
      git(top, 'update-index', '--index-version', version);
      expect(stale(top)).toBeNull();
      utimesSync(join(top, 'b'), LONG_AGO, LONG_AGO);
      expect(stale(top)).toContain('b has new times');
      git(top, 'status');
      expect(stale(top)).toBeNull();
    }
  });

  test('is no file that has really changed, or is gone, or is another kind of thing', () => {
    const top = repository();
    writeFileSync(join(top, 'a'), 'other\n');
    writeFileSync(join(top, 'b'), 'x\n');
    renameSync(join(top, 'c'), join(top, 'untracked'));
    expect(stale(top)).toBeNull();
  });

  test('may be a file that is converted before it is compared', () => {
    const top = repository();
    writeFileSync(join(top, 'a'), 'a\r\n');
    expect(stale(top)).toContain('converted');
    writeFileSync(join(top, 'a'), '$Id: 1 $\n');
    expect(stale(top)).toContain('converted');
  });

  test('is a copy of everything, and a file whose rights were changed and changed back', () => {
    const top = repository();
    copyFileSync(join(top, 'a'), join(top, 'again'));
    renameSync(join(top, 'again'), join(top, 'a'));
    expect(stale(top)).toContain('a has new times');
    git(top, 'status');
    chmodSync(join(top, 'b'), 0o755);
    chmodSync(join(top, 'b'), 0o644);
    expect(stale(top)).toContain('b has new times');
  });

  test('cannot be told in an index that is split, cut or nonsense', () => {
    const top = repository();
    const index = readFileSync(join(top, '.git', 'index'));
    expect(staleEntry(index.subarray(0, 100), 20, top)).toContain('cannot be read');
    expect(staleEntry(Buffer.from('nonsense'), 20, top)).toContain('cannot be read');
    git(top, 'update-index', '--split-index');
    expect(stale(top)).toContain('split');
  });
});

describe('a read that would refresh the index', () => {
  test('runs alone where a file has new times, answers as git does, and is parallel afterwards', async () => {
    const cwd = repository();
    utimesSync(join(cwd, 'b'), LONG_AGO, LONG_AGO);
    const environment = { PATH: process.env.PATH, HOME: cwd, GIT_CONFIG_NOSYSTEM: '1' };
    const dispatcher = createDispatcher({ rules, cwd, environment: { PATH: process.env.PATH, HOME: cwd } });
    const commands = ['git diff --quiet', 'git diff --name-only', 'git log --oneline', 'git status --short'];
    expect(dispatcher.plan(commands).commands.map(({ verdict }) => verdict.kind)).toEqual([
      ...['serial', 'serial', 'parallel', 'parallel'],
    ]);
    const first = await dispatcher.dispatch(['git diff --quiet', 'git diff --name-only']).done;
    expect(first.commands.map(({ exitCode, stdout }) => [exitCode, stdout])).toEqual([
      [0, ''],
      [0, ''],
    ]);
    expect(first.commands[0]?.verdict).toMatchObject({ kind: 'serial', reason: { code: 'REPOSITORY_STALE' } });
    expect(dispatcher.plan(commands).commands.map(({ verdict }) => verdict.kind)).toEqual(Array(4).fill('parallel'));
    writeFileSync(join(cwd, 'a'), 'changed\n');
    const [changed] = (await dispatcher.dispatch(['git diff --name-only']).done).commands;
    expect(changed).toMatchObject({ stdout: 'a\n', verdict: { kind: 'parallel', assumes: [] } });
    expect(execFileSync('git', ['diff', '--name-only'], { cwd, env: environment, encoding: 'utf8' })).toBe('a\n');
    await dispatcher.shutdown();
  });
});
