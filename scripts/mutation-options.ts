import type { Stryker } from '@stryker-mutator/core';

type Options = ConstructorParameters<typeof Stryker>[0];

/** What is mutated when no file is named. */
export const MUTATED: readonly string[] = ['src/classifier/**/*.ts'];

/** Below it, in per cent of all mutants, a run fails. */
export const LEAST_SCORE = 90;

/** Seldom needed by the tests that run, and large. */
const LEFT_BEHIND = ['/bench', '/coverage', '/dist', '/docs', '/examples', '/reports', '/scratch'];

/** The options of one run of Stryker over these files. */
export function mutationOptions(
  files: readonly string[],
  { fresh, workers }: { readonly fresh: boolean; readonly workers: number },
): Options {
  return {
    mutate: files.length > 0 ? [...files] : [...MUTATED],
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    vitest: { configFile: 'vitest.mutation.config.ts', related: true },
    coverageAnalysis: 'perTest',
    concurrency: workers,
    // Only mutants that loop without an end come so far; on a busy machine an honest run may take long.
    timeoutMS: 20_000,
    timeoutFactor: 2,
    incremental: true,
    incrementalFile: 'reports/mutation-incremental.json',
    force: fresh,
    ignorePatterns: LEFT_BEHIND,
    reporters: ['progress-append-only', 'clear-text', 'json'],
    jsonReporter: { fileName: 'reports/mutation.json' },
    clearTextReporter: { allowColor: false, reportTests: false },
    allowConsoleColors: false,
    thresholds: { high: 100, low: LEAST_SCORE, break: LEAST_SCORE },
  };
}
