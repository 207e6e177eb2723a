import { checkNames, namesOf } from '../classifier/option-names.ts';
import type { RuleSet } from '../classifier/rule-set.ts';
import type { Run } from '../classifier/verdict.ts';
import { SignalboxError } from '../errors.ts';
import { baseEnvironment, type Environment, handedOver, withPinnedCharacters } from './environment.ts';
import { object } from './option-checks.ts';
import { type Profile, profileNamed, profilesOf } from './profiles.ts';

export type SafeEnvironmentOptions = {
  /** The rules that gave the verdict. Needed where the profile is a name. */
  readonly rules?: Pick<RuleSet, 'profiles'>;
  /** `verdict.run.form`. For `bash` characters are pinned to UTF-8, as the proof presumes. Default `argv`. */
  readonly form?: Run['form'];
};

const NAMES = namesOf<SafeEnvironmentOptions>({ rules: true, form: true });

/**
 * What of an environment a proved command gets: the names that its profile hands over, then what the profile sets. For
 * those who run a proved command themselves; the dispatcher gives the same. Pure.
 *
 * What it leaves out may be what the caller meant: where `GIT_DIR` is set, git would have read another repository. The
 * dispatcher makes such a command serial, by what the profile `minds`.
 *
 * @param profile `verdict.profile`, of a compound too (`git+npm`), or a profile of `profilesOf`.
 * @throws SignalboxError OPTION_INVALID for a name that the rules do not know, or without rules; for what is no such value.
 *
 * @example
 * safeEnvironment('rg', { PATH: '/bin', RIPGREP_CONFIG_PATH: '/tmp/x' }, { rules: loadRules() }); // { PATH: '/bin' }
 */
export function safeEnvironment(
  profile: string | Profile,
  environment: Readonly<Record<string, string | undefined>>,
  options: SafeEnvironmentOptions = {},
): Environment {
  checkSafeOptions(options);
  const { rules, form = 'argv' } = options;
  const { set, pass } = typeof profile === 'string' ? named(profile, rules) : object('the profile', profile);
  object('the names that the profile passes', pass);
  object('what the profile sets', set);
  object('the environment', environment);
  const given = { ...handedOver({ pass }, baseEnvironment(environment)), ...set };
  switch (form) {
    case 'argv':
      return Object.freeze(given);
    case 'bash':
      return Object.freeze(withPinnedCharacters(given));
  }
  form satisfies never;
  throw new SignalboxError('OPTION_INVALID', `Expected form to be "argv" or "bash", got ${JSON.stringify(form)}`);
}

/** @throws SignalboxError OPTION_INVALID for what are no such options. */
export function checkSafeOptions(options: SafeEnvironmentOptions): void {
  checkNames(options, NAMES, 'safeEnvironment');
}

function named(name: string, rules: Pick<RuleSet, 'profiles'> | undefined): Profile {
  if (rules === undefined) {
    const expected = 'Expected the rules that gave the verdict, since the profile is a name';
    throw new SignalboxError('OPTION_INVALID', `${expected}: { rules: loadRules() }`);
  }
  const profile = profileNamed(profilesOf(rules), name);
  if (profile !== null) return profile;
  const known = ['generic', ...Object.keys(rules.profiles.profiles)].join(', ');
  throw new SignalboxError(
    'OPTION_INVALID',
    `Expected the profile of a verdict (${known}), got ${JSON.stringify(name)}`,
  );
}
