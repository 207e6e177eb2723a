/**
 * `npm run rules:check`: validates all built-in rule files and holds them against their examples.
 * `npm run rules:check -- FILE …`: the same for these files, and lists the entries that no example notices, each with a
 * command that would. Exit code 1 when something is wrong; entries without an example are a hint.
 */
import { resolve } from 'node:path';
import { compileFile } from '../src/classifier/compile.ts';
import type { Problem } from '../src/classifier/problems.ts';
import { mutate, NO_RULES, rulesWith } from '../src/rules/mutation.ts';
import { propose } from '../src/rules/proposal.ts';
import type { Proposed, RuleFile } from '../src/rules/schema.ts';
import { selfTest } from '../src/rules/self-test.ts';
import {
  BUILT_IN_DIRECTORY,
  readProfiles,
  readProposed,
  readRuleFile,
  rulePathsOf,
  type Source,
} from '../src/rules/sources.ts';
import './closed-pipe.ts';

const MOST_LISTED = 12;

const profiles = readProfiles(BUILT_IN_DIRECTORY);
const asked = process.argv.slice(2).map((path) => resolve(path));
const paths = asked.length > 0 ? asked : rulePathsOf(BUILT_IN_DIRECTORY);

function read(path: string): Source | null {
  try {
    return readRuleFile(path);
  } catch (error) {
    console.log((error as Error).message);
    return null;
  }
}

function count(examples: Omit<Proposed, 'binary' | 'piped'> & { piped?: readonly string[] | undefined }): number {
  return examples.parallel.length + examples.serial.length + (examples.piped?.length ?? 0);
}

/** Each file by itself, so that another broken one does not matter. Gives the number of things that are wrong. */
function check({ name, file }: Source): number {
  const problems: Problem[] = [];
  compileFile(file, profiles, 'built-in', problems);
  for (const { pointer, message } of problems) console.log(`${name} at ${pointer}: ${message}`);
  const rules = rulesWith(file, profiles, NO_RULES);
  if (rules === null) return problems.length;
  const proposed = readProposed(BUILT_IN_DIRECTORY, file.binary);
  const failures = [
    ...selfTest(file.examples, file.only, rules),
    ...selfTest(proposed, file.only, rules, ` of proposed/${file.binary}.json`),
  ];
  for (const { pointer, command, expected, got } of failures) {
    console.log(`${name} at ${pointer}: expected ${expected} for ${JSON.stringify(command)}, got ${got}`);
  }
  const counts = `${count(file.examples)} examples and ${count(proposed)} proposed ones`;
  console.log(
    `${file.binary}: ${counts}, ${failures.length === 0 ? 'all as stated' : `${failures.length} not as stated`}`,
  );
  return failures.length;
}

function listUnnoticed(file: RuleFile): void {
  console.log(`${file.binary}: changing each entry in turn …`);
  const { mutants, survivors } = mutate(file, readProposed(BUILT_IN_DIRECTORY, file.binary), profiles, NO_RULES);
  console.log(`${file.binary}: ${mutants - survivors.length} of ${mutants} changes are noticed by an example`);
  if (survivors.length === 0) return;
  for (const { mutant } of survivors.slice(0, MOST_LISTED)) console.log(`  ${mutant.pointer}: ${mutant.change}`);
  if (survivors.length > MOST_LISTED) console.log(`  and ${survivors.length - MOST_LISTED} more`);
  const { examples } = propose(file, profiles, NO_RULES);
  console.log('  These would notice what the examples of the file do not; are the answers right?');
  for (const command of examples.parallel.slice(0, MOST_LISTED)) console.log(`    parallel: ${command}`);
  for (const { command, code } of examples.serial.slice(0, MOST_LISTED)) console.log(`    ${code}: ${command}`);
  console.log(
    `  If they are, \`npx tsx scripts/rules-propose.ts ${file.binary}\` keeps all ${count(examples)} of them.`,
  );
}

let wrong = 0;
for (const path of paths) {
  const source = read(path);
  const here = source === null ? 1 : check(source);
  if (source !== null && here === 0 && asked.length > 0) listUnnoticed(source.file);
  if (here > 0) wrong += 1;
}
const counted = (count: number, one: string, more: string): string => `${count} ${count === 1 ? one : more}`;
console.log(
  wrong === 0
    ? counted(paths.length, 'file is fine.', 'files are fine.')
    : counted(wrong, 'file is not fine.', 'files are not fine.'),
);
process.exitCode = wrong === 0 ? 0 : 1;
