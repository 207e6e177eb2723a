/**
 * Report: `find f -P""` and `find !'' -name x` were parallel. Quotes behind or around a word of an expression made it a
 * letter of a cluster, or an operand, so that the order of the words was not held, and a walk of the root not seen.
 */
import { expect, test } from 'vitest';
import { classify } from '../../src/classifier/classify.ts';
import { loadRules } from '../../src/rules/load.ts';

const rules = loadRules();
const answer = (command: string, cwd = '/home/someone/project'): string => {
  const verdict = classify(command, { rules, cwd });
  return verdict.kind === 'parallel' ? 'parallel' : verdict.reason.code;
};

test.each([
  'find f -P""',
  "find -a'' findutils-default",
  "find -O3 '''('",
  "find !'' -name x",
  'find ""! -name x',
  'find . "!"\'\' -name x',
  "find . -name a ,'' -name b",
  "test !''",
  'test a ""= b',
  "test -f'' a",
  "ls -l''",
  "sort -n'' f",
  "head -n'' 5 f",
  "git log -p''",
])('a quote beside the name of an option makes %s serial', (command) => {
  expect(answer(command)).toBe('OPTION_QUOTED');
});

test('a quoted value stays a value, joined or not', () => {
  const commands = [
    `head -n'5' f`,
    `head -n "5" f`,
    `grep -e'a b' f`,
    `cut -d',' -f1 f`,
    `sort -t"" f`,
    `find . -name "*.ts"`,
  ];
  expect(commands.filter((command) => answer(command) !== 'parallel')).toEqual([`sort -t"" f`]);
});

test('words of an expression that the rule lists as spelled stay what they are', () => {
  for (const command of ['find . ! -name x', "find . '!' -name x", 'find . \\( -name a \\)', "find . '(' -name a ')'"])
    expect([command, answer(command)]).toEqual([command, 'parallel']);
});
