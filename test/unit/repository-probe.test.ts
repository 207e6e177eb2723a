import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  createRepositoryProbe,
  type ProbeOptions,
  type RepositoryProbe,
} from '../../src/dispatcher/repository-probe.ts';
import { makePlace, type Place } from '../support/repositories.ts';

/** Without the system's own configuration, which a machine may have; whether the index is stale has a test of its own. */
const OPTIONS = ({ home }: Place): ProbeOptions => ({ environment: { HOME: home }, index: false });

/** What a fresh probe finds, each as its code and whom it concerns. */
function found(place: Place, directory: string, options: ProbeOptions = {}, probe = createRepositoryProbe()): string[] {
  const { findings } = probe(directory, { ...OPTIONS(place), ...options });
  return findings.map(({ code, affects }) => `${code} ${affects}`);
}

const PROGRAMS = ['REPOSITORY_CONFIGURED configured-programs'];
const UNREAD = ['REPOSITORY_UNREADABLE every-read'];
const UNREAD_PROGRAMS = ['REPOSITORY_UNREADABLE configured-programs'];
const ODD = ['REPOSITORY_LAYOUT every-read'];
const PARTIAL = ['REPOSITORY_PARTIAL every-read'];

const LFS =
  '[filter "lfs"]\n\tclean = git-lfs clean -- %f\n\tsmudge = git-lfs smudge -- %f\n\tprocess = git-lfs filter-process\n\trequired = true\n';

describe('a plain repository', () => {
  test('has no findings: from its top, from below, by a link, and where there is none', () => {
    const place = makePlace();
    const top = place.repository();
    symlinkSync(join(top, 'sub'), join(place.home, 'link'));
    expect(found(place, top)).toEqual([]);
    expect(found(place, join(top, 'sub'))).toEqual([]);
    expect(found(place, join(place.home, 'link'))).toEqual([]);
    expect(found(place, place.home)).toEqual([]);
    expect(createRepositoryProbe()(place.home, OPTIONS(place)).isOutside).toBe(true);
    expect(createRepositoryProbe()(top, OPTIONS(place)).isOutside).toBe(false);
  });

  test.each([
    [
      'remotes, branches, aliases and a user',
      '[alias]\n\tx = !rm -r x\n[user]\n\tname = A\n[remote "o"]\n\turl = ssh://x\n',
    ],
    [
      'what the profile defuses',
      '[core]\n\tfsmonitor = x\n\thooksPath = x\n\tpager = x\n[log]\n\tshowSignature = true\n',
    ],
    ['a way to show functions', '[diff "x"]\n\txfuncname = "^x"\n\tbinary = true\n'],
    ['a format without a signature', '[format]\n\tpretty = x\n[pretty]\n\tx = format:%h %s %Cgreen\n'],
    ['submodule summaries that are off', '[status]\n\tsubmoduleSummary = false\n'],
  ])('stays plain with %s', (_what, text) => {
    const place = makePlace();
    const top = place.repository();
    place.write(join(top, '.gitattributes'), '* diff=x filter=x\n');
    appendFileSync(join(top, '.git/config'), text);
    expect(found(place, top)).toEqual([]);
  });

  test("stays plain with git-lfs in the user's own configuration while nothing selects it", () => {
    const place = makePlace();
    const top = place.repository();
    place.write(join(place.home, '.gitconfig'), LFS);
    place.write(join(top, '.gitattributes'), '*.bin -text merge=lfs\n# *.bin filter=lfs\n*.x filter=lfs2\n');
    expect(found(place, top)).toEqual([]);
    place.write(join(top, 'deep/er/.gitattributes'), '*.bin filter=lfs diff=lfs merge=lfs -text\n');
    expect(found(place, top)).toEqual(PROGRAMS);
  });
});

