import type { z } from 'zod';
import { type Problem, pointerOf } from '../classifier/problems.ts';
import { invalid } from '../classifier/rule-set.ts';
import { duplicateKey } from './duplicate-keys.ts';
import { type Never, NeverSchema } from './never-schema.ts';
import { type Profiles, ProfilesSchema } from './profiles-schema.ts';
import { type Proposed, ProposedSchema, type RuleFile, RuleFileSchema } from './schema.ts';

/** Each reads the text of a file; all throw RULES_INVALID with the file, the place in it, what was expected, what came. */

export function parseRuleFile(text: string, name: string): RuleFile {
  return parse(RuleFileSchema, text, name);
}

export function parseProfiles(text: string, name: string): Profiles {
  return parse(ProfilesSchema, text, name);
}

export function parseNever(text: string, name: string): Never {
  return parse(NeverSchema, text, name);
}

export function parseProposed(text: string, name: string): Proposed {
  return parse(ProposedSchema, text, name);
}

function parse<T>(schema: z.ZodType<T>, text: string, name: string): T {
  const data = jsonOf(text, name);
  const twice = duplicateKey(text);
  if (twice !== null)
    throw invalid(name, [{ pointer: twice, message: 'expected each key once, but this one stands twice' }]);
  const result = schema.safeParse(data);
  if (result.success) return result.data;
  throw invalid(
    name,
    result.error.issues.flatMap((issue) => problemsOf(issue, data)),
  );
}

function jsonOf(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalid(name, [{ pointer: '', message: `expected JSON, got ${(cause as Error).message}` }]);
  }
}

function problemsOf(issue: z.core.$ZodIssue, data: unknown): readonly Problem[] {
  const path = issue.path.map((key) => (typeof key === 'symbol' ? String(key) : key));
  const came = shown(valueAt(data, path));
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      pointer: pointerOf([...path, key]),
      message: 'expected no key of this name here',
    }));
  }
  if (issue.code === 'invalid_key') {
    return [{ pointer: pointerOf(path), message: `expected a key like ${issue.issues[0]?.message ?? 'the others'}` }];
  }
  return [{ pointer: pointerOf(path), message: `expected ${expectedOf(issue)}, got ${came}` }];
}

function expectedOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.expected;
    case 'invalid_value':
      return `one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}`;
    case 'too_small':
      return atLeast(
        Number(issue.minimum),
        issue.origin === 'string' ? ['character', 'characters'] : ['entry', 'entries'],
      );
    default:
      return issue.message;
  }
}

function atLeast(count: number, [one, more]: readonly [one: string, more: string]): string {
  return `at least ${count} ${count === 1 ? one : more}`;
}

function valueAt(data: unknown, path: readonly (string | number)[]): unknown {
  let value = data;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string | number, unknown>)[key];
  }
  return value;
}

const MOST_SHOWN = 80;

function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  const json = JSON.stringify(value);
  return json.length <= MOST_SHOWN ? json : `${json.slice(0, MOST_SHOWN)}…`;
}
