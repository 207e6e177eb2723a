/**
 * `npm run rules:new -- NAME`: writes `rules/NAME.json`, a rule file that fails its check until it is filled in, and says
 * how to go on.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isCommandName, NAME_SHAPE } from '../src/rules/names.ts';
import { BUILT_IN_DIRECTORY, readNever } from '../src/rules/sources.ts';
import { templateOf } from '../src/rules/template.ts';
import './closed-pipe.ts';

const STEPS = [
  'Read the manual page with one question: what does it do besides printing? See docs/rules.md for every key.',
  'Put in its options. The key of an option is its line in the manual page: "-n, --lines; -q, --quiet".',
  'Leave out every option that writes, runs, locks, waits or asks; name it under "refuses" with what it does.',
  'Name the operands as the usage line does: ["pattern", "path*"]. What is not listed is serial.',
  'Give examples of both kinds, the traps among them.',
  'Leave "maturity" at "experimental" to try it with --rules FILE; "stable" makes it part of every set.',
];

function main(name: string | undefined): number {
  if (name === undefined || !isCommandName(name) || name === '[') {
    console.error(`Expected ${NAME_SHAPE}: npm run rules:new -- NAME`);
    return 2;
  }
  const never = readNever(BUILT_IN_DIRECTORY);
  if (Object.hasOwn(never, name)) {
    console.error(`${name} is in rules/never.json: it ${never[name]}. Take it out there first, if that is wrong.`);
    return 1;
  }
  const path = join(BUILT_IN_DIRECTORY, `${name}.json`);
  if (existsSync(path)) {
    console.error(`${path} is there already.`);
    return 1;
  }
  writeFileSync(path, `${JSON.stringify(templateOf(name), null, 2)}\n`);
  console.log(`Wrote rules/${name}.json.\n`);
  for (const [index, step] of STEPS.entries()) console.log(`${index + 1}. ${step}`);
  console.log(`\nThen: npm run rules:check -- rules/${name}.json`);
  return 0;
}

process.exitCode = main(process.argv[2]);
