import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { fileLockKey, pathKey, workspaceKeys } from '../../src/dispatcher/lock-keys.ts';
import { SignalboxError } from '../../src/errors.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'signalbox-lock-keys-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let count = 0;
/** A new empty directory, by its real path. */
function freshDirectory(): string {
  const directory = join(root, `d${++count}`);
  mkdirSync(directory);
  return directory;
}

/** The real git, without anybody's own configuration. */
function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: root,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_NAME: 'a',
      GIT_AUTHOR_EMAIL: 'a@example.com',
      GIT_COMMITTER_NAME: 'a',
      GIT_COMMITTER_EMAIL: 'a@example.com',
    },
  }).trim();
}

/** A repository with one commit. */
function repository(): string {
  const directory = freshDirectory();
  git(directory, 'init', '-q', '-b', 'main');
  git(directory, 'commit', '-q', '--allow-empty', '-m', 'first');
  return directory;
}

const keysOf = (path: string): readonly string[] => workspaceKeys(path).keys;
const meet = (one: string, other: string): boolean => keysOf(one).some((key) => keysOf(other).includes(key));

describe('pathKey', () => {
  test('T39 symlink, relative spelling, dots and doubled slashes give the key of the file itself', () => {
    const directory = freshDirectory();
    mkdirSync(join(directory, 'real/deep'), { recursive: true });
    writeFileSync(join(directory, 'real/file'), '');
    symlinkSync('real', join(directory, 'link'));
    symlinkSync(join(directory, 'link/file'), join(directory, 'to-file'));
    const file = join(directory, 'real/file');
    for (const spelling of [
      file,
      `${directory}/link/file`,
      `${directory}/to-file`,
      `${directory}//real/./file`,
      `${directory}/real/deep/../file`,
      `${directory}/link/deep/../../link/file`,
      `/..${directory}/real/file`,
    ]) {
      expect(pathKey(spelling), spelling).toBe(file);
    }
    for (const relative of ['real/file', './link/file', 'real/../link/./file', 'to-file']) {
      expect(pathKey(relative, directory), relative).toBe(file);
      expect(pathKey(relative, `${directory}/link/..`), relative).toBe(file);
    }
    expect(fileLockKey('to-file', directory)).toBe(`file:${file}`);
  });

  test('T39 a file that does not exist yet has the key that it will have', () => {
    const directory = freshDirectory();
    mkdirSync(join(directory, 'real'));
    symlinkSync('real', join(directory, 'link'));
    const spellings = ['real/new', 'link/new', 'link/gone/../new', './real/./new', 'link//new/'];
    const before = spellings.map((spelling) => pathKey(spelling, directory));
    writeFileSync(join(directory, 'real/new'), '');
    expect(new Set(before)).toEqual(new Set([join(directory, 'real/new')]));
    expect(pathKey('link/new', directory)).toBe(before[0]);
  });

  test('a dangling link stands for what it would create', () => {
    const directory = freshDirectory();
    mkdirSync(join(directory, 'inner'));
    symlinkSync('inner/../not-yet/file', join(directory, 'first'));
    symlinkSync(join(directory, 'first'), join(directory, 'second'));
    const key = join(directory, 'not-yet/file');
    expect(pathKey(join(directory, 'first'))).toBe(key);
    expect(pathKey(join(directory, 'second'))).toBe(key);
    expect(pathKey('second/below', directory)).toBe(`${key}/below`);
    mkdirSync(join(directory, 'not-yet'));
    writeFileSync(key, '');
    expect(pathKey('second', directory)).toBe(key);
  });

  test('".." behind a link leaves its target, as for the kernel and not as text', () => {
    const directory = freshDirectory();
    mkdirSync(join(directory, 'far/away'), { recursive: true });
    symlinkSync('far/away', join(directory, 'link'));
    writeFileSync(join(directory, 'far/here'), '');
    // What the text alone would lead to.
    writeFileSync(join(directory, 'here'), '');
    expect(pathKey('link/../here', directory)).toBe(join(directory, 'far/here'));
    expect(pathKey('link/../missing', directory)).toBe(join(directory, 'far/missing'));
  });

  test('a loop of links stands for itself, however it is reached', () => {
    const directory = freshDirectory();
    symlinkSync('b', join(directory, 'a'));
    symlinkSync('a', join(directory, 'b'));
    // Of three, so that giving up after any even number of links would end at another one.
    for (const [from, to] of ['pq', 'qr', 'rp']) symlinkSync(to as string, join(directory, from as string));
    symlinkSync('self/x', join(directory, 'self'));
    symlinkSync('.', join(directory, 'here'));
    expect(pathKey('a', directory)).toBe(join(directory, 'a'));
    for (const name of ['p', 'q', 'r']) expect(pathKey(`here/${name}`, directory)).toBe(join(directory, name));
    expect(pathKey('here/here/a', directory)).toBe(join(directory, 'a'));
    expect(pathKey('b/below/../file', directory)).toBe(join(directory, 'b/file'));
    expect(pathKey('self', directory)).toBe(join(directory, 'self'));
    // More links than the kernel follows, but no loop.
    expect(pathKey(`${'here/'.repeat(60)}file`, directory)).toBe(join(directory, 'file'));
  });

  test('a file in the place of a directory, and a name that is too long, are text from there on', () => {
    const directory = freshDirectory();
    writeFileSync(join(directory, 'file'), '');
    const long = 'x'.repeat(300);
    expect(pathKey('file/below/../beside', directory)).toBe(join(directory, 'file/beside'));
    expect(pathKey(`${long}/y`, directory)).toBe(join(directory, long, 'y'));
  });

  test('the root, the empty path and the default directory', () => {
    expect(pathKey('/')).toBe('/');
    expect(pathKey('//')).toBe('/');
    expect(pathKey('/../..')).toBe('/');
    expect(pathKey('/no-such-directory-at-the-root')).toBe('/no-such-directory-at-the-root');
    expect(pathKey('', root)).toBe(root);
    expect(pathKey('no such file')).toBe(join(realpathSync(process.cwd()), 'no such file'));
  });

  test.each([
    ['a NUL in the path', 'a\0b', '/'],
    ['a NUL in an absolute path', '/a\0b', '/'],
    ['a NUL in the directory', 'a', '/tmp\0'],
    ['a relative directory', 'a', 'tmp'],
  ])('%s is refused', (_, path, cwd) => {
    expect(() => pathKey(path, cwd)).toThrow(SignalboxError);
    expect(() => fileLockKey(path, cwd)).toThrow(SignalboxError);
  });
});

