import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { classify, examine } from '../../src/classifier/classify.ts';
import { rulesOf } from '../../src/classifier/rule-set.ts';
import { spellingsOf } from '../../src/classifier/usage.ts';
import type { Verdict } from '../../src/classifier/verdict.ts';
import { loadRules } from '../../src/rules/load.ts';
import type { RuleFile } from '../../src/rules/schema.ts';

/** Text tools, archives and builtins: what the facts say goes wrong with them, spelled in every way that means it. */

const WAITING = ['strings', 'nm', 'size', 'objdump', 'readelf'];
const rules = loadRules({ experimental: WAITING });
const ask = (command: string): Verdict => classify(command, { rules });
const isParallel = (command: string): boolean => ask(command).kind === 'parallel';
const ruleOf = (binary: string): RuleFile =>
  JSON.parse(readFileSync(new URL(`../../rules/${binary}.json`, import.meta.url), 'utf8'));

function answer(command: string): string {
  const verdict = ask(command);
  return verdict.kind === 'parallel' ? 'parallel' : verdict.reason.code;
}

const TRAPS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'writes the file that an option names': {
    OPTION_UNKNOWN: [
      'sort -o out in',
      'sort -oout in',
      'sort -nro out in',
      'sort in -o in',
      'sort --output=out in',
      'sort --outp out in',
      'sort -k 1 -o out in',
      'shuf -zo out in',
      'shuf --ou=out in',
      'iconv -f utf-8 -oout in',
      'tree -ao out',
      'tree -L 1 -o out',
      'tree -P -o -o out',
      'tar -tf a.tar --index-file=out',
      'tar -tf a.tar --index-f out',
      'zstd -cdo out in',
      'zstd -c --output-dir-flat out in',
      'openssl dgst -sha256 -out out in',
      'openssl x509 -in a -noout -out out',
      'file -bC -m in',
      'bat cache --build',
    ],
  },
  'writes the file that an operand names': {
    OPERAND_UNEXPECTED: [
      'uniq in out',
      'uniq -c in out',
      'uniq -f 1 in out',
      'uniq --skip-fields 1 in out',
      'uniq -- in out',
      'uniq in -c out',
      'xxd in out',
      'xxd -p in out',
      'xxd in -p',
      'xxd -- in out',
      'base64 in out',
    ],
    GLOB_REFUSED: ['uniq src/*.txt', 'xxd src/*.txt', 'sort *', 'nl *'],
  },
  'replaces its files': {
    OPTION_REQUIRED: [
      'gzip in',
      'gzip -k in',
      'gzip -v in',
      'gzip -d in.gz',
      'gunzip in.gz',
      'xz in',
      'unxz in.xz',
      'xz -t -d in.xz',
      'xz -dl in.xz',
      'bzip2 in',
      'bzip2 -td in.bz2',
      'bunzip2 in.bz2',
      'zstd in',
      'zstd -td in.zst',
      'unzstd in.zst',
      'unzip a.zip',
      'tar xf a.tar',
      'tar czf a.tar in',
    ],
    OPTION_UNKNOWN: [
      'gzip -9 in',
      'xz -tz in',
      'bzip2 -tz in',
      'zstd -lz in',
      'zstd -c --rm in',
      'tar -xtf a.tar',
      'tar -cf a.tar in',
    ],
    EXPRESSION_REFUSED: ['unzip a.zip -l', 'unzip a.zip in -l'],
  },
  'sets the clock or the name of the machine': {
    OPTION_UNKNOWN: [
      'date -s now',
      'date -snow',
      'date -us now',
      'date --set now',
      'date --se=now',
      'hostname -F f',
      'hostname -b',
    ],
    OPERAND_REFUSED: [
      'date 010100002030',
      'date -u 01010000',
      'date -- 01010000',
      'date "01010000"',
      'date 0101000030.15',
    ],
    OPERAND_UNEXPECTED: ['date +%F 01010000', 'hostname x', 'hostname -- x', 'hostname -s x'],
  },
  'runs a program': {
    OPTION_UNKNOWN: [
      'sort --compress-program=./x in',
      'sort --compress-p ./x in',
      'diff -l a b',
      'diff -rul a b',
      'diff --paginate a b',
      'diff3 --diff-program=./x a b c',
      'tar tf a.tar -I ./x',
      'tar -tf a.tar --use-compress-program ./x',
      'tar -tI./x -f a.tar',
      'tar tf a.tar --to-command=./x',
      'tar tf a.tar --checkpoint=1 --checkpoint-action=exec=./x',
      'tar -tMF ./x -f a.tar',
      'tar -tf a.tar --rsh-command=./x',
      'file -z in',
      'file -bZ in',
      'fd -x ./x',
      'fd main --exec ./x',
      'fd -HX ./x',
      'fd -l',
      'bat -P --pager=./x in',
      'nm --plugin ./x.so in',
      'openssl x509 -in a -engine ./x.so',
      'env -S ./x',
      'env -i ./x',
    ],
    VALUE_REFUSED: ['tar tf h:a.tar', 'tar --list --file=u@h:a.tar', 'bat --paging=always in', 'iconv -f ./x.gz in'],
    OPTION_REQUIRED: ['command ls', 'command ls -v', 'command -p ls -V', 'bat in'],
    OPERAND_UNEXPECTED: ['env ls', 'env A=b ls', 'env -- ls', 'env - ls'],
    OPERAND_SUBSCRIPT: [
      "printf -v 'x[$(ls)]' y",
      "printf %d 'x[$(ls)]'",
      "test -v 'x[$(ls)]'",
      "[ -v 'x[$(ls)]' ]",
      "[ 'x[$(ls)]' -eq 1 ]",
      "command -v 'x[0]'",
      "type 'x[0]'",
      "true 'x[0]'",
    ],
  },
  'may not end': {
    OPERAND_REFUSED: [
      'seq inf',
      'seq 1 inf',
      'seq 1 999999999',
      'factor 1522605027922533360535618378132637429718068114961380688657908494580122963258952897654000350692006139',
    ],
    OPTION_UNKNOWN: ['shuf -r in', 'shuf -i 1-99999999999', 'sort -R --random-source=/dev/zero in'],
    PROGRAM_REFUSED: ["jq -n 'repeat(1)'", "jq -n 'last(range(infinite))'", "jq 'until(false; .)' in", 'jq -n input'],
    VALUE_REFUSED: [
      'nl -w 2000000000 in',
      'expand -t 2000000000 in',
      'pr -w 2000000000 in',
      'date -d \'TZ="/dev/tty" now\'',
    ],
    PATH_DEVICE: [
      'cksum /dev/zero',
      'md5sum /dev//zero',
      'xxd /dev/./urandom',
      'od -c /proc/kmsg',
      'diff a /dev/tty',
      'sort /dev/stdin',
    ],
  },
  'takes names or options from a file that is not read here': {
    OPTION_UNKNOWN: [
      'sort --files0-from=names',
      'du --files0-from=names',
      'du -X names',
      'diff -X names a b',
      'file -f names',
      'file -m magic in',
      'md5sum -c sums',
      'sha256sum --check sums',
      'tar -tf a.tar -T names',
      'xz -c --files=names',
      'zstd -c --filelist names',
      'jq -f filter in',
      'date -f moments',
      'hexdump -f format in',
      'tree --fromfile names',
    ],
  },
  'reads standard input': {
    STDIN_READ: [
      'sort',
      'sort -rn',
      'uniq -c',
      'cut -f1',
      'tr a b',
      'nl -ba',
      'paste - a',
      'comm - a',
      'join a -',
      'diff - a',
      'cmp a -',
      'fold -w 80',
      'rev',
      'tac',
      'base64 -d',
      'md5sum',
      'od -c',
      'xxd',
      'hd',
      'iconv -t utf-8',
      'zcat',
      'gzip -c',
      'xz -dc -',
      'tar tf -',
      'jq .',
      'numfmt --to=iec',
      'openssl sha256',
      'file -',
      'bat -pp',
    ],
    OPERAND_REFUSED: ['sort +1', 'uniq +1', 'od +10', 'pr +2'],
  },
};

