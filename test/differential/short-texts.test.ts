import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lex } from '../../src/classifier/lexer.ts';
import { type Oracles, openOracles } from '../support/bash-oracle.ts';
import { type Accepted, differences, questionOf } from './accepted-texts.ts';

/** All texts of this length over the characters. */
function* textsOver(characters: string, length: number): Generator<string> {
  if (length === 0) yield '';
  else for (const text of textsOver(characters, length - 1)) for (const character of characters) yield text + character;
}

/** Not samples but all: chance finds `a=~` and `@{1},b}` too seldom. */
describe('every short text that the lexer accepts, bash passes in the same words', { timeout: 240_000 }, () => {
  let oracles: Oracles;
  const isReadAsByBash = async (texts: Iterable<string>) => {
    const accepted: Accepted[] = [];
    for (const text of texts) {
      const lexed = lex(text);
      if (lexed.ok) accepted.push({ text, lexed });
    }
    expect(differences(accepted, await oracles.ask(accepted.map(questionOf))).slice(0, 20)).toEqual([]);
    return accepted.length;
  };
  beforeAll(() => {
    oracles = openOracles(['args']);
  });
  afterAll(() => oracles.close());

  test.each([
    ['quotes and escapes', 'a\'"\\ `', 5],
    ['blanks between quotes', 'a\t \\"\'', 5],
    ['braces, commas and dots', 'a@{},.', 6],
    ['braces and quotes', "a@{}^\\'", 5],
    ['tildes behind equals signs and colons', "a=:~'\\", 5],
    ['what is special only at the start', "a#!^% '", 4],
    ['globs', '-[]*?!a', 4],
  ])('as an operand: %s', async (_what, characters, length) => {
    const texts = [...textsOver(characters, length)].map((operand) => `args ${operand}`);
    expect(await isReadAsByBash(texts)).toBeGreaterThan(600);
  });

  test.each([
    ['what assigns, negates or is a job', "a=+[]1 !%^'\\", 3],
    ['what is special in other places', 'a{}-.:,@#~"é', 3],
    ['the command [', '[] a', 4],
  ])('as the command: %s', async (_what, characters, length) => {
    const texts = [...textsOver(characters, length)].map((command) => `${command} args`);
    expect(await isReadAsByBash(texts)).toBeGreaterThan(100);
  });
});
