/**
 * Report: `find . -maxdepth 0 -printf '\057dev/tty\n' | xargs cat --` and `ls | grep -rh '' | xargs cat --` were parallel. The
 * first invents a name, the second prints lines of files, and cat opened whatever they said.
 * Later: `find . -type p | xargs cat --`, `find . ! -type f`, `fd -t pipe`, `ls 'pipe1 x'` and `ls a b` (which prints `a:`) named
 * what is opened and waits, and `ls | xargs wc -l` took a file named `--files0-from=pipe1` for an option.
 * Later still: `find . -print0 | sort | xargs -0 cat --` joined and cut names, `find . | tail -1 | xargs wc -l` began with the half
 * of one that had a blank in it, and `echo / | getfacl -R -` took its names from the pipe without any xargs.
 * The kind: what goes to xargs are whole names of files that a listing found, because every option of the listing is listed,
 * with its values where they pick, and one place that the text names is one name.
 */

import { mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { classify } from '../../src/classifier/classify.ts';
import { spellingsOf } from '../../src/classifier/usage.ts';
import { createDispatcher } from '../../src/dispatcher/dispatcher.ts';
import { loadRules } from '../../src/rules/load.ts';
import type { RuleNode } from '../../src/rules/schema.ts';
import { files } from '../rules/built-in.ts';

const rules = loadRules();
const answer = (command: string): string => {
  const verdict = classify(command, { rules, mode: 'compound', cwd: '/home/someone/project' });
  return verdict.kind === 'parallel' ? 'parallel' : verdict.reason.code;
};

const fileOf = (binary: string) => files.find((file) => file.binary === binary)!;

describe('a stage before xargs', () => {
  test.each([
    "find . -maxdepth 0 -printf '\\057dev/tty%%\\n'",
    "find . -maxdepth 0 -printf '/d%l' -printf 'ev/tty%l\\n'",
    "find . -maxdepth 0 -printf '--files0-from=\\057dev/zero%l\\n'",
    "find . -maxdepth 0 -printf 'pipe1%l\\n'",
    'find . -ls',
    "git ls-files --format='%(path)'",
    'git ls-files -s',
    'git ls-files -t',
    'git ls-files --eol',
    'git ls-files --with-tree HEAD',
    'ls -a',
    'ls -f',
    'ls -l',
    'ls -la',
    'ls -l --time-style=+pipe1',
    'ls --full-time',
    'ls -s',
    'ls -i',
    'ls -m',
    'ls -R',
    'ls -Q',
    'ls -b',
    'ls -p',
    'ls -F',
    'ls --color',
    'ls --hyperlink',
    'ls --version',
    'fd --path-separator pipe1',
    'fd --help',
    'fd -c always',
    'ls | grep -A0 --group-separator=pipe1 .',
    'ls | grep -C1 .',
    'ls | grep -H --label=pipe1 .',
    'ls | grep -c .',
    'ls | grep -l .',
    'ls | grep -n .',
    'ls | grep -b .',
    "ls | grep -rh ''",
    "ls | grep -rho '[^ ]*tty'",
    "ls | grep -r ''",
    "ls | grep -o '[^ ]*tty'",
    'ls | grep x list',
    'ls | grep x - list',
    'ls | egrep -o x',
    'ls | head -v',
    'ls | head -c 9',
    'ls | tail -c 3',
    'ls | sort -c',
    'ls | sort -m list',
    'ls | uniq -c',
    'ls | uniq --group',
    "ls 'x pipe1 y' 2>&1",
    'find nothing 2>&1',
    'ls 2>&1 | sort',
    'ls | sort 2>&1',
    'ls >&2',
    'ls >/dev/null',
    'ls &>/dev/null',
    ...['p', 'c', 'b', 's', 'D', 'f -type p'].map((types) => `find . -type ${types}`),
    'find . ! -type f',
    'find . -not -type f,d',
    'find . \\( ! -type f \\)',
    'find . ! \\( -type f -o -type d \\)',
    "find . -not '(' -name a -type f ')'",
    'find . -type f -o -print',
    'find . -type f -prune -o -print',
    'find . -type f , -print',
    'find . \\( -name a -type f \\) -o -print',
    'fd -t p',
    'fd -t f -t pipe',
    'fd -tp',
    'fd --type=socket',
    'fd --type s',
    'fd -a',
    "ls 'pipe1 x'",
    "ls -d 'pipe1 x'",
    'ls pipe1\\ x',
    "ls 'a\\b'",
    'ls "it\'s"',
    'ls \'a"pipe1"\'',
    "find 'pipe1 x'",
    "find src 'pipe1 x' -name a",
    "find 'pipe1 x' -print0",
    "fd . 'pipe1 x'",
    "git ls-files 'pipe1 x'",
    'ls a b',
    'ls -A a b',
    'ls src/*',
  ])('is refused: %s', (stage) => {
    for (const end of ['xargs cat --', 'xargs wc -l', 'xargs grep x --', 'sort | xargs cat --']) {
      expect([end, answer(`${stage} | ${end}`)]).toEqual([end, 'NAMES_REFUSED']);
    }
  });

  test.each(['ls', 'ls -d', 'fd', 'fd . ./', 'git ls-files', 'ls src', 'fd . src', 'ls | find .'])(
    'may print names with a dash in front, which are no options behind --: %s',
    (stage) => {
      for (const through of ['', ' | sort', " | grep -v 'x' | head -3"]) {
        expect([through, answer(`${stage}${through} | xargs wc -l`)]).toEqual([through, 'NAMES_REFUSED']);
        expect([through, answer(`${stage}${through} | xargs wc -l --`)]).toEqual([through, 'parallel']);
      }
    },
  );

  test('is one of those that people use', () => {
    for (const stage of [
      "find . -name '*.ts'",
      "find . -type f -name '*.ts' -not -name a",
      'find . -path ./node_modules -prune -o -type f -print',
      "find . -type f \\( -name 'a b' -o -name c \\)",
      "find . \\( -type f \\) \\( -name 'a b' -o -name c \\)",
      'find src test -type f,d',
      'fd -t f -t directory . src test',
      'ls -d src/*',
      'ls -d src test',
      'find src -type f -not -path x',
      'ls',
      'ls -1',
      'ls -A src',
      'git ls-files',
      'git -C sub ls-files -o --exclude-standard',
      'fd -e ts',
      "ls | grep -v 'a'",
      "git ls-files | grep -E 'a|b' | head -20",
      'find . -name a 2>/dev/null | sort -u',
    ]) {
      expect([stage, answer(`${stage} | xargs wc -l --`)]).toEqual([stage, 'parallel']);
    }
  });
});

describe('what ends names with NUL', () => {
  test.each([
    'find . -print0 | sort',
    'find . -print0 | tail -n 1',
    'find . -print0 | grep zero',
    'find . -print0 | head -n 1',
    'find . -print0 | uniq',
    'find . -print0 | sort -z | tail -n 1',
    'find . | sort -z',
    'find . -print0 -print',
    'find . -name a -print -o -print0',
    'find .',
    'fd x',
    'fd -0 x | sort',
    'git ls-files',
    'git ls-files -z | grep x',
    'ls',
    'ls | sort -z',
  ])('is cut by every stage in the same place: %s', (stage) => {
    expect(answer(`${stage} | xargs -0 cat --`)).toBe('NAMES_REFUSED');
    expect(answer(`${stage} | xargs --null -r cat --`)).toBe('NAMES_REFUSED');
  });

  test.each(['find . -print0', 'fd -0 x', 'git ls-files -z', 'ls | sort -z', 'ls | grep -z x', 'ls | head -z -n 1'])(
    'is no name to who takes lines: %s',
    (stage) => {
      for (const end of ['xargs cat --', 'xargs -n 1 cat --', 'sort | xargs cat --', 'sort -z | xargs cat --']) {
        expect([end, answer(`${stage} | ${end}`)]).toEqual([end, 'NAMES_REFUSED']);
      }
    },
  );

  test.each(['find . -print0', 'fd -0 x', 'git ls-files -z'])('is a name to who says so: %s', (stage) => {
    for (const through of ['', ' | sort -z', " | grep -z -v 'x' | head -z -n 3"]) {
      expect([through, answer(`${stage}${through} | xargs -0 cat --`)]).toEqual([through, 'parallel']);
    }
  });
});

test('wc -l without -- gets all that find prints, and that first of it', () => {
  expect(answer('find . -type f | xargs wc -l')).toBe('parallel');
  expect(answer('find . -print0 | xargs -0 wc -l')).toBe('parallel');
  for (const through of ['sort', 'grep -e files0', 'tail -1', 'sort | head -1', "grep -v '/$'", 'uniq']) {
    expect([through, answer(`find . -type f | ${through} | xargs wc -l`)]).toEqual([through, 'NAMES_REFUSED']);
    expect([through, answer(`find . -type f | ${through} | xargs wc -l --`)]).toEqual([through, 'parallel']);
  }
  for (const option of ['-n 1', '-n1', '--max-args=1', '-r -n 5', '-0 -n 1'])
    expect([option, answer(`find . -print0 | xargs ${option} wc -l`)]).toEqual([option, 'DELEGATE_REFUSED']);
});

test('xargs is told how many names at a time, and not none', () => {
  expect(answer('ls | xargs -n 0 cat --')).toBe('VALUE_REFUSED');
  expect(answer('ls | xargs -n 1 cat --')).toBe('parallel');
});

test('what a listing may name, `..` too, is not walked', () => {
  for (const options of ['-r', '-rn', '--recursive', '-re y', '-d recurse']) {
    expect([options, answer(`ls | xargs grep ${options} x --`)]).not.toContain('parallel');
  }
});

test('every option that may stand before xargs is one of the rule that has it, or of a rule above', () => {
  const { after = {}, through = {} } = fileOf('xargs').command;
  const unknown = Object.entries({ ...after, ...through }).flatMap(([path, options]) => {
    const [binary = '', ...subcommands] = path.split(' ');
    const nodes: RuleNode[] = [fileOf(binary).command];
    for (const name of subcommands) nodes.push(nodes.at(-1)!.subcommands![name]!);
    const spelled = new Set(
      nodes.flatMap((node) => Object.keys(node.options ?? {}).flatMap((key) => spellingsOf(key).flat())),
    );
    const listed = options.flatMap((option) => (typeof option === 'string' ? [option] : Object.keys(option)));
    return listed.filter((option) => !spelled.has(option)).map((option) => `${path} ${option}`);
  });
  expect(unknown).toEqual([]);
});

describe('the place that a stage before xargs lists', () => {
  test.each(['find lnk/', 'find lnk/. -name zero', 'fd . lnk/'])(
    '%s is serial where the link leads to the root',
    (feeder) => {
      const cwd = realpathSync.native(mkdtempSync(join(tmpdir(), 'signalbox-listed-')));
      try {
        symlinkSync('/', join(cwd, 'lnk'));
        const dispatcher = createDispatcher({ rules, cwd, mode: 'compound' });
        const verdictOf = (command: string) => dispatcher.plan([command]).commands[0]?.verdict;
        expect(verdictOf(`${feeder} | xargs wc -l --`)).toMatchObject({
          kind: 'serial',
          reason: { code: 'OPERAND_NOT_REGULAR' },
        });
        // The same in a place that leads nowhere else.
        expect(verdictOf('find . -name zero | xargs wc -l')).toMatchObject({ kind: 'parallel' });
      } finally {
        rmSync(cwd, { recursive: true });
      }
    },
  );
});
