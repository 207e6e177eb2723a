/**
 * `npm run rules:new -- NAME`: writes `rules/NAME.json`, a rule file that fails its check until it is filled in, and says
 * how to go on. `signalbox rules new` does the same for files of one's own.
 */
import { SignalboxError } from '../src/errors.ts';
import { STEPS, startFile } from '../src/rules/file-start.ts';
import { BUILT_IN_DIRECTORY } from '../src/rules/sources.ts';
import './closed-pipe.ts';

const [name] = process.argv.slice(2);
try {
  startFile(name ?? '', { directory: BUILT_IN_DIRECTORY });
  console.log(`Wrote rules/${name}.json.\n`);
  for (const [index, step] of STEPS.entries()) console.log(`${index + 1}. ${step}`);
  console.log(`\nThen: npm run rules:check -- rules/${name}.json, and npm run generate for its page`);
} catch (error) {
  if (!(error instanceof SignalboxError)) throw error;
  console.error(
    [error.message, error.hint, 'npm run rules:new -- NAME'].filter((text) => text !== undefined).join('\n'),
  );
  process.exitCode = error.message.startsWith('Expected a bare') ? 2 : 1;
}