describe('workspaceKeys', () => {
  test('a directory of a work tree is widened to its top, and the git directory is the second key', () => {
    const top = repository();
    mkdirSync(join(top, 'src/deep'), { recursive: true });
    symlinkSync(join(top, 'src'), join(root, `link${count}`));
    const expected = { keys: [`file:${top}`, `file:${top}/.git`], workspace: top };
    for (const directory of [
      top,
      `${top}/src`,
      `${top}/src/deep/`,
      join(root, `link${count}`, 'deep'),
      `${top}/src/../src`,
    ]) {
      expect(workspaceKeys(directory), directory).toEqual(expected);
    }
    expect(git(join(top, 'src/deep'), 'rev-parse', '--show-toplevel')).toBe(top);
  });

  test('outside every repository it is the real directory alone', () => {
    const directory = freshDirectory();
    symlinkSync(directory, `${directory}-link`);
    expect(workspaceKeys(`${directory}-link`)).toEqual({ keys: [`file:${directory}`], workspace: directory });
    expect(workspaceKeys('/')).toEqual({ keys: ['file:/'], workspace: '/' });
  });

  test('two repositories do not meet', () => {
    expect(meet(repository(), repository())).toBe(false);
  });

  test('a linked work tree meets its main one in the common git directory', () => {
    const main = repository();
    const linked = join(root, `linked${count}`);
    git(main, 'worktree', 'add', '-q', linked, '-b', 'side');
    mkdirSync(join(linked, 'sub'));
    expect(workspaceKeys(`${linked}/sub`)).toEqual({
      keys: [`file:${linked}`, `file:${main}/.git`],
      workspace: linked,
    });
    expect(meet(linked, main)).toBe(true);
    expect(git(linked, 'rev-parse', '--path-format=absolute', '--git-common-dir')).toBe(`${main}/.git`);
  });

  test('a submodule has its own keys and those of the repository around it', () => {
    const outer = repository();
    const source = repository();
    git(outer, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', source, 'lib/inner');
    const inner = join(outer, 'lib/inner');
    expect(workspaceKeys(inner)).toEqual({
      keys: [`file:${inner}`, `file:${outer}/.git/modules/lib/inner`, `file:${outer}`, `file:${outer}/.git`],
      workspace: inner,
    });
    expect(git(inner, 'rev-parse', '--path-format=absolute', '--git-common-dir')).toBe(
      `${outer}/.git/modules/lib/inner`,
    );
    expect(meet(inner, outer)).toBe(true);
    expect(meet(inner, source)).toBe(false);
  });

  test('a repository inside another meets it', () => {
    const outer = repository();
    const inner = join(outer, 'vendor/inner');
    mkdirSync(inner, { recursive: true });
    git(inner, 'init', '-q');
    expect(workspaceKeys(inner).workspace).toBe(inner);
    expect(meet(inner, outer)).toBe(true);
    // A sibling of it is of the outer one alone.
    expect(keysOf(join(outer, 'vendor'))).toEqual([`file:${outer}`, `file:${outer}/.git`]);
  });

  test('a bare repository is its own workspace, also from inside', () => {
    const bare = freshDirectory();
    git(bare, 'init', '-q', '--bare');
    const expected = { keys: [`file:${bare}`], workspace: bare };
    expect(workspaceKeys(bare)).toEqual(expected);
    expect(workspaceKeys(`${bare}/refs/heads`)).toEqual(expected);
  });

  test('a work tree of a bare repository meets it', () => {
    const source = repository();
    const bare = freshDirectory();
    git(bare, 'clone', '-q', '--bare', source, '.');
    const linked = join(root, `linked${count}`);
    git(bare, 'worktree', 'add', '-q', linked);
    expect(workspaceKeys(linked)).toEqual({ keys: [`file:${linked}`, `file:${bare}`], workspace: linked });
    expect(meet(linked, bare)).toBe(true);
  });

  test('inside a git directory the git directory is the workspace, and its work tree is met', () => {
    const top = repository();
    expect(workspaceKeys(`${top}/.git/refs`)).toEqual({
      keys: [`file:${top}/.git`, `file:${top}`],
      workspace: `${top}/.git`,
    });
    const linked = join(root, `linked${count}`);
    git(top, 'worktree', 'add', '-q', linked, '-b', 'side');
    const own = git(linked, 'rev-parse', '--absolute-git-dir');
    expect(own).toContain('/.git/worktrees/');
    expect(meet(own, top)).toBe(true);
    expect(meet(own, linked)).toBe(true);
  });

  test('a git directory kept elsewhere, and one that is a link', () => {
    const apart = freshDirectory();
    const top = freshDirectory();
    git(top, 'init', '-q', `--separate-git-dir=${apart}/store`);
    expect(keysOf(top)).toEqual([`file:${top}`, `file:${apart}/store`]);
    const linking = freshDirectory();
    symlinkSync(`${apart}/store`, join(linking, '.git'));
    expect(keysOf(linking)).toEqual([`file:${linking}`, `file:${apart}/store`]);
  });

  test('a relative gitdir is read from the directory of its file', () => {
    const store = repository();
    const top = freshDirectory();
    mkdirSync(join(top, 'sub'));
    writeFileSync(join(top, '.git'), `gitdir: ../${store.slice(root.length + 1)}/.git\r\n`);
    expect(workspaceKeys(join(top, 'sub'))).toEqual({ keys: [`file:${top}`, `file:${store}/.git`], workspace: top });
    expect(git(join(top, 'sub'), 'rev-parse', '--absolute-git-dir')).toBe(`${store}/.git`);
  });

  test('a directory named .git that is no git directory is passed over, as git does', () => {
    const outer = repository();
    mkdirSync(join(outer, 'sub/.git'), { recursive: true });
    expect(workspaceKeys(join(outer, 'sub')).workspace).toBe(outer);
    expect(git(join(outer, 'sub'), 'rev-parse', '--show-toplevel')).toBe(outer);
    const alone = freshDirectory();
    mkdirSync(join(alone, '.git'));
    expect(workspaceKeys(alone)).toEqual({ keys: [`file:${alone}`], workspace: alone });
  });

  test('a .git file that says nothing useful still marks a top, and never throws', () => {
    const outer = repository();
    for (const [name, text] of [
      ['empty', ''],
      ['no prefix', `${outer}/.git\n`],
      ['no path', 'gitdir: \n'],
      ['a nul', 'gitdir: /a\0b\n'],
      ['huge', `gitdir: /${'x'.repeat(70_000)}`],
    ] as const) {
      const directory = join(outer, name);
      mkdirSync(directory);
      writeFileSync(join(directory, '.git'), text);
      const keys = [`file:${directory}`, `file:${outer}`, `file:${outer}/.git`];
      expect(workspaceKeys(directory), name).toEqual({ keys, workspace: directory });
    }
    const stale = freshDirectory();
    writeFileSync(join(stale, '.git'), 'gitdir: /no/such/place\n');
    expect(keysOf(stale)).toEqual([`file:${stale}`, 'file:/no/such/place']);
  });

  test('a FIFO named .git or commondir does not hold up the process', () => {
    const top = freshDirectory();
    execFileSync('mkfifo', [join(top, '.git')]);
    expect(keysOf(top)).toEqual([`file:${top}`]);
    const bare = freshDirectory();
    git(bare, 'init', '-q', '--bare');
    execFileSync('mkfifo', [join(bare, 'commondir')]);
    expect(keysOf(bare)).toEqual([`file:${bare}`]);
  });

  test('a directory that vanished, or never was, keeps the keys of where it stood', () => {
    const top = repository();
    const gone = join(top, 'gone/deep');
    mkdirSync(gone, { recursive: true });
    const before = workspaceKeys(gone);
    rmSync(join(top, 'gone'), { recursive: true });
    expect(workspaceKeys(gone)).toEqual(before);
    const moved = freshDirectory();
    renameSync(moved, `${moved}-moved`);
    expect(workspaceKeys(moved)).toEqual({ keys: [`file:${moved}`], workspace: moved });
  });

  test('a file has the keys of its work tree', () => {
    const top = repository();
    writeFileSync(join(top, 'file'), '');
    expect(workspaceKeys(join(top, 'file'))).toEqual(workspaceKeys(top));
  });

  test('nothing is remembered: a repository that appears is seen by the next call', () => {
    const top = freshDirectory();
    mkdirSync(join(top, 'sub'));
    expect(workspaceKeys(join(top, 'sub')).workspace).toBe(join(top, 'sub'));
    git(top, 'init', '-q');
    expect(workspaceKeys(join(top, 'sub')).workspace).toBe(top);
  });

  test('the answer is frozen, and a relative directory or a NUL is refused', () => {
    const answer = workspaceKeys(root);
    expect(Object.isFrozen(answer) && Object.isFrozen(answer.keys)).toBe(true);
    expect(() => workspaceKeys('src')).toThrow(SignalboxError);
    expect(() => workspaceKeys('/a\0b')).toThrow(SignalboxError);
  });
});
