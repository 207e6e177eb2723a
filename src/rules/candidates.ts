import type { BinaryRule, NodeRule, OptionRule, ShapeRule, Usage } from '../classifier/compiled.ts';
import { samplesOf, worded } from './samples.ts';

/** What `-NUMBER` is tried as. */
export const A_NUMBER = '-20';
/** How many operands are tried beyond what a usage needs. */
const MOST_EXTRA = 3;
/** Words that are tried behind a complete command. */
const TAILS = ['x', 'f*', '-- -x', '-- x', '/dev/tty', "''", '-', "'a[x]'", '-zz'];

/**
 * Commands that may show what an entry does: each shape of each node complete, with too much and too little, with each
 * spelling of each option and with values right and wrong, in every form. Thousands for a large file; each names the
 * node it is about by its path.
 */
export function* candidatesOf(binaries: readonly BinaryRule[]): Generator<string> {
  for (const binary of binaries) {
    for (const word of binary.alone.keys()) yield `${binary.name} ${word}`;
    yield* ofNode(binary.root);
  }
}

function* ofNode(node: NodeRule): Generator<string> {
  const complete = node.shapes.flatMap((shape) => [...completions(node, shape)]);
  for (const tail of new Set(['', ...complete])) {
    const base = `${node.path}${tail}`;
    yield base;
    for (const one of TAILS) yield `${base} ${one}`;
    const shorter = base.slice(0, base.lastIndexOf(' '));
    if (shorter.startsWith(node.path)) yield* [shorter, `${shorter} -- -x`, `${shorter} ''`, `${shorter} f*`];
    yield* withOptions(node, tail);
  }
  for (const below of node.subcommands.values()) yield* ofNode(below);
}

/** The options a shape asks for, then operands: as few as may be, and some more. */
function* completions(node: NodeRule, shape: ShapeRule): Generator<string> {
  const asked = shape.with.map(([id]) => ` ${spelled(node, id as number)}`).join('');
  const [first, second] = shape.parts as readonly [Usage, Usage?];
  for (let extra = 0; extra <= MOST_EXTRA; extra++) {
    const before = operandsOf(first, extra);
    yield `${asked}${before}`;
    if (second === undefined) continue;
    yield `${asked}${before} --${operandsOf(second, extra)}`;
    yield `${asked}${operandsOf(first, 0)} --${operandsOf(second, extra)}`;
  }
}

function operandsOf({ items }: Usage, extra: number): string {
  return items
    .map(({ kind, least, most }) => ` ${worded(samplesOf(kind)[0]!)}`.repeat(Math.min(most, least + extra)))
    .join('');
}

/** The first spelling of an option, with a value if it needs one. */
function spelled(node: NodeRule, id: number): string {
  for (const [spelling, option] of node.options) {
    if (option.id !== id) continue;
    if (option.value === null || option.optional) return spelling;
    const value = worded(samplesOf(option.value)[0]!);
    return option.form === 'joined' && spelling.startsWith('--')
      ? `${spelling}=${value}`
      : joinedOrSpaced(option, spelling, value);
  }
  return A_NUMBER;
}

function joinedOrSpaced({ form }: OptionRule, spelling: string, value: string): string {
  return form === 'joined' ? `${spelling}${value}` : `${spelling} ${value}`;
}

function* withOptions({ path, options, number }: NodeRule, tail: string): Generator<string> {
  const all: (readonly [string, OptionRule])[] = [...options];
  if (number !== null) all.push([A_NUMBER, number]);
  for (const [spelling, { value }] of all) {
    yield* [`${path} ${spelling}${tail}`, `${path}${tail} ${spelling}`, `${path} ${spelling}`];
    if (value === null) {
      yield `${path} ${spelling}=x${tail}`;
      continue;
    }
    for (const sample of samplesOf(value)) {
      const text = worded(sample);
      for (const joint of [' ', '=', '']) yield `${path} ${spelling}${joint}${text}${tail}`;
      yield `${path}${tail} ${spelling} ${text}`;
    }
  }
}
