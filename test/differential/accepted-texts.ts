import { type Lexed, lex } from '../../src/classifier/lexer.ts';
import type { Answer, Question } from '../support/bash-oracle.ts';
import { hostileText, randomFrom } from '../support/hostile-text.ts';

/** A text that the lexer accepts, and how it reads it. */
export type Accepted = { readonly text: string; readonly lexed: Extract<Lexed, { ok: true }> };

/** Texts that the lexer accepts, all different, and the number of refused ones by code. */
export type Texts = { readonly accepted: readonly Accepted[]; readonly refused: ReadonlyMap<string, number> };

/** At least `least` accepted texts, an equal share out of each seed. */
export function acceptedTexts(seeds: readonly number[], least: number): Texts {
  const accepted = new Map<string, Accepted>();
  const refused = new Map<string, number>();
  for (const [index, seed] of seeds.entries()) {
    const random = randomFrom(seed);
    while (accepted.size < (least / seeds.length) * (index + 1)) {
      const text = hostileText(random);
      const lexed = lex(text);
      if (!lexed.ok) refused.set(lexed.code, (refused.get(lexed.code) ?? 0) + 1);
      else if (isAskable(lexed)) accepted.set(text, { text, lexed });
    }
  }
  return { accepted: [...accepted.values()], refused };
}

/** The oracle's bash is restricted and cannot start a program by its path; and the classifier knows no such name. */
function isAskable(lexed: Accepted['lexed']): boolean {
  return !(lexed.words[0]?.text ?? '').includes('/');
}

export function hasGlob({ lexed }: Accepted): boolean {
  return lexed.words.some((word) => word.glob);
}

export function questionOf(accepted: Accepted): Question {
  const variables = [...new Set(accepted.lexed.assignments.map(({ name }) => name))];
  return { text: accepted.text, variables, noGlob: hasGlob(accepted) };
}

/** What bash must answer if the lexer reads as bash does. The last assignment to a name is the one that holds. */
export function expectedAnswer({ lexed }: Accepted): Answer {
  const values = new Map(lexed.assignments.map(({ name, value }) => [name, value]));
  return { kind: 'call', argv: lexed.words.map((word) => word.text), values: [...values.values()] };
}

/** The texts that bash reads otherwise, one line each. */
export function differences(accepted: readonly Accepted[], answers: readonly Answer[]): string[] {
  return accepted
    .map((each, index) => ({ text: each.text, ours: expectedAnswer(each), bash: answers[index] }))
    .filter(({ ours, bash }) => JSON.stringify(ours) !== JSON.stringify(bash))
    .map((difference) => JSON.stringify(difference));
}
