import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { classify } from '../../src/classifier/classify.ts';
import { loadRules } from '../../src/rules/load.ts';
import { random } from '../unit/programs/sed-programs.ts';

/**
 * The real bash as a judge of the expressions of `test` and `[`: whatever the rule calls parallel says nothing, starts
 * nothing, changes nothing, sets nothing, and answers by its code alone.
 */

const rules = loadRules();
const isParallel = (command: string): boolean => classify(command, { rules }).kind === 'parallel';

/** PATH holds programs that leave a mark; so does the handler of names that are not found. */
const JUDGE = `
PATH=$PWD/bin
command_not_found_handle() { : >marks/missing; }
while IFS= read -r -d '' text; do
  said=$(set -- ; eval "$text" 2>/dev/null; printf '%d %s' $? "\${!x*}")
  printf '%s\\036' "$said"
done
`;

let directory = '';
let before = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'signalbox-test-'));
  for (const name of ['marks', 'bin', 'd']) mkdirSync(join(directory, name));
  for (const name of ['a.txt', 'b.txt', '-f']) writeFileSync(join(directory, name), name);
  for (const name of ['touch', 'ls', 'id']) {
    writeFileSync(join(directory, 'bin', name), `#!/bin/sh\n: >marks/${name}\n`, { mode: 0o755 });
  }
  before = listing();
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function listing(): string {
  return readdirSync(directory, { recursive: true }).sort().join(' ');
}

function judge(commands: readonly string[]): readonly string[] {
  const run = spawnSync('bash', ['--noprofile', '--norc', '-c', JUDGE], {
    cwd: directory,
    input: commands.map((command) => `${command}\0`).join(''),
    env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' },
    encoding: 'utf8',
    timeout: 50_000,
  });
  return run.stdout.split('\u001e').slice(0, -1);
}

const WORDS = (
  `a.txt b.txt d missing x 0 1 -7 '' "" '-f' = == != \\< '<' \\> -eq -ne -lt -le -gt -ge -nt -ot -ef -e -f -d -s -r -L -n -z -t ! ` +
  `-a -o \\( '(' \\) ')' ] -v -R x[0] 'x[$(touch,mark)]' x[\\$\\(id\\)] $x \`id\` * && || ; -- 9223372036854775808 /dev/tty`
).split(' ');

function commandFrom(next: () => number): string {
  const words = Array.from({ length: Math.floor(next() * 7) }, () => WORDS[Math.floor(next() * WORDS.length)]!);
  return next() < 0.5 ? ['test', ...words].join(' ') : ['[', ...words, ']'].join(' ');
}

/** Terms that bash knows, joined as it joins them. */
function wellFormed(next: () => number): string {
  const pick = (of: readonly string[]): string => of[Math.floor(next() * of.length)]!;
  const term = (): string =>
    pick([
      `${pick(['-e', '-f', '-d', '-s', '-r', '-L'])} ${pick(['a.txt', 'd', 'missing'])}`,
      `a.txt ${pick(['-nt', '-ot', '-ef'])} b.txt`,
      `x ${pick(['=', '==', '!=', '\\<', "'>'"])} y`,
      `1 ${pick(['-eq', '-ne', '-lt', '-le', '-gt', '-ge'])} 2`,
      `-n ${pick(['x', "''"])}`,
    ]);
  const group = (depth: number): string => {
    const kind = next();
    if (depth < 2 && kind < 0.2) return `\\( ${group(depth + 1)} \\)`;
    if (kind < 0.35) return `! ${term()}`;
    if (kind < 0.6) return `${term()} ${pick(['-a', '-o'])} ${group(depth + 1)}`;
    return term();
  };
  const expression = group(0);
  return next() < 0.5 ? `test ${expression}` : `[ ${expression} ]`;
}

function generated(make: (next: () => number) => string, seed: number, tries: number): readonly string[] {
  const next = random(seed);
  return [...new Set(Array.from({ length: tries }, () => make(next)))];
}

test('no accepted expression of loose words says, starts, sets or changes anything in the real bash', () => {
  const accepted = generated(commandFrom, 5_021, 40_000).filter(isParallel);
  expect(accepted.length).toBeGreaterThan(400);
  const answers = judge(accepted);
  expect(answers.length).toBe(accepted.length);
  expect(accepted.filter((_, index) => !['0 ', '1 ', '2 '].includes(answers[index]!))).toEqual([]);
  expect(listing()).toBe(before);
});

test('every expression that bash reads without complaint, of the terms of its manual, is accepted', () => {
  const commands = generated(wellFormed, 77, 600);
  const answers = judge(commands);
  expect(commands.filter((_, index) => !['0 ', '1 '].includes(answers[index]!))).toEqual([]);
  expect(commands.filter((command) => !isParallel(command))).toEqual([]);
});

test('the judge would have noticed a program, a name that nobody knows, a variable and a word', () => {
  expect(judge(['ls', 'nobody knows', 'xy=1', 'echo said'])).toEqual(['0 ', '0 ', '0 xy', 'said\n0 ']);
  expect(readdirSync(join(directory, 'marks')).sort()).toEqual(['ls', 'missing']);
  for (const name of ['ls', 'missing']) rmSync(join(directory, 'marks', name));
});
