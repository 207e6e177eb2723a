import { SignalboxError } from '../errors.ts';
import type { Effect } from './verdict.ts';

/** Which readers beyond this machine's files may be parallel. Whatever is not given is allowed. */
export type Allowance = {
  /** Commands with the effect `reads-network`. Default true. */
  readonly network?: boolean;
  /** Commands with the effect `talks-to-daemon`. Default true. */
  readonly daemon?: boolean;
};

/** The effect of the readers that each name stands for. */
const EFFECTS: ReadonlyMap<keyof Allowance, Effect> = new Map<keyof Allowance, Effect>([
  ['network', 'reads-network'],
  ['daemon', 'talks-to-daemon'],
]);

const NAMES: ReadonlySet<string> = new Set(EFFECTS.keys());

/** The first effect that is not allowed, or null. Only `false` takes a yes away: everything is allowed that is not. */
export function refusedEffect(effects: readonly Effect[], allow: Allowance | undefined): Effect | null {
  for (const [name, effect] of EFFECTS) {
    if (allow?.[name] === false && effects.includes(effect)) return effect;
  }
  return null;
}

/** What both allow: nobody can give back what another one has taken away. */
export function strictest(one: Allowance | undefined, other: Allowance | undefined): Allowance {
  return Object.freeze({
    network: one?.network !== false && other?.network !== false,
    daemon: one?.daemon !== false && other?.daemon !== false,
  });
}

/**
 * Checks what came from outside: a misspelt name or a value that is neither true nor false would allow what was meant to
 * be refused.
 *
 * @throws SignalboxError OPTION_INVALID.
 */
export function checkAllowance(allow: unknown): void {
  if (allow === undefined) return;
  if (typeof allow !== 'object' || allow === null || Array.isArray(allow)) {
    throw new SignalboxError('OPTION_INVALID', `Expected allow to be an object, got ${kindOf(allow)}`);
  }
  for (const name in allow) {
    if (NAMES.has(name)) continue;
    const known = [...NAMES].join(' or ');
    throw new SignalboxError('OPTION_INVALID', `Expected allow to name ${known}, got ${JSON.stringify(name)}`);
  }
  for (const name of NAMES) {
    const value = (allow as Readonly<Record<string, unknown>>)[name];
    if (value !== undefined && typeof value !== 'boolean') {
      throw new SignalboxError('OPTION_INVALID', `Expected allow.${name} to be true or false, got ${kindOf(value)}`);
    }
  }
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : `a value of type ${typeof value}`;
}
