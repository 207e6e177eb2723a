import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createDispatcher } from '../../src/dispatcher/dispatcher.ts';
import { KeyedLock } from '../../src/dispatcher/keyed-lock.ts';
import { workspaceKeys } from '../../src/dispatcher/lock-keys.ts';
import { namedPlaces, type TextContext } from '../../src/dispatcher/named-places.ts';
import { roughWords } from '../../src/dispatcher/text-words.ts';
import type { Owner } from '../../src/dispatcher/tool-locks.ts';
import type { Dispatcher, LockRequest } from '../../src/dispatcher/types.ts';
import { loadRules } from '../../src/rules/load.ts';
import { eventOf, makeFifos, openGate, temporaryDirectory } from '../support/dispatcher.ts';
import { makePlace, type Place } from '../support/repositories.ts';

const rules = loadRules();

describe('the rough words of a text', () => {
  test.each<[text: string, words: readonly string[]]>([
    ['', []],
    ['a  b\tc\nd', ['a', 'b', 'c', 'd']],
    ['a;b|c&d<e>f(g)h`i', [...'abcdefghi']],
    [`'a b'"c d"e`, ['a bc de', 'a', 'bc', 'de']],
    ["a\\ b \\'c", ['a b', 'a', 'b', "'c"].filter((word) => word !== 'a' && word !== 'b')],
    ['"a\\"b" \'c\\d\'', ['a"b', 'c\\d']],
    ["''", ['']],
    ['a\\\nb', ['ab']],
    [`bash -c "sh -c 'cd /x'"`, ['bash', '-c', "sh -c 'cd /x'", 'sh', '-c', 'cd /x', 'cd', '/x']],
    ["'open end", ['open end', 'open', 'end']],
    ['a\\', ['a']],
  ])('%j', (text, words) => {
    expect([...roughWords(text)]).toEqual(words);
  });

  test('a text of any length and depth takes a bounded time', () => {
    expect([...roughWords('a '.repeat(1_000_000))].length).toBeLessThanOrEqual(32_768);
    let deep = 'x y';
    for (let depth = 0; depth < 12; depth++) deep = JSON.stringify(`a ${deep}`);
    expect([...roughWords(deep)].length).toBeLessThan(100);
  });
});

