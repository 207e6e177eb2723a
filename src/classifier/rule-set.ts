import { SignalboxError } from '../errors.ts';
import type { Profiles } from '../rules/profiles-schema.ts';
import type { RuleData } from '../rules/schema.ts';
import { compileFile } from './compile.ts';
import type { BinaryRule, Rules } from './compiled.ts';
import type { Problem } from './problems.ts';
import type { Origin } from './proof.ts';

/** A rule set as plain data, fit for JSON. What `exportRules` gives and `restoreRules` takes. */
export type RuleSetData = {
  readonly format: 1;
  readonly hash: string;
  readonly profiles: Profiles;
  /** Names that have no rule because they are known to be unsafe, each with what it does. */
  readonly never: Readonly<Record<string, string>>;
  readonly files: readonly { readonly origin: Origin; readonly file: RuleData }[];
  /** The experimental binaries that were asked for. */
  readonly experimental: readonly string[];
};

/** A set of checked rules. Only `loadRules` and `restoreRules` make one; it cannot be changed. */
export type RuleSet = {
  /** `sha256:…` over all files and profiles; stands in every verdict as `ruleset`. */
  readonly hash: string;
  /** The command names it answers, sorted. */
  readonly names: readonly string[];
  readonly profiles: Profiles;
};

/** What belongs to each genuine rule set. Nobody outside can reach or forge it. */
const CONTENTS = new WeakMap<object, { readonly rules: Rules; readonly data: RuleSetData }>();

/**
 * Makes a rule set of data that `exportRules` gave, for example in a browser. The data is copied.
 *
 * @throws SignalboxError RULES_INVALID when it is no such data.
 */
export function restoreRules(data: RuleSetData): RuleSet {
  let copy: RuleSetData;
  let rules: Rules;
  try {
    copy = freeze(structuredClone(data));
    if (copy.format !== 1 || typeof copy.hash !== 'string') {
      throw new SignalboxError('RULES_INVALID', 'Expected data of format 1 with its hash');
    }
    rules = compileRules(copy);
  } catch (cause) {
    if (cause instanceof SignalboxError) throw cause;
    throw new SignalboxError('RULES_INVALID', 'Expected data that exportRules gave', { cause });
  }
  const ruleSet = Object.freeze({
    hash: copy.hash,
    names: Object.freeze([...rules.binaries.keys()].sort()),
    profiles: copy.profiles,
  });
  CONTENTS.set(ruleSet, { rules, data: copy });
  return ruleSet;
}

/** The plain data of a rule set, frozen: without examples, with the hash. `restoreRules` makes an equal set of it. */
export function exportRules(ruleSet: RuleSet): RuleSetData {
  return contentsOf(ruleSet).data;
}

/** What `classify` asks. Throws RULES_INVALID for anything that is no rule set. */
export function rulesOf(ruleSet: RuleSet): Rules {
  return contentsOf(ruleSet).rules;
}

/**
 * The rules among the options of a call that wants some. Throws OPTION_INVALID where there are no options at all, and
 * RULES_INVALID.
 */
export function rulesIn(options: { readonly rules: RuleSet }): Rules {
  if (typeof options !== 'object' || options === null) {
    throw new SignalboxError('OPTION_INVALID', 'Expected options with rules, as in { rules: loadRules() }; got none');
  }
  return rulesOf(options.rules);
}

function contentsOf(ruleSet: RuleSet): { readonly rules: Rules; readonly data: RuleSetData } {
  const contents = CONTENTS.get(ruleSet);
  if (contents === undefined) {
    throw new SignalboxError('RULES_INVALID', 'Expected rules to be a rule set that loadRules or restoreRules made');
  }
  return contents;
}

/**
 * Compiles all files of a set. Retired binaries keep their names and have no rule; experimental ones are there when they
 * were asked for.
 *
 * @throws SignalboxError RULES_INVALID naming file, place and what was expected.
 */
export function compileRules(data: RuleSetData): Rules {
  const never = new Map(Object.entries(data.never));
  const binaries = new Map<string, BinaryRule>();
  const taken = new Map<string, string>();
  for (const { file, origin } of data.files) {
    const problems: Problem[] = [];
    const compiled = compileFile(file, data.profiles, origin, problems);
    for (const { name } of compiled) {
      const other = taken.get(name);
      if (other !== undefined)
        problems.push({ pointer: '/binary', message: `"${name}" already has a rule, of ${other}` });
      taken.set(name, file.binary);
      if (!never.has(name)) continue;
      if (origin === 'user' && file.override) never.delete(name);
      else problems.push({ pointer: '/binary', message: `"${name}" stands in never.json, so it can have no rule` });
    }
    if (problems.length > 0) throw invalid(file.binary, problems);
    const asked = file.maturity === 'stable' || data.experimental.includes(file.binary);
    if (file.maturity === 'retired' || !asked) continue;
    for (const binary of compiled) binaries.set(binary.name, binary);
  }
  const assignments = Object.entries(data.profiles.assignments);
  return {
    hash: data.hash,
    binaries,
    never,
    assignments: new Map(assignments.map(([name, values]) => [name, new Set(values)])),
  };
}

/** The error for the problems of one file; there is at least one. */
export function invalid(file: string, problems: readonly Problem[]): SignalboxError {
  const lines = problems.map(({ pointer, message }) => `${file}${pointer === '' ? '' : ` at ${pointer}`}: ${message}`);
  return new SignalboxError('RULES_INVALID', lines.join('\n'), { pointer: problems[0]!.pointer });
}

/** Freezes plain data all the way down. */
function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const inner of Object.values(value)) freeze(inner);
  return Object.freeze(value);
}
