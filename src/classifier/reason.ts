import { hintOf, messageOf } from './messages.ts';
import { noteFor } from './notes.ts';
import type { Refusal } from './reading.ts';
import type { Reason } from './verdict.ts';
import { quoted } from './visible-text.ts';

/** What a person and a program are told about a refusal. The verdict is settled before this is asked. */
export function reasonOf(command: string, refusal: Refusal): Reason {
  const { check, code, start, end, node, expected } = refusal;
  const raw = command.slice(start, end);
  const message = messageOf(code, { at: quoted(raw), command: node?.path ?? '', expected: expected ?? 'nothing' });
  const note = noteFor(refusal, raw);
  const hint = hintOf(code, node);
  return {
    check,
    code,
    knowledge: note === null ? 'unrecognised' : 'known-unsafe',
    span: [start, end],
    message: note === null ? message : `${message} It is known to be unsafe: ${note}.`,
    ...(node === null ? {} : { rule: node.proof.rule[0]! }),
    ...(hint === null ? {} : { hint }),
  };
}
