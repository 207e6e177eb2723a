import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Oracles, openOracles } from '../support/bash-oracle.ts';
import { seedOfRun } from '../support/hostile-text.ts';
import { type Opinion, OTHER_PARSERS, type OtherParser } from '../support/other-parsers.ts';
import { type Accepted, acceptedTexts, differences, questionOf } from './accepted-texts.ts';

const SEEDS = [20_261_201, seedOfRun()];
const TEXTS = 3_000;

function disagrees(parser: OtherParser, { text, lexed }: Accepted): boolean {
  const ours = [
    ...lexed.assignments.map(({ start, end }) => text.slice(start, end)),
    ...lexed.words.map((w) => w.text),
  ];
  let theirs: Opinion;
  try {
    theirs = parser.read(text);
  } catch {
    return true;
  }
  return JSON.stringify(ours) !== JSON.stringify(theirs);
}

describe('where another parser reads an accepted text otherwise, bash reads it as we do', { timeout: 240_000 }, () => {
  let oracles: Oracles;
  let accepted: readonly Accepted[];
  beforeAll(() => {
    oracles = openOracles(['args']);
    accepted = acceptedTexts(SEEDS, TEXTS).accepted;
  });
  afterAll(() => oracles.close());

  test.each(OTHER_PARSERS)('$name', async (parser) => {
    const asked = accepted.filter(({ text }) => text.length <= parser.maxChars);
    const doubtful = asked.filter((each) => disagrees(parser, each));
    console.log(
      `seeds ${SEEDS.join(' and ')}: ${parser.name} reads ${doubtful.length} of ${asked.length} accepted texts otherwise`,
    );
    // A witness who always disagrees has not been asked properly.
    expect(asked.length - doubtful.length).toBeGreaterThan(asked.length / 4);
    const answers = await oracles.ask(doubtful.map(questionOf));
    expect(differences(doubtful, answers)).toEqual([]);
  });
});
