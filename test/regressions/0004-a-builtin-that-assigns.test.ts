/**
 * Report: `printf 'abc%n' PATH ; ls` was parallel in compound mode. The shell's printf assigns to the variable that an
 * operand names, so a part changed PATH, HOME or the settings of git under the parts behind it.
 * The kind: a part that the shell itself answers leaves the shell as it was.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fc, test as law } from '@fast-check/vitest';
import { afterAll, describe, expect, test } from 'vitest';
import { classify } from '../../src/classifier/classify.ts';
import { printfFormat } from '../../src/classifier/programs/printf.ts';
import { loadRules } from '../../src/rules/load.ts';
import { worded } from '../../src/rules/samples.ts';
import { files, profiles, proposedFor } from '../rules/built-in.ts';

const rules = loadRules();
const answer = (command: string): string => {
  const verdict = classify(command, { rules, mode: 'compound', cwd: '/home/someone/project' });
  return verdict.kind === 'parallel' ? 'parallel' : verdict.reason.code;
};

/** All that a shell says of itself, without its own clocks, its dice and what it notes of the last command. */
const STATE = `declare -p; declare -f; shopt; set +o; pwd; trap -p; ulimit -a; umask; hash; alias; jobs; echo /proc/$$/fd/*`;
const OWN = ['_', 'BASH_COMMAND', 'RANDOM', 'SECONDS', 'EPOCHREALTIME', 'EPOCHSECONDS', 'PIPESTATUS', 'FUNCNAME'];
const CHANGING = new Set([...OWN, 'LINENO', 'SRANDOM', 'BASHPID']);
const nameOf = (line: string): string | undefined => /^declare -\S+ (\w+)/.exec(line)?.[1];

const directory = mkdtempSync(join(tmpdir(), 'signalbox-state-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** The lines of the shell's state that a command leaves otherwise than it found them. */
function changedBy(command: string): readonly string[] {
  const script = `${STATE}\necho ::between::\n{ ${command}\n} >/dev/null 2>&1 </dev/null\n${STATE}`;
  const { stdout, status } = spawnSync('bash', ['--noprofile', '--norc', '-c', script], {
    cwd: directory,
    env: { PATH: process.env.PATH, HOME: directory },
    encoding: 'utf8',
  });
  const [before, after] = stdout.split('::between::\n').map((state) => state.split('\n'));
  if (status !== 0 || after === undefined || after.length < before!.length / 2) throw new Error(`no state: ${command}`);
  const differing = [
    ...after.filter((line) => !before!.includes(line)),
    ...before!.filter((line) => !after.includes(line)),
  ];
  return differing.filter((line) => !CHANGING.has(nameOf(line) ?? ''));
}

const builtins = files.filter((file) => file.builtin === true);
const examples = builtins.flatMap((file) => {
  const proposed = proposedFor(file);
  return [file.examples, proposed].flatMap(({ parallel, piped = [] }) => [...parallel, ...piped]);
});

describe('a part that the shell itself answers', () => {
  test('is an example of one of several rules', () => {
    expect(builtins.map(({ binary }) => binary)).toEqual(expect.arrayContaining(['echo', 'printf', 'test', 'type']));
    expect(examples.length).toBeGreaterThan(60);
  });

  test.each(examples)('leaves the shell as it was: %s', (command) => {
    expect(answer(command)).toBe('parallel');
    expect(changedBy(command)).toEqual([]);
  });

  test('leaves it so behind every assignment that may stand there', () => {
    const assignments = Object.entries(profiles.assignments ?? {}).flatMap(([name, values]) =>
      values.map((value) => `${name}=${value}`),
    );
    const commands = builtins.flatMap(({ examples: { parallel } }) =>
      assignments.map((assignment) => `${assignment} ${parallel[0]}`),
    );
    expect(commands.map(answer).filter((code) => code !== 'parallel')).toEqual([]);
    expect(commands.length).toBeGreaterThan(50);
    expect(changedBy(commands.join('\n'))).toEqual([]);
  });

  const CHANGES: readonly (readonly [string, string])[] = [
    ["printf 'abc%n' CHANGED", 'CHANGED="3"'],
    ['printf -v CHANGED x', 'CHANGED="x"'],
    ['cd /', 'OLDPWD'],
    ['set -f', 'noglob'],
    ['shopt -s nullglob', 'nullglob'],
    ["trap ':' USR1", 'USR1'],
    ['umask 000', '0000'],
    ['hash ls', '/ls'],
    ['alias a=b', "alias a='b'"],
    ['exec 9</dev/null', '/fd/9'],
    ['read -r x', 'declare -- x'],
    ['getopts a OPTION -a', 'OPTIND'],
    ['f() { :; }', 'f ()'],
    ['ulimit -S -c 0; ulimit -S -n 64', '64'],
  ];

  test.each(CHANGES)('would be found out, were it %s', (command, shown) => {
    expect(answer(command)).not.toBe('parallel');
    expect(changedBy(command).join('\n')).toContain(shown);
  });
});

describe('a format of printf', () => {
  test.each([
    "printf 'abc%n' PATH ; ls",
    "printf '%n' GIT_CONFIG_COUNT ; git status",
    "printf 'x%n' GIT_OPTIONAL_LOCKS ; git status",
    "printf 'x%n' HOME ; git log -p",
    "printf 'xx%n' TMPDIR ; sort big",
    "printf '%n' POSIXLY_CORRECT ; pwd -P",
    "printf '%-5n' HOME ; ls",
    "printf '%.3n' HOME ; ls",
    "printf '%ln' HOME ; ls",
    "printf '%hhn' HOME ; ls",
    "printf '%*n' 3 HOME ; ls",
    "printf '%s%n' a HOME ; ls",
    "printf '%%%n' HOME ; ls",
    "printf '\\%n' HOME ; ls",
    "printf '\\\\%n' HOME ; ls",
    'printf "%n" HOME ; ls',
    'printf %n HOME ; ls',
    'printf -- %n HOME',
    "LC_ALL=C printf '%n' HOME ; ls",
    "ls | printf '%n' HOME",
    "printf '%*d' 2147483647 1",
    "printf '%2147483647d' 1",
    "printf '%(%s)T'",
  ])('%s is serial', (command) => expect(answer(command)).toBe('PROGRAM_REFUSED'));

  const piece = fc.constantFrom(
    ...['%', '%s', '%b', '%q', '%c', '%d', '%x', '%5', '%-', '%.', '%0', '%#', '%+', '% ', '%*', '%l', '%(', ')T', 'n'],
    ...['\\', '\\\\', '\\045', '\\x25', '\\u0025', '\\x', '\\c', '\\n', '$', 'd', 's', '3', '.2', 'é', 'A'],
  );
  const format = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''));
  const accepted = fc.array(format.filter(printfFormat), { minLength: 40, maxLength: 40 });

  law.prop([accepted], { numRuns: 20, endOnFailure: true })(
    'that is accepted leaves the shell as it was, whatever the operands name',
    (formats) => {
      const commands = formats.flatMap((text) => [
        `printf -- ${worded(text)} CHANGED PATH HOME 3 %n`,
        `printf -- ${worded(text)} '\\045n' CHANGED`,
      ]);
      expect(commands.map(answer).filter((code) => code !== 'parallel')).toEqual([]);
      expect(changedBy(commands.join('\n'))).toEqual([]);
    },
  );
});
