import type { z } from 'zod';
import type { DeepReadonly, RuleFile, RuleFileSchema } from './schema.ts';

/** A rule file that is being changed. */
export type Draft = z.infer<typeof RuleFileSchema>;
export type NodeDraft = Draft['command'] & { subcommands?: Record<string, NodeDraft> | undefined };
export type OptionDraft = NonNullable<Draft['groups']>[string][string];
export type OptionsDraft = Record<string, OptionDraft>;
export type ShapeDraft = NonNullable<NodeDraft['shapes']>[number];

/** One entry of a file changed. */
export type Mutant = {
  /** A JSON pointer to the entry, and the keys that it is made of. */
  readonly pointer: string;
  readonly path: readonly (string | number)[];
  /** What was done to it: `drop -n`, `any text`. */
  readonly change: string;
  /** An entry that permits something was taken away, so that no verdict may become parallel. */
  readonly takesAway: boolean;
  readonly file: RuleFile;
};

/** A changed copy of a file. The examples are shared with it: no mutant changes them. */
export function changed(file: RuleFile, change: (draft: Draft) => void): RuleFile {
  const { examples, ...data } = file as Draft;
  const draft: Draft = { ...structuredClone(data), examples };
  change(draft);
  return draft satisfies DeepReadonly<Draft>;
}

/** Every node of a draft, the command first. */
export function nodesOf(draft: Draft): readonly NodeDraft[] {
  const below = (node: NodeDraft): readonly NodeDraft[] => [
    node,
    ...Object.values(node.subcommands ?? {}).flatMap(below),
  ];
  return below(draft.command as NodeDraft);
}
