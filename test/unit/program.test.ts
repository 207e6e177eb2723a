import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { irregularOperand } from '../../src/dispatcher/operands.ts';
import { isPseudo } from '../../src/dispatcher/paths.ts';
import { probePlatform } from '../../src/dispatcher/platform.ts';
import { findProgram } from '../../src/dispatcher/program.ts';
import { makeFifos, temporaryDirectory } from '../support/dispatcher.ts';

function program(path: string, mode = 0o755): string {
  writeFileSync(path, '#!/bin/sh\n');
  chmodSync(path, mode);
  return path;
}

/** A place with two directories of programs, `one` and `two`, and a workspace. */
function place() {
  const root = temporaryDirectory();
  const names = ['one', 'two', 'work'] as const;
  for (const name of names) mkdirSync(join(root, name), { mode: 0o755 });
  const [one, two, work] = names.map((name) => join(root, name)) as [string, string, string];
  const find = (path: string | undefined) => findProgram('tool', { path, cwd: work, workspaces: [work] });
  return { root, one, two, work, find };
}

describe('the program that a name finds', () => {
  test('is the first executable along PATH', () => {
    const { one, two, find } = place();
    program(join(two, 'tool'));
    expect(find(`${one}:${two}`)).toEqual({ kind: 'found', path: join(two, 'tool') });
    program(join(one, 'tool'));
    expect(find(`${one}:${two}`)).toEqual({ kind: 'found', path: join(one, 'tool') });
  });

  test('is never a directory or a file that may not be run', () => {
    const { one, two, find } = place();
    mkdirSync(join(one, 'tool'));
    program(join(two, 'tool'), 0o644);
    expect(find(`${one}:${two}`)).toEqual({ kind: 'missing' });
  });

  test.each([
    ['relative', 'tools:ONE'],
    ['empty at the start', ':ONE'],
    ['empty in the middle', '/nowhere::ONE'],
    ['a dot', '.:ONE'],
  ])('is not trusted when the first hit comes from an entry that is %s', (_, path) => {
    const { one, work, find } = place();
    program(join(one, 'tool'));
    mkdirSync(join(work, 'tools'));
    program(join(work, 'tools', 'tool'));
    program(join(work, 'tool'));
    expect(find(path.replace('ONE', one))).toMatchObject({ kind: 'untrusted' });
  });

  test('such an entry in front of the hit, in which nothing is found, changes nothing', () => {
    const { one, find } = place();
    program(join(one, 'tool'));
    expect(find(`:tools:${one}`)).toEqual({ kind: 'found', path: join(one, 'tool') });
    expect(find(`${one}:`)).toEqual({ kind: 'found', path: join(one, 'tool') });
  });

  test('no entry is skipped: a trusted program behind an untrusted one does not help', () => {
    const { one, two, find } = place();
    chmodSync(one, 0o777);
    program(join(one, 'tool'));
    program(join(two, 'tool'));
    expect(find(`${one}:${two}`)).toEqual({ kind: 'untrusted', why: expect.stringContaining('replaced by anybody') });
    expect(find(`${two}:${one}`)).toMatchObject({ kind: 'found' });
  });

  test('is not trusted when anybody may write the file, or the directory that a link leads to', () => {
    const { one, two, find } = place();
    program(join(one, 'tool'), 0o777);
    expect(find(one)).toMatchObject({ kind: 'untrusted' });
    chmodSync(join(one, 'tool'), 0o755);
    expect(find(one)).toMatchObject({ kind: 'found' });
    chmodSync(one, 0o777);
    symlinkSync(join(one, 'tool'), join(two, 'tool'));
    expect(find(two)).toMatchObject({ kind: 'untrusted' });
  });

  test('is not trusted in the workspace, however PATH leads there', () => {
    const { root, one, work, find } = place();
    mkdirSync(join(work, 'bin'));
    program(join(work, 'bin', 'tool'));
    symlinkSync(join(work, 'bin'), join(root, 'link'));
    symlinkSync(join(work, 'bin', 'tool'), join(one, 'tool'));
    for (const entry of [join(work, 'bin'), join(root, 'link'), one]) {
      expect(find(entry)).toEqual({ kind: 'untrusted', why: expect.stringContaining('workspace') });
    }
  });

  test('a neighbour whose name begins like the workspace is another directory', () => {
    const { root, find } = place();
    mkdirSync(join(root, 'work-tools'));
    program(join(root, 'work-tools', 'tool'));
    expect(find(join(root, 'work-tools'))).toMatchObject({ kind: 'found' });
  });

  test('without PATH, or with a tilde in it before the hit, nobody knows', () => {
    const { one, find } = place();
    program(join(one, 'tool'));
    expect(find(undefined)).toMatchObject({ kind: 'untrusted' });
    expect(find(`~/bin:${one}`)).toMatchObject({ kind: 'untrusted' });
    expect(find(`${one}:~/bin`)).toMatchObject({ kind: 'found' });
    expect(find('')).toEqual({ kind: 'missing' });
  });
});

