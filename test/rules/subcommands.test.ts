import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { classify } from '../../src/classifier/classify.ts';
import { loadRules } from '../../src/rules/load.ts';

/**
 * Every subcommand of the four tools that have the most of them, and what we answer: `shapes` are proved, by at least the
 * commands listed; a `refusal` is serial with a reason, alone and with an operand; `bare` is a group that is refused
 * alone, while the rows below it have answers of their own. Rows in brackets are about options before any subcommand, or
 * about names that the tool itself makes up.
 */
type Row = { readonly tool: string; readonly sub: string } & (
  | { readonly answer: 'shapes'; readonly parallel: readonly string[] }
  | { readonly answer: 'refusal' | 'bare' }
  | { readonly answer: 'notes' | 'serial'; readonly serial: readonly string[] }
);

type Judged = { readonly tool: string; readonly sub: string; readonly verdict: string };

const rules = loadRules();
const rows = linesOf<Row>(new URL('../vectors/subcommands.jsonl', import.meta.url));
const TOOLS = ['git', 'npm', 'docker', 'kubectl'];

/** Answered by shapes although the subcommand as a whole writes, runs or blocks: some form of it does not. */
const IN_ONE_FORM = ['npm (all)', 'npm run', 'npm run-script', 'kubectl rollout status'];
const READS: ReadonlySet<string> = new Set(['ro', 'shape', 'net', 'na']);

function linesOf<T>(url: URL): readonly T[] {
  return readFileSync(url, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line): T => JSON.parse(line));
}

const nameOf = ({ tool, sub }: { readonly tool: string; readonly sub: string }): string => `${tool} ${sub}`;

/** `parallel`, `known-unsafe` or `unrecognised`. */
function answerTo(command: string): string {
  const verdict = classify(command, { rules });
  return verdict.kind === 'parallel' ? 'parallel' : verdict.reason.knowledge;
}

/** What a person is told of it. */
function reasonFor(command: string): string {
  const verdict = classify(command, { rules });
  return verdict.kind === 'parallel' ? '' : (verdict.reason.message.split('It is known to be unsafe: ')[1] ?? '');
}

/** The commands that are not answered so. */
function others(commands: readonly string[], answer: string): readonly string[] {
  return commands.filter((command) => answerTo(command) !== answer);
}

describe.each(TOOLS)('%s', (tool) => {
  const own = rows.filter((row) => row.tool === tool);

  test('what is answered by shapes has a command that is parallel', () => {
    for (const row of own) {
      if (row.answer !== 'shapes') continue;
      const { parallel } = row;
      const start = row.sub.startsWith('(') ? tool : nameOf(row);
      expect(parallel.length, nameOf(row)).toBeGreaterThan(0);
      expect(parallel.filter((command) => command !== start && !command.startsWith(`${start} `))).toEqual([]);
      expect(others(parallel, 'parallel')).toEqual([]);
    }
  });

  test('what is refused is known to be unsafe, alone and with an operand, and it is said why', () => {
    const refused = own.filter(({ answer }) => answer === 'refusal').map(nameOf);
    expect(refused.length).toBeGreaterThan(20);
    const commands = refused.flatMap((name) => [name, `${name} x`]);
    expect(others(commands, 'known-unsafe')).toEqual([]);
    expect(commands.filter((command) => reasonFor(command).length < 8)).toEqual([]);
  });

  test('a group that is refused alone is known to be unsafe', () => {
    const groups = own.filter(({ answer }) => answer === 'bare').map(nameOf);
    expect(others(groups, 'known-unsafe')).toEqual([]);
    // With a word that nobody knows it is not parallel either.
    expect(groups.filter((name) => answerTo(`${name} x`) === 'parallel')).toEqual([]);
  });

  test('options that choose programs, places to write or another server are known to be unsafe at any depth', () => {
    const commands = own.flatMap((row) => (row.answer === 'notes' ? row.serial : []));
    expect(others(commands, 'known-unsafe')).toEqual([]);
    const unlisted = own.flatMap((row) => (row.answer === 'serial' ? row.serial : []));
    expect(unlisted.filter((command) => answerTo(command) === 'parallel')).toEqual([]);
  });
});

test('each row stands once, and there are as many as were looked at', () => {
  const names = rows.map(nameOf);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  expect(rows.filter(({ tool }) => !TOOLS.includes(tool))).toEqual([]);
  expect(names).toHaveLength(587);
});

test('the table has a row for every subcommand that was judged, and proves none that was judged to write', () => {
  const shared = new URL('../../../shared/facts/subcommands.jsonl', import.meta.url);
  const judged = existsSync(shared) ? linesOf<Judged>(shared) : rows.map((row) => ({ ...row, verdict: 'ro' }));
  expect(judged.map(nameOf).sort()).toEqual(rows.map(nameOf).sort());

  const proved = new Set(rows.filter(({ answer }) => answer === 'shapes').map(nameOf));
  const against = judged.filter((one) => proved.has(nameOf(one)) && !READS.has(one.verdict)).map(nameOf);
  expect(against.filter((name) => !IN_ONE_FORM.includes(name))).toEqual([]);
});
