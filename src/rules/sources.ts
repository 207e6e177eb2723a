import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { namesOf } from '../classifier/usage.ts';
import { SignalboxError } from '../errors.ts';
import { parseNever, parseProfiles, parseProposed, parseRuleFile } from './parse.ts';
import type { Profiles } from './profiles-schema.ts';
import type { Proposed, RuleFile } from './schema.ts';

/** A rule file and the name it has in messages. */
export type Source = { readonly name: string; readonly file: RuleFile };

/** The directory of the built-in rules: found the same way from the sources and from the build. */
export const BUILT_IN_DIRECTORY = fileURLToPath(new URL('../../rules/', import.meta.url));

const PROFILES = 'profiles.json';
const NEVER = 'never.json';

/** Every rule file of a directory, by name. Directories inside it are not entered. */
export function readRuleDirectory(directory: string): readonly Source[] {
  return rulePathsOf(directory).map(readRuleFile);
}

/** The paths of the rule files of a directory, by name. */
export function rulePathsOf(directory: string): readonly string[] {
  const names = guarded(directory, () => readdirSync(directory));
  return names
    .filter((name) => name.endsWith('.json') && name !== PROFILES && name !== NEVER)
    .sort()
    .map((name) => join(directory, name));
}

/** The file of each binary named, or every one when none is: so that another broken file does not matter. */
export function readRulesOf(directory: string, binaries: readonly string[]): readonly Source[] {
  if (binaries.length === 0) return readRuleDirectory(directory);
  return binaries.map((binary) => readRuleFile(join(directory, `${binary}.json`)));
}

export function readRuleFile(path: string): Source {
  return { name: path, file: parseRuleFile(textOf(path), path) };
}

/** The rule files at a path that a user named: a file, or all of a directory. */
export function readUserRules(path: string): readonly Source[] {
  const isDirectory = guarded(path, () => statSync(path).isDirectory());
  return isDirectory ? readRuleDirectory(path) : [readRuleFile(path)];
}

export function readProfiles(directory: string): Profiles {
  const path = join(directory, PROFILES);
  return parseProfiles(textOf(path), path);
}

/** The names that are known to be unsafe, each with the reason; none where a directory has no such file. */
export function readNever(directory: string): Readonly<Record<string, string>> {
  const path = join(directory, NEVER);
  if (!existsSync(path)) return {};
  const { names } = parseNever(textOf(path), path);
  return Object.fromEntries(Object.entries(names).flatMap(([key, why]) => namesOf(key).map((name) => [name, why])));
}

/** The examples that a tool proposed for a binary; none when nobody has asked it to. */
export function readProposed(directory: string, binary: string): Proposed {
  const path = proposedPath(directory, binary);
  if (!existsSync(path)) return { binary, parallel: [], piped: [], serial: [] };
  return parseProposed(textOf(path), path);
}

export function proposedPath(directory: string, binary: string): string {
  return join(directory, 'proposed', `${binary}.json`);
}

function textOf(path: string): string {
  return guarded(path, () => readFileSync(path, 'utf8'));
}

function guarded<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new SignalboxError(
      'RULES_INVALID',
      `${path}: expected a readable file or directory, got ${(cause as Error).message}`,
      { cause },
    );
  }
}