for (const [why, byCode] of Object.entries(TRAPS)) {
  describe(`serial, because it ${why}`, () => {
    const cases = Object.entries(byCode).flatMap(([code, commands]) =>
      commands.map((command) => [command, code] as const),
    );
    test.each(cases)('%s', (command, code) => {
      expect(answer(command)).toBe(code);
    });
  });
}

describe('what only looks like a trap is parallel', () => {
  test.each([
    'sort -t -o in',
    'sort -k1o8 in',
    'tree -P -o src',
    "printf '%s\\n' -v x",
    'test x = -v',
    '[ -n -v ]',
    'cut -f -2 in',
    'date -d -1day +%F',
    'xxd -s -8 in',
    'type rm',
    'command -v rm',
    'which dd',
    'diff3 --ed a b c',
    "jq '.input | .repeat' in",
    'tar tf a.tar -- -x',
    'basename -- -o',
  ])('%s', (command) => {
    expect(answer(command)).toBe('parallel');
  });
});

/** Words that make a command write, run, block or reach elsewhere, in every place where they would be options. */
const HOSTILE: Readonly<Record<string, readonly string[]>> = {
  date: ['-s', '-snow', '--set=now', '-f', '01010000', '>x'],
  sort: [
    '-o',
    '-oout',
    '-no',
    '--output=x',
    '--compress-program=x',
    '-T',
    '-S1',
    '--files0-from=x',
    '+1',
    '/dev/tty',
    '*',
  ],
  uniq: ['out', '-2', '/dev/tty', '*', '-'],
  cut: ['/dev/tty', '*', '-', '--out=x'],
  file: ['-C', '-bC', '-f', '-fx', '-m', '-z', '-Z', '-p', '-s', '--compile', '/dev/tty', '*'],
  stat: ['/dev/tty', '*', '-x', '$x'],
  diff: ['-l', '-ul', '--paginate', '-X', '--from-file=x', '/dev/tty', '-', '*', 'third'],
  du: ['--files0-from=x', '-X', '--exclude-from=x', '/dev/tty', '*'],
  df: ['--sync', '/dev/tty', '*'],
  tree: ['-o', '-ao', '-oout', '-R', '--fromfile', '--hintro', '/dev/tty', '*'],
  which: ['-i', '--read-alias', '*', ';'],
  nl: ['/dev/tty', '*', '-'],
  paste: ['/dev/tty', '*', '-'],
  join: ['/dev/tty', '*', '-', 'third'],
  comm: ['/dev/tty', '*', '-', 'third'],
  column: ['/dev/tty', '*', '-'],
  fold: ['/dev/tty', '*', '-'],
  fmt: ['/dev/tty', '*', '-'],
  expand: ['/dev/tty', '*', '-', '-4'],
  pr: ['/dev/tty', '*', '-', '+2', '-999'],
  tac: ['/dev/tty', '*', '-'],
  shuf: ['-o', '-zo', '--output=x', '-r', '-i', '--random-source=x', '*'],
  readlink: ['/dev/tty', '*'],
  realpath: ['/dev/tty', '*'],
  md5sum: ['-c', '-bc', '--check', '/dev/tty', '*', '-'],
  cksum: ['-c', '--check', '/dev/tty', '*', '-'],
  cmp: ['/dev/tty', '-', 'third', '*'],
  diff3: ['--diff-program=x', '/dev/tty', 'fourth', '*'],
  od: ['+10', '--traditional', '/dev/tty', '*', '-'],
  hexdump: ['-e', '-f', '/dev/tty', '*', '-'],
  xxd: ['out', '-r', '-revert', '-pr', '/dev/tty', '*', '-'],
  iconv: ['-o', '-co', '--output=x', '/dev/tty', '*', '-'],
  base64: ['-o', 'second', '/dev/tty', '*', '-'],
  gzip: ['-r', '-f', '-S', '-9', '/dev/tty', '*', '-'],
  xz: ['--files', '--files0=x', '-z', '-f', '/dev/tty', '*', '-'],
  bzip2: ['-z', '-f', '/dev/tty', '*', '-'],
  zstd: ['-o', '--rm', '--trace', '--filelist', '-b', '-f', '/dev/tty', '*', '-'],
  tar: [
    '-x',
    '-c',
    '-xf',
    '-I',
    '--to-command=x',
    '--checkpoint-action=x',
    '-F',
    '--rsh-command=x',
    '--index-file=x',
    '-g',
    '-T',
    '--delete',
    '*',
  ],
  unzip: ['-d', '-o', '-x', '-T', '-M', '-p', '-l-', '--l', '*'],
  fd: ['-x', '-X', '-Hx', '--exec', '--exec-batch=x', '-l', '*'],
  bat: ['--pager=x', '--paging=always', '/dev/tty', '*', '-'],
  jq: ['-f', '-rf', '-L', '--from-file', '--arg', '--slurpfile', '--args', '/dev/tty', '*', '-'],
  openssl: ['-out', '-engine', '-provider', '-writerand', '-rand', '-config', '$x'],
  strings: ['-T', '/dev/tty', '*', '-', '+x'],
  nm: ['--plugin', '--plugin=x', '-l', '/dev/tty', '*', '-'],
  objdump: ['-S', '-dS', '-W', '-b', '--plugin=x', '-i', '/dev/tty', '*', '-'],
  readelf: ['-w', '-wi', '--debug-dump', '-P', '/dev/tty', '*', '-'],
};

