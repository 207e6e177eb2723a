import { expect, test } from 'vitest';
import { classify } from '../../src/classifier/classify.ts';
import { loadRules } from '../../src/rules/load.ts';
import { firstWord, vectors } from './built-in.ts';

const rules = loadRules();
const isParallel = ({ cmd }: { readonly cmd: string }): boolean => classify(cmd, { rules }).kind === 'parallel';

test('not one hostile vector is parallel, in no directory and in any', () => {
  const hostile = vectors('hostile');
  expect(hostile.length).toBeGreaterThan(500);
  for (const cwd of [undefined, '/', '/home/someone/project']) {
    const options = cwd === undefined ? { rules } : { rules, cwd };
    expect(hostile.filter(({ cmd }) => classify(cmd, options).kind === 'parallel')).toEqual([]);
  }
});

test('of the harmless vectors whose binary has a rule, at least 97 % are parallel', () => {
  const known = new Set(rules.names);
  const rows = vectors('parallel').filter(({ cmd }) => known.has(firstWord(cmd)));
  expect(rows.length).toBeGreaterThan(100);
  const missed = rows.filter((row) => !isParallel(row)).map(({ cmd }) => cmd);
  expect({ missed, enough: missed.length <= 0.03 * rows.length }).toEqual({ missed, enough: true });
});
