import type { BinaryRule, DelegateRule, NodeRule } from './compiled.ts';
import { unfitFeeder } from './feeder.ts';
import { joinProofs, settled } from './joint-proof.ts';
import { isDigits } from './kinds.ts';
import { type Delegation, type Reading, type Refusal, refuse, refuseText, startReading, usesAny } from './reading.ts';
import { walk } from './walk.ts';
import type { Word } from './word.ts';

/** The third check: the words behind the name, by the rule of the binary. Null when `reading` holds a proof. */
export function readCommand(reading: Reading, binary: BinaryRule, words: readonly Word[]): Refusal | null {
  const alone = words.length === 2 ? binary.alone.get(words[1]!.raw) : undefined;
  if (alone !== undefined) {
    reading.options.push({ spellings: [words[1]!.raw], role: 'term', value: null });
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
  if (inner === undefined || rules.length === 0) return refuseDelegate(reading, first, node);
  // This also keeps a delegated command from delegating again: it reads no pipe.
  if (reading.input !== 'pipe') return refuse('STDIN_READ', name, node);

  const last = operands.at(-1)!;
  const exact = rules.find((rule) => isExactly(rule, rest));
  const rule = exact ?? (last.raw === '--' ? rules.find((one) => one.exactly === null) : undefined);
  if (rule === undefined) return refuse('DELEGATE_REFUSED', last, node);
  if (usesAny(reading.options, rule.without)) return refuse('DELEGATE_REFUSED', last, node);
  const feeder = unfitFeeder(reading, node, rule);
  if (feeder !== undefined) return refuseNames(feeder);

  const one = readWithNames(reading, inner, operands, 1);
  const two = readWithNames(reading, inner, operands, 2);
  for (const within of [one, two]) {
    if (within.refusal !== null) return within.refusal;
    // The inner reading itself has to have passed its `--`: in `grep -e --` the dashes are a pattern.
    if (exact === undefined && !within.reading.ended) return refuse('DELEGATE_REFUSED', last, node);
    // A listing prints `..` too, and below that may be anything.
    if (within.reading.paths.some(({ walked }) => walked)) return refuse('DELEGATE_REFUSED', last, node);
  }
  reading.delegate = inner;
  noteNamed(reading, one.reading, two.reading);
  return join(reading, node, one.reading);
}

/** What nobody listed here may still be a name that is known. */
function refuseDelegate({ rules }: Reading, word: Word, node: NodeRule): Refusal {
  const note = rules.never.get(word.raw);
  return { ...refuse('DELEGATE_REFUSED', word, node), ...(note !== undefined && { note }) };
}

/** The words that a rule lists, a number where it says `NUMBER`. */
function isExactly({ exactly }: DelegateRule, words: readonly Word[]): boolean {
  if (exactly?.length !== words.length) return false;
  return words.every(({ raw }, at) => (exactly[at] === 'NUMBER' ? isDigits(raw) : raw === exactly[at]));
}

function refuseNames({ words }: Reading): Refusal {
  return refuseText('subcommand', 'NAMES_REFUSED', words[0]!.start, words.at(-1)!.end);
}

/** The inner command with so many names that nobody knows. */
function readWithNames(
  { rules, base }: Reading,
  inner: BinaryRule,
  operands: readonly Word[],
  count: number,
): { readonly reading: Reading; readonly refusal: Refusal | null } {
  const { end } = operands.at(-1)!;
  const unknown: Word = { raw: 'x', text: 'x', start: end, end, plain: 1, glob: false };
  const reading = startReading(rules, base, 'none');
  const refusal = readCommand(reading, inner, [...operands, ...new Array<Word>(count).fill(unknown)]);
  return { reading, refusal };
}

/** What the inner command names is named by the whole, but for the unknown names, of which the second reading has one more. */
function noteNamed({ paths, directories }: Reading, one: Reading, two: Reading): void {
  paths.push(...one.paths.slice(0, 2 * one.paths.length - two.paths.length));
  directories.push(...one.directories.slice(0, 2 * one.directories.length - two.directories.length));
}

function join(reading: Reading, node: NodeRule, inner: Reading): Refusal | null {
  const outer = settled(node.proof, reading.override);
  const joined = joinProofs([outer, settled(inner.proof!, inner.override)]);
  if ('variable' in joined) {
    const [first, last] = [reading.words[0]!, reading.words.at(-1)!];
    return refuseText('environment', 'PROFILES_CONTRADICT', first.start, last.end, joined.variable);
  }
  reading.override = false;
  reading.proof = joined.proof;
  return null;
}