describe('programs of the configuration', () => {
  test.each([
    ['an external diff', '[diff]\n\texternal = x\n', ''],
    ['an empty external diff', '[diff]\n\texternal =\n', ''],
    ['a textconv', '[diff "x"]\n\ttextconv = x\n', '*.bin diff=x\n'],
    ['a cached textconv', '[diff "x"]\n\ttextconv = x\n\tcachetextconv = true\n', '*.bin diff=x\n'],
    ['a diff command', '[diff "x"]\n\tcommand = x\n', '*.bin diff=x\n'],
    ['a driver of the old spelling', '[diff.x]\n\tcommand = x\n', '*.bin diff=x\n'],
    ['a driver with dots and quotes', '[diff "X.\\"y\\""]\n\tcommand = x\n', '*.bin diff=X."y"\n'],
    ['a driver for everything else', '[diff "default"]\n\ttextconv = x\n', ''],
    ['a driver of a language', '[diff "cpp"]\n\ttextconv = x\n', '*.c diff=cpp\n'],
    ['a key that later versions may add', '[diff "x"]\n\tprogram = x\n', '*.bin diff=x\n'],
    ['a clean filter', '[filter "x"]\n\tclean = x\n', '*.bin filter=x\n'],
    ['a process filter', '[filter "x"]\n\tprocess = x\n', '*.bin filter=x\n'],
    ['a filter that a macro selects', '[filter "x"]\n\tclean = x\n', '[attr]big -text filter=x\n*.bin big\n'],
    ['a filter behind a quoted pattern', '[filter "x"]\n\tclean = x\n', '"a b"filter=x\n'],
    ['a filter on a last line with CR', '[filter "x"]\n\tclean = x\n', '*.bin\tfilter=x\r'],
    ['a format with a signature', '[format]\n\tpretty = format:%h %G?\n', ''],
    ['an alias of a format with a signature', '[pretty]\n\tx = "%+GG"\n', ''],
    ['submodule summaries', '[status]\n\tsubmoduleSummary\n', ''],
    ['differences of submodules', '[diff]\n\tsubmodule = diff\n', ''],
    ['a format with a description', '[format]\n\tpretty = format:%h %(describe)\n', ''],
    ['attributes out of a commit', '[attr]\n\ttree = HEAD\n', ''],
  ])('count: %s', (_what, config, attributes) => {
    const place = makePlace();
    const top = place.repository();
    appendFileSync(join(top, '.git/config'), config);
    if (attributes !== '') {
      expect(found(place, top)).toEqual([]);
      place.write(join(top, '.gitattributes'), attributes);
    }
    expect(found(place, top)).toEqual(PROGRAMS);
    // Reads that start no programs are asked about for less.
    expect(found(place, top, { programs: false }).filter((one) => one !== PROGRAMS[0])).toEqual([]);
  });

  test.each([
    [
      'a sort key that asks for signatures',
      '[branch]\n\tsort = -signature:grade\n',
      ['REPOSITORY_CONFIGURED every-read'],
    ],
    ['a virtual file system', '[core]\n\tvirtualFilesystem = x\n', ['REPOSITORY_CONFIGURED every-read']],
    ['a promisor remote', '[remote "a.b"]\n\tpromisor = true\n', PARTIAL],
    ['a filter of a remote', '[remote "o"]\n\tpartialCloneFilter = blob:none\n', PARTIAL],
    ['a partial clone', '[extensions]\n\tpartialClone = o\n', PARTIAL],
  ])('concern every read: %s', (_what, config, codes) => {
    const place = makePlace();
    const top = place.repository();
    appendFileSync(join(top, '.git/config'), config);
    expect(found(place, top)).toEqual(codes);
    expect(found(place, top, { programs: false })).toEqual(codes);
  });

  test('a real partial clone is one', () => {
    const place = makePlace();
    const top = place.repository();
    place.git(top, 'config', 'uploadpack.allowFilter', 'true');
    place.git(place.home, 'clone', '--quiet', '--filter=blob:none', '--no-checkout', `file://${top}`, 'partial');
    expect(found(place, join(place.home, 'partial'))[0]).toBe(PARTIAL[0]);
  });

  test.each([
    ['.gitconfig', (home: string) => join(home, '.gitconfig')],
    ['.config/git/config', (home: string) => join(home, '.config/git/config')],
    ['the XDG directory', (home: string) => join(home, 'xdg/git/config')],
    ['a prefix of PATH', (home: string) => join(home, 'opt/etc/gitconfig')],
    ["the work tree's own", (home: string) => join(home, 'repo/.git/config.worktree')],
  ])('are read from %s', (_what, path) => {
    const place = makePlace();
    const { home } = place;
    const top = place.repository();
    const environment = { HOME: home, XDG_CONFIG_HOME: join(home, 'xdg'), PATH: `bin:${home}/opt/bin/:/usr/bin` };
    expect(found(place, top, { environment })).toEqual([]);
    place.write(path(home), '[diff]\n\texternal = x\n');
    expect(found(place, top, { environment })).toEqual(PROGRAMS);
  });

  test.each([
    ['relative', '[include]\n\tpath = more', '.git/more'],
    ['conditional on a directory', '[includeIf "gitdir:/nowhere/"]\n\tpath = ../more', 'more'],
    ['conditional on a branch', '[includeIf "onbranch:none"]\n\tpath = more', '.git/more'],
    ['conditional on a remote', '[includeIf "hasconfig:remote.*.url:x"]\n\tpath = more', '.git/more'],
  ])('are read from an include: %s', (_what, config, path) => {
    const place = makePlace();
    const top = place.repository();
    appendFileSync(join(top, '.git/config'), config);
    expect(found(place, top)).toEqual([]);
    place.write(join(top, path), '[diff]\n\texternal = x\n');
    expect(found(place, top)).toEqual(PROGRAMS);
  });
});

