import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { namesOf, spellingsOf } from '../../src/classifier/usage.ts';
import type { RuleFile, RuleOption } from '../../src/rules/schema.ts';

/**
 * The real programs are asked about every spelling of every option: whether they know it, and whether they take the next
 * word as its value. Where rule and program differ on that, one of them could read a hostile word as a value. The option
 * stands last, behind words that keep the program from writing and from waiting.
 */

type Messages = { readonly unknown: readonly string[]; readonly wantsValue: readonly string[] };
type Program = Messages & {
  /** The file of the rule. */
  readonly rule: string;
  readonly program: string;
  readonly before: readonly string[];
};

const GETOPT: Messages = { unknown: ['unrecognized option', 'invalid option'], wantsValue: ['requires an argument'] };
const CLAP: Messages = {
  unknown: ["wasn't expected", 'unexpected argument'],
  wantsValue: ['requires a value', 'a value is required'],
};

function withGetopt(before: string, ...rules: readonly string[]): readonly Program[] {
  return rules.map((rule) => ({
    rule,
    program: rule,
    before: before.split(' ').filter((one) => one !== ''),
    ...GETOPT,
  }));
}

const PROGRAMS: readonly Program[] = [
  ...withGetopt('', ...'date nproc env printenv df basename seq tr'.split(' ')),
  ...withGetopt('a.txt', ...'sort uniq file stat du nl paste column fold expand unexpand pr rev tac shuf'.split(' ')),
  ...withGetopt('a.txt', ...'readlink realpath dirname md5sum b2sum cksum sum od hexdump iconv base64'.split(' ')),
  ...withGetopt('a.txt', ...'strings nm size objdump readelf'.split(' ')),
  ...withGetopt('a.txt b.txt', 'diff', 'cmp', 'join', 'comm'),
  ...withGetopt('a.txt b.txt a.txt', 'diff3'),
  ...withGetopt('-f1 a.txt', 'cut'),
  ...withGetopt('1', 'numfmt'),
  ...withGetopt('--base16 a.txt', 'basenc'),
  ...withGetopt('-c a.txt', 'gzip', 'xz'),
  ...withGetopt('archive.gz', 'zcat'),
  ...withGetopt('a.txt', 'xzcat'),
  ...withGetopt('-tf archive.tar', 'tar'),
  { rule: 'bzip2', program: 'bzip2', before: ['-c', 'a.txt'], unknown: ['Bad flag'], wantsValue: [] },
  { rule: 'bzcat', program: 'bzcat', before: ['a.txt'], unknown: ['Bad flag'], wantsValue: [] },
  { rule: 'zstd', program: 'zstd', before: ['-c', 'a.txt'], unknown: ['Incorrect parameter'], wantsValue: [] },
  { rule: 'zstdcat', program: 'zstdcat', before: ['a.txt'], unknown: ['Incorrect parameter'], wantsValue: [] },
  {
    rule: 'tree',
    program: 'tree',
    before: ['-L', '1'],
    unknown: ['Invalid argument'],
    wantsValue: ['Missing argument', 'missing argument'],
  },
  {
    rule: 'jq',
    program: 'jq',
    before: ['.', 'data.json'],
    unknown: ['Unknown option'],
    wantsValue: ['takes one parameter'],
  },
  { rule: 'fd', program: 'fdfind', before: ['main'], ...CLAP },
  { rule: 'bat', program: 'batcat', before: ['-P', 'a.txt'], ...CLAP },
];

/** Stand first in their programs, or nowhere; tried by hand. */
const FIRST_ONLY: ReadonlySet<string> = new Set(['fmt -NUMBER']);
const NUMBER = '-NUMBER';
/** `tf archive.tar`: words of the old style, which have to stand first. */
const isOldStyle = (spelling: string): boolean => !spelling.startsWith('-');

function ruleOf(name: string): RuleFile {
  return JSON.parse(readFileSync(new URL(`../../rules/${name}.json`, import.meta.url), 'utf8'));
}

