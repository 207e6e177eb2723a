/**
 * `npm run rules:check`: validates all built-in rule files and holds them against their examples.
 * `npm run rules:check -- FILE …`: the same for these files, and lists the entries that no example notices, each with a
 * command that would. Exit code 1 when something is wrong; entries without an example are a hint.
 * `signalbox rules check` does the same for files of one's own.
 */
import { checkLines, resultLine } from '../src/rules/check-lines.ts';
import { count, surroundingsOf } from '../src/rules/file-check.ts';
import { BUILT_IN_DIRECTORY, rulePathsOf } from '../src/rules/sources.ts';
import './closed-pipe.ts';

const asked = process.argv.slice(2);
const paths = asked.length > 0 ? asked : rulePathsOf(BUILT_IN_DIRECTORY);
const surroundings = surroundingsOf();
let wrong = 0;
for (const path of paths) {
  const { lines, isFine, wanted } = checkLines(path, surroundings, asked.length > 0);
  for (const line of lines) console.log(line);
  if (wanted !== null)
    console.log(
      `  If they are, \`npx tsx scripts/rules-propose.ts ${wanted.binary}\` keeps all ${count(wanted)} of them.`,
    );
  if (!isFine) wrong += 1;
}
console.log(resultLine(paths.length, wrong));
process.exitCode = wrong === 0 ? 0 : 1;