describe('the places that a serial text names', () => {
  /** `here` is where the command runs, `there` is another repository, and `plain` lies in none. */
  const ground = () => {
    const place = makePlace();
    const here = place.repository('here');
    const there = place.repository('there');
    const plain = join(place.home, 'plain');
    mkdirSync(join(plain, 'in'), { recursive: true });
    place.write(join(plain, 'file'), '');
    symlinkSync(there, join(here, 'link'));
    symlinkSync('sub', join(here, 'within'));
    place.git(here, 'worktree', 'add', '--quiet', join(place.home, 'tree'));
    return { place, here, there, plain, tree: join(place.home, 'tree') };
  };

  const ask = (here: string, command: string, more: Partial<TextContext> = {}) => {
    const { workspace } = workspaceKeys(here);
    return namedPlaces({ command, env: {}, environment: {}, bases: [here], workspaces: [workspace], ...more });
  };

  test('a repository is taken exclusively, however it is named', () => {
    const { place, here, there } = ground();
    const keys = Object.fromEntries(workspaceKeys(there).keys.map((key) => [key, 'exclusive']));
    for (const command of [
      'git --git-dir=../there/.git commit',
      'git --git-dir ../there/.git commit',
      'git --work-tree=../there commit',
      'npm --prefix ../there install',
      'npm --prefix=../there install',
      'make -C ../there',
      'make -C../there',
      'make -C sub -C ../../there',
      'cd ../there && rm a.txt',
      'cd -P ../there && rm a.txt',
      "cd '../there'; rm a.txt",
      'cd sub && rm ../../there/a.txt',
      'pushd sub; pushd ../..; rm there/a.txt',
      'rm ../there/a.txt',
      'rm ../there/*.txt',
      'rm -r link',
      'rm ../there/not/there',
      'cp a.txt ../there',
      `bash -c 'cd ../there && rm a.txt'`,
      `echo "$(rm ../there/a.txt)"`,
      'GIT_DIR=../there/.git git commit',
      'X=1:../there make',
      'true>../there/a.txt',
      'rsync a.txt host:../there',
      'a | (b && `rm ../there/a.txt`)',
    ]) {
      expect(Object.fromEntries(ask(here, command)), command).toMatchObject(keys);
    }
    const environment = { HOME: place.home, OTHER: there };
    for (const command of ['rm ~/there/a.txt', 'rm $HOME/there/a.txt', `cd "$${'{OTHER}'}" && rm a.txt`, 'rm $OTHER']) {
      expect(Object.fromEntries(ask(here, command, { environment })), command).toMatchObject(keys);
    }
    const ofVariable = ask(here, 'git commit', { env: { GIT_DIR: join(there, '.git') } });
    expect(Object.fromEntries(ofVariable)).toMatchObject(keys);
  });

  test('a linked work tree brings the git directory that it shares', () => {
    const { here, tree, plain } = ground();
    const found = ask(plain, `rm ${join(tree, 'a.txt')}`);
    expect(Object.fromEntries(found)).toEqual({
      [`file:${tree}`]: 'exclusive',
      [`file:${join(here, '.git')}`]: 'exclusive',
    });
  });

  test('what lies in the workspace brings nothing, nor does what is no place', () => {
    const { here } = ground();
    for (const command of [
      'rm a.txt sub/b.bin',
      'rm -r within',
      'echo hello > /dev/null 2>&1',
      'awk -F / x; find / -name x',
      'cat /proc/self/status',
      'rm *.txt {a,b}',
      `echo $UNKNOWN/x $${'{UNKNOWN}'}/x $${'{HOME:-/x}'} ~other/x`,
      '-x --y',
      '',
    ])
      expect(Object.fromEntries(ask(here, command)), command).toEqual({});
  });

  test('another directory is taken exclusively where it is moved to or is the value of an option, and else shared', () => {
    const { here, plain } = ground();
    const key = `file:${plain}`;
    for (const command of [
      'cd ../plain && rm file',
      'npm --prefix ../plain install',
      'tool --in=../plain',
      'make -C../plain',
    ])
      expect(Object.fromEntries(ask(here, command)), command).toEqual({ [key]: 'exclusive' });
    for (const command of ['cp a.txt ../plain', 'cat ../plain/*', 'X=../plain y'])
      expect(Object.fromEntries(ask(here, command)), command).toEqual({ [key]: 'shared' });
    for (const name of ['file', 'gone'])
      expect(Object.fromEntries(ask(here, `cp ../plain/${name} .`))).toEqual({ [`${key}/${name}`]: 'shared' });
    // Asked for in both ways, it counts in the stronger one.
    expect(Object.fromEntries(ask(here, 'cp ../plain x; cd ../plain; cp ../plain y'))).toEqual({ [key]: 'exclusive' });
  });

  test('a move is followed; where it was before counts less', () => {
    const { place, here, plain } = ground();
    expect(Object.fromEntries(ask(here, 'cd sub && rm ../a.txt'))).toEqual({ [`file:${place.home}/a.txt`]: 'shared' });
    expect(Object.fromEntries(ask(here, 'cd ../plain; cd in; cd ..; rm file'))).toEqual({
      [`file:${plain}`]: 'exclusive',
      [`file:${place.home}`]: 'shared',
    });
  });

  test('a repository inside a directory that is in none has its own keys', () => {
    const { place, there } = ground();
    const found = Object.fromEntries(ask(place.home, 'rm there/a.txt plain/file'));
    expect(found).toEqual({ [`file:${there}`]: 'exclusive', [`file:${there}/.git`]: 'exclusive' });
  });

  test('no text makes it throw', () => {
    const { here } = ground();
    const odd = [
      '\0',
      'a\0b /x\0',
      '$',
      '${',
      `$${'{}'}`,
      '~',
      '=',
      ':::',
      '-',
      '--',
      'cd',
      'cd cd',
      `/${'x'.repeat(300)}`,
    ];
    for (const command of [...odd, odd.join(' '), `${'/'.repeat(5000)}x`, 'cd a && '.repeat(3000)])
      expect(ask(here, command), JSON.stringify(command.slice(0, 40))).toBeInstanceOf(Map);
  });
});

