import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lex } from '../../src/classifier/lexer.ts';
import { type Oracles, openOracles } from '../support/bash-oracle.ts';
import { openProcessOracle } from '../support/bash-oracle-process.ts';
import { FORMS, formsOf, hostileText, randomFrom, seedOfRun } from '../support/hostile-text.ts';
import { acceptedTexts, differences, hasGlob, questionOf, type Texts } from './accepted-texts.ts';

const LEAST_ACCEPTED = 8_000;
const LEAST_OF_A_FORM = 300;
/** One seed is always the same; the other is new with every run, and printed. */
const SEEDS = [20_261_130, seedOfRun()];

describe('whatever the lexer accepts, bash passes the same words', { timeout: 240_000 }, () => {
  let oracles: Oracles;
  let texts: Texts;
  beforeAll(() => {
    oracles = openOracles(['args']);
    texts = acceptedTexts(SEEDS, LEAST_ACCEPTED);
  });
  afterAll(() => oracles.close());

  test('there are enough accepted texts, and of each form of quoting', () => {
    const { accepted, refused } = texts;
    const forms = new Map<string, number>(FORMS.map((form) => [form, 0]));
    for (const { lexed } of accepted) {
      for (const form of new Set(lexed.words.flatMap((word) => [...formsOf(word.raw)]))) {
        forms.set(form, (forms.get(form) ?? 0) + 1);
      }
    }
    forms.set('glob', accepted.filter(hasGlob).length);
    const assigned = accepted.filter(({ lexed }) => lexed.assignments.length > 0).length;
    const listed = (counts: ReadonlyMap<string, number>) => [...counts].map((entry) => entry.join(' ')).join(', ');
    console.log(
      `seeds ${SEEDS.join(' and ')}: ${accepted.length} accepted texts\n` +
        `with ${listed(forms)}, assignment ${assigned}\nrefused: ${listed(refused)}`,
    );

    expect(accepted.length).toBeGreaterThanOrEqual(LEAST_ACCEPTED);
    for (const [form, times] of forms) expect(times, form).toBeGreaterThanOrEqual(LEAST_OF_A_FORM);
    expect(assigned).toBeGreaterThanOrEqual(50);
  });

  test('in an empty directory and in a hostile one, in an open environment and in a closed one', async () => {
    const { hostile, empty } = oracles.ground.directories;
    const before = readdirSync(hostile);
    const answers = await oracles.ask(texts.accepted.map(questionOf));

    expect(answers.length).toBe(texts.accepted.length);
    expect(differences(texts.accepted, answers).slice(0, 20)).toEqual([]);
    expect([readdirSync(hostile), readdirSync(empty)], 'nothing was made or removed').toEqual([before, []]);
  });

  test('in a bash of its own for each of 150 texts, with a real printer on PATH', () => {
    const byProcess = openProcessOracle(oracles.ground, ['args']);
    const some = texts.accepted.filter(({ lexed }) => lexed.words[0]?.text === 'args').slice(-150);
    const read = some.map((each) => ({
      text: each.text,
      empty: byProcess.ask(each.text, 'empty', hasGlob(each)),
      hostile: byProcess.ask(each.text, 'hostile', hasGlob(each)),
    }));
    const expected = some.map(({ text, lexed }) => {
      const argv = lexed.words.map((word) => word.text);
      return { text, empty: argv, hostile: argv };
    });
    expect(read).toEqual(expected);
    expect(read.length).toBe(150);
  });
});

describe('near misses', () => {
  test('20,000 hostile texts are words or a refusal that points into the text', () => {
    const random = randomFrom(SEEDS[1] as number);
    let refused = 0;
    for (let times = 0; times < 20_000; times++) {
      const text = hostileText(random);
      const lexed = lex(text);
      if (lexed.ok) continue;
      refused++;
      const [start, end] = lexed.span;
      const points = start >= 0 && start < end && end <= text.length;
      expect(points, `${JSON.stringify(text)} ${lexed.code} ${lexed.span.join()}`).toBe(true);
    }
    expect(refused).toBeGreaterThan(4_000);
  });
});
