import { type ErrorCode, SignalboxError } from '../errors.ts';
import type { BatchBook } from './batch.ts';
import type { Decision, Entry } from './entry.ts';
import { named } from './named.ts';

const MAX_REASON_CHARS = 1024;

const FIELDS = new Set(['id', 'decision', 'reason']);

/** A command and what is said of it. */
export type Answered = { readonly entry: Entry; readonly decision: Decision };

/**
 * Holds answers against the commands of a batch: all of them, or it throws for the first fault. Those that say what was
 * said already are left out. Pointers are `/approvals/N/field`.
 *
 * @throws SignalboxError REQUEST_INVALID, APPROVAL_UNKNOWN, APPROVAL_CONFLICT.
 */
export function checkAnswers(given: unknown, { entries }: Pick<BatchBook, 'entries'>): readonly Answered[] {
  if (!Array.isArray(given)) fail('REQUEST_INVALID', `Expected a list of answers, got ${named(given)}`, '/approvals');
  const answered = new Map<Entry, Decision>();
  for (const [index, answer] of given.entries()) {
    const pointer = `/approvals/${index}`;
    const { id, ...decision } = checkAnswer(answer, pointer);
    const entry = entries.find((each) => each.id === id);
    if (entry === undefined || !entry.isAsked) {
      const what = entry === undefined ? 'no command has it' : 'that command was not asked about';
      fail('APPROVAL_UNKNOWN', `Expected the id of a command that asks, got ${named(id)}; ${what}`, `${pointer}/id`);
    }
    const before = entry.decision ?? answered.get(entry);
    if (before === undefined && entry.endedAt !== null) {
      const detail = `Expected a command that still asks, got ${named(id)}, which has ended without an answer`;
      fail('APPROVAL_CONFLICT', detail, `${pointer}/id`);
    }
    if (before === undefined) answered.set(entry, decision);
    else if (before.decision !== decision.decision) {
      const detail = `Expected the answer that ${named(id)} has, ${before.decision}, got ${decision.decision}`;
      fail('APPROVAL_CONFLICT', detail, `${pointer}/decision`);
    }
  }
  return Array.from(answered, ([entry, decision]) => ({ entry, decision }));
}

function checkAnswer(answer: unknown, pointer: string): Decision & { readonly id: string } {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) {
    fail('REQUEST_INVALID', `Expected an answer as an object, got ${named(answer)}`, pointer);
  }
  const unknown = Object.keys(answer).find((field) => !FIELDS.has(field));
  if (unknown !== undefined) {
    fail('REQUEST_INVALID', `Expected no field named ${named(unknown)}`, `${pointer}/${unknown}`);
  }
  const { id, decision, reason = null } = answer as Readonly<Record<string, unknown>>;
  if (typeof id !== 'string') fail('REQUEST_INVALID', `Expected id to be text, got ${named(id)}`, `${pointer}/id`);
  if (decision !== 'approve' && decision !== 'decline') {
    const expected = 'Expected decision to be "approve" or "decline"';
    fail('REQUEST_INVALID', `${expected}, got ${named(decision)}`, `${pointer}/decision`);
  }
  if (reason !== null && (typeof reason !== 'string' || reason.length > MAX_REASON_CHARS)) {
    const expected = `Expected reason to be text of at most ${MAX_REASON_CHARS} characters`;
    fail('REQUEST_INVALID', `${expected}, got ${named(reason)}`, `${pointer}/reason`);
  }
  return { id, decision, reason };
}

/** What an `approve` hook said. Throws for what is no answer: a value that is merely true approves nothing. */
export function readApproval(said: unknown): Decision {
  if (said === 'approve' || said === 'decline') return { decision: said, reason: null };
  const isObject = typeof said === 'object' && said !== null;
  const { decline, ...more } = isObject ? (said as Readonly<Record<string, unknown>>) : {};
  if (typeof decline === 'string' && Object.keys(more).length === 0) return { decision: 'decline', reason: decline };
  throw new Error(`Expected "approve", "decline" or { decline: reason }, got ${named(said)}`);
}

function fail(code: ErrorCode, detail: string, pointer: string): never {
  throw new SignalboxError(code, detail, { pointer });
}
