import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  type BatchRow,
  batchShare,
  type CompoundRow,
  compoundCorpusFigures,
  compoundVectorFigures,
  type LabelledRow,
  type SeenRow,
} from '../../scripts/score-compound.ts';
import type { Figure } from '../../scripts/score-figures.ts';
import { classify } from '../../src/classifier/classify.ts';
import { secondReading } from '../../src/classifier/second-reading.ts';
import { loadRules } from '../../src/rules/load.ts';
import { vectors } from './built-in.ts';

/** What compound mode is held to: on the vectors always, on what agents ran where the corpus lies beside the project. */

const rules = loadRules();
const answerIn =
  (mode: 'simple' | 'compound', cwd?: string) =>
  (command: string): string => {
    const verdict = classify(command, {
      rules,
      mode,
      secondReading,
      ...(cwd === undefined ? {} : { cwd }),
    });
    return verdict.kind === 'parallel' ? 'parallel' : verdict.reason.code;
  };
const answers = { simple: answerIn('simple'), compound: answerIn('compound') };

function rowsOf<Row>(path: string): readonly Row[] {
  const lines = readFileSync(new URL(path, import.meta.url), 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
}

const compoundRows = rowsOf<CompoundRow>('../vectors/compound.jsonl');
const hostile = vectors('hostile').map(({ cmd }) => cmd);

describe('the vectors in compound mode', () => {
  test.each([undefined, '/', '/home/someone/project'])('not one hostile command is parallel, in %s', (cwd) => {
    expect(hostile.length).toBeGreaterThan(500);
    expect(hostile.filter((command) => answerIn('compound', cwd)(command) === 'parallel')).toEqual([]);
  });

  test.each([undefined, '/', '/app', '/home/someone/project'])(
    'nor one that is hostile only as a compound, in %s',
    (cwd) => {
      const rows = rowsOf<{ readonly cmd: string }>('../vectors/hostile-compound.jsonl');
      expect(rows.length).toBeGreaterThan(20);
      expect(rows.filter(({ cmd }) => answerIn('compound', cwd)(cmd) === 'parallel')).toEqual([]);
    },
  );

  test('not one is when it stands before, behind or between commands that are parallel, in any list', () => {
    const wrap = (command: string): readonly string[] => [
      `ls; ${command}`,
      `pwd && ${command} && ls`,
      `git status || ${command}`,
      `${command}; true`,
      `cd src && ${command}`,
      `ls | ${command}`,
      `ls | ${command} | head`,
    ];
    // What is harmless with a pipe before it is hostile for reading what never comes; and half a quote is not closed.
    const open = new Set(['TEXT_QUOTE_OPEN', 'TEXT_BACKSLASH', 'STDIN_READ', 'TEXT_EMPTY']);
    const whole = hostile.filter((command) => !open.has(answers.compound(command)));
    const parallel = whole.flatMap(wrap).filter((text) => answers.compound(text) === 'parallel');
    expect(whole.length).toBeGreaterThan(450);
    expect(parallel).toEqual([]);
  });

  test.each(compoundRows)('$cmd is $expected', ({ cmd, expected }) => {
    const said = answers.compound(cmd);
    expect([said, said === 'parallel' ? 'parallel' : 'serial']).toEqual([said, expected]);
  });

  test('and every compound one is serial in simple mode, but for a lone command', () => {
    const parallel = compoundRows.filter(({ cmd }) => answers.simple(cmd) === 'parallel').map(({ cmd }) => cmd);
    expect(parallel).toEqual(['cat src/*.ts']);
  });

  test('the score counts the same', () => {
    const [wrong, wrongRows, right] = compoundVectorFigures(hostile, compoundRows, answers);
    expect([wrong.count, wrongRows.count, right?.count]).toEqual([0, 0, right?.of]);
  });
});

const corpus = '../../../shared/corpus/';
const isHere = existsSync(new URL(corpus, import.meta.url));
const labelled = isHere ? rowsOf<LabelledRow>(`${corpus}labelled.jsonl`) : [];
const seen = isHere ? rowsOf<SeenRow>(`${corpus}agent-commands.jsonl`) : [];
const batches = isHere ? rowsOf<BatchRow>(`${corpus}sibling-batches.jsonl`) : [];
if (!isHere) console.warn('no corpus beside the project: what agents ran is not held to the bars of compound mode');

/** Holds a share to a bar, and shows what is missed when it is below. Without rows there is nothing to miss. */
function atLeast({ count, of, misses }: Figure, share: number): void {
  const isEnough = count >= share * of;
  expect({ isEnough, misses: isEnough ? [] : misses.slice(0, 30) }).toEqual({ isEnough: true, misses: [] });
}

describe('what agents ran, in compound mode', () => {
  const figures = compoundCorpusFigures(labelled, seen, batches, answers);
  const figure = (title: string, nth = 0): Figure => figures.filter((one) => one.title.trim() === title)[nth]!;

  test('the corpus is whole, or not there at all', () => {
    expect([labelled.length > 190, seen.length > 8_000, batches.length > 500]).toEqual([isHere, isHere, isHere]);
  });

  test('not one labelled row is parallel that is expected to be serial, the borderline ones among them', () => {
    expect(figure('labelled serial that are parallel').misses).toEqual([]);
    expect(figure('the borderline ones').misses).toEqual([]);
  });

  test('at least 97 % of what is labelled parallel is, and at least 95 % of what is labelled so for compound mode', () => {
    atLeast(figure('labelled parallel'), 0.97);
    atLeast(figure('labelled parallel in compound mode'), 0.95);
  });

  test('at least 94 % of what is guessed to read is parallel, as often as it was seen', () => {
    atLeast(figure('the same, as often as seen'), 0.94);
  });

  test('at least 2.5 times as many turns hold nothing but parallel commands as in simple mode', () => {
    const [simple, compound] = [answers.simple, answers.compound].map(
      (answer) => batchShare('', batches, answer).count,
    );
    expect(compound).toBeGreaterThanOrEqual(2.5 * simple!);
  });
});
