import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Whom the proofs run as: root could write where a reader must not, so root steps down to `nobody`. */
export type Identity = { readonly uid?: number; readonly gid?: number };
const NOBODY = 65_534;
export const IDENTITY: Identity = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

export type Throwaway = {
  /** The work tree, a real path under the OS's temporary directory. */
  readonly path: string;
  /** PATH, an empty home and a temporary directory of its own; nothing else of this process. */
  readonly env: Readonly<Record<string, string>>;
  readonly remove: () => void;
};

/**
 * A repository with whatever the examples of the rule name: branches, a merge, a rename, lightweight and annotated tags,
 * two stashes (one with untracked files), notes, a remote with tracking branches, a linked work tree, a submodule, ignored
 * and untracked files. Stats in its index, and in the submodule's, are stale, so that a reader which refreshes an index
 * would rewrite it.
 */
export function makeRepository(): Throwaway {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'signalbox-git-')));
  const path = join(top, 'repository');
  const env = {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    HOME: join(top, 'home'),
    TMPDIR: join(top, 'tmp'),
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
  };
  for (const directory of [top, path, env.HOME, env.TMPDIR]) give(directory);
  const git = (...words: string[]): void => {
    execFileSync('git', words, { cwd: path, env: { ...env, ...AUTHOR }, stdio: 'pipe', ...IDENTITY });
  };
  const write = (name: string, text: string): void => {
    const file = join(path, name);
    give(dirname(file));
    writeFileSync(file, text);
    owned(file);
  };
  const commit = (subject: string): void => {
    git('add', '-A');
    git('commit', '-q', '-m', subject);
  };

  git('init', '-q', '-b', 'main');
  git('config', 'branch.main.description', 'where work comes together');
  write('.gitignore', 'dist\n');
  write('src/a.ts', lines('first', 40));
  write('src/b.ts', lines('other', 10));
  write('packages/core/index.ts', 'export {};\n');
  write('a.txt', 'one\n');
  write('b.txt', 'two\n');
  commit('first');
  git('tag', 'v1.0');
  for (let count = 0; count < 22; count++) {
    write('src/a.ts', lines(`text ${count}`, 40 + count));
    commit(`change ${count}`);
  }
  git('tag', '-a', '-m', 'a release', 'v1.1');
  git('checkout', '-q', '-b', 'feature/side', 'HEAD~2');
  write('src/side.ts', 'foo bar some text\n');
  commit('side, with a bug and a fix');
  git('checkout', '-q', 'main');
  git('merge', '-q', '--no-ff', '-m', 'merge', 'feature/side');
  git('mv', 'src/b.ts', 'src/c.ts');
  commit('rename');
  git('notes', 'add', '-m', 'a note', 'HEAD');
  git('notes', '--ref=review', 'add', '-m', 'reviewed', 'HEAD');
  git('clone', '-q', '--bare', '.', join(top, 'origin.git'));
  git('remote', 'add', 'origin', join(top, 'origin.git'));
  git('fetch', '-q', 'origin');
  git('branch', '-q', '--set-upstream-to=origin/main');
  git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', join(top, 'origin.git'), 'vendor');
  git('commit', '-q', '-m', 'a submodule');
  git('worktree', 'add', '-q', join(top, 'linked'), 'feature/side');
  write('src/a.ts', lines('stashed', 12));
  git('stash', '-q');
  write('untracked.txt', 'new\n');
  write('src/a.ts', lines('stashed again', 9));
  git('stash', 'push', '-q', '-u');
  write('dist/out.js', 'built\n');
  write('src/new.ts', 'foo\n');
  write('src/a.ts', lines('not committed', 45));
  git('add', 'src/a.ts');
  write('b.txt', 'changed\n');
  const old = new Date('2001-02-03T04:05:06Z');
  for (const name of ['a.txt', 'src/c.ts', '.gitignore', 'packages/core/index.ts', 'vendor/a.txt']) {
    utimesSync(join(path, name), old, old);
  }
  return { path, env, remove: () => rmSync(top, { recursive: true, force: true }) };
}

const AUTHOR = {
  GIT_AUTHOR_NAME: 'A Tester',
  GIT_AUTHOR_EMAIL: 'tester@example.invalid',
  GIT_COMMITTER_NAME: 'A Tester',
  GIT_COMMITTER_EMAIL: 'tester@example.invalid',
};

function lines(word: string, count: number): string {
  return `${Array.from({ length: count }, (_, index) => `${word} ${index} foo`).join('\n')}\n`;
}

function give(directory: string): void {
  mkdirSync(directory, { recursive: true });
  chmodSync(directory, 0o755);
  owned(directory);
}

function owned(path: string): void {
  if (IDENTITY.uid !== undefined) chownSync(path, IDENTITY.uid, IDENTITY.gid!);
}
