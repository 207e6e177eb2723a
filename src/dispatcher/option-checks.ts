import { SignalboxError } from '../errors.ts';
import { named } from './named.ts';

/** The upper bound of a count that has none; it may be asked for. */
export const NO_LIMIT = Number.POSITIVE_INFINITY;

/** The value, when it is an integer in these bounds. @throws SignalboxError OPTION_INVALID. */
export function count(name: string, value: unknown, least: number, most: number): number {
  const isCount = Number.isInteger(value) || (value === NO_LIMIT && most === NO_LIMIT);
  if (isCount && (value as number) >= least && (value as number) <= most) return value as number;
  throw invalid(
    `${name} to be an integer ${most === NO_LIMIT ? `of at least ${least}` : `from ${least} to ${most}`}`,
    value,
  );
}

/** A function of the caller's; without one the default. @throws SignalboxError OPTION_INVALID. */
export function hook<Hook>(name: string, given: Hook | undefined, byDefault: Hook | null): Hook | null {
  if (given !== undefined && typeof given !== 'function') throw invalid(`${name} to be a function`, given);
  return given ?? byDefault;
}

/** @throws SignalboxError OPTION_INVALID for what is not among them. */
export function oneOf<Value extends string>(name: string, value: Value, allowed: readonly Value[]): void {
  if (!allowed.includes(value)) throw invalid(`${name} to be ${allowed.map(named).join(' or ')}`, value);
}

/** The error for an option that has another value than expected. */
export function invalid(expected: string, got: unknown): SignalboxError {
  return new SignalboxError('OPTION_INVALID', `Expected ${expected}, got ${named(got)}`);
}

/** A text, such as a path. @throws SignalboxError OPTION_INVALID. */
export function text(name: string, value: unknown): string {
  if (typeof value !== 'string') throw invalid(`${name} to be text`, value);
  return value;
}

/** Values by name. @throws SignalboxError OPTION_INVALID. */
export function object<Value extends object>(name: string, value: Value): Value {
  if (typeof value !== 'object' || value === null) throw invalid(`${name} to be an object`, value);
  return value;
}
