import type { Profiles } from '../rules/profiles-schema.ts';
import type { RuleData, RuleNode } from '../rules/schema.ts';
import type { BinaryRule, ProfileRule, Proof } from './compiled.ts';
import { GENERIC } from './joint-profile.ts';
import { builtInKind, type Kind } from './kinds.ts';
import { compileNode } from './node.ts';
import { type KindFinder, NO_KIND } from './option-table.ts';
import { type Problem, type Report, reportInto } from './problems.ts';
import { type Origin, proofOfAlone } from './proof.ts';
import { spellingsOf } from './usage.ts';
import { kindOfValue } from './values.ts';

/** Turns one rule file into maps, under each of its names. Whatever does not fit together is put into `problems`. */
export function compileFile(
  file: RuleData,
  profiles: Profiles,
  origin: Origin,
  problems: Problem[],
): readonly BinaryRule[] {
  const report = reportInto(problems);
  const unheard = reportInto([]);
  const context = { file, origin, kinds: kindFinder(file, report), profiles: profileFinder(profiles) };
  const profile = context.profiles(file.profile ?? GENERIC, report);
  const above = {
    stdin: 'always',
    effects: [],
    observes: ['files'],
    override: file.override === true,
    profile,
    refuses: new Map<string, string>(),
  } as const;
  return [file.binary, ...(file.also ?? [])].map((name, index) => ({
    name,
    // The same data under each name: what is wrong with it is said once.
    root: compileNode(context, file.command, name, above, (index === 0 ? report : unheard).at('command')),
    alone: compileAlone(file, name, origin, profile),
    builtin: file.builtin ?? false,
    compoundOnly: file.only === 'compound',
    resources: Object.freeze([...(file.resources ?? [])]),
    starts: Object.freeze([...startsOf(file)]),
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

function compileAlone(file: RuleData, name: string, origin: Origin, profile: ProfileRule): ReadonlyMap<string, Proof> {
  const words = Object.keys(file.alone ?? {}).flatMap((key) => spellingsOf(key).flat());
  return new Map(words.map((word) => [word, proofOfAlone(file, `${name} ${word}`, origin, profile)]));
}

/** Every program that some part of the file says the binary starts: which of them a command reaches is not asked. */
function startsOf({ command, groups }: RuleData): ReadonlySet<string> {
  const names = new Set<string>();
  const take = (one: { readonly starts?: readonly string[] | undefined }): void => {
    for (const name of one.starts ?? []) names.add(name);
  };
  const walk = (node: RuleNode): void => {
    take(node);
    for (const option of Object.values(node.options ?? {})) take(option);
    for (const below of Object.values(node.subcommands ?? {})) walk(below);
  };
  for (const group of Object.values(groups ?? {})) for (const option of Object.values(group)) take(option);
  walk(command);
  return names;
}

/** Profiles as the proofs carry them, each made once. */
function profileFinder({ generic, profiles }: Profiles): (name: string, at: Report) => ProfileRule {
  const made = new Map<string, ProfileRule>();
  return (name, at) => {
    const known = name === GENERIC || Object.hasOwn(profiles, name);
    if (!known) at.at('profile').say(`expected a profile of profiles.json, got "${name}"`);
    const own = name !== GENERIC && known ? profiles[name]! : generic;
    const profile = made.get(name) ?? {
      name,
      set: Object.freeze({ ...generic.set, ...own.set }),
      pass: new Set([...generic.pass, ...own.pass]),
      minds: Object.freeze([...new Set([...(generic.minds ?? []), ...(own.minds ?? [])])]),
    };
    made.set(name, profile);
    return profile;
  };
}