describe('attributes', () => {
  const withFilter = () => {
    const place = makePlace();
    const top = place.repository();
    appendFileSync(join(top, '.git/config'), '[filter "x"]\n\tclean = x\n');
    expect(found(place, top)).toEqual([]);
    return { place, top };
  };
  const SELECTING = '*.bin filter=x\n';

  test.each([
    ['the top', 'repo/.gitattributes'],
    ['a directory that git does not track', 'repo/node_modules/x/.gitattributes'],
    ['a repository within', 'repo/inner/.gitattributes'],
    ['info/attributes', 'repo/.git/info/attributes'],
    ['the XDG directory', '.config/git/attributes'],
  ])('are read from %s', (_what, path) => {
    const { place, top } = withFilter();
    place.write(join(place.home, path), SELECTING);
    expect(found(place, top)).toEqual(PROGRAMS);
    expect(found(place, join(top, 'sub'))).toEqual(PROGRAMS);
    expect(found(place, top, { programs: false })).toEqual([]);
  });

  test('are read from the file that the configuration names, and where that is relative nobody knows', () => {
    const { place, top } = withFilter();
    place.write(join(place.home, 'attributes'), SELECTING);
    appendFileSync(join(top, '.git/config'), '[core]\n\tattributesFile = ~/attributes\n');
    expect(found(place, top)).toEqual(PROGRAMS);
    place.git(top, 'config', 'core.attributesFile', 'attributes');
    expect(found(place, top)).toEqual(UNREAD_PROGRAMS);
    place.git(top, 'config', 'core.attributesFile', '/dev/null');
    expect(found(place, top)).toEqual([]);
  });

  test.each([2, 3, 4])('that are only in the index (version %i) are missed', (version) => {
    const { place, top } = withFilter();
    place.write(join(top, 'sub/.gitattributes'), '* text\n');
    place.write(join(top, 'sub/.gitattributez'), '');
    place.git(top, 'add', '.');
    place.git(top, 'update-index', '--index-version', String(version));
    if (version === 3) {
      rmSync(join(top, 'a.txt'));
      place.git(top, 'update-index', '--skip-worktree', 'a.txt');
    }
    expect(found(place, top)).toEqual([]);
    rmSync(join(top, 'sub/.gitattributes'));
    expect(found(place, top)).toEqual(UNREAD_PROGRAMS);
  });

  test('are in doubt with a split index, an index of directories, and one that is broken', () => {
    const { place, top } = withFilter();
    place.git(top, 'update-index', '--split-index');
    expect(found(place, top)).toEqual(UNREAD);
    place.git(top, 'update-index', '--no-split-index');
    expect(found(place, top)).toEqual([]);
    writeFileSync(join(top, '.git/index'), 'DIRC of something else, long enough to hold a header and a hash');
    // The part that a split one would share is still there.
    expect(found(place, top)).toEqual(UNREAD);
    rmSync(join(top, '.git', readdirSync(join(top, '.git')).find((name) => name.startsWith('sharedindex.'))!));
    expect(found(place, top)).toEqual(UNREAD_PROGRAMS);
    expect(found(place, top, { programs: false })).toEqual([]);
  });

  test('are in doubt with a sparse index', () => {
    const { place, top } = withFilter();
    place.git(top, 'sparse-checkout', 'set', '--cone', '--sparse-index', 'nothing');
    expect(place.git(top, 'ls-files', '--sparse')).toContain('sub/\n');
    expect(found(place, top)).toEqual(UNREAD_PROGRAMS);
  });

  test('are in doubt where a file is none, a link leads out, or a name is no UTF-8', () => {
    const { place, top } = withFilter();
    mkdirSync(join(top, 'sub/.gitattributes'));
    expect(found(place, top)).toEqual(UNREAD_PROGRAMS);
    rmSync(join(top, 'sub/.gitattributes'), { recursive: true });
    symlinkSync('sub', join(top, 'inside'));
    symlinkSync('loop', join(top, 'loop'));
    symlinkSync('/etc/passwd', join(top, 'file'));
    expect(found(place, top)).toEqual([]);
    symlinkSync(place.home, join(top, 'outside'));
    expect(found(place, top)).toEqual(UNREAD_PROGRAMS);
    rmSync(join(top, 'outside'));
    mkdirSync(Buffer.concat([Buffer.from(`${top}/`), Buffer.from([0xff])]));
    expect(found(place, top)).toEqual(UNREAD_PROGRAMS);
  });

  test('of other places may count where files elsewhere are read, and outside any work tree', () => {
    const place = makePlace();
    const top = place.repository();
    place.write(join(place.home, '.gitconfig'), LFS);
    expect(found(place, top)).toEqual([]);
    expect(found(place, top, { readsElsewhere: true })).toEqual(PROGRAMS);
    expect(found(place, place.home)).toEqual(PROGRAMS);
  });
});

