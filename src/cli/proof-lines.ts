import type { Verdict } from '../classifier/verdict.ts';

/** What a parallel verdict rests on, for a person: a line for each fact there is. */
export function proofLines(verdict: Extract<Verdict, { kind: 'parallel' }>): string[] {
  const facts = [
    ['rule', verdict.rule.map(({ path, origin }) => `${path} (${origin})`).join(', ')],
    ['profile', verdict.profile],
    ['effects', verdict.effects.join(', ')],
    ['assumes', verdict.assumes.join(', ')],
  ];
  return facts.filter(([, text]) => text !== '').map(([name = '', text]) => `  ${name.padEnd(8)} ${text}`);
}
