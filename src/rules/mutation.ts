import { compileFile } from '../classifier/compile.ts';
import type { Rules } from '../classifier/compiled.ts';
import type { Problem } from '../classifier/problems.ts';
import type { Mutant } from './draft.ts';
import { mutantsOf } from './mutants.ts';
import type { Profiles } from './profiles-schema.ts';
import type { Examples, Proposed, RuleFile } from './schema.ts';
import { selfTest } from './self-test.ts';

/** A mutant that no example noticed, with the rules in which it is in force. */
export type Survivor = { readonly mutant: Mutant; readonly rules: Rules };

export type Mutation = { readonly mutants: number; readonly survivors: readonly Survivor[] };

/** No other files: enough for every binary that runs no other. */
export const NO_RULES: Rules = Object.freeze({
  hash: '',
  binaries: new Map(),
  never: new Map(),
  assignments: new Map(),
});

/**
 * Table mutation: changes each entry of a file in turn and asks the examples, its own and the proposed ones. An entry
 * that none of them notices may be wrong without anybody seeing it.
 *
 * @param others the other files in force, for delegates.
 */
export function mutate(file: RuleFile, proposed: Proposed, profiles: Profiles, others: Rules): Mutation {
  const examples = [file.examples, proposed];
  const survivors: Survivor[] = [];
  let mutants = 0;
  for (const mutant of mutantsOf(file)) {
    mutants++;
    const rules = rulesWith(mutant.file, profiles, others);
    if (rules !== null && !isNoticed(examples, file, rules)) survivors.push({ mutant, rules });
  }
  return { mutants, survivors };
}

/** Rules in which a file is in force beside others; null when it does not fit together, so that it would never load. */
export function rulesWith(file: RuleFile, profiles: Profiles, others: Rules): Rules | null {
  const problems: Problem[] = [];
  const compiled = compileFile(file, profiles, 'built-in', problems);
  if (problems.length > 0) return null;
  const own = compiled.map((binary) => [binary.name, binary] as const);
  return { ...others, binaries: new Map([...others.binaries, ...own]) };
}

function isNoticed(examples: readonly Examples[], { only }: RuleFile, rules: Rules): boolean {
  return examples.some((one) => selfTest(one, only, rules).length > 0);
}
