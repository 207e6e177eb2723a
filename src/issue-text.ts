import type { z } from 'zod';
import { pointerOf } from './classifier/problems.ts';
import type { Fault } from './errors.ts';

type Issue = z.core.$ZodIssue;

/**
 * What zod found wrong with `input`, as faults: what was expected, what came, and a JSON pointer to it. A union is
 * reported by the branch that came furthest, so that a bad field of an object is not told as "expected a string".
 */
export function faultsOf(issues: readonly Issue[], input: unknown): readonly Fault[] {
  return issues.flatMap((issue) => faults(issue, input, []));
}

function faults(issue: Issue, input: unknown, base: readonly string[]): readonly Fault[] {
  const path = [...base, ...issue.path.map(String)];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      pointer: pointerOf([...path, key]),
      detail: `Expected only fields that are documented, got ${show(key)}`,
    }));
  }
  if (issue.code === 'invalid_key') {
    const detail = issue.issues[0]?.message ?? 'Expected another name';
    return [{ pointer: pointerOf(path), detail: `${detail}, got ${show(path.at(-1))}` }];
  }
  if (issue.code === 'invalid_union') {
    const inner = furthestBranch(issue.errors);
    if (inner !== undefined) return inner.flatMap((each) => faults(each, input, path));
    return [{ pointer: pointerOf(path), detail: `${unionExpectation(issue)}, got ${show(valueAt(input, path))}` }];
  }
  return [{ pointer: pointerOf(path), detail: `${expectation(issue)}, got ${show(valueAt(input, path))}` }];
}

/** The branch whose faults lie inside the value; undefined when every branch refused the value itself. */
function furthestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  return branches.find((branch) => branch.length > 0 && branch.every((issue) => !refusesTheValueItself(issue)));
}

function refusesTheValueItself(issue: Issue): boolean {
  return issue.path.length === 0 && (issue.code === 'invalid_type' || issue.code === 'invalid_value');
}

function unionExpectation(issue: Issue & { readonly code: 'invalid_union' }): string {
  if (!issue.message.startsWith('Invalid')) return issue.message;
  const expected = issue.errors.flatMap((branch) => branch.map((each) => expectation(each).replace('Expected ', '')));
  return `Expected ${[...new Set(expected)].join(' or ')}`;
}

function expectation(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `Expected ${withArticle(issue.expected)}`;
    case 'invalid_value':
      return `Expected ${issue.values.map((value) => show(value)).join(' or ')}`;
    case 'too_small':
      return `Expected ${unit(issue.origin, 'at least', issue.minimum)}`;
    case 'too_big':
      return `Expected ${unit(issue.origin, 'at most', issue.maximum)}`;
    case 'not_multiple_of':
    case 'invalid_format':
    case 'invalid_element':
    case 'custom':
      return issue.message;
    case 'invalid_union':
    case 'invalid_key':
    case 'unrecognized_keys':
      return 'Expected another value';
  }
}

function unit(origin: string, bound: string, count: number | bigint): string {
  switch (origin) {
    case 'string':
      return `${bound} ${count} ${count === 1 ? 'character' : 'characters'}`;
    case 'array':
    case 'set':
      return `${bound} ${count} ${count === 1 ? 'entry' : 'entries'}`;
    case 'int':
      return `an integer of ${bound} ${count}`;
    default:
      return `${bound} ${count}`;
  }
}

function withArticle(type: string): string {
  switch (type) {
    case 'array':
    case 'object':
    case 'int':
      return `an ${type === 'int' ? 'integer' : type}`;
    case 'record':
      return 'an object';
    case 'null':
    case 'undefined':
      return type;
    default:
      return `a ${type}`;
  }
}

/** A value as JSON, cut to 80 characters, so that an answer never repeats a large body. */
export function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = JSON.stringify(value) ?? typeof value;
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

function valueAt(input: unknown, path: readonly string[]): unknown {
  let value = input;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string, unknown>)[step];
  }
  return value;
}
