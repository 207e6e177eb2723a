import { dirname, resolve } from 'node:path';
import { compileFile } from '../classifier/compile.ts';
import type { Rules } from '../classifier/compiled.ts';
import type { Problem } from '../classifier/problems.ts';
import type { Origin } from '../classifier/proof.ts';
import { SignalboxError } from '../errors.ts';
import { testRulesOf } from './load.ts';
import { mergeRules } from './merge.ts';
import { mutate, rulesWith } from './mutation.ts';
import type { Profiles } from './profiles-schema.ts';
import { propose } from './proposal.ts';
import type { Proposed, RuleFile } from './schema.ts';
import { selfTest } from './self-test.ts';
import {
  BUILT_IN_DIRECTORY,
  readNever,
  readProfiles,
  readProposed,
  readRuleFile,
  rulePathsOf,
  type Source,
} from './sources.ts';

/** What a rule file is checked with: everything that is in force beside it. */
export type Surroundings = {
  readonly profiles: Profiles;
  readonly never: Readonly<Record<string, string>>;
  readonly builtIn: readonly Source[];
};

/** The built-in rules, without holding them against anything: a broken one among them concerns only itself. */
export function surroundingsOf(directory: string = BUILT_IN_DIRECTORY): Surroundings {
  const sources = rulePathsOf(directory).flatMap((path) => {
    const source = attempt(() => readRuleFile(path));
    return source instanceof SignalboxError ? [] : [source];
  });
  return { profiles: readProfiles(directory), never: readNever(directory), builtIn: sources };
}

/** What the check of one file found. */
export type FileCheck = {
  readonly path: string;
  /** Null when the file could not be read, or is not of the form. */
  readonly file: RuleFile | null;
  /** One line each: the file, the place in it, what was expected, what came. Empty: the file can be loaded. */
  readonly problems: readonly string[];
  readonly examples: number;
  /** Those that a tool proposed, beside the file in `proposed/`. */
  readonly proposed: number;
  /** Examples that are not as stated; each is among the problems. */
  readonly failed: number;
};

/**
 * Checks one file as the loader would, and its proposed examples besides. A file outside the directory of the built-in
 * ones is a user's: it may add a binary, or say less than the built-in file.
 */
export function checkFile(path: string, surroundings: Surroundings): FileCheck {
  const nothing = { path, file: null, examples: 0, proposed: 0, failed: 0 };
  const source = attempt(() => readRuleFile(path));
  if (source instanceof SignalboxError) return { ...nothing, problems: linesOf(source) };
  const { file } = source;
  const origin = originOf(path);
  const here: Problem[] = [];
  compileFile(file, surroundings.profiles, origin, here);
  const problems = here.map(({ pointer, message }) => `${path} at ${pointer}: ${message}`);
  const refusal = origin === 'user' ? attempt(() => mergedWith(source, surroundings)) : null;
  if (refusal instanceof SignalboxError) problems.push(...linesOf(refusal));
  const proposals = attempt(() => readProposed(dirname(path), file.binary));
  if (proposals instanceof SignalboxError) return { ...nothing, file, problems: [...problems, ...linesOf(proposals)] };
  const counts = { path, file, examples: count(file.examples), proposed: count(proposals) };
  const rules = here.length > 0 ? null : rulesWith(file, surroundings.profiles, othersOf(file, surroundings));
  if (rules === null) return { ...counts, problems, failed: 0 };
  const failures = [
    ...selfTest(file.examples, file.only, rules),
    ...selfTest(proposals, file.only, rules, ` of proposed/${file.binary}.json`),
  ];
  for (const { pointer, command, expected, got } of failures)
    problems.push(`${path} at ${pointer}: expected ${expected} for ${JSON.stringify(command)}, got ${got}`);
  return { ...counts, problems, failed: failures.length };
}

/** What changing each entry of a file in turn shows. */
export type Mutated = {
  readonly mutants: number;
  /** The changes that no example notices: where, and what was changed. */
  readonly unnoticed: readonly { readonly pointer: string; readonly change: string }[];
  /** Examples that would notice them. They say what the rules answer now: right or not is for a person to say. */
  readonly wanted: Proposed | null;
};

/** Changes each entry of a file that passes its check, and asks its examples and the proposed ones beside it. */
export function mutateFile(path: string, file: RuleFile, surroundings: Surroundings): Mutated {
  const others = othersOf(file, surroundings);
  const { mutants, survivors } = mutate(file, readProposed(dirname(path), file.binary), surroundings.profiles, others);
  const unnoticed = survivors.map(({ mutant: { pointer, change } }) => ({ pointer, change }));
  const wanted = survivors.length === 0 ? null : propose(file, surroundings.profiles, others).examples;
  return { mutants, unnoticed, wanted };
}

/** How many examples a file or a proposal holds. */
export function count(examples: {
  readonly parallel: readonly unknown[];
  readonly piped?: readonly unknown[] | undefined;
  readonly serial: readonly unknown[];
}): number {
  return examples.parallel.length + examples.serial.length + (examples.piped?.length ?? 0);
}

function originOf(path: string): Origin {
  return resolve(dirname(path)) === resolve(BUILT_IN_DIRECTORY) ? 'built-in' : 'user';
}

function mergedWith(source: Source, { builtIn, profiles, never }: Surroundings): null {
  mergeRules(builtIn, [source], profiles, never);
  const { binary, also = [], override } = source.file;
  const unsafe = [binary, ...also].find((name) => Object.hasOwn(never, name));
  if (unsafe === undefined || override) return null;
  throw new SignalboxError(
    'RULES_INVALID',
    `${source.name} at /binary: expected "override": true at the top for "${unsafe}", which ${never[unsafe]}`,
  );
}

/** Only a file that runs another binary is asked together with others. */
function othersOf(file: RuleFile, { builtIn, profiles }: Surroundings): Rules {
  const isAsked = JSON.stringify(file.command).includes('"delegates"');
  const others = isAsked ? builtIn.filter((one) => one.file.binary !== file.binary) : [];
  return testRulesOf(
    others.map((one) => ({ ...one, origin: 'built-in' as const })),
    profiles,
  );
}

function attempt<T>(act: () => T): T | SignalboxError {
  try {
    return act();
  } catch (error) {
    if (error instanceof SignalboxError) return error;
    throw error;
  }
}

function linesOf(error: SignalboxError): readonly string[] {
  return error.message.split('\n');
}