const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
let directory = '';
let before = '';
beforeAll(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'signalbox-arity-')));
  mkdirSync(join(directory, 'src'));
  for (const name of ['a.txt', 'b.txt', 'src/main.ts']) writeFileSync(join(directory, name), 'a 1\nb 2\n');
  writeFileSync(join(directory, 'data.json'), '{"a":[1]}');
  spawnSync('bash', ['-c', 'tar cf archive.tar a.txt; gzip -c a.txt >archive.gz'], { cwd: directory });
  for (const name of ['', 'src', ...readdirSync(directory)]) {
    const path = join(directory, name);
    chmodSync(path, name.includes('.') ? 0o644 : 0o755);
    if (NOBODY.uid !== undefined) chownSync(path, NOBODY.uid, NOBODY.gid);
  }
  before = listing();
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function listing(): string {
  return readdirSync(directory, { recursive: true }).sort().join(' ');
}

function complaintOf({ program, before: words }: Program, option: string): string {
  const run = spawnSync(program, [...words, option], {
    cwd: directory,
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', HOME: directory, LC_ALL: 'C.UTF-8' },
    ...NOBODY,
    encoding: 'utf8',
    timeout: 10_000,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return `${run.error?.message ?? ''}${run.stderr}`;
}

function saysAny(complaint: string, texts: readonly string[]): boolean {
  return texts.some((text) => complaint.includes(text));
}

/** Every spelling on which the program and the rule do not agree, with what the program says. */
function differencesOf(program: Program, options: readonly (readonly [string, RuleOption])[]): readonly string[] {
  const differences: string[] = [];
  for (const [key, option] of options) {
    for (const spelling of spellingsOf(key).flat()) {
      if (isOldStyle(spelling) || FIRST_ONLY.has(`${program.rule} ${spelling}`)) continue;
      const complaint = complaintOf(program, spelling === NUMBER ? '-3' : spelling);
      const takesNext = option.takes !== undefined && option.optional !== true;
      if (saysAny(complaint, program.unknown)) differences.push(`${spelling} is not known: ${complaint}`);
      if (saysAny(complaint, program.wantsValue) !== takesNext)
        differences.push(`${spelling} takes a value? ${complaint}`);
    }
  }
  return differences;
}

for (const program of [...PROGRAMS, ...withGetopt('a.txt', 'fmt')]) {
  describe(`${program.program} and its rule agree`, () => {
    test('on every option', () => {
      expect(differencesOf(program, Object.entries(ruleOf(program.rule).command.options ?? {}))).toEqual([]);
    });

    test('and the program does say when it does not know an option', () => {
      expect(saysAny(complaintOf(program, '--signalbox-stranger'), program.unknown)).toBe(true);
    });
  });
}

const OPENSSL: Messages = {
  unknown: ['Unknown option', 'Unknown digest', 'unknown option'],
  wantsValue: ['needs a value'],
};
const openssl = ruleOf('openssl');
const subcommands = Object.entries(openssl.command.subcommands ?? {}).flatMap(([names, node]) =>
  namesOf(names).map((name) => ({ name, node })),
);

describe('openssl and its rule agree', () => {
  test.each(subcommands)('on every option of $name', ({ name, node }) => {
    const program = { rule: 'openssl', program: 'openssl', before: [name], ...OPENSSL };
    const tables = [...(node.use ?? []).map((group) => openssl.groups?.[group] ?? {}), node.options ?? {}];
    const options = tables.flatMap((table) => Object.entries(table));
    expect(differencesOf(program, options)).toEqual([]);
  });

  test('and it does say when it does not know an option or a digest', () => {
    for (const name of ['version', 'dgst', 'verify', 'list']) {
      const program = { rule: 'openssl', program: 'openssl', before: [name], ...OPENSSL };
      expect(saysAny(complaintOf(program, '-signalbox-stranger'), OPENSSL.unknown), name).toBe(true);
    }
  });
});

test('and none of them has made or removed a file', () => {
  expect(listing()).toBe(before);
});
