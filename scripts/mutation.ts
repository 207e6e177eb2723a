/**
 * `npm run mutation`: changes `src/classifier` in thousands of places, one at a time, and asks the tests of
 * scripts/mutation-tests.ts to notice; survivors are listed, and docs/mutation.md explains them. Exit code 1 below 90 %.
 * `npm run mutation -- FILE …`: these files only, for example src/dispatcher/keyed-lock.ts.
 * `--fresh` forgets what earlier runs found (mutants of unchanged code and tests are not run again); `--workers=N` is
 * how many run at once (default 2).
 */
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { mutationOptions } from './mutation-options.ts';
import './closed-pipe.ts';

const { values, positionals } = parseArgs({
  options: { fresh: { type: 'boolean', default: false }, workers: { type: 'string', default: '2' } },
  allowPositionals: true,
});
const options = mutationOptions(positionals, { fresh: values.fresh, workers: Number(values.workers) });
const mutants = await new Stryker(options).runMutationTest();
console.log(`${mutants.length} mutants`);
