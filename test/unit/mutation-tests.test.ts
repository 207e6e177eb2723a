import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mutationOptions } from '../../scripts/mutation-options.ts';
import { MUTATION_TESTS } from '../../scripts/mutation-tests.ts';
import { ROOT } from './source-files.ts';

const run = { fresh: false, workers: 2 };

test('every file of the classifier is mutated, by every kind of mutant, and other files when they are named', () => {
  const { mutate, mutator, ignorers, ignorePatterns = [], thresholds } = mutationOptions([], run);
  expect(mutate).toEqual(['src/classifier/**/*.ts']);
  expect({ mutator, ignorers }).toEqual({ mutator: undefined, ignorers: undefined });
  expect(ignorePatterns.filter((pattern) => /^\/?(src|test|rules|scripts)/.test(String(pattern)))).toEqual([]);
  expect(thresholds?.break).toBe(90);
  expect(mutationOptions(['src/dispatcher/keyed-lock.ts'], run).mutate).toEqual(['src/dispatcher/keyed-lock.ts']);
});

test('the tests that mutants face are there, and none that is named after the classifier is left out', () => {
  expect(MUTATION_TESTS.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  const named = readdirSync(join(ROOT, 'test/unit')).filter((name) => /^(classifier|lexer)\b.*\.test\.ts$/.test(name));
  expect(named.length).toBeGreaterThan(8);
  expect(named.map((name) => `test/unit/${name}`).filter((path) => !MUTATION_TESTS.includes(path))).toEqual([]);
});
