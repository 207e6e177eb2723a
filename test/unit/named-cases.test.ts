import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

/**
 * The cases that a lock and a scheduler of calls have to stand, by number: T1 to T40 and D1 to D21. The title of the test
 * of one begins with its number, or with several. Those without a test yet are listed here with the reason, so that none
 * is forgotten and none is listed that has one.
 */
const NOT_YET: ReadonlyMap<string, string> = new Map([]);

const CASES: readonly string[] = [
  ...Array.from({ length: 40 }, (_, index) => `T${index + 1}`),
  ...Array.from({ length: 21 }, (_, index) => `D${index + 1}`),
];

/** The numbers that a test's title begins with, apart by blanks, commas or a colon. */
function numbersIn(source: string): readonly string[] {
  const titles = source.matchAll(/(?:\btest|[\])}]\))\(\s*['`"]((?:[TD][1-9][0-9]?(?:, |: | ))+)/g);
  return Array.from(titles, ([, numbers = '']) => numbers.match(/[TD][0-9]+/g) ?? []).flat();
}

function testedCases(): ReadonlySet<string> {
  const root = new URL('../', import.meta.url);
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    // This file shows titles that are none.
    (path) => path.endsWith('.test.ts') && !import.meta.filename.endsWith(path),
  );
  return new Set(files.flatMap((path) => numbersIn(readFileSync(new URL(path, root), 'utf8'))));
}

describe('the numbered cases', () => {
  const tested = testedCases();

  test('each has a test that carries its number, or stands in the list of those that have none', () => {
    expect(CASES.filter((name) => !tested.has(name))).toEqual([...NOT_YET.keys()]);
  });

  test('no test carries a number that no case has', () => {
    expect([...tested].filter((name) => !CASES.includes(name))).toEqual([]);
  });

  test('the numbers are read off titles as they are written, and off nothing else', () => {
    const titles = [
      "test('T1 one', () => {",
      'test(`T2, D3: several`, async () => {',
      "  test('T4 D5 of two', () => {",
      "test.each([1, 2])('T6: of each', () => {",
      "])(\n  'T7: of each of a longer list',",
      "test('about T8', () => {",
      "expect('T9 no title')",
    ];
    expect(numbersIn(titles.join('\n'))).toEqual(['T1', 'T2', 'D3', 'T4', 'D5', 'T6', 'T7']);
  });
});
