import { readFileSync } from 'node:fs';
import { type RuleSet, restoreRules } from './classifier/rule-set.ts';

/** Written by the build, beside the built code, from rules that had just passed all of their examples. */
const CHECKED = new URL('./built-in-rules.json', import.meta.url);

/**
 * The built-in rules as they were checked when the package was built: the set of `loadRules()`, with the same hash, in a
 * fraction of its time. Undefined where nothing was built, as in the sources: there the rules are read and checked.
 */
export function restoreBuiltInRules(): RuleSet | undefined {
  let data: string;
  try {
    data = readFileSync(CHECKED, 'utf8');
  } catch {
    return undefined;
  }
  return restoreRules(JSON.parse(data));
}
