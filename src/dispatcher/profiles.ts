import type { ProfileRule } from '../classifier/compiled.ts';
import type { RuleSet } from '../classifier/rule-set.ts';
import { object } from './option-checks.ts';

/** What a proved command's environment is made of; the generic part included. */
export type Profile = Pick<ProfileRule, 'set' | 'pass'> & Partial<Pick<ProfileRule, 'minds'>>;

/** Profiles by the name that stands in a verdict. */
export type ProfileTable = ReadonlyMap<string, Profile>;

/**
 * The environment of a name, or of several with a plus sign between them: what one of them sets or hands over, all get.
 * Null when one is not known, or two set a variable to different values.
 */
export function profileNamed(table: ProfileTable, name: string): Profile | null {
  const whole = table.get(name);
  if (whole !== undefined) return whole;
  const set = new Map<string, string>();
  const pass = new Set<string>();
  const minds: string[] = [];
  for (const one of name.split('+')) {
    const profile = table.get(one);
    if (profile === undefined) return null;
    for (const [variable, value] of Object.entries(profile.set)) {
      if ((set.get(variable) ?? value) !== value) return null;
      set.set(variable, value);
    }
    for (const variable of profile.pass) pass.add(variable);
    minds.push(...(profile.minds ?? []));
  }
  return { set: Object.fromEntries(set), pass, minds };
}

/**
 * The environments that the verdicts of a rule set name, each with the generic part in it.
 *
 * @throws SignalboxError OPTION_INVALID for what is no rule set.
 */
export function profilesOf(rules: Pick<RuleSet, 'profiles'>): ProfileTable {
  const { generic, profiles } = object('the profiles of the rules', object('rules', rules).profiles);
  const table = new Map<string, Profile>([
    ['generic', { set: generic.set, pass: new Set(generic.pass), minds: generic.minds ?? [] }],
  ]);
  for (const [name, { set, pass, minds = [] }] of Object.entries(profiles)) {
    table.set(name, {
      set: { ...generic.set, ...set },
      pass: new Set([...generic.pass, ...pass]),
      minds: [...(generic.minds ?? []), ...minds],
    });
  }
  return table;
}
