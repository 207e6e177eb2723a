import { resolve } from 'node:path';
import { restoreBuiltInRules } from '../built-in.ts';
import type { RuleSet } from '../classifier/rule-set.ts';

/**
 * The built-in rules, with the files or directories of `paths` (relative to `cwd`) if there are any. Throws RULES_INVALID.
 * The checking loader is not even loaded where the build has done its work: most calls ask about one command and end.
 */
export async function rulesWith(paths: readonly string[] = [], cwd: string): Promise<RuleSet> {
  const builtIn = paths.length === 0 ? restoreBuiltInRules() : undefined;
  if (builtIn !== undefined) return builtIn;
  const { loadRules } = await import('../rules/load.ts');
  return loadRules({ extra: paths.map((path) => resolve(cwd, path)) });
}
