/** The library: everything that judges, the dispatcher that runs batches on it, the rules, the errors. */
import { restoreBuiltInRules } from './built-in.ts';
import { classify } from './classifier/classify.ts';
import type { RuleSet } from './classifier/rule-set.ts';
import type { Profile } from './dispatcher/profiles.ts';
import {
  checkSafeOptions,
  safeEnvironment as environmentOf,
  type SafeEnvironmentOptions,
} from './dispatcher/safe-environment.ts';
import { loadRules } from './rules/load.ts';

export * from './classifier/index.ts';
export { secondReading } from './classifier/second-reading.ts';
export * from './dispatcher/index.ts';
export { ERROR_CODES, type ErrorCode, type ErrorOptions, type Fault, SignalboxError } from './errors.ts';
export { type LoadOptions, loadRules } from './rules/load.ts';

/** The built-in rules, kept after the first question. */
let builtInRules: RuleSet | undefined;

/**
 * Whether a command may run at the same time as its siblings, by the built-in rules: the shortest way to the answer, of
 * the form that a tool definition wants. Total for any value, never throws for one, and false for everything that is
 * not proved. It is no permission: `cat` of a secret is parallel.
 *
 * The first call reads the rules; later ones take microseconds.
 *
 * @example
 * isConcurrencySafe('git log --oneline -5'); // true
 * isConcurrencySafe('git push'); // false
 * isConcurrencySafe('git log > log.txt'); // false
 * isConcurrencySafe(42); // false
 */
export function isConcurrencySafe(command: unknown): boolean {
  return classify(command, { rules: ownRules() }).kind === 'parallel';
}

/**
 * What of an environment a proved command gets, for those who run it themselves: the names that its profile hands over,
 * then what the profile sets. A profile by its name is one of the built-in rules unless `rules` says otherwise.
 *
 * @param profile `verdict.profile`, of a compound too, or a profile of `profilesOf`.
 * @throws SignalboxError OPTION_INVALID for a name that the rules do not know.
 *
 * @example
 * safeEnvironment('rg', { PATH: '/bin', RIPGREP_CONFIG_PATH: '/tmp/x' }); // { PATH: '/bin' }
 */
export function safeEnvironment(
  profile: string | Profile,
  environment: Readonly<Record<string, string | undefined>>,
  options: SafeEnvironmentOptions = {},
): Readonly<Record<string, string>> {
  checkSafeOptions(options);
  return environmentOf(profile, environment, { ...options, rules: options.rules ?? ownRules() });
}

function ownRules(): RuleSet {
  builtInRules ??= restoreBuiltInRules() ?? loadRules();
  return builtInRules;
}
