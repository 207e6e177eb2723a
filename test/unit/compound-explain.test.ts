import { expect, test } from 'vitest';
import { classify } from '../../src/classifier/classify.ts';
import { type Explanation, explain, renderExplanation } from '../../src/classifier/explain.ts';
import { fileWith, ruleSetWith } from '../rules/fixture.ts';

const rules = ruleSetWith(fileWith({}), fileWith({ binary: 'read', command: { stdin: 'always', operands: [] } }));

function explained(command: string, mode: 'simple' | 'compound' = 'compound'): Explanation {
  return explain(classify(command, { rules, mode }), command);
}

const drawn = (command: string): readonly string[] =>
  explained(command).parts.map(({ span, state, detail }) => `${state} ${command.slice(...span)}: ${detail}`);

test('the parts of a proved compound tell their rules and what they read', () => {
  expect(drawn('cd a && tool b | read')).toEqual([
    'passed tool b: the built-in rule of `tool`, with nothing to read',
    'passed read: the built-in rule of `read`, behind a pipe',
  ]);
  expect(explained('tool b').parts).toEqual([]);
});

test('of a refused one they tell which was refused, and which was not asked', () => {
  expect(drawn('tool a; other b && tool')).toEqual([
    'passed tool a: proved',
    'refused other b: refused',
    'not-reached tool: not asked',
  ]);
  expect(drawn('tool | read; read')).toEqual(['passed tool: proved', 'passed read: proved', 'refused read: refused']);
});

test('a leading change of directory is no part of a refused one either', () => {
  expect(drawn('cd a && tool b | read; other')).toEqual([
    'passed tool b: proved',
    'passed read: proved',
    'refused other: refused',
  ]);
  expect(drawn('cd .. && cd - && tool')).toEqual(['refused cd -: refused', 'not-reached tool: not asked']);
  expect(drawn('cd - && tool')).toEqual([]);
});

test('nothing is drawn where the text was not read so far, or is to blame as a whole', () => {
  expect(explained('tool a; $b').parts).toEqual([]);
  expect(explained('other').parts).toEqual([]);
  expect(explained('tool; tool', 'simple').parts).toEqual([]);
  const command = 'tool; tool';
  const verdict = classify(command, { rules, mode: 'compound', secondReading: () => false });
  expect(explain(verdict, command)).toMatchObject({ code: 'SECOND_READING', parts: [] });
  expect(explain(verdict, 'tool "').parts).toEqual([]);
});

test('each part is underlined in its text', () => {
  const lines = renderExplanation(explained('tool a | read; other')).split('\n');
  expect(lines.slice(lines.indexOf('[ok] Part 1 of 3: proved'))).toEqual([
    '[ok] Part 1 of 3: proved',
    '  tool a | read; other',
    '  ^^^^^^',
    '',
    '[ok] Part 2 of 3: proved',
    '  tool a | read; other',
    '           ^^^^',
    '',
    '[no] Part 3 of 3: refused',
    '  tool a | read; other',
    '                 ^^^^^',
    '',
    'What would help: A rule file can describe it: `signalbox rules new NAME` starts one.',
  ]);
});
