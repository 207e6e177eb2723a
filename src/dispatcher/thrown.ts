import { named } from './command-input.ts';

/** What somebody threw says, whatever it is. Never throws. */
export function messageOf(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown;
  return thrown instanceof Error && typeof thrown.message === 'string' ? thrown.message : named(thrown);
}
