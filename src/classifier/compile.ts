import type { Profiles } from '../rules/profiles-schema.ts';
import type { RuleData } from '../rules/schema.ts';
import type { BinaryRule, ProfileRule, Proof } from './compiled.ts';
import { builtInKind, type Kind } from './kinds.ts';
import { compileNode } from './node.ts';
import { type KindFinder, NO_KIND } from './option-table.ts';
import { type Problem, type Report, reportInto } from './problems.ts';
import { type Origin, proofOfAlone } from './proof.ts';
import { spellingsOf } from './usage.ts';
import { kindOfValue } from './values.ts';

/** The profile of a rule that names none. */
export const GENERIC = 'generic';

/** Turns one rule file into maps, under each of its names. Whatever does not fit together is put into `problems`. */
export function compileFile(
  file: RuleData,
  profiles: Profiles,
  origin: Origin,
  problems: Problem[],
): readonly BinaryRule[] {
  const report = reportInto(problems);
  const unheard = reportInto([]);
  const context = { file, origin, kinds: kindFinder(file, report) };
  const above = { stdin: 'always', effects: [], observes: ['files'], override: file.override === true } as const;
  const profile = compileProfile(file.profile ?? GENERIC, profiles, report);
  return [file.binary, ...(file.also ?? [])].map((name, index) => ({
    name,
    // The same data under each name: what is wrong with it is said once.
    root: compileNode(context, file.command, name, above, (index === 0 ? report : unheard).at('command')),
    alone: compileAlone(file, name, origin),
    builtin: file.builtin ?? false,
    compoundOnly: file.only === 'compound',
    profile,
    resources: Object.freeze([...(file.resources ?? [])]),
  }));
}

function kindFinder(file: RuleData, report: Report): KindFinder {
  const own = new Map<string, Kind>();
  for (const [name, value] of Object.entries(file.values ?? {})) {
    if (builtInKind(name) !== undefined) report.at('values', name).say('expected a name that no built-in kind has');
    own.set(name, kindOfValue(name, value));
  }
  return (name, at) => {
    const kind = own.get(name) ?? builtInKind(name);
    if (kind === undefined)
      at.say(`expected a kind of value, got "${name}", which neither this file nor the code defines`);
    return kind ?? NO_KIND;
  };
}

function compileAlone(file: RuleData, name: string, origin: Origin): ReadonlyMap<string, Proof> {
  const words = Object.keys(file.alone ?? {}).flatMap((key) => spellingsOf(key).flat());
  return new Map(words.map((word) => [word, proofOfAlone(file, `${name} ${word}`, origin)]));
}

function compileProfile(name: string, { generic, profiles }: Profiles, report: Report): ProfileRule {
  const known = name === GENERIC || Object.hasOwn(profiles, name);
  if (!known) report.at('profile').say(`expected a profile of profiles.json, got "${name}"`);
  const own = name !== GENERIC && known ? profiles[name]! : generic;
  return {
    name,
    set: Object.freeze({ ...generic.set, ...own.set }),
    pass: new Set([...generic.pass, ...own.pass]),
  };
}
