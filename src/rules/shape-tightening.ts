import type { NodeRule, ShapeRule, Stdin, Usage } from '../classifier/compiled.ts';
import { isNarrower } from './narrower-kind.ts';

/** The ids of one node's options in the words of another's, by a spelling they share. */
type SameOption = ReadonlyMap<number, number>;

/** The shapes of a node, by number, that no shape of the other covers and that say no `override`. */
export function uncoveredShapes(mine: NodeRule, theirs: NodeRule): readonly number[] {
  const same = sameOptions(mine, theirs);
  const numbers: number[] = [];
  for (const [index, shape] of mine.shapes.entries()) {
    if (!shape.override && !theirs.shapes.some((one) => covers(one, shape, same))) numbers.push(index);
  }
  return numbers;
}

function sameOptions(mine: NodeRule, theirs: NodeRule): SameOption {
  const same = new Map<number, number>();
  for (const [spelling, option] of mine.options) {
    const other = theirs.options.get(spelling);
    if (other !== undefined) same.set(option.id, other.id);
  }
  if (mine.number !== null && theirs.number !== null) same.set(mine.number.id, theirs.number.id);
  return same;
}

const READS: Readonly<Record<Stdin, number>> = { never: 0, named: 1, 'unless-operand': 2, always: 3 };

/** Whether whatever fits `narrow` fits `wide` too. */
function covers(wide: ShapeRule, narrow: ShapeRule, same: SameOption): boolean {
  if (narrow.globs && !wide.globs) return false;
  if (READS[narrow.stdin] < READS[wide.stdin]) return false;
  if (narrow.parts.length !== wide.parts.length) return false;
  if (!narrow.parts.every((usage, at) => isNarrowerUsage(usage, wide.parts[at]!))) return false;
  const demands = narrow.with.map((ids) => ids.map((id) => same.get(id)));
  const demanded = wide.with.every((ids) =>
    demands.some((mine) => mine.every((id) => id !== undefined && ids.includes(id))),
  );
  const present = new Set(same.values());
  const barred = narrow.without.map((id) => same.get(id));
  return demanded && wide.without.every((id) => !present.has(id) || barred.includes(id));
}

/**
 * Item by item. With the same number of items and one of variable count at most, words are given to the same items, and
 * "the last list is empty" means the same on both sides.
 */
function isNarrowerUsage({ items: mine }: Usage, { items: theirs }: Usage): boolean {
  if (mine.length !== theirs.length) return false;
  return mine.every((item, at) => {
    const other = theirs[at]!;
    return item.least >= other.least && item.most <= other.most && isNarrower(item.kind, other.kind);
  });
}
