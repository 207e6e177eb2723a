import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lexList } from '../../src/classifier/lexer.ts';
import { differenceOf, failingSoThatAllRun, questionOf } from '../support/compound-expectation.ts';
import { type CompoundOracle, openCompoundOracle } from '../support/compound-oracle.ts';
import { type Compound, compoundOfList } from '../support/compound-reading.ts';

/** A judge that finds no difference anywhere would make the comparison of compounds worthless. */
describe('the oracle of compounds', () => {
  let oracle: CompoundOracle;
  let before: readonly string[];
  beforeAll(() => {
    oracle = openCompoundOracle(['ls', 'cat', 'sort', 'echo', 'true', '[']);
    before = oracle.contents();
  });
  afterAll(() => oracle.close());

  const readingOf = (text: string): Compound => {
    const list = lexList(text);
    const compound = list.ok ? compoundOfList(list) : null;
    if (compound === null) throw new Error(`Expected a list, got ${text}`);
    return compound;
  };
  /** What is found when bash is given one text and the reading is that of another. */
  const found = async (text: string, read: string): Promise<string | null> => {
    const compound = readingOf(read);
    const whys: string[] = [];
    for (const surroundings of ['open', 'closed'] as const) {
      for (const form of ['eval', 'process'] as const) {
        const question = { ...questionOf(read, compound, failingSoThatAllRun(compound) ?? [], form), text };
        const [evaluation] = await oracle.ask([question], surroundings);
        const difference = differenceOf(question, compound, evaluation!, oracle.directory, surroundings);
        whys.push(difference === null ? 'none' : JSON.parse(difference).why);
      }
    }
    expect(new Set(whys).size, whys.join(', ')).toBe(1);
    return whys[0] === 'none' ? null : whys[0]!;
  };

  test.each([
    'ls -a | sort -u | cat',
    'ls "a b" c\\ d && cat \'\' || true; [ -f a ]',
    'ls 2>/dev/null | cat 2>&1 >/dev/null | sort </dev/null',
    'ls >&2 | cat &>/dev/null',
    'cat >/dev/null | cat >/dev/null | cat | cat',
    'cat | cat | cat',
    'cd src && ls; cat',
    'cd nowhere && ls || cat; sort',
    'cd nowhere && ls',
    "cd 'a b' && ls *",
    'LC_ALL=C sort a || ls',
    'ls ~/a;',
  ])('finds nothing where a text is read as bash reads it: %s', async (text) => {
    expect(await found(text, text)).toBeNull();
  });

  test.each([
    ['ls a b && cat', "ls 'a b' && cat", 'other calls'],
    ['ls | cat', 'ls && cat', 'other calls'],
    ['ls && cat', 'ls || cat', 'calls instead of'],
    ['ls; cat', 'cat; ls', 'other calls'],
    ['ls | sort | cat', 'ls | cat | sort', 'other calls'],
    ['ls | cat 2>&1', 'ls 2>&1 | cat', 'other calls'],
    ['ls 2>&1 >/dev/null | cat', 'ls >/dev/null 2>&1 | cat', 'other calls'],
    ['ls && cat >/dev/null', 'ls && cat', 'another standard output'],
    ['ls && cat 2>/dev/null', 'ls && cat', 'another standard error'],
    ['ls && cat 2>&1', 'ls && cat', 'another standard output'],
    ['ls | cat </dev/null', 'ls | cat', 'other calls'],
    ['cd src && ls', 'cd docs && ls', 'other calls'],
    ['cd nowhere && ls; cat', 'cd src && ls; cat', 'calls instead of'],
    ['LC_ALL=C.UTF-8 ls', 'LC_ALL=POSIX ls', 'other calls'],
    ['ls && { cat; exit 4; }', 'ls && cat', 'status'],
    ['ls && cat; nothing-of-the-name', 'ls && cat', 'bash complains'],
    ['ls && cat; cat', 'ls && cat', 'calls instead of'],
    ['ls && cat >file', 'ls && cat', 'calls instead of'],
  ])('bash is given %s, and the reading is that of %s', async (text, read, why) => {
    expect(await found(text, read)).toContain(why);
  });

  test('nothing was made by any of them', () => {
    expect(oracle.contents()).toEqual(before);
    expect(before).toContain('src/deep');
  });
});
