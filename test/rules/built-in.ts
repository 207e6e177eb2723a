import { readFileSync } from 'node:fs';
import type { Rules } from '../../src/classifier/compiled.ts';
import { NO_RULES, rulesWith } from '../../src/rules/mutation.ts';
import type { Profiles } from '../../src/rules/profiles-schema.ts';
import type { Proposed, RuleFile } from '../../src/rules/schema.ts';
import { BUILT_IN_DIRECTORY, readProfiles, readProposed, readRuleDirectory } from '../../src/rules/sources.ts';

/** The rule files of the package, with all that speaks of them. */

export const profiles: Profiles = readProfiles(BUILT_IN_DIRECTORY);

export const files: readonly RuleFile[] = readRuleDirectory(BUILT_IN_DIRECTORY).map(({ file }) => file);

export function proposedFor(file: RuleFile): Proposed {
  return readProposed(BUILT_IN_DIRECTORY, file.binary);
}

/** The rules beside a file that are in force when it is asked: only one that runs another binary needs any. */
export function othersFor(file: RuleFile): Rules {
  if (file.command.delegates === undefined) return NO_RULES;
  return files.filter((one) => one !== file).reduce((rules, one) => rulesWith(one, profiles, rules)!, NO_RULES);
}

/** Rules that hold one file, or fail. */
export function rulesOf(file: RuleFile): Rules {
  const rules = rulesWith(file, profiles, othersFor(file));
  if (rules === null) throw new Error(`${file.binary} does not fit together`);
  return rules;
}

export type VectorRow = { readonly cmd: string; readonly expected: string };

export function vectors(name: 'parallel' | 'hostile'): readonly VectorRow[] {
  const text = readFileSync(new URL(`../vectors/${name}.jsonl`, import.meta.url), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** The first word as somebody who cuts at blanks and line ends sees it. */
export function firstWord(command: string): string {
  return /^[^ \t\r\n]*/.exec(command)?.[0] ?? '';
}

/** Every command that the files and the vectors speak of. */
export const commands: readonly string[] = [
  ...new Set([
    ...files.flatMap((file) => [...commandsOf(file.examples), ...commandsOf(proposedFor(file))]),
    ...vectors('parallel').map(({ cmd }) => cmd),
    ...vectors('hostile').map(({ cmd }) => cmd),
  ]),
];

function commandsOf({ parallel, piped = [], serial }: RuleFile['examples'] | Proposed): readonly string[] {
  return [...parallel, ...piped, ...serial.map(({ command }) => command)];
}

/** Those of them that are about a binary. */
export function commandsAbout(file: RuleFile): readonly string[] {
  const names = new Set([file.binary, ...(file.also ?? [])]);
  return commands.filter((command) => names.has(firstWord(command)));
}
