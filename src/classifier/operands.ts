import type { Item, ShapeRule, Usage } from './compiled.ts';
import type { Level } from './options.ts';
import { mayClimb, reachesDevices } from './paths.ts';
import { type Reading, type Refusal, refuse, refuseExpansion, refuseValue, takeText } from './reading.ts';
import type { ReasonCode } from './verdict.ts';
import type { Word } from './word.ts';

/**
 * Holds the options and operands of a level against one of its shapes.
 *
 * @param dashes how many operands stand before `--`, or -1 without one.
 * @param name the word that led to the node; counts and standard input are reported there.
 */
export function fitShape(level: Level, shape: ShapeRule, dashes: number, name: Word): Refusal | null {
  const { node, used, operands } = level;
  for (const alternatives of shape.with) {
    if (!alternatives.some((id) => used.includes(id))) return refuse('OPTION_REQUIRED', name, node);
  }
  for (const id of shape.without) if (used.includes(id)) return refuse('OPTION_CONFLICT', name, node);

  const split = dashes >= 0 && shape.parts.length === 2;
  const [first, second] = shape.parts as readonly [Usage, Usage?];
  const end = split ? dashes : operands.length;
  const last = split ? (second as Usage) : first;
  const refusal =
    assign(level, first, 0, end, split ? { ...shape, globs: false } : shape, name) ??
    (split ? assign(level, last, dashes, operands.length, shape, name) : null);
  if (refusal !== null) return refusal;
  level.reading.readsInput = readsInput(shape, last, split ? operands.length - dashes : end);
  return level.reading.readsInput && !level.reading.piped ? refuse('STDIN_READ', name, node) : null;
}

/** Whether a program reads standard input: always, or because its last operand list is empty. */
function readsInput(shape: ShapeRule, last: Usage, count: number): boolean {
  return shape.stdin === 'always' || (shape.stdin === 'unless-operand' && count <= last.leastBeforeLast);
}

type Terms = Pick<ShapeRule, 'globs' | 'stdin'>;

/** Gives the operands from `from` to `end` to the items of a usage. There is one way, since one item at most varies. */
function assign(level: Level, usage: Usage, from: number, end: number, terms: Terms, name: Word): Refusal | null {
  const { node, operands, reading } = level;
  let spare = end - from - usage.least;
  if (spare < 0) return refuse('OPERAND_MISSING', operands[end - 1] ?? name, node);
  let at = from;
  for (const item of usage.items) {
    const more = Math.min(spare, item.most - item.least);
    spare -= more;
    if (item.least + more === 0 && walksDevices(item, reading)) return refuse('PATH_DEVICE', name, node);
    const mayExpand = terms.globs && item.most === Infinity && item === usage.items.at(-1);
    for (const stop = at + item.least + more; at < stop; at++) {
      const word = operands[at]!;
      const globs = mayExpand && word.start >= level.optionsEnd;
      const code = refusesOperand(reading, item, word, { globs, stdin: terms.stdin });
      if (code === 'GLOB_REFUSED') return refuseExpansion(word, node);
      if (code !== null) return refuseValue(code, word, node, item.kind);
    }
  }
  return spare > 0 ? refuse('OPERAND_UNEXPECTED', operands[at]!, node) : null;
}

/** Without a word for it, a program that walks walks the directory it works in. */
function walksDevices({ kind }: Item, reading: Reading): boolean {
  if (kind.walked !== true) return false;
  return [reading.base, reading.home].some((base) => kind.refuses('.', { base, piped: false }) !== null);
}

function refusesOperand(reading: Reading, { kind }: Item, word: Word, { globs, stdin }: Terms): ReasonCode | null {
  // The home directory may be anything, so what lies in it is judged as if that were the root.
  const text = word.home === true ? word.text.slice(1) : word.text;
  if (word.glob) {
    if (!globs || !beginsPlainly(word) || mayClimb(text) || kind.role === 'directory') return 'GLOB_REFUSED';
    if (reachesDevices(text, reading.base, true) || reachesDevices(text, reading.home, true)) return 'PATH_DEVICE';
  }
  const code = takeText(reading, kind, text, stdin, word);
  return code === 'VALUE_REFUSED' ? 'OPERAND_REFUSED' : code;
}

/** With a literal that no file name of an option can begin with. */
function beginsPlainly(word: Word): boolean {
  return word.plain > 0 && !'-*?['.includes(word.text[0]!);
}
