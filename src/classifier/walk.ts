import type { NodeRule } from './compiled.ts';
import { admitsOperand, isWhole, startExpression } from './expression.ts';
import { fitShape } from './operands.ts';
import { type Level, readOption, readValue } from './options.ts';
import { type Reading, type Refusal, refuse } from './reading.ts';
import type { ReasonCode } from './verdict.ts';
import type { Word } from './word.ts';

/**
 * Reads the words from `from` on at a node: its options, then a subcommand, a delegated command, or the operands of one
 * of its shapes. The word before `from` is the one that led to the node. Null when a shape fitted, and `reading` holds
 * the proof, or when the rest of the words is left to judge.
 */
export function walk(reading: Reading, node: NodeRule, words: readonly Word[], from: number): Refusal | null {
  const level = startLevel(reading, node);
  const { operands, expression } = level;
  const name = words[from - 1]!;
  let dashes = -1;
  let open = true;
  for (let at = from; at < words.length; at++) {
    const word = words[at]!;
    if (level.pending !== null) {
      const refusal = readValue(level, level.pending, word);
      if (refusal !== null) return refusal;
      continue;
    }
    if (!open) {
      operands.push(word);
      continue;
    }
    if (node.syntax.dashes && word.raw === '--') {
      open = false;
      dashes = operands.length;
      level.optionsEnd = word.end;
      continue;
    }
    const outcome = readOption(level, word);
    if (outcome === 'operand') {
      if (node.subcommands.size > 0) return descend(reading, node, words, at);
      if (expression !== null && !admitsOperand(expression)) return refuse('EXPRESSION_REFUSED', word, node);
      operands.push(word);
      open = !node.syntax.stops;
    } else if (typeof outcome !== 'string') return outcome;
  }
  if (level.pending !== null) return refuse('OPTION_VALUE_MISSING', words.at(-1)!, node, level.pending.name);
  if (expression !== null && !isWhole(expression)) return refuse('EXPRESSION_REFUSED', words.at(-1)!, node);
  reading.ended = dashes >= 0;
  if (node.delegates.length > 0) {
    reading.delegation = { node, name, operands };
    return null;
  }
  return fitAny(level, dashes, name);
}

function startLevel(reading: Reading, node: NodeRule): Level {
  return {
    node,
    reading,
    used: [],
    operands: [],
    optionsEnd: 0,
    pending: null,
    expression: node.expression === null ? null : startExpression(node.expression),
  };
}

/** Names are matched whole and with the raw spelling, so a quoted one is none. */
function descend(reading: Reading, node: NodeRule, words: readonly Word[], at: number): Refusal | null {
  const word = words[at]!;
  const below = node.subcommands.get(word.raw);
  if (below === undefined) return refuse('SUBCOMMAND_UNKNOWN', word, node);
  return walk(reading, below, words, at + 1);
}

/** One fit is enough. Otherwise the report is of the shape that came furthest. */
function fitAny(level: Level, dashes: number, name: Word): Refusal | null {
  const { node, reading, operands } = level;
  let furthest: Refusal | null = null;
  for (const shape of node.shapes) {
    const paths = reading.paths.length;
    const directories = reading.directories.length;
    const refusal = fitShape(level, shape, dashes, name);
    if (refusal === null) {
      reading.globs = operands.some((word) => word.glob);
      reading.override ||= shape.override;
      reading.proof = node.proof;
      return null;
    }
    reading.paths.length = paths;
    reading.directories.length = directories;
    if (furthest === null || isFurther(refusal, furthest)) furthest = refusal;
  }
  return (
    furthest ?? { ...refuse('SUBCOMMAND_MISSING', name, node), ...(node.bare === null ? {} : { note: node.bare }) }
  );
}

/** Whether a shape came further than another: by its options and counts, then by the word, then by what is wrong with it. */
function isFurther(one: Refusal, other: Refusal): boolean {
  const [stage, otherStage] = [stageOf(one.code), stageOf(other.code)];
  if (stage !== otherStage) return stage > otherStage;
  if (one.start !== other.start) return one.start > other.start;
  return other.code === 'OPERAND_UNEXPECTED' && one.code !== 'OPERAND_UNEXPECTED';
}

/** Its options fit; there are words enough; every word fits, and only standard input is amiss. */
function stageOf(code: ReasonCode): 0 | 1 | 2 | 3 {
  if (code === 'OPTION_REQUIRED' || code === 'OPTION_CONFLICT') return 0;
  if (code === 'OPERAND_MISSING') return 1;
  return code === 'STDIN_READ' ? 3 : 2;
}
