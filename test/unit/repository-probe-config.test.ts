import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { collectConfiguration } from '../../src/dispatcher/config-files.ts';
import { FileMemory, fileLoader } from '../../src/dispatcher/file-memory.ts';
import { readGitConfig } from '../../src/dispatcher/git-config-reader.ts';

const home = realpathSync(mkdtempSync(join(tmpdir(), 'signalbox-config-')));
const elsewhere = join(home, 'elsewhere');
mkdirSync(elsewhere);
afterAll(() => rmSync(home, { recursive: true, force: true }));

const environment = { PATH: process.env.PATH, HOME: home, GIT_CONFIG_NOSYSTEM: '1', GIT_CEILING_DIRECTORIES: home };

type Setting = readonly [file: string, name: string, value: string | null];

/** What git reads from the home directory's configuration, or null when it refuses it. */
function askGit(): readonly Setting[] | null {
  const args = ['config', '--list', '--show-origin', '-z'];
  const { status, stdout } = spawnSync('git', args, { cwd: elsewhere, env: environment, encoding: 'latin1' });
  if (status !== 0) return null;
  const fields = stdout.split('\0').slice(0, -1);
  return fields.flatMap((origin, at): Setting[] => {
    if (at % 2 === 1) return [];
    const text = fields[at + 1] as string;
    const end = text.indexOf('\n');
    const file = origin.slice('file:'.length);
    return [end < 0 ? [file, text, null] : [file, text.slice(0, end), text.slice(end + 1)]];
  });
}

/** What we read, or null when it is not understood. */
function askUs(): readonly Setting[] | null {
  const memory = new FileMemory(
    100,
    fileLoader(1e6, (bytes) => readGitConfig(bytes.toString('latin1'))),
    Date.now,
  );
  const { entries, unreadable } = collectConfiguration([join(home, '.gitconfig')], home, memory);
  return unreadable === null ? entries.map(({ file, name, value }) => [file, name, value]) : null;
}