/** Spellings that take the next word as their value, wherever in the file they stand. */
function takersOf({ command, groups }: RuleFile): ReadonlySet<string> {
  const nodes = [command, ...Object.values(command.subcommands ?? {})];
  const tables = [...Object.values(groups ?? {}), ...nodes.map((node) => node.options ?? {})];
  const taking = tables
    .flatMap((table) => Object.entries(table))
    .filter(([, { takes, optional }]) => takes !== undefined && !optional);
  return new Set(taking.flatMap(([key]) => spellingsOf(key).flat()));
}

function waitsForValue(word: string, takers: ReadonlySet<string>): boolean {
  const isCluster = word.startsWith('-') && !word.startsWith('--');
  return takers.has(word) || (isCluster && takers.has(`-${word.at(-1)}`));
}

describe('a hostile word put anywhere into a parallel example makes it serial, unless it is the value of an option', () => {
  test.each(Object.keys(HOSTILE))('%s', (binary) => {
    const file = ruleOf(binary);
    const takers = takersOf(file);
    const wrong: string[] = [];
    let tried = 0;
    for (const example of file.examples.parallel) {
      if (/['"\\]/.test(example)) continue; // the places between its words are not those between its blanks
      const words = example.split(' ');
      for (let at = 1; at <= words.length; at++) {
        if (waitsForValue(words[at - 1]!, takers) || words.slice(0, at).includes('--')) continue;
        for (const word of HOSTILE[binary]!) {
          const command = [...words.slice(0, at), word, ...words.slice(at)].join(' ');
          tried++;
          if (isParallel(command)) wrong.push(command);
        }
      }
    }
    expect(tried).toBeGreaterThan(15);
    expect(wrong).toEqual([]);
  });
});

describe('what is known to be unsafe is said to be, with its reason', () => {
  test.each([
    ['sort -o out in', 'writes the file it names'],
    ['tree -o out', 'writes the file it names'],
    ['date -s now', 'sets the clock'],
    ['hostname -F f', 'sets the name'],
    ['file -C -m magic', 'writes magic.mgc'],
    ['diff -l a b', 'runs the program pr'],
    ['tar tf a.tar -I ./x', 'runs a program'],
    ['tar -xf a.tar', 'writes files'],
    ['fd -x rm', 'runs a command'],
    ['env -S ls', 'cuts its value into a command'],
    ['jq -f filter in', 'filter is in a file'],
    ['openssl s_client -connect h:443', 'talks to the network'],
    ['zstd -c --rm f', 'removes what it has read'],
  ])('%s', (command, reason) => {
    const verdict = ask(command);
    if (verdict.kind === 'parallel') throw new Error(`${command} is parallel`);
    expect(verdict.reason.knowledge).toBe('known-unsafe');
    expect(verdict.reason.message).toContain(reason);
  });
});

test('tools that read options from @file wait until a kind refuses such names', () => {
  const stable = loadRules();
  for (const binary of WAITING) expect(stable.names).not.toContain(binary);
});

test('behind a pipe the same tools read what comes out of it', () => {
  const inner = rulesOf(rules);
  const piped = (command: string): string => examine(command, inner, {}, true).verdict.kind;
  const commands = [
    'sort -rn',
    'uniq -c',
    'cut -d: -f1',
    'tr a-z A-Z',
    'nl -ba',
    'comm -12 - a',
    'jq .',
    'md5sum',
    'xxd',
    'base64 -d',
  ];
  expect(commands.filter((command) => piped(command) !== 'parallel')).toEqual([]);
  expect(commands.filter(isParallel)).toEqual([]);
});
