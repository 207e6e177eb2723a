import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chownSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Whom the proofs run as: root could write where a reader must not, so root steps down to `nobody`. */
export type Identity = { readonly uid?: number; readonly gid?: number };
const NOBODY = 65_534;
export const IDENTITY: Identity = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

export type Throwaway = {
  /** The work tree, a real path under the OS's temporary directory. */
  readonly path: string;
  /** PATH, an empty home and a temporary directory of its own; nothing else of this process. */
  readonly env: Readonly<Record<'PATH' | 'HOME' | 'TMPDIR' | 'LC_ALL' | 'GIT_CONFIG_NOSYSTEM', string>>;
  /** The same again, with a home of its own, to be spoilt. */
  readonly copy: () => Throwaway;
  readonly remove: () => void;
};

/**
 * A repository with whatever the examples of the rule name: branches, a merge, a rename, lightweight and annotated tags,
 * two stashes (one with untracked files), notes, a remote with tracking branches, a linked work tree, a submodule, ignored
 * and untracked files. Stats in its index, and in the submodule's, are stale, so that a reader which refreshes an index
 * would rewrite it.
 */
export function makeRepository(): Throwaway {
  const repository = makePlace();
  runBash(SCRIPT, repository);
  return repository;
}

/** Names, kinds, times and contents of everything under a directory. */
export function fingerprint(directory: string): string {
  const hash = createHash('sha256');
  const walk = (path: string): void => {
    for (const name of readdirSync(path).sort()) {
      const entry = join(path, name);
      const stat = lstatSync(entry);
      hash.update(`${entry}\0${stat.mode}\0${stat.mtimeMs}\0${stat.ino}\0`);
      if (stat.isDirectory()) walk(entry);
      else hash.update(stat.isFile() ? readFileSync(entry) : '');
    }
  };
  walk(directory);
  return hash.digest('hex');
}

function makePlace(): Throwaway {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'signalbox-git-')));
  const path = join(top, 'repository');
  const env = {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    HOME: join(top, 'home'),
    TMPDIR: join(top, 'tmp'),
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
  };
  for (const directory of [top, path, env.HOME, env.TMPDIR]) {
    mkdirSync(directory, { recursive: true });
    if (IDENTITY.uid !== undefined) chownSync(directory, IDENTITY.uid, IDENTITY.gid!);
  }
  const copy = (): Throwaway => {
    const other = makePlace();
    runBash(`cp -a '${path}/.' .`, other);
    return other;
  };
  return { path, env, copy, remove: () => rmSync(top, { recursive: true, force: true }) };
}

function runBash(script: string, { path, env }: Throwaway): void {
  const options = { cwd: path, env: { ...env, ...AUTHOR }, stdio: 'pipe', ...IDENTITY } as const;
  execFileSync('bash', ['--noprofile', '--norc', '-euc', script], options);
}

const AUTHOR = {
  GIT_AUTHOR_NAME: 'A Tester',
  GIT_AUTHOR_EMAIL: 'tester@example.invalid',
  GIT_COMMITTER_NAME: 'A Tester',
  GIT_COMMITTER_EMAIL: 'tester@example.invalid',
};

const SCRIPT = `
lines() { for ((n = 0; n < $2; n++)); do echo "$1 $n foo"; done; }
commit() { git add -A; git commit -q -m "$1"; }

git init -q -b main
git config branch.main.description 'where work comes together'
mkdir -p src packages/core dist
echo dist >.gitignore
lines first 40 >src/a.ts
lines other 10 >src/b.ts
echo 'export {};' >packages/core/index.ts
echo one >a.txt
echo two >b.txt
commit first
git tag v1.0
for count in {0..21}; do
  lines "text $count" $((40 + count)) >src/a.ts
  git commit -qam "change $count"
done
git tag -a -m 'a release' v1.1
git checkout -q -b feature/side HEAD~2
echo 'foo bar some text' >src/side.ts
commit 'side, with a bug and a fix'
git checkout -q main
git merge -q --no-ff -m merge feature/side
git mv src/b.ts src/c.ts
commit rename
git notes add -m 'a note' HEAD
git notes --ref=review add -m reviewed HEAD
git clone -q --bare . ../origin.git
git remote add origin "$PWD/../origin.git"
git fetch -q origin
git branch -q --set-upstream-to=origin/main
git -c protocol.file.allow=always submodule --quiet add "$PWD/../origin.git" vendor
git commit -q -m 'a submodule'
git notes --ref=review add -m reviewed HEAD
git worktree add -q ../linked feature/side
lines stashed 12 >src/a.ts
git stash -q
echo new >untracked.txt
lines 'stashed again' 9 >src/a.ts
git stash push -q -u
echo built >dist/out.js
echo foo >src/new.ts
lines 'not committed' 45 >src/a.ts
git add src/a.ts
echo changed >b.txt
touch -d 2001-02-03T04:05:06Z a.txt src/c.ts .gitignore packages/core/index.ts vendor/a.txt
`;
