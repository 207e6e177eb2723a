import { SignalboxError } from '../errors.ts';
import { named } from './named.ts';

const VARIABLE = 'SIGNALBOX_MAX_PARALLEL';
const MOST = 256;
const BY_DEFAULT = 10;

/**
 * How many of a batch, or of a schedule, run at once.
 *
 * @param given 1 to 256. Default: what SIGNALBOX_MAX_PARALLEL says, or 10.
 * @throws SignalboxError OPTION_INVALID.
 */
export function readMaxParallel(given: unknown, name: string): number {
  if (given !== undefined) return checked(given, name);
  const text = process.env[VARIABLE];
  if (text === undefined || text === '') return BY_DEFAULT;
  return checked(/^[0-9]{1,4}$/.test(text) ? Number(text) : text, VARIABLE);
}

function checked(value: unknown, name: string): number {
  if (Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MOST) return value as number;
  const expected = `Expected ${name} to be an integer from 1 to ${MOST}`;
  throw new SignalboxError('OPTION_INVALID', `${expected}, got ${named(value)}`);
}
