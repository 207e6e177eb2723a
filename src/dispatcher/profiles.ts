import type { ProfileRule } from '../classifier/compiled.ts';
import type { RuleSet } from '../classifier/rule-set.ts';

/** What a proved command's environment is made of; the generic part included. */
export type Profile = Pick<ProfileRule, 'set' | 'pass'> & Partial<Pick<ProfileRule, 'minds'>>;

/** Profiles by the name that stands in a verdict. */
export type ProfileTable = ReadonlyMap<string, Profile>;

/** The environments that the verdicts of a rule set name, each with the generic part in it. */
export function profilesOf({ profiles: { generic, profiles } }: Pick<RuleSet, 'profiles'>): ProfileTable {
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
