import type { BinaryRule, DelegateRule } from './compiled.ts';
import { type Delegation, type Reading, type Refusal, refuse, startReading } from './reading.ts';
import { walk } from './walk.ts';
import type { Word } from './word.ts';

/** The third check: the words behind the name, by the rule of the binary. Null when `reading` holds a proof. */
export function readCommand(reading: Reading, binary: BinaryRule, words: readonly Word[]): Refusal | null {
  const alone = words.length === 2 ? binary.alone.get(words[1]!.raw) : undefined;
  if (alone !== undefined) {
    reading.proof = alone;
    return null;
  }
  if (binary.builtin) {
    // bash evaluates subscripts in the words of some builtins, and a subscript can run a command.
    const subscript = words.find((word, at) => at > 0 && word.text.includes('['));
    if (subscript !== undefined) return refuse('OPERAND_SUBSCRIPT', subscript, binary.root);
  }
  const refusal = walk(reading, binary.root, words, 1);
  if (refusal !== null || reading.delegation === null) return refusal;
  return readDelegation(reading, reading.delegation);
}

/**
 * The rest of the words is a command that the binary runs with names from standard input at its end. It is judged by its
 * own rule, with one and with two names that nobody knows.
 */
function readDelegation(reading: Reading, { node, name, operands }: Delegation): Refusal | null {
  const [first, ...rest] = operands;
  if (first === undefined) return refuse('OPERAND_MISSING', name, node);
  const inner = reading.rules.binaries.get(first.raw);
  const rules = node.delegates.filter((rule) => rule.command === first.raw);
  if (inner === undefined || rules.length === 0) return refuse('DELEGATE_REFUSED', first, node);
  // This also keeps a delegated command from delegating again: it reads no pipe.
  if (!reading.piped) return refuse('STDIN_READ', name, node);

  const last = operands.at(-1)!;
  const exact = rules.some((rule) => isExactly(rule, rest));
  if (!exact && rules.every((rule) => rule.exactly !== null)) return refuse('DELEGATE_REFUSED', last, node);
  const unknown: Word = { raw: 'x', text: 'x', start: last.end, end: last.end, plain: 1, glob: false };
  for (const names of [[unknown], [unknown, unknown]]) {
    const within = startReading(reading.rules, reading.base, false);
    const refusal = readCommand(within, inner, [...operands, ...names]);
    if (refusal !== null) return refusal;
    // The inner reading itself has to have passed its `--`: in `grep -e --` the dashes are a pattern.
    if (!exact && !within.ended) return refuse('DELEGATE_REFUSED', last, node);
    reading.override ||= within.override;
  }
  reading.proof = node.proof;
  return null;
}

function isExactly({ exactly }: DelegateRule, words: readonly Word[]): boolean {
  return exactly !== null && exactly.length === words.length && words.every((word, at) => word.raw === exactly[at]);
}
