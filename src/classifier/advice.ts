import type { RuleNode, RuleShape } from '../rules/schema.ts';
import type { Advice } from './compiled.ts';
import { itemOf, namesOf } from './usage.ts';

const MOST_SHAPES = 4;
const MOST_NAMES = 12;

/** What the rule of a node lists, for a person who wrote something else. */
export function adviceOn(node: RuleNode, path: string): Advice {
  const forms: readonly Pick<RuleShape, 'with' | 'operands'>[] =
    node.shapes ?? (node.operands === undefined ? [] : [{ operands: node.operands }]);
  const lines = [...new Set(forms.map((form) => `\`${usageLine(path, form)}\``))];
  const names = Object.keys(node.subcommands ?? {}).map((key) => namesOf(key)[0] as string);
  return { shapes: listed('Proved are', lines, MOST_SHAPES), subcommands: listed('Proved are', names, MOST_NAMES) };
}

/** `git branch --list PATTERN…`. */
export function usageLine(
  path: string,
  { with: required = [], operands = [] }: Pick<RuleShape, 'with' | 'operands'>,
): string {
  return [path, ...required.map((relation) => relation.replaceAll(' | ', '|')), ...operands.map(shown)].join(' ');
}

function shown(item: string | readonly string[]): string {
  if (item === '--') return item;
  const { kind, least, most } = itemOf(item);
  const name = typeof kind === 'string' ? kind.toUpperCase() : kind.join('|');
  const some = most > 1 ? `${name}…` : name;
  return least === 0 ? `[${some}]` : some;
}

function listed(lead: string, items: readonly string[], most: number): string {
  if (items.length === 0) return '';
  const more = items.length > most ? ' and others' : '';
  return `${lead}: ${items.slice(0, most).join(', ')}${more}.`;
}
