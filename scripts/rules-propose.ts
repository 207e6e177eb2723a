/**
 * `npx tsx scripts/rules-propose.ts [BINARY …]`: writes `rules/proposed/BINARY.json`, examples for the entries of a rule
 * file that its own examples do not notice. They say what the rules answer now: read them before they are committed.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { NO_RULES } from '../src/rules/mutation.ts';
import { propose } from '../src/rules/proposal.ts';
import type { Proposed } from '../src/rules/schema.ts';
import { BUILT_IN_DIRECTORY, proposedPath, readProfiles, readRulesOf } from '../src/rules/sources.ts';
import './closed-pipe.ts';

/** One example a line, so that a change of one is a change of one line. */
function textOf({ binary, parallel, piped, serial }: Proposed): string {
  const list = (items: readonly unknown[]): string =>
    items.length === 0 ? '[]' : `[\n${items.map((item) => `    ${JSON.stringify(item)}`).join(',\n')}\n  ]`;
  const lists = [`"parallel": ${list(parallel)}`, `"piped": ${list(piped)}`, `"serial": ${list(serial)}`];
  return `{\n  "binary": ${JSON.stringify(binary)},\n  ${lists.join(',\n  ')}\n}\n`;
}

const asked = process.argv.slice(2);
const profiles = readProfiles(BUILT_IN_DIRECTORY);
for (const { file } of readRulesOf(BUILT_IN_DIRECTORY, asked)) {
  const { examples, left } = propose(file, profiles, NO_RULES);
  const path = proposedPath(BUILT_IN_DIRECTORY, file.binary);
  const count = examples.parallel.length + examples.piped.length + examples.serial.length;
  mkdirSync(dirname(path), { recursive: true });
  if (count > 0) writeFileSync(path, textOf(examples));
  else rmSync(path, { force: true });
  console.log(`${file.binary}: ${count} examples proposed, ${left.length} changes that nothing notices`);
  for (const { mutant } of left) console.log(`  ${mutant.pointer}: ${mutant.change}`);
}
