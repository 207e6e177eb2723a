import { itemOf } from '../classifier/usage.ts';
import type { Draft, NodeDraft, ShapeDraft } from './draft.ts';
import { ANYTHING, type Edit } from './option-mutants.ts';

/** A shape, or a node with the short form of one. */
type Form = Pick<ShapeDraft, 'operands' | 'globs'>;
type Path = readonly (string | number)[];

/** The changes of a node's shapes, of its operands, and of what it says about standard input. */
export function* shapeEdits(node: NodeDraft, path: Path, find: (draft: Draft) => NodeDraft): Generator<Edit> {
  if (node.stdin !== undefined && node.stdin !== 'never') {
    const apply = (draft: Draft): void => {
      find(draft).stdin = 'never';
    };
    yield { path: [...path, 'stdin'], change: 'never reads', takesAway: false, apply };
  }
  if (node.operands !== undefined) yield* formEdits(node, path, find);
  for (const [index, shape] of (node.shapes ?? []).entries()) {
    const at = [...path, 'shapes', index];
    const drop = (draft: Draft): void => {
      find(draft).shapes!.splice(index, 1);
    };
    yield { path: at, change: 'drop', takesAway: true, apply: drop };
    const here = (draft: Draft): ShapeDraft => find(draft).shapes![index]!;
    for (const relation of ['with', 'without'] as const) {
      for (const [place, text] of (shape[relation] ?? []).entries()) {
        const apply = (draft: Draft): void => {
          here(draft)[relation]!.splice(place, 1);
        };
        yield { path: [...at, relation, place], change: `drop ${text}`, takesAway: false, apply };
      }
    }
    if (shape.stdin !== undefined) {
      const apply = (draft: Draft): void => {
        delete here(draft).stdin;
      };
      yield { path: [...at, 'stdin'], change: 'drop', takesAway: false, apply };
    }
    yield* formEdits(shape, at, here);
  }
}

function* formEdits(form: Form, path: Path, find: (draft: Draft) => Form): Generator<Edit> {
  const items = form.operands ?? [];
  const set = (operands: Form['operands']) => (draft: Draft) => {
    find(draft).operands = operands;
  };
  const unbounded = items.some((item) => itemOf(item).most === Infinity);
  const edit = (at: Path, change: string, apply: Edit['apply']): Edit => ({
    path: [...path, ...at],
    change,
    takesAway: false,
    apply,
  });
  if (!unbounded) yield edit(['operands'], 'one more operand', set([...items, 'text?']));
  for (const [index, item] of items.entries()) {
    const replaced = (by: string): Form['operands'] => items.map((one, at) => (at === index ? by : one));
    const at = ['operands', index];
    yield edit(at, `drop ${item}`, set(items.filter((_, place) => place !== index)));
    if (item !== '--') for (const [change, by] of itemChanges(item)) yield edit(at, change, set(replaced(by)));
  }
  if (form.globs) {
    const apply = (draft: Draft): void => {
      delete find(draft).globs;
    };
    yield { path: [...path, 'globs'], change: 'drop', takesAway: true, apply };
  } else if (items.length > 0 && itemOf(items.at(-1)!).most === Infinity) {
    const apply = (draft: Draft): void => {
      find(draft).globs = true;
    };
    yield edit(['globs'], 'globs', apply);
  }
}

/** What an item of a usage line can become. */
function itemChanges(item: string | string[]): readonly (readonly [change: string, by: string])[] {
  if (typeof item !== 'string') return [['any text', 'text']];
  const { kind, least, most } = itemOf(item) as { kind: string; least: number; most: number };
  const changes: (readonly [string, string])[] = [];
  if (!ANYTHING.includes(kind)) changes.push(['any text', `text${item.slice(kind.length)}`]);
  if (most === 1) changes.push(least === 1 ? ['may be missing', `${kind}?`] : ['must be there', kind]);
  else {
    changes.push(least === 1 ? ['may be missing', `${kind}*`] : ['must be there', `${kind}+`]);
    changes.push(['no more than one', least === 1 ? kind : `${kind}?`]);
  }
  return changes;
}
