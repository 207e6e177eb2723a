import type { BinaryRule, Rules } from './compiled.ts';
import { type Refusal, refuseText } from './reading.ts';
import type { ReasonCode } from './verdict.ts';
import type { Word } from './word.ts';

/**
 * The second check: a bare, unquoted name that has a rule. Compared with the raw spelling, so a quoted or escaped name
 * is none, and neither is a path, because no rule can have one.
 *
 * @param isBehindPipe some binaries have no meaning elsewhere.
 */
export function findBinary(rules: Rules, word: Word, isBehindPipe: boolean): BinaryRule | Refusal {
  const binary = rules.binaries.get(word.raw);
  if (binary === undefined) {
    if (rules.never.has(word.raw)) return withNote(rules, word.raw, refuseName(word, 'COMMAND_REFUSED'));
    return refuseName(word, isBare(word) ? 'COMMAND_UNKNOWN' : 'COMMAND_NOT_PLAIN');
  }
  if (binary.compoundOnly && !isBehindPipe) return refuseName(word, 'COMPOUND_ONLY');
  return binary;
}

/** The same refusal with what is known against the name that stands there. */
export function withNote(rules: Rules, name: string, refusal: Refusal): Refusal {
  const note = rules.never.get(name);
  return note === undefined ? refusal : { ...refusal, note };
}

function isBare(word: Word): boolean {
  return word.plain === word.raw.length && !word.raw.includes('/');
}

function refuseName({ start, end }: Word, code: ReasonCode): Refusal {
  return refuseText('leading-token', code, start, end);
}
