import { pointerOf } from '../classifier/problems.ts';
import { namesOf, spellingsOf } from '../classifier/usage.ts';
import { delegateEdits } from './delegate-mutants.ts';
import { changed, type Draft, type Mutant, type NodeDraft, type OptionsDraft } from './draft.ts';
import { type Edit, optionEdits } from './option-mutants.ts';
import type { RuleFile } from './schema.ts';
import { shapeEdits } from './shape-mutants.ts';
import { keyWithout, namesWithout, rekey } from './spelling-removal.ts';

/**
 * Every single change of an entry that an example of the file should notice: each spelling, word, placeholder, shape,
 * subcommand deleted, each arity, kind and count changed. Mutants that do not compile are among them; whoever uses them
 * counts those as noticed.
 */
export function* mutantsOf(file: RuleFile): Generator<Mutant> {
  for (const { path, change, takesAway, apply } of editsOf(file as Draft)) {
    yield { pointer: pointerOf(path), path, change, takesAway, file: changed(file, apply) };
  }
}

function* editsOf(file: Draft): Generator<Edit> {
  yield* topEdits(file);
  yield* valueEdits(file);
  for (const [group, options] of Object.entries(file.groups ?? {})) {
    yield* optionEdits(options, ['groups', group], (draft) => draft.groups![group]!, group);
  }
  yield* nodeEdits(file.command as NodeDraft, ['command'], (draft) => draft.command as NodeDraft);
}

function* topEdits(file: Draft): Generator<Edit> {
  for (const [index, name] of (file.also ?? []).entries()) {
    const apply = (draft: Draft): void => {
      draft.also!.splice(index, 1);
    };
    yield { path: ['also', index], change: `drop ${name}`, takesAway: true, apply };
  }
  for (const key of Object.keys(file.alone ?? {})) {
    for (const word of spellingsOf(key).flat()) {
      const apply = (draft: Draft): void => rekey(draft.alone!, key, keyWithout(key, word));
      yield { path: ['alone', key], change: `drop ${word}`, takesAway: true, apply };
    }
  }
  for (const key of ['builtin', 'only'] as const) {
    if (file[key] === undefined) continue;
    const apply = (draft: Draft): void => {
      delete draft[key];
    };
    yield { path: [key], change: 'drop', takesAway: false, apply };
  }
}

function* valueEdits(file: Draft): Generator<Edit> {
  for (const [name, value] of Object.entries(file.values ?? {})) {
    for (const list of ['words', 'starts'] as const) {
      for (const [index, text] of (value[list] ?? []).entries()) {
        const apply = (draft: Draft): void => {
          draft.values![name]![list]!.splice(index, 1);
        };
        yield { path: ['values', name, list, index], change: `drop ${text}`, takesAway: true, apply };
      }
    }
    for (const list of ['after', 'allow'] as const) {
      for (const [index, text] of (value.template?.[list] ?? []).entries()) {
        const apply = (draft: Draft): void => {
          draft.values![name]!.template![list].splice(index, 1);
        };
        yield { path: ['values', name, 'template', list, index], change: `drop ${text}`, takesAway: true, apply };
      }
    }
    if (value.template === undefined) continue;
    const apply = (draft: Draft): void => {
      draft.values![name]!.template!.allow.push('');
    };
    yield { path: ['values', name, 'template'], change: 'any placeholder', takesAway: false, apply };
  }
}

function* nodeEdits(node: NodeDraft, path: (string | number)[], find: (draft: Draft) => NodeDraft): Generator<Edit> {
  const options = (draft: Draft): OptionsDraft => find(draft).options!;
  yield* optionEdits(node.options ?? {}, [...path, 'options'], options);
  for (const [index, group] of (node.use ?? []).entries()) {
    const apply = (draft: Draft): void => {
      find(draft).use!.splice(index, 1);
    };
    yield { path: [...path, 'use', index], change: `drop ${group}`, takesAway: true, apply };
  }
  yield* shapeEdits(node, path, find);
  yield* expressionEdits(node, path, find);
  yield* delegateEdits(node, path, find);
  if (node.dashes !== undefined) {
    const apply = (draft: Draft): void => {
      delete find(draft).dashes;
    };
    yield { path: [...path, 'dashes'], change: 'drop', takesAway: false, apply };
  }
  yield* subcommandEdits(node, path, find);
}

function* subcommandEdits(
  node: NodeDraft,
  path: (string | number)[],
  find: (draft: Draft) => NodeDraft,
): Generator<Edit> {
  for (const [key, below] of Object.entries(node.subcommands ?? {})) {
    const here = [...path, 'subcommands', key];
    for (const name of namesOf(key)) {
      const apply = (draft: Draft): void => rekey(find(draft).subcommands!, key, namesWithout(key, name));
      yield { path: here, change: `drop ${name}`, takesAway: true, apply };
    }
    yield* nodeEdits(below, here, (draft) => find(draft).subcommands![key]!);
  }
}

function* expressionEdits(
  node: NodeDraft,
  path: (string | number)[],
  find: (draft: Draft) => NodeDraft,
): Generator<Edit> {
  for (const [key, value] of Object.entries(node.expression ?? {})) {
    const at = [...path, 'expression', key];
    if (value === true) {
      const apply = (draft: Draft): void => {
        delete find(draft).expression![key as 'implicitJoin'];
      };
      yield { path: at, change: 'drop', takesAway: false, apply };
      continue;
    }
    for (const [index, word] of (value ?? []).entries()) {
      const apply = (draft: Draft): void => {
        find(draft).expression![key as 'join']!.splice(index, 1);
      };
      yield { path: [...at, index], change: `drop ${word}`, takesAway: false, apply };
    }
  }
}
