import { expect, test } from 'vitest';
import { groupsOf } from '../../src/dispatcher/plan.ts';
import { verdictOf } from '../support/dispatcher.ts';

function shape(text: string): readonly string[] {
  const commands = [...text].map((letter, index) => ({
    id: `${letter}${index}`,
    verdict: verdictOf(letter === 'P' ? 'parallel' : 'serial'),
  }));
  return groupsOf(commands).map(({ kind, commandIds }) => `${kind}: ${commandIds.join(' ')}`);
}

test('[P, P, S, P] is three groups', () => {
  expect(shape('PPSP')).toEqual(['parallel: P0 P1', 'serial: S2', 'parallel: P3']);
});

test('a serial command is always alone', () => {
  expect(shape('SSPSS')).toEqual(['serial: S0', 'serial: S1', 'parallel: P2', 'serial: S3', 'serial: S4']);
});

test('no commands are no groups', () => {
  expect(shape('')).toEqual([]);
});
