import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { classify } from '../../src/classifier/classify.ts';
import type { ClassifyOptions } from '../../src/classifier/judgement.ts';
import { lex } from '../../src/classifier/lexer.ts';
import { secondReading } from '../../src/classifier/second-reading.ts';
import { loadRules } from '../../src/rules/load.ts';
import { type Oracles, openOracles } from '../support/bash-oracle.ts';
import { openProcessOracle } from '../support/bash-oracle-process.ts';
import { FORMS, formsOf, seedOfRun } from '../support/hostile-text.ts';
import {
  expectedAnswer,
  namesOfRules,
  type ParallelCommand,
  parallelCommands,
  questionOf,
} from './parallel-commands.ts';

const LEAST_PARALLEL = 6_000;
const LEAST_OF_A_FORM = 300;
const SEEDS = [20_261_202, seedOfRun()];
const OPTIONS: ClassifyOptions = { rules: loadRules(), cwd: '/home/someone/project' };

describe('whatever is parallel is run with the words that bash makes of the text', { timeout: 240_000 }, () => {
  let oracles: Oracles;
  let commands: readonly ParallelCommand[];
  beforeAll(() => {
    oracles = openOracles(namesOfRules());
    commands = parallelCommands(SEEDS, LEAST_PARALLEL, OPTIONS);
  });
  afterAll(() => oracles.close());

  test('there are enough parallel commands, and of each form of quoting', () => {
    const forms = new Map<string, number>(FORMS.map((form) => [form, 0]));
    for (const { text } of commands) {
      for (const form of new Set(lex(text).words.flatMap((word) => [...formsOf(word.raw)]))) {
        forms.set(form, (forms.get(form) ?? 0) + 1);
      }
    }
    const inBash = commands.filter(({ run }) => run.form === 'bash').length;
    const vetoed = commands.filter(
      ({ text }) => classify(text, { ...OPTIONS, secondReading }).kind === 'serial',
    ).length;
    console.log(
      `seeds ${SEEDS.join(' and ')}: ${commands.length} parallel commands, ${inBash} of them run by bash, ` +
        `${vetoed} serial after the second reading\nwith ${[...forms].map((entry) => entry.join(' ')).join(', ')}`,
    );
    expect(commands.length).toBeGreaterThanOrEqual(LEAST_PARALLEL);
    for (const [form, times] of forms) expect(times, form).toBeGreaterThanOrEqual(LEAST_OF_A_FORM);
  });

  test('in an empty directory and in a hostile one, in an open environment and in a closed one', async () => {
    const { hostile, empty } = oracles.ground.directories;
    const before = readdirSync(hostile);
    const answers = await oracles.ask(commands.map(questionOf));
    const differences = commands
      .map((command, index) => ({ text: command.text, ours: expectedAnswer(command), bash: answers[index] }))
      .filter(({ ours, bash }) => JSON.stringify(ours) !== JSON.stringify(bash))
      .map((difference) => JSON.stringify(difference));
    expect(differences.slice(0, 20)).toEqual([]);
    expect(answers.length).toBe(commands.length);
    expect([readdirSync(hostile), readdirSync(empty)], 'nothing was made or removed').toEqual([before, []]);
  });

  test('in a bash of its own for each of 150 commands, with a printer under every name on PATH', () => {
    const byProcess = openProcessOracle(oracles.ground, namesOfRules());
    const some = commands.slice(-150).map((command) => ({ command, noGlob: questionOf(command).noGlob ?? false }));
    const read = some.map(({ command: { text }, noGlob }) => [text, byProcess.ask(text, 'hostile', noGlob)]);
    const expected = some.map(({ command }) => {
      const answer = expectedAnswer(command);
      return [command.text, answer.kind === 'call' ? answer.argv : []];
    });
    expect(read).toEqual(expected);
    expect(read.length).toBe(150);
  });
});

describe("bash's own reading of the lexer's vectors", () => {
  type Row = { readonly text: string; readonly bash: readonly string[] | null };
  const rows: Row[] = readFileSync(new URL('../vectors/lexer.jsonl', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

  test.each(['echo', 'ls', 'cat'])('with %s for the command, what is parallel has the words of bash', (name) => {
    const parallel = rows.flatMap(({ text, bash }) => {
      const verdict = classify(text.replace(/^args\b/, name), OPTIONS);
      if (verdict.kind === 'serial') return [];
      const words = lex(text).words.map((word) => word.text);
      return [{ text, ours: verdict.run.form === 'argv' ? ['args', ...verdict.run.argv.slice(1)] : words, bash }];
    });
    expect(parallel.map(({ ours }) => ours)).toEqual(parallel.map(({ bash }) => bash));
    expect(parallel.length).toBeGreaterThanOrEqual(1);
  });
});