describe('operands that are looked at before the start', () => {
  const path = (text: string) => ({ text, glob: false });
  const glob = (text: string) => ({ text, glob: true });

  test('files, directories, links to them and what does not exist are fine', () => {
    const { root, one, two } = place();
    writeFileSync(join(one, 'file'), '');
    symlinkSync(join(one, 'file'), join(two, 'link'));
    symlinkSync('nowhere', join(two, 'dangling'));
    symlinkSync('loop', join(two, 'loop'));
    const paths = ['one/file', 'one', 'two/link', 'two/dangling', 'two/loop', 'none', 'one/file/below', two].map(path);
    expect(irregularOperand(paths, [root])).toBeNull();
    expect(irregularOperand([glob('two/*'), glob('o*/f?le'), glob('none/*')], [root])).toBeNull();
  });

  test.each([
    ['a FIFO', path('one/pipe')],
    ['a FIFO by its absolute path', path('ABSOLUTE/one/pipe')],
    ['a link to a FIFO', path('two/to-pipe')],
    ['a socket', path('one/socket')],
    ['a link to a device', path('two/to-null')],
    ['a link into /proc', path('two/to-proc')],
    ['a path through a link into /proc', path('two/to-self/status')],
    ['a glob that holds a FIFO', glob('one/*')],
    ['a glob that may match a FIFO', glob('one/p[ij]pe')],
    ['a glob over directories', glob('o*/pipe')],
    ['a glob over two levels', glob('*/p*')],
    ['a glob through a link', glob('*/to-n*')],
    ['an absolute glob', glob('ABSOLUTE/one/p*')],
    ['a hidden FIFO that is asked for', glob('one/.p*')],
    ['a pattern whose quoting is gone', glob('one/pipe*')],
    ['a glob in a directory that is a link into /proc', glob('two/to-self/stat*')],
  ])('%s is not', async (_, { text, glob: isGlob }) => {
    const { root, one, two } = place();
    await makeFifos(one, 'pipe', '.pipe');
    const server = createServer().listen(join(one, 'socket'));
    await new Promise((resolve) => server.once('listening', resolve));
    onTestFinished(() => void server.close());
    symlinkSync('../one/pipe', join(two, 'to-pipe'));
    symlinkSync('/dev/null', join(two, 'to-null'));
    symlinkSync('/proc/version', join(two, 'to-proc'));
    symlinkSync('/proc/self', join(two, 'to-self'));
    const use = { text: text.replace('ABSOLUTE', root), glob: isGlob };
    expect(irregularOperand([path('one'), use], ['/nowhere', root])).toEqual(expect.any(String));
  });

  test('a FIFO that a glob cannot match does not matter', async () => {
    const { root, one } = place();
    await makeFifos(one, 'pipe', '.hidden');
    writeFileSync(join(one, 'a.txt'), '');
    expect(irregularOperand([glob('one/a*'), glob('one/*.txt'), glob('one/?.t*t')], [root])).toBeNull();
    expect(irregularOperand([glob('one/*')], [root])).not.toBeNull();
  });

  test('of more files than anybody looked at, nothing is known', () => {
    const { root, one } = place();
    for (let index = 0; index < 4097; index += 1) writeFileSync(join(one, `f${index}`), '');
    expect(irregularOperand([glob('one/f*')], [root])).toMatch('4096');
    expect(irregularOperand([glob('one/g*')], [root])).toBeNull();
  });

  test('a name that is no UTF-8 is not taken for another', () => {
    const { root, one } = place();
    writeFileSync(Buffer.concat([Buffer.from(`${one}/x`), Buffer.from([0xff])]), '');
    expect(irregularOperand([glob('one/x*')], [root])).toMatch('unreadable name');
  });

  test('the kernel’s file systems are told from their namesakes', () => {
    expect(['/dev', '/dev/null', '/proc/1', '/sys/x'].map(isPseudo)).toEqual([true, true, true, true]);
    expect(['/device', '/home/dev', '/', '/process/x'].map(isPseudo)).toEqual([false, false, false, false]);
  });
});

describe('the platform', () => {
  test('is asked once which builtins its bash has', () => {
    const platform = probePlatform();
    expect(platform).toMatchObject({ unproven: null, bash: expect.stringMatching(/^\/.*bash$/) });
    expect(platform.builtins).toContain('compgen');
    expect(platform.builtins).not.toContain('bash');
    expect(probePlatform(platform.bash)).toBe(platform);
  });

  test('without a bash, or with something else in its place, proves nothing', () => {
    const directory = temporaryDirectory();
    expect(probePlatform(null)).toMatchObject({ bash: null, unproven: expect.any(String) });
    expect(probePlatform(program(join(directory, 'silent'))).unproven).toMatch('version');
    const old = program(join(directory, 'old'));
    writeFileSync(old, '#!/bin/sh\necho 4\necho cd\n');
    expect(probePlatform(old)).toMatchObject({ unproven: expect.stringContaining('4') });
  });

  test('a bash that does not know the pinned locale proves nothing', () => {
    const complaining = join(temporaryDirectory(), 'complaining');
    writeFileSync(complaining, '#!/bin/sh\necho 5\necho cannot change locale >&2\n', { mode: 0o755 });
    expect(probePlatform(complaining).unproven).toMatch('C.UTF-8');
  });
});
