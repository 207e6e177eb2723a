/** `npm run rules:check [-- FILE …]`: validates rule files and holds them against their examples, with errors for people. */
import { resolve } from 'node:path';
import { compileFile } from '../src/classifier/compile.ts';
import type { Problem } from '../src/classifier/problems.ts';
import { testRulesOf } from '../src/rules/load.ts';
import type { Placed } from '../src/rules/merge.ts';
import { selfTest } from '../src/rules/self-test.ts';
import {
  BUILT_IN_DIRECTORY,
  readProfiles,
  readProposed,
  readRuleFile,
  rulePathsOf,
  type Source,
} from '../src/rules/sources.ts';

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

/** A file by itself, so that a colleague's broken one does not matter. */
function check({ name, file }: Source): number {
  const problems: Problem[] = [];
  compileFile(file, profiles, 'built-in', problems);
  for (const { pointer, message } of problems) console.log(`${name} at ${pointer}: ${message}`);
  if (problems.length > 0) return problems.length;
  const placed: Placed = { name, origin: 'built-in', file };
  const rules = testRulesOf([placed], profiles);
  const proposed = readProposed(BUILT_IN_DIRECTORY, file.binary);
  const failures = [
    ...selfTest(file.examples, file.only, rules),
    ...selfTest(proposed, file.only, rules, `proposed/${file.binary}.json`),
  ];
  for (const { pointer, command, expected, got } of failures) {
    console.log(`${name} at ${pointer}: expected ${expected} for ${JSON.stringify(command)}, got ${got}`);
  }
  const count = file.examples.parallel.length + file.examples.serial.length + (file.examples.piped?.length ?? 0);
  console.log(`${file.binary}: ${count} examples, ${failures.length} not as stated`);
  return failures.length;
}

let wrong = 0;
for (const path of paths) {
  const source = read(path);
  wrong += source === null ? 1 : check(source);
}
process.exitCode = wrong === 0 ? 0 : 1;
