import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lexList } from '../../src/classifier/lexer.ts';
import { differenceOf, failingSoThatAllRun, questionOf } from '../support/compound-expectation.ts';
import { type CompoundOracle, openCompoundOracle } from '../support/compound-oracle.ts';
import { type Compound, compoundOfList } from '../support/compound-reading.ts';

/** All texts of up to so many pieces. */
function* textsOf(pieces: readonly string[], most: number): Generator<string> {
  yield '';
  if (most > 0) for (const text of textsOf(pieces, most - 1)) for (const piece of pieces) yield text + piece;
}

/** Not samples but all: chance finds `2>&12` and `ls'2'>/dev/null` too seldom. */
describe('every short text that the lexer accepts as a list, bash reads in the same way', { timeout: 240_000 }, () => {
  let oracle: CompoundOracle;
  let before: readonly string[];
  beforeAll(() => {
    oracle = openCompoundOracle(['ls']);
    before = oracle.contents();
  });
  afterAll(() => oracle.close());

  test.each([
    ['operators and redirections', [' ', '&', '|', ';', '2', '>', '/dev/null', 'ls'], 6, 800],
    ['numbers and quotes before redirections', [' ', '1', '2', '>', '&', '<', '/dev/null', '\\', "''"], 5, 200],
    ['what begins and ends a part', [' ls', ';', '&&', '||', '|', '!', '#', '\\ ', '2>&1', '>&2'], 4, 200],
  ] as const)('%s', async (_what, pieces, most, least) => {
    const accepted = new Map<string, Compound>();
    for (const rest of textsOf(pieces, most)) {
      const text = `ls${rest}`;
      const list = lexList(text);
      const compound = list.ok && list.compound ? compoundOfList(list) : null;
      if (compound?.pipelines.flat().every(({ words }) => words[0] === 'ls')) accepted.set(text, compound);
    }
    const questions = [...accepted].flatMap(([text, compound]) => {
      const failing = failingSoThatAllRun(compound);
      return failing === null ? [] : [{ compound, question: questionOf(text, compound, failing, 'eval') }];
    });
    const evaluations = await oracle.ask(
      questions.map(({ question }) => question),
      'closed',
    );
    const differences = questions.flatMap(
      ({ question, compound }, index) =>
        differenceOf(question, compound, evaluations[index]!, oracle.directory, 'closed') ?? [],
    );
    expect(differences.slice(0, 10)).toEqual([]);
    expect(questions.length).toBeGreaterThan(least);
    expect(oracle.contents()).toEqual(before);
  });
});