/** Numbers below `bound`, the same ones every time. */
function numbers(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

const SECTIONS = ['[core]', '[CORE]', '[ core]', '[core ]', '[core', '[]', '[a.b]', '[a-1]', '[a_b]', '[.a]', '[a.]'];
const SUBSECTIONS = ['"x"', '"X y"', '"a\\"b"', '"a\\\\b"', '"a\\b"', '"a.b"', '""', '"x', '"é"', '"a]b"', 'x', "'x'"];
const KEYS = ['key', 'KEY', 'k-1', 'k_1', '1k', '-k', 'k.l', 'path', 'k1', 'textconv'];
const EQUALS = ['=', ' = ', '\t=\t', '', ' ', ' # c', ' ; c', '= =', ':', ' \\\n = '];
const VALUES = [
  ...['', 'v', ' v ', 'a b', 'a   b', 'a\tb', '"a b"', '" a "', '"a" b "c"', 'a # c', 'a;c', '"a # b"', '"a', 'a"'],
  ...[
    'a\\',
    'a\\\nb',
    'a \\\n b',
    '"a\\\nb"',
    '\\t\\n\\b',
    '\\"',
    '\\\\',
    '\\q',
    '\\\t',
    'true',
    "it's",
    'é',
    '#',
    '"#"',
  ],
  ...['a\r', 'a\rb', '\v', 'a\f ', '~/x', '%G?', '!rm', '[x]', 'a = b', '""', '"" a', ' "" ', '\u0001', 'a ""'],
];
const ENDS = ['\n', '\n', '\n', '\r\n', '\n\n', ' \n', '\t', '', '\n# c\n', '\n; "\n'];

function generate(random: (bound: number) => number): string {
  const pick = (list: readonly string[]) => list[random(list.length)] as string;
  /** Mostly the first few, which are fine: a file that is refused at its first line tells little. */
  const pickFine = (list: readonly string[], fine: number) =>
    (random(12) > 0 ? list[random(fine)] : pick(list)) as string;
  let text = random(10) === 0 ? '\u00ef\u00bb\u00bf' : '';
  if (random(30) === 0) text = '\u00ef\u00bb';
  const lines = 1 + random(8);
  for (let line = 0; line < lines; line++) {
    if (line === 0 || random(3) === 0) {
      text +=
        random(2) === 0 ? pickFine(SECTIONS, 2) : `[${pick(['diff', 'Filter', 'a.b'])} ${pickFine(SUBSECTIONS, 7)}]`;
      text += pick(['\n', ' ', '\n\t', '', '# c\n', '\r\n']);
    }
    text += `${pick(['', '\t', '  '])}${pickFine(KEYS, 3)}${pickFine(EQUALS, 3)}${pickFine(VALUES, 12)}${pickFine(ENDS, 5)}`;
  }
  return Buffer.from(text, 'latin1').toString('latin1');
}

describe('the reader of configuration files', () => {
  test('whatever it understands, git reads the same; whatever git refuses, it does not understand', () => {
    const random = numbers(20_261_130);
    let bothRead = 0;
    let gitAlone = 0;
    for (let round = 0; round < 500; round++) {
      const text = generate(random);
      writeFileSync(join(home, '.gitconfig'), text, 'latin1');
      const ours = askUs();
      const gits = askGit();
      if (ours !== null) expect({ text, settings: ours }).toEqual({ text, settings: gits });
      if (ours !== null) bothRead++;
      else if (gits !== null) gitAlone++;
    }
    // It must not be right by understanding nothing.
    expect(bothRead).toBeGreaterThan(150);
    expect(gitAlone).toBeLessThan(bothRead / 10);
  });

  const includes: readonly (readonly [what: string, files: Readonly<Record<string, string>>])[] = [
    ['relative', { '.gitconfig': '[a]x=1\n[include]path=one\n[a]x=3', one: '[a]x=2' }],
    ['from home', { '.gitconfig': '[include]path=~/sub/one', 'sub/one': '[include]path=two', 'sub/two': '[b "C"]d' }],
    ['absolute, twice', { '.gitconfig': `[include]path=${home}/one\npath=${home}/one`, one: '[a]x=2' }],
    ['missing', { '.gitconfig': '[include]path=nowhere\n[a]x=1' }],
    ['quoted', { '.gitconfig': '[include]path="with space" ; yes\n', 'with space': '[a]x=2' }],
    ['within itself', { '.gitconfig': '[include]path=.gitconfig' }],
    ['without a value', { '.gitconfig': '[include]path' }],
    ['broken', { '.gitconfig': '[include]path=one', one: '[a' }],
    ['a directory', { '.gitconfig': '[include]path=elsewhere' }],
    ['of no known user', { '.gitconfig': '[include]path=~nobody-of-this-name/x' }],
    ['of another key', { '.gitconfig': '[include]paths=one\n[include "x"]path=one', one: '[a' }],
    ['null device', { '.gitconfig': '[include]path=/dev/null\n[a]x=1' }],
  ];
  test.each(includes)('an include is followed as git does: %s', (_what, files) => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(home, name, '..'), { recursive: true });
      writeFileSync(join(home, name), text);
    }
    // Nothing was understood, or everything as git did.
    expect(askUs() ?? null).toEqual(askGit());
    for (const name of Object.keys(files)) rmSync(join(home, name));
  });

  test('a conditional include counts whatever its condition says', () => {
    writeFileSync(join(home, 'one'), '[a]x=2');
    for (const condition of ['gitdir:/nowhere/', 'onbranch:x', 'hasconfig:remote.*.url:x', 'of-a-later-version:x']) {
      writeFileSync(join(home, '.gitconfig'), `[includeIf "${condition}"]\n\tpath = one`);
      expect(askUs()).toContainEqual([join(home, 'one'), 'a.x', '2']);
    }
    rmSync(join(home, 'one'));
  });

  test.each([
    ['a NUL', '[a]x=1\0\n'],
    ['a key before any section', 'x=1\n'],
    ['a section without a name', '[]\nx=1'],
    ['a name with a dot at its end', '[a.]x=1'],
  ])('it does not understand %s', (_what, text) => {
    expect(readGitConfig(text)).toBeNull();
  });

  test('a blank that versions read differently is told', () => {
    const [first, second, third] = readGitConfig('[a]\nx = a\tb\ny = a b\t\nz = "a\tb"') ?? [];
    expect([first?.isUnsure, second?.isUnsure, third?.isUnsure]).toEqual([true, false, false]);
  });
});
