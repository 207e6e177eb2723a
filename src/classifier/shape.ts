import type { RuleNode, RuleShape } from '../rules/schema.ts';
import type { Item, OptionRule, ShapeRule, Stdin, Usage } from './compiled.ts';
import type { Kind } from './kinds.ts';
import type { KindFinder } from './option-table.ts';
import type { Report } from './problems.ts';
import { alternativesOf, itemOf, partsOf } from './usage.ts';
import { kindOfWords } from './values.ts';

type Form = Pick<RuleShape, 'with' | 'without' | 'operands' | 'globs' | 'stdin' | 'override'>;

/** The shapes of a node; `operands` is short for a single one. A node with neither has no shape, so it cannot stand alone. */
export function compileShapes(
  node: RuleNode,
  table: ReadonlyMap<string, OptionRule>,
  kinds: KindFinder,
  stdin: Stdin,
  report: Report,
): readonly ShapeRule[] {
  if (node.shapes === undefined) {
    if (node.operands === undefined) return [];
    const form: Form = { operands: node.operands, globs: node.globs };
    return [compileShape(form, table, kinds, stdin, report)];
  }
  return node.shapes.map((shape, index) => compileShape(shape, table, kinds, stdin, report.at('shapes', index)));
}

function compileShape(
  form: Form,
  table: ReadonlyMap<string, OptionRule>,
  kinds: KindFinder,
  stdin: Stdin,
  report: Report,
): ShapeRule {
  // A name that is no option has been reported by the option table; -1 is the id of none.
  const idOf = (spelling: string): number => table.get(spelling)?.id ?? -1;
  const kindOf = (kind: string | readonly string[]): Kind =>
    typeof kind === 'string' ? kinds(kind, report.at('operands')) : kindOfWords(kind);
  const usageOf = (items: readonly (string | readonly string[])[]): Usage => {
    const compiled = items.map((item): Item => ({ ...itemOf(item), kind: kindOf(itemOf(item).kind) }));
    return { items: compiled, least: leastOf(compiled), leastBeforeLast: leastOf(compiled.slice(0, -1)) };
  };
  return {
    with: (form.with ?? []).map((relation) => alternativesOf(relation).map(idOf)),
    without: (form.without ?? []).map(idOf),
    parts: partsOf(form.operands ?? []).map(usageOf),
    globs: form.globs ?? false,
    stdin: form.stdin ?? stdin,
    override: form.override ?? false,
  };
}

function leastOf(items: readonly Item[]): number {
  return items.reduce((sum, item) => sum + item.least, 0);
}