describe('work trees and layouts', () => {
  test('a linked work tree has the configuration of its main one and its own', () => {
    const place = makePlace();
    const top = place.repository();
    const linked = join(place.home, 'linked');
    place.git(top, 'worktree', 'add', '--quiet', linked);
    expect(found(place, linked)).toEqual([]);
    place.git(top, 'config', 'extensions.worktreeConfig', 'true');
    place.git(linked, 'config', '--worktree', 'diff.external', 'x');
    expect(found(place, linked)).toEqual(PROGRAMS);
    expect(found(place, top)).toEqual([]);
    place.git(linked, 'config', '--worktree', '--unset', 'diff.external');
    place.git(top, 'config', 'diff.external', 'x');
    expect(found(place, linked)).toEqual(PROGRAMS);
  });

  test('work trees of a bare repository are plain, and the repository itself is not', () => {
    const place = makePlace();
    const bare = join(place.home, 'bare.git');
    place.git(place.home, 'clone', '--quiet', '--bare', place.repository(), bare);
    place.git(bare, 'worktree', 'add', '--quiet', join(place.home, 'linked'));
    expect(found(place, join(place.home, 'linked'))).toEqual([]);
    expect(found(place, bare)).toEqual(ODD);
    expect(found(place, join(bare, 'refs'))).toEqual(ODD);
  });

  test('a bare layout inside a checkout, a directory inside .git, a work tree elsewhere', () => {
    const place = makePlace();
    const top = place.repository();
    const inner = join(top, 'fixtures/x');
    for (const directory of ['objects', 'refs']) mkdirSync(join(inner, directory), { recursive: true });
    place.write(join(inner, 'config'), '[core]\n\tfsmonitor = x\n');
    expect(found(place, inner)).toEqual([]);
    place.write(join(inner, 'HEAD'), 'ref: refs/heads/main\n');
    expect(found(place, inner)).toEqual(ODD);
    expect(found(place, join(inner, 'objects'))).toEqual(ODD);
    expect(found(place, top)).toEqual([]);
    expect(found(place, join(top, '.git'))).toEqual(ODD);
    expect(found(place, join(top, '.git/objects'))).toEqual(ODD);
    place.git(top, 'config', 'core.worktree', place.home);
    expect(found(place, top)).toEqual(ODD);
    place.git(top, 'config', 'core.worktree', '..');
    expect(found(place, top)).toEqual([]);
    place.git(top, 'config', 'core.bare', 'true');
    expect(found(place, top)).toEqual(ODD);
  });

  test('a submodule has its own, which counts for the reads of the outer one that start programs', () => {
    const place = makePlace();
    const top = place.repository();
    place.git(top, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', place.repository('other'), 'mod');
    place.git(top, 'commit', '--quiet', '-m', 'a submodule');
    expect(found(place, top)).toEqual([]);
    expect(found(place, join(top, 'mod'))).toEqual([]);
    place.git(join(top, 'mod'), 'config', 'filter.x.clean', 'x');
    expect(found(place, top)).toEqual([]);
    place.write(join(top, 'mod/.gitattributes'), '* filter=x\n');
    expect(found(place, join(top, 'mod'))).toEqual(PROGRAMS);
    expect(found(place, top)).toEqual(PROGRAMS);
    expect(found(place, top, { programs: false })).toEqual([]);
    place.git(join(top, 'mod'), 'config', 'remote.origin.promisor', 'true');
    expect(found(place, top)).toEqual(['REPOSITORY_PARTIAL configured-programs']);
    place.git(top, 'config', 'submodule.recurse', 'true');
    expect(found(place, top, { programs: false })).toEqual(['REPOSITORY_CONFIGURED every-read']);
  });

  test('a repository within that is tracked without .gitmodules counts too', () => {
    const place = makePlace();
    const top = place.repository();
    const inner = place.repository('repo/inner');
    place.git(top, 'add', 'inner');
    expect(found(place, top)).toEqual([]);
    place.git(inner, 'config', 'diff.external', 'x');
    expect(found(place, top)).toEqual(PROGRAMS);
  });

  test('a repository with names of objects in SHA-256', () => {
    const place = makePlace();
    const top = join(place.home, 'long');
    place.git(place.home, 'init', '--quiet', '--object-format=sha256', 'long');
    place.write(join(top, '.gitattributes'), '* text\n');
    place.git(top, 'add', '.');
    place.git(top, 'config', 'filter.x.clean', 'x');
    expect(found(place, top)).toEqual([]);
    rmSync(join(top, '.gitattributes'));
    expect(found(place, top)).toEqual(UNREAD_PROGRAMS);
  });
});

describe('what cannot be read', () => {
  test.each<readonly [string, (place: Place, top: string) => void]>([
    ['a configuration that is broken', (_, top) => appendFileSync(join(top, '.git/config'), '[core\n')],
    ['a configuration that is a directory', ({ home }) => mkdirSync(join(home, '.gitconfig'))],
    ['a configuration that is a FIFO', ({ home }) => void execFileSync('mkfifo', [join(home, '.gitconfig')])],
    ['a configuration that is a loop', ({ home }) => symlinkSync('.gitconfig', join(home, '.gitconfig'))],
    [
      'a configuration that is too large',
      ({ home, write }) => void write(join(home, '.gitconfig'), '#'.repeat(1_048_577)),
    ],
    ['an include of itself', ({ home, write }) => void write(join(home, '.gitconfig'), '[include]\npath=.gitconfig')],
    ['an include that is a directory', (_, top) => appendFileSync(join(top, '.git/config'), '[include]\npath=objects')],
    ['an include below a file', (_, top) => appendFileSync(join(top, '.git/config'), '[include]\npath=~other/x')],
    ['a HEAD that says nothing', (_, top) => writeFileSync(join(top, '.git/HEAD'), 'x\n')],
    ['a repository without HEAD', (_, top) => rmSync(join(top, '.git/HEAD'))],
    ['a repository without refs', (_, top) => rmSync(join(top, '.git/refs'), { recursive: true })],
    [
      'a .git file that leads nowhere',
      (_, top) => {
        renameSync(join(top, '.git'), join(top, 'moved'));
        writeFileSync(join(top, '.git'), 'gitdir: elsewhere\n');
      },
    ],
    [
      'a .git that is a dangling link',
      (_, top) => {
        renameSync(join(top, '.git'), join(top, 'moved'));
        symlinkSync('elsewhere', join(top, '.git'));
      },
    ],
  ])('makes every read serial: %s', (_what, spoil) => {
    const place = makePlace();
    const top = place.repository();
    expect(found(place, top)).toEqual([]);
    spoil(place, top);
    expect(found(place, top)).toEqual(UNREAD);
    expect(found(place, top, { programs: false })).toEqual(UNREAD);
  });

  test('a directory that is missing or a file, and a home without a place', () => {
    const place = makePlace();
    const top = place.repository();
    expect(found(place, join(top, 'none'))).toEqual(UNREAD);
    expect(found(place, join(top, 'a.txt'))).toEqual(UNREAD);
    expect(found(place, top, { environment: { HOME: 'home' } })).toEqual(UNREAD);
    expect(found(place, top, { environment: { XDG_CONFIG_HOME: 'x' } })).toEqual(UNREAD);
    expect(found(place, top, { environment: {} })).toEqual([]);
    expect(() => createRepositoryProbe()('relative')).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
  });
});

describe('the memory', () => {
  /** Its clock is ahead, so that what was just written counts as old enough to be remembered. */
  const settled = (): RepositoryProbe => createRepositoryProbe({ now: () => Date.now() + 60_000 });

  test.each<readonly [string, (place: Place, top: string) => void]>([
    ['the repository', (_, top) => appendFileSync(join(top, '.git/config'), '[diff]\n\texternal = x\n')],
    ['the user', ({ home, write }) => void write(join(home, '.gitconfig'), '[diff]\n\texternal = x\n')],
    ['an include', (_, top) => writeFileSync(join(top, '.git/more'), '[diff]\n\texternal = x\n')],
    ['attributes', (_, top) => writeFileSync(join(top, 'sub/.gitattributes'), '* filter=x\n')],
  ])('sees a change of the configuration after it has answered: %s', (_what, change) => {
    const place = makePlace();
    const top = place.repository();
    appendFileSync(join(top, '.git/config'), '[include]\n\tpath = more\n[filter "x"]\n\tclean = x\n');
    writeFileSync(join(top, '.git/more'), '[diff]\n\trenames = x\n');
    writeFileSync(join(top, 'sub/.gitattributes'), '* filter=y\n');
    const probe = settled();
    for (const _ of [1, 2]) expect(found(place, top, {}, probe)).toEqual([]);
    change(place, top);
    expect(found(place, top, {}, probe)).toEqual(PROGRAMS);
    expect(found(place, top, {}, probe)).toEqual(PROGRAMS);
  });

  test('sees a file of the same size and time', () => {
    const place = makePlace();
    const top = place.repository();
    const config = join(top, '.git/config');
    const texts = ['[diff]\n\texternal = x\n', '[diff]\n\texterna1 = x\n'] as const;
    const then = new Date(1_700_000_000_000);
    const put = (text: string) => {
      writeFileSync(config, text);
      utimesSync(config, then, then);
    };
    const probe = settled();
    put(texts[1]);
    expect(found(place, top, {}, probe)).toEqual([]);
    put(texts[0]);
    expect(found(place, top, {}, probe)).toEqual(PROGRAMS);
  });

  test('keeps nothing that has just been written, for a second write may look the same', () => {
    const place = makePlace();
    const top = place.repository();
    let reads = 0;
    // A clock that is behind makes everything look just written.
    const probe = createRepositoryProbe({
      now: () => {
        reads++;
        return 0;
      },
    });
    found(place, top, {}, probe);
    const first = reads;
    found(place, top, {}, probe);
    expect(reads).toBe(2 * first);
    expect(first).toBeGreaterThan(0);
  });
});
