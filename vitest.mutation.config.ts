import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { MUTATION_TESTS } from './scripts/mutation-tests.ts';

/**
 * The tests that hold `src/classifier` and the keyed lock by themselves, for coverage and for mutation: no property, no
 * other shell, no program. In one worker and without isolation, because every mutant is a run of its own.
 */
class InTheirOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number =>
      MUTATION_TESTS.findIndex((path) => moduleId.endsWith(path));
    return [...files].sort((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  test: {
    include: [...MUTATION_TESTS],
    pool: 'threads',
    isolate: false,
    maxWorkers: 1,
    sequence: { sequencer: InTheirOrder },
    testTimeout: 180_000,
    coverage: {
      provider: 'v8',
      include: ['src/classifier/**'],
      reporter: [['text', { skipFull: true }]],
      thresholds: { branches: 100 },
    },
  },
});
