import type { Draft, NodeDraft } from './draft.ts';
import type { Edit } from './option-mutants.ts';

type Path = readonly (string | number)[];
type Find = (draft: Draft) => NodeDraft;

/** What a node runs with names from standard input, and who may hand them on. */
export function* delegateEdits(node: NodeDraft, path: Path, find: Find): Generator<Edit> {
  for (const [index, delegate] of (node.delegates ?? []).entries()) {
    const at = [...path, 'delegates', index];
    const apply = (draft: Draft): void => {
      find(draft).delegates!.splice(index, 1);
    };
    yield { path: at, change: `drop ${delegate.command}`, takesAway: true, apply };
    for (const [place, option] of (delegate.without ?? []).entries()) {
      const drop = (draft: Draft): void => {
        find(draft).delegates![index]!.without!.splice(place, 1);
      };
      yield { path: [...at, 'without', place], change: `drop ${option}`, takesAway: false, apply: drop };
    }
    if (delegate.after === undefined) continue;
    const anywhere = (draft: Draft): void => {
      delete find(draft).delegates![index]!.after;
    };
    yield { path: [...at, 'after'], change: 'drop', takesAway: false, apply: anywhere };
    for (const [place, rule] of delegate.after.entries()) {
      const drop = (draft: Draft): void => {
        find(draft).delegates![index]!.after!.splice(place, 1);
      };
      yield { path: [...at, 'after', place], change: `drop ${rule}`, takesAway: true, apply: drop };
    }
  }
  for (const list of ['after', 'through'] as const) yield* feederEdits(node, path, find, list);
  for (const [rule, nul] of Object.entries(node.nul ?? {})) yield* nulEdits(rule, nul, path, find);
  for (const [rule, without] of Object.entries(node.headings ?? {})) {
    const at = [...path, 'headings', rule];
    const drop = (draft: Draft): void => {
      delete find(draft).headings![rule];
    };
    yield { path: at, change: `drop ${rule}`, takesAway: false, apply: drop };
    for (const [index, option] of without.entries()) {
      const apply = (draft: Draft): void => {
        find(draft).headings![rule]!.splice(index, 1);
      };
      yield { path: [...at, index], change: `drop ${option}`, takesAway: true, apply };
    }
  }
}

function* feederEdits(node: NodeDraft, path: Path, find: Find, list: 'after' | 'through'): Generator<Edit> {
  for (const [rule, options] of Object.entries(node[list] ?? {})) {
    const drop = (draft: Draft): void => {
      delete find(draft)[list]![rule];
    };
    yield { path: [...path, list, rule], change: `drop ${rule}`, takesAway: true, apply: drop };
    for (const [index, option] of options.entries()) {
      const at = [...path, list, rule, index];
      const set = (draft: Draft, ...options: (typeof option)[]): void => {
        find(draft)[list]![rule]!.splice(index, 1, ...options);
      };
      const name = typeof option === 'string' ? option : Object.keys(option).join(', ');
      yield { path: at, change: `drop ${name}`, takesAway: true, apply: (draft) => set(draft) };
      if (typeof option === 'string') continue;
      for (const [spelling, values] of Object.entries(option)) {
        const any = (draft: Draft): void => set(draft, { ...option, [spelling]: values }, spelling);
        yield { path: [...at, spelling], change: 'any value', takesAway: false, apply: any };
        for (const [place, value] of values.entries()) {
          const fewer = (draft: Draft): void => set(draft, { ...option, [spelling]: values.toSpliced(place, 1) });
          yield { path: [...at, spelling, place], change: `drop ${value}`, takesAway: true, apply: fewer };
        }
      }
    }
  }
}

function* nulEdits(rule: string, nul: NonNullable<NodeDraft['nul']>[string], path: Path, find: Find): Generator<Edit> {
  const at = [...path, 'nul', rule];
  const drop = (draft: Draft): void => {
    delete find(draft).nul![rule];
  };
  yield { path: at, change: `drop ${rule}`, takesAway: false, apply: drop };
  for (const list of ['with', 'unless'] as const) {
    for (const [index, option] of (nul[list] ?? []).entries()) {
      const apply = (draft: Draft): void => {
        find(draft).nul![rule]![list]!.splice(index, 1);
      };
      yield { path: [...at, list, index], change: `drop ${option}`, takesAway: false, apply };
    }
  }
}
