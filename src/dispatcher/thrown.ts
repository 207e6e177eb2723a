import { SignalboxError } from '../errors.ts';
import { named } from './named.ts';

/** What somebody threw says, whatever it is. Never throws. */
export function messageOf(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown;
  return thrown instanceof Error && typeof thrown.message === 'string' ? thrown.message : named(thrown);
}

/** The same, with the code of an error of ours behind it. */
export function reasonOf(thrown: unknown): string {
  const message = messageOf(thrown);
  return thrown instanceof SignalboxError ? `${message} (${thrown.code})` : message;
}
