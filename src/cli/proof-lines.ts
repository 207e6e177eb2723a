import type { Part, RuleRef, Verdict } from '../classifier/verdict.ts';
import { visible } from './display-text.ts';

/** What a parallel verdict rests on, for a person: a line for each fact there is, then one for each part of a compound. */
export function proofLines(command: string, verdict: Extract<Verdict, { kind: 'parallel' }>): string[] {
  const { rule, parts = [] } = verdict;
  return [
    factLine('rule', named(rule)),
    ...surroundingLines(verdict),
    ...parts.map((part) => `  part     ${visible(command.slice(...part.span))}  ${told(part)}`),
  ];
}

/** The same without the rules and the parts, for those who have told them. */
export function surroundingLines({ profile, effects, assumes }: Extract<Verdict, { kind: 'parallel' }>): string[] {
  const facts = [
    ['profile', profile],
    ['effects', effects.join(', ')],
    ['assumes', assumes.join(', ')],
  ];
  return facts.filter(([, text]) => text !== '').map(([name = '', text = '']) => factLine(name, text));
}

function factLine(name: string, text: string): string {
  return `  ${name.padEnd(8)} ${text}`;
}

function told({ rule, profile, stdin }: Part): string {
  return `[${[named(rule), profile, ...(stdin === 'pipe' ? ['reads the pipe'] : [])].join('; ')}]`;
}

function named(rule: readonly RuleRef[]): string {
  return rule.map(({ path, origin }) => `${path} (${origin})`).join(', ');
}