describe('a writer and a reader of two batches', () => {
  /** Dispatchers of two directories that share a lock, as two batches of one process do. */
  const dispatchers = ({ home }: Place, ...directories: readonly string[]): readonly Dispatcher[] => {
    const environment = { PATH: process.env.PATH, HOME: home };
    const lock = new KeyedLock<Owner>();
    return directories.map((cwd) => {
      const dispatcher = createDispatcher({ rules, lock, cwd, environment });
      onTestFinished(() => dispatcher.shutdown({ graceMs: 0 }));
      return dispatcher;
    });
  };

  /** Whether the second command waits for the first one, which waits at a gate, and ends once that has ended. */
  const waits = async (writer: Dispatcher, first: string, reader: Dispatcher, second: string): Promise<boolean> => {
    const directory = temporaryDirectory();
    await makeFifos(directory, 'gate');
    const one = writer.dispatch([`${first} >&2; read < ${directory}/gate`]);
    await eventOf(one, 'started');
    const other = reader.dispatch([second]);
    for await (const event of other.events()) {
      if (event.type !== 'waiting' && event.type !== 'finished') continue;
      const waited = event.type === 'waiting';
      expect(one.snapshot().state).toBe('running');
      await openGate(directory, 'gate');
      const [ended, result] = await Promise.all([one.done, other.done]);
      expect(result.commands[0]).toMatchObject({ state: 'exited', exitCode: 0 });
      if (waited) {
        expect(event.waitsFor).toEqual([{ batchId: one.id, commandId: 'c1' }]);
        expect(ended.commands[0]?.state).toBe('exited');
      }
      return waited;
    }
    return false;
  };

  test('never overlap in one repository, whichever way the writer names it', async () => {
    const place = makePlace();
    const [here, there] = [place.repository('here'), place.repository('there')];
    const [inHere, inThere, above] = dispatchers(place, here, there, place.home) as [
      Dispatcher,
      Dispatcher,
      Dispatcher,
    ];
    for (const writer of [
      'git --git-dir=../there/.git gc --quiet',
      'cd ../there',
      'git -C ../there gc --quiet',
      `bash -c 'cd ../there'`,
      'touch ../there/a.txt',
    ]) {
      expect(await waits(inHere, writer, inThere, 'git log'), writer).toBe(true);
      expect(await waits(inHere, writer, inHere, 'git -C ../there log'), writer).toBe(true);
    }
    expect(await waits(inHere, 'touch a.txt', inThere, 'git log')).toBe(false);
    expect(await waits(inThere, 'touch a.txt', inHere, 'git log -1')).toBe(false);
    expect(await waits(inThere, 'touch a.txt', inHere, 'cat ../there/a.txt')).toBe(true);
    expect(await waits(above, 'touch there/a.txt', inThere, 'git log')).toBe(true);
  });

  test('never overlap in two work trees of one repository', async () => {
    const place = makePlace();
    const main = place.repository('main');
    const tree = join(place.home, 'tree');
    place.git(main, 'worktree', 'add', '--quiet', tree);
    const [inMain, inTree] = dispatchers(place, main, tree) as [Dispatcher, Dispatcher];
    expect(await waits(inTree, 'touch a.txt', inMain, 'git log')).toBe(true);
    expect(await waits(inMain, 'git gc --quiet', inTree, 'git status')).toBe(true);
    expect(await waits(inMain, 'git gc --quiet', inMain, `git -C ${tree} status`)).toBe(true);
    const [inHome] = dispatchers(place, place.home) as [Dispatcher];
    const modesOf = (command: string): readonly LockRequest[] => inHome.plan([command]).commands[0]?.locks ?? [];
    for (const [command, mode] of [
      ['git -C tree log', 'shared'],
      ['git -C tree gc', 'exclusive'],
      ['cd tree && git gc', 'exclusive'],
    ] as const)
      expect(modesOf(command), command).toEqual(
        expect.arrayContaining([
          { key: `file:${tree}`, mode },
          { key: `file:${join(main, '.git')}`, mode },
        ]),
      );
  });
});
