import { alternativesOf, namesOf, spellingsOf } from '../classifier/usage.ts';
import { type Draft, type NodeDraft, nodesOf, type OptionsDraft, type ShapeDraft } from './draft.ts';

/** `-n, --lines; -q` without `--lines`: `-n; -q`. Empty when nothing is left. */
export function keyWithout(key: string, spelling: string): string {
  const options = spellingsOf(key).map((spellings) => spellings.filter((one) => one !== spelling));
  return options
    .filter((spellings) => spellings.length > 0)
    .map((spellings) => spellings.join(', '))
    .join('; ');
}

/** `ls, list` without `list`: `ls`. */
export function namesWithout(key: string, name: string): string {
  return namesOf(key)
    .filter((one) => one !== name)
    .join(', ');
}

/** Gives an entry of a table another key, at the same place; without a key, takes it out. */
export function rekey<T>(table: Record<string, T>, key: string, to: string): void {
  const entries = Object.entries(table);
  for (const one of Object.keys(table)) delete table[one];
  for (const [one, value] of entries) {
    if (one !== key) table[one] = value;
    else if (to !== '') table[to] = value;
  }
}

/**
 * Takes one spelling of an option out of a table and out of all that speaks of it. Where the option has another
 * spelling, shapes speak of that; else a shape that asks for the option goes too, since it can fit no more.
 */
export function removeSpelling(
  draft: Draft,
  options: OptionsDraft,
  key: string,
  spelling: string,
  group?: string,
): void {
  const others = spellingsOf(key).find((spellings) => spellings.includes(spelling)) ?? [];
  const other = others.find((one) => one !== spelling);
  rekey(options, key, keyWithout(key, spelling));
  for (const node of nodesOf(draft)) {
    if (node.options === options || (group !== undefined && node.use?.includes(group))) forget(node, spelling, other);
  }
}

function forget(node: NodeDraft, spelling: string, other: string | undefined): void {
  for (const shape of node.shapes ?? []) {
    shape.with = renamed(shape.with, spelling, other);
    shape.without = renamed(shape.without, spelling, other)?.filter((relation) => relation !== '');
    tidy(shape);
  }
  node.shapes = node.shapes?.filter((shape) => !shape.with?.includes(''));
  const { expression } = node;
  for (const role of ['open', 'close', 'not', 'join', 'leading'] as const) {
    if (expression?.[role] !== undefined) expression[role] = expression[role].filter((one) => one !== spelling);
  }
}

/** Each relation in terms of another spelling, or without this one; empty when nothing is left of it. */
function renamed(relations: string[] | undefined, spelling: string, other: string | undefined): string[] | undefined {
  return relations?.map((relation) =>
    alternativesOf(relation)
      .flatMap((one) => (one === spelling ? (other ?? []) : one))
      .join(' | '),
  );
}

function tidy(shape: ShapeDraft): void {
  if (shape.without?.length === 0) delete shape.without;
}
