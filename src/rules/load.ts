import { compileFile } from '../classifier/compile.ts';
import type { Rules } from '../classifier/compiled.ts';
import { checkNames, namesOf } from '../classifier/option-names.ts';
import type { Problem } from '../classifier/problems.ts';
import { compileRules, invalid, type RuleSet, type RuleSetData, restoreRules } from '../classifier/rule-set.ts';
import { SignalboxError } from '../errors.ts';
import { contentHash } from './hash.ts';
import { mergeRules, type Placed } from './merge.ts';
import type { Profiles } from './profiles-schema.ts';
import { selfTest } from './self-test.ts';
import { BUILT_IN_DIRECTORY, readNever, readProfiles, readRuleDirectory, readUserRules } from './sources.ts';

export type LoadOptions = {
  /** Rule files of the user, or directories of them. They add binaries and tighten built-in ones. */
  readonly extra?: readonly string[];
  /** Where the built-in rules and `profiles.json` are. Default: the package's own. */
  readonly directory?: string;
  /** Experimental binaries that may be proved, by name. Default: none. */
  readonly experimental?: readonly string[];
};

const NAMES = namesOf<LoadOptions>({ extra: true, directory: true, experimental: true });

/**
 * Reads, checks and compiles the rules. Every file is held against its own examples, built-in or not. Reads files, and
 * nothing else; synchronous, since nothing can be classified before.
 *
 * @throws SignalboxError RULES_INVALID naming the file, the place in it, what was expected and what came; OPTION_INVALID.
 */
export function loadRules(options: LoadOptions = {}): RuleSet {
  const { placed, profiles, never } = readPlaced(options);
  refuseUnknown(options.experimental ?? [], placed);
  // Whoever names a file asks for what it describes.
  const users = placed.filter(({ origin }) => origin === 'user');
  const asked = new Set([...(options.experimental ?? []), ...users.map(({ file }) => file.binary)]);
  for (const one of placed) refuseMisfit(one, profiles);
  const ruleSet = restoreRules(dataOf(placed, profiles, never, [...asked]));
  testAll(placed, profiles);
  return ruleSet;
}

/** The files that are in force together, with what they stand on. */
export type PlacedRules = {
  readonly placed: readonly Placed[];
  readonly profiles: Profiles;
  readonly never: Readonly<Record<string, string>>;
};

/**
 * Reads the rule files without compiling them or holding them against their examples: for those who show them.
 *
 * @throws SignalboxError RULES_INVALID when a file is not of the form, or a user's file says more than it may.
 */
export function readPlaced(options: LoadOptions = {}): PlacedRules {
  checkNames(options, NAMES, 'loadRules');
  const { directory = BUILT_IN_DIRECTORY, extra = [], experimental = [] } = options;
  if (typeof directory !== 'string') throw new SignalboxError('OPTION_INVALID', 'Expected directory to be a path');
  for (const [name, list] of Object.entries({ extra, experimental })) {
    if (Array.isArray(list) && list.every((one) => typeof one === 'string')) continue;
    throw new SignalboxError('OPTION_INVALID', `Expected ${name} to be a list of texts`);
  }
  const profiles = readProfiles(directory);
  const never = readNever(directory);
  const placed = mergeRules(readRuleDirectory(directory), extra.flatMap(readUserRules), profiles, never);
  return { placed, profiles, never };
}

/** A misspelt name would silently leave the binary serial. */
function refuseUnknown(experimental: readonly string[], placed: readonly Placed[]): void {
  const names = new Set(placed.flatMap(({ file: { binary, also = [] } }) => [binary, ...also]));
  const unknown = experimental.find((name) => !names.has(name));
  if (unknown === undefined) return;
  const expected = 'Expected experimental to name binaries that have a rule';
  throw new SignalboxError('OPTION_INVALID', `${expected}, got ${JSON.stringify(unknown)}`);
}

/** What a file names has to be there. The set is compiled as a whole later, where only the binary is known of a file. */
function refuseMisfit({ name, file, origin }: Placed, profiles: Profiles): void {
  const problems: Problem[] = [];
  compileFile(file, profiles, origin, problems);
  if (problems.length > 0) throw invalid(name, problems);
}

function dataOf(
  placed: readonly Placed[],
  profiles: Profiles,
  never: RuleSetData['never'],
  experimental: readonly string[],
): RuleSetData {
  const files = placed.map(({ origin, file: { examples: _, ...file } }) => ({ origin, file }));
  const hash = contentHash({
    profiles,
    never,
    experimental,
    files: placed.map(({ origin, file }) => ({ origin, file })),
  });
  return { format: 1, hash, profiles, never, files, experimental };
}

/** Rules in which every file is in force, whatever its maturity: those that its examples are about. */
export function testRulesOf(placed: readonly Placed[], profiles: Profiles): Rules {
  const files = placed.map(({ origin, file }) => ({ origin, file: { ...file, maturity: 'stable' as const } }));
  return compileRules({ format: 1, hash: '', profiles, never: {}, files, experimental: [] });
}

function testAll(placed: readonly Placed[], profiles: Profiles): void {
  const rules = testRulesOf(placed, profiles);
  for (const { name, file } of placed) {
    const failures = selfTest(file.examples, file.only, rules);
    if (failures.length === 0) continue;
    throw invalid(
      name,
      failures.map(({ pointer, command, expected, got }) => ({
        pointer,
        message: `expected ${expected} for ${JSON.stringify(command)}, got ${got}`,
      })),
    );
  }
}
