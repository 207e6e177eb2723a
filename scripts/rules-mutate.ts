/**
 * `npx tsx scripts/rules-mutate.ts [BINARY …]`: changes every entry of the built-in rule files in turn and lists the
 * changes that no example notices. Exit code 1 when there are some.
 */
import { mutate, NO_RULES } from '../src/rules/mutation.ts';
import { BUILT_IN_DIRECTORY, readProfiles, readProposed, readRulesOf } from '../src/rules/sources.ts';
import './closed-pipe.ts';

const asked = process.argv.slice(2);
const profiles = readProfiles(BUILT_IN_DIRECTORY);
const sources = readRulesOf(BUILT_IN_DIRECTORY, asked);
let [all, left] = [0, 0];
for (const { file } of sources) {
  const start = performance.now();
  const { mutants, survivors } = mutate(file, readProposed(BUILT_IN_DIRECTORY, file.binary), profiles, NO_RULES);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`${file.binary}: ${mutants - survivors.length} of ${mutants} changes noticed (${seconds} s)`);
  for (const { mutant } of survivors) console.log(`  ${mutant.pointer}: ${mutant.change}`);
  all += mutants;
  left += survivors.length;
}
console.log(`all: ${all - left} of ${all} changes noticed`);
process.exitCode = left === 0 ? 0 : 1;
