import { defineConfig } from 'vitest/config';

/** One project a kind of evidence, so that each can be run and counted by itself. */
const suites = ['unit', 'rules', 'property', 'differential', 'corpus', 'regressions', 'http', 'e2e', 'proof'] as const;

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: suites.map((name) => ({
      extends: true as const,
      test: {
        name,
        include: [`test/${name}/**/*.test.ts`],
        // These are about what is published: built once, before the first of them.
        ...(name === 'e2e' ? { globalSetup: ['test/e2e/build.ts'] } : {}),
      },
    })),
    coverage: { provider: 'v8', include: ['src/**'] },
  },
});
