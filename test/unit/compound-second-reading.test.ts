import { expect, test } from 'vitest';
import type { ReadPart } from '../../src/classifier/judgement.ts';
import { lexList } from '../../src/classifier/lexer.ts';
import { secondReading } from '../../src/classifier/second-reading.ts';

const part = (joint: ReadPart['joint'], words: readonly string[], redirections: readonly string[] = []): ReadPart => ({
  joint,
  words: words.map((text) => ({ text, glob: false })),
  redirections,
});

const agrees = (text: string, parts: readonly ReadPart[]): boolean => secondReading(text, [], parts);

test('agrees with how a compound is read', () => {
  for (const text of [
    'a b',
    'a; b',
    'a;',
    'a|b|c',
    'a && b || c; d | e',
    "A=b a 'b c' 2>&1 | d >/dev/null",
    '2>& 1 a b=c && d',
  ]) {
    const list = lexList(text);
    const parts = (list.ok ? list.commands : []).map(({ joint, assignments, words, redirections }) =>
      part(
        joint?.text ?? null,
        [...assignments.map(({ name, value }) => `${name}=${value}`), ...words.map((word) => word.text)],
        redirections.map((one) => one.text),
      ),
    );
    expect(parts.length, text).toBeGreaterThan(0);
    expect(agrees(text, parts), text).toBe(true);
    expect(agrees(text, [...parts, part(';', ['more'])]), text).toBe(false);
    expect(agrees(text, parts.slice(1)), text).toBe(false);
    for (const [index, { words }] of parts.entries()) {
      const changed = (change: Partial<ReadPart>) =>
        parts.map((one, at) => (at === index ? { ...one, ...change } : one));
      expect(agrees(text, changed({ joint: '|' })), text).toBe(parts[index]?.joint === '|');
      expect(agrees(text, changed({ redirections: ['2>&2'] })), text).toBe(false);
      expect(agrees(text, changed({ words: words.slice(1) })), text).toBe(false);
      expect(agrees(text, changed({ words: [...words.slice(0, -1), { text: 'x', glob: false }] })), text).toBe(false);
    }
  }
});

test.each([
  ['a & b', [part(null, ['a']), part(';', ['b'])]],
  ['a &', [part(null, ['a'])]],
  ['! a', [part(null, ['a'])]],
  ['! a | b', [part(null, ['a']), part('|', ['b'])]],
  ['time a', [part(null, ['a'])]],
  ['a |& b', [part(null, ['a']), part('|', ['b'])]],
  ['(a)', [part(null, ['a'])]],
  ['a | (b)', [part(null, ['a']), part('|', ['b'])]],
  ['{ a; }', [part(null, ['a'])]],
  ['a "b', [part(null, ['a', 'b'])]],
  ['>/dev/null', [part(null, [], ['>/dev/null'])]],
  ['A=b', [part(null, ['A=b'])]],
  ['declare A=b', [part(null, ['declare', 'A=b'])]],
  ['a <<b', [part(null, ['a'])]],
  ['a {b}>/dev/null', [part(null, ['a'], ['>/dev/null'])]],
  ['#!/bin/a\nb', [part(null, ['b'])]],
  ['a &&', [part(null, ['a'])]],
] as const)('%j is read otherwise', (text, parts) => {
  expect(agrees(text, parts)).toBe(false);
});

test('never throws', () => {
  expect(secondReading(null as never, [], [part(null, ['a'])])).toBe(false);
});
