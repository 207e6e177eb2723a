/**
 * The test files that mutants have to face, and that must reach every branch of the classifier. A run ends at the first
 * test that fails, so those that fail soonest and load least stand first. Files that load all rule files stay out: what
 * runs while they load is run for every mutant.
 */
export const MUTATION_TESTS: readonly string[] = [
  'test/unit/lexer.test.ts',
  'test/unit/lexer-characters.test.ts',
  'test/unit/lexer-second-reading.test.ts',
  'test/unit/lexer-vectors.test.ts',
  'test/unit/values.test.ts',
  'test/unit/operands.test.ts',
  'test/unit/options.test.ts',
  'test/unit/engine.test.ts',
  'test/unit/classify.test.ts',
  'test/unit/compile.test.ts',
  'test/unit/explain.test.ts',
  'test/unit/compound-explain.test.ts',
  'test/unit/compound-lexer.test.ts',
  'test/unit/compound-names.test.ts',
  'test/unit/compound-second-reading.test.ts',
  'test/unit/classifier-edges.test.ts',
  'test/unit/classifier-lists.test.ts',
  'test/unit/classifier-rules.test.ts',
  'test/unit/classifier-second-reading.test.ts',
  'test/unit/classifier-options.test.ts',
  'test/unit/classifier-shapes.test.ts',
  'test/unit/classifier-surroundings.test.ts',
  'test/unit/classifier-compound.test.ts',
  'test/unit/programs/sed.test.ts',
  'test/unit/programs/jq.test.ts',
  'test/unit/keyed-lock.test.ts',
];
