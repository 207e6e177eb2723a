import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadRules } from '../../src/rules/load.ts';
import { differenceOf, failingByChance, failingSoThatAllRun, questionOf } from '../support/compound-expectation.ts';
import { type AcceptedList, acceptedLists, parallelCompounds } from '../support/compound-lists.ts';
import {
  type CompoundOracle,
  openCompoundOracle,
  type Question,
  type Surroundings,
} from '../support/compound-oracle.ts';
import { COMPOUND_PARSERS, isSameReading } from '../support/compound-parsers.ts';
import { REDIRECTIONS } from '../support/compound-reading.ts';
import { names } from '../support/compound-samples.ts';
import { FORMS, formsOf, randomFrom, seedOfRun } from '../support/hostile-text.ts';

/**
 * Compounds that are proved, beside what bash makes of them: a sample. `npm run compare:compounds` asks about 6,000.
 */
const LEAST_PARALLEL = Number(process.env.SIGNALBOX_COMPOUNDS ?? 1_500);
/** Texts that the lexer alone accepts: they stand nearer to the edge. */
const LEAST_LISTS = Math.ceil(LEAST_PARALLEL / 3);
/** In a hundred compounds: half of what the rarest has on the average, so that no seed falls below. */
const LEAST_OF_A_FORM = 1;
/** One seed is always the same; the other is new with every run, and printed. */
const SEEDS = [20_261_201, seedOfRun()];

const rules = loadRules();
let oracle: CompoundOracle;
beforeAll(() => {
  oracle = openCompoundOracle(names);
});
afterAll(() => oracle.close());

/** How bash does otherwise than is read, one line each; and how many calls it made. */
async function differences(
  lists: readonly AcceptedList[],
  surroundings: Surroundings,
  form: Question['form'],
  failing: (list: AcceptedList) => Question['failing'] | null,
): Promise<{ readonly found: readonly string[]; readonly calls: number; readonly asked: number }> {
  const questions = lists.flatMap((list) => {
    const fails = failing(list);
    return fails === null ? [] : [{ list, question: questionOf(list.text, list.compound, fails, form) }];
  });
  const evaluations = await oracle.ask(
    questions.map(({ question }) => question),
    surroundings,
  );
  const found = questions.flatMap(({ question, list }, index) => {
    const evaluation = evaluations[index];
    if (evaluation === undefined) return [`no answer to ${list.text}`];
    return differenceOf(question, list.compound, evaluation, oracle.directory, surroundings) ?? [];
  });
  const calls = evaluations.reduce((sum, evaluation) => sum + evaluation.calls.length, 0);
  return { found: found.slice(0, 10), calls, asked: questions.length };
}

const allRun = ({ compound }: AcceptedList) => failingSoThatAllRun(compound);

/** Both halves of a list, each in other surroundings. */
async function inBoth(lists: readonly AcceptedList[]): Promise<{ found: readonly string[]; asked: number }> {
  const half = Math.ceil(lists.length / 2);
  const [open, closed] = await Promise.all([
    differences(lists.slice(0, half), 'open', 'eval', allRun),
    differences(lists.slice(half), 'closed', 'eval', allRun),
  ]);
  return { found: [...open.found, ...closed.found], asked: open.asked + closed.asked };
}

describe('every part of a proved compound gets the words and the connections that were read', {
  timeout: 600_000,
}, () => {
  let compounds: readonly AcceptedList[];
  let before: readonly string[];
  beforeAll(() => {
    before = oracle.contents();
    compounds = parallelCompounds(SEEDS, LEAST_PARALLEL, rules);
  });

  test('there are enough, with each operator, each redirection and each form of quoting', () => {
    const forms = new Map<string, number>();
    const add = (form: string): void => void forms.set(form, (forms.get(form) ?? 0) + 1);
    for (const { text, compound } of compounds) {
      const stages = compound.pipelines.flat();
      const held = new Set([
        ...compound.operators,
        ...stages.flatMap(({ redirections }) => redirections),
        ...stages.flatMap(({ assignments }) => (assignments.length > 0 ? ['assignment'] : [])),
        ...stages.flatMap(({ hasGlob }) => (hasGlob ? ['glob'] : [])),
        ...(compound.cd === null ? [] : ['cd']),
        ...(compound.pipelines.some((pipeline) => pipeline.length > 1) ? ['|'] : []),
        ...(compound.pipelines.some((pipeline) => pipeline.length > 2) ? ['| … |'] : []),
        ...formsOf(text),
      ]);
      for (const form of held) add(form);
    }
    console.log(
      `seeds ${SEEDS.join(' and ')}: ${compounds.length} proved compounds\n` +
        `with ${[...forms].map((entry) => entry.join(' ')).join(', ')}`,
    );
    expect(compounds.length).toBeGreaterThanOrEqual(LEAST_PARALLEL);
    const wanted = ['&&', '||', ';', '|', '| … |', 'cd', 'glob', 'assignment', ...REDIRECTIONS, ...FORMS];
    const least = (LEAST_OF_A_FORM * compounds.length) / 100;
    expect(wanted.filter((form) => (forms.get(form) ?? 0) < least)).toEqual([]);
  });

  test('when every part of it runs, in open surroundings and in closed ones', async () => {
    const { found, asked } = await inBoth(compounds);
    expect(found).toEqual([]);
    // The same words cannot end in two ways; that happens seldom.
    expect(asked).toBeGreaterThan(0.98 * compounds.length);
  });

  test('when parts fail by chance: what runs is what the operators say', async () => {
    const random = randomFrom(SEEDS[1]!);
    const some = compounds.filter(({ compound }) => compound.pipelines.length > 1).slice(-LEAST_PARALLEL / 6);
    const { found, calls } = await differences(some, 'open', 'eval', ({ compound }) =>
      failingByChance(compound, random),
    );
    expect(found).toEqual([]);
    const parts = some.reduce((sum, { compound }) => sum + compound.pipelines.flat().length, 0);
    expect(calls).toBeGreaterThan(0);
    expect(calls).toBeLessThan(parts);
  });

  test('in a bash of its own for each of 100', async () => {
    const { found, calls } = await differences(compounds.slice(0, 100), 'closed', 'process', allRun);
    expect(found).toEqual([]);
    expect(calls).toBeGreaterThan(100);
  });

  test('and nothing was made or removed', () => {
    expect(oracle.contents()).toEqual(before);
  });
});

describe('whatever the lexer accepts as a list', { timeout: 600_000 }, () => {
  let lists: readonly AcceptedList[];
  beforeAll(() => {
    const { accepted, refused } = acceptedLists(SEEDS, LEAST_LISTS);
    lists = accepted;
    const codes = [...refused].map((entry) => entry.join(' ')).join(', ');
    console.log(`seeds ${SEEDS.join(' and ')}: ${lists.length} accepted lists; refused: ${codes}`);
  });

  test('bash reads in the same words, operators and redirections', async () => {
    const { found, asked } = await inBoth(lists);
    expect(found).toEqual([]);
    expect(asked).toBeGreaterThan(0.98 * lists.length);
  });

  test.each(COMPOUND_PARSERS)('$name reads so too', (parser) => {
    const asked = lists.filter(({ text }) => text.length <= parser.maxChars && !parser.misreads(text));
    const differing = asked.filter(({ text, compound }) => {
      const theirs = parser.read(text);
      return theirs === null || !isSameReading(compound, theirs);
    });
    expect(differing.slice(0, 10)).toEqual([]);
    expect(asked.length).toBeGreaterThan(lists.length / 4);
  });
});
