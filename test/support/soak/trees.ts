import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where a command of the soak may work. */
export type Tree = {
  /** Its directory, below the root. */
  readonly path: string;
  readonly isRepository: boolean;
  /** What its files say of it. */
  readonly name: string;
  /** The places that are its workspace: a linked work tree meets its main one in the git directory that they share. */
  readonly places: readonly string[];
};

export const LINES = 2_000;
export const FILES = 20;

/** Two repositories, a linked work tree of the first, plain directories, one in another, and a repository in one. */
export const TREES: readonly Tree[] = [
  { path: 'one', isRepository: true, name: 'one', places: ['one', 'one.git'] },
  { path: 'linked', isRepository: true, name: 'one', places: ['linked', 'one.git'] },
  { path: 'two', isRepository: true, name: 'two', places: ['two'] },
  { path: 'plain', isRepository: false, name: 'plain', places: ['plain'] },
  { path: 'plain/inner', isRepository: false, name: 'inner', places: ['plain/inner'] },
  { path: 'other', isRepository: false, name: 'other', places: ['other'] },
  { path: 'other/three', isRepository: true, name: 'three', places: ['other/three'] },
];

/** Everything that one soak uses, in one directory that goes with it. */
export type Ground = {
  readonly top: string;
  /** Where commands may run. */
  readonly root: string;
  /** The records of the commands. */
  readonly journal: string;
  /** Lock files of the system, one a place, a key or a batch. */
  readonly held: string;
  readonly temporary: string;
  readonly home: string;
  /** Who runs it all; nobody in particular when that is not the super-user. */
  readonly owner: { readonly uid: number; readonly gid: number } | null;
  readonly remove: () => void;
};

const NOBODY = 65_534;

export function lineOf(number: number, name: string): string {
  return `line-${String(number).padStart(4, '0')} of ${name}`;
}

export function fileOf(number: number): string {
  return `files/f${String(number).padStart(2, '0')}.txt`;
}

export function contentOf(number: number, name: string): string {
  return `file ${String(number).padStart(2, '0')} of ${name}\n`;
}

/** Makes the ground, owned by an unprivileged user where that can be had. */
export function prepareGround(): Ground {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'signalbox-soak-')));
  const owner = process.getuid?.() === 0 && mayReadProject(NOBODY) ? { uid: NOBODY, gid: NOBODY } : null;
  const [root, held, temporary, home] = ['root', 'held', 'tmp', 'home'].map((name) => join(top, name)) as [
    string,
    string,
    string,
    string,
  ];
  chmodSync(top, 0o755);
  for (const directory of [root, held, temporary, home]) mkdirSync(directory);
  const journal = join(top, 'journal');
  writeFileSync(journal, '');
  writeFileSync(
    join(home, '.gitconfig'),
    '[user]\n\tname = soak\n\temail = soak@example.org\n[gc]\n\tauto = 0\n[init]\n\tdefaultBranch = main\n',
  );
  const ground: Ground = {
    top,
    root,
    journal,
    held,
    temporary,
    home,
    owner,
    remove: () => rmSync(top, { recursive: true, force: true }),
  };
  if (owner !== null) for (const path of [top, root, held, temporary, home, journal]) own(path, owner);
  for (const tree of TREES) if (tree.path !== 'linked') plant(ground, tree);
  git(ground, 'one', ['worktree', 'add', '-q', '-b', 'linked', join(root, 'linked')]);
  furnish(ground, 'linked');
  return ground;
}

/** The service runs from a copy, with the packages of this place: below some homes only their owner can read them. */
function mayReadProject(user: number): boolean {
  const modules = fileURLToPath(new URL('../../../node_modules/zod/package.json', import.meta.url));
  return spawnSync('test', ['-r', modules], { uid: user, gid: user }).status === 0;
}

function own(path: string, { uid, gid }: { readonly uid: number; readonly gid: number }): void {
  chownSync(path, uid, gid);
}

/** Files with known words; those that commands write are ignored by git. */
function plant(ground: Ground, { path, isRepository, name }: Tree): void {
  const directory = join(ground.root, path);
  run(ground, ground.root, ['mkdir', '-p', join(directory, 'files')]);
  const files = new Map<string, string>();
  files.set('lines.txt', Array.from({ length: LINES }, (_, index) => `${lineOf(index + 1, name)}\n`).join(''));
  for (let number = 0; number < FILES; number++) files.set(fileOf(number), contentOf(number, name));
  // Older than the index, as in a checkout that has been there for a while.
  const before = new Date(Date.now() - 3_600_000);
  for (const [file, content] of files) {
    writeFileSync(join(directory, file), content);
    if (ground.owner !== null) own(join(directory, file), ground.owner);
    utimesSync(join(directory, file), before, before);
  }
  if (isRepository) {
    git(ground, path, ['init', '-q']);
    writeFileSync(join(directory, '.git/info/exclude'), '/out/\n/.seat\n');
    git(ground, path, ['add', '.']);
    git(ground, path, ['commit', '-q', '-m', `first of ${name}`]);
  }
  furnish(ground, path);
}

/** What the commands write to. */
function furnish(ground: Ground, path: string): void {
  run(ground, join(ground.root, path), ['mkdir', 'out']);
  run(ground, join(ground.root, path), ['bash', '-c', 'echo free nobody > .seat']);
}

function git(ground: Ground, path: string, args: readonly string[]): void {
  run(ground, join(ground.root, path), ['git', ...args]);
}

function run({ home, owner }: Ground, cwd: string, [file = '', ...args]: readonly string[]): void {
  const env = { PATH: process.env.PATH ?? '', HOME: home };
  const { status, stderr } = spawnSync(file, args, { cwd, env, ...owner, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${file} ${args.join(' ')} failed: ${stderr}`);
}
