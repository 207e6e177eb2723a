import { describe, expect, test } from 'vitest';
import { KIND_NAMES } from '../../src/classifier/kinds.ts';
import { hasSamples } from '../../src/rules/samples.ts';
import { selfTest } from '../../src/rules/self-test.ts';
import { files, proposedFor, rulesOf } from './built-in.ts';

test('the first fifteen binaries have a rule file each', () => {
  const expected = 'cat docker echo find git grep head kubectl ls npm pwd rg sed tail wc'.split(' ');
  expect(files.map(({ binary }) => binary)).toEqual(expect.arrayContaining(expected));
});

describe('every example is as stated', () => {
  for (const file of files) {
    test(file.binary, () => {
      const rules = rulesOf(file);
      expect(selfTest(file.examples, file.only, rules)).toEqual([]);
      expect(selfTest(proposedFor(file), file.only, rules)).toEqual([]);
    });
  }
});

test('no example stands twice, or in both places', () => {
  for (const file of files) {
    const { parallel, piped = [], serial } = file.examples;
    const proposed = proposedFor(file);
    const alone = [
      ...parallel,
      ...proposed.parallel,
      ...serial.map(({ command }) => command),
      ...proposed.serial.map(({ command }) => command),
    ];
    const twice = alone.filter((command, at) => alone.indexOf(command) !== at);
    expect([file.binary, twice, piped.filter((command, at) => piped.indexOf(command) !== at)]).toEqual([
      file.binary,
      [],
      [],
    ]);
  }
});

test('every kind of value has samples, so that examples can be proposed for it', () => {
  expect(KIND_NAMES.filter((name) => !hasSamples(name))).toEqual([]);
});
