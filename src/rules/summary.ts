import { compileFile } from '../classifier/compile.ts';
import type { NodeRule } from '../classifier/compiled.ts';
import type { Origin } from '../classifier/proof.ts';
import type { Effect } from '../classifier/verdict.ts';
import { overridesIn } from './overrides.ts';
import type { Profiles } from './profiles-schema.ts';
import type { RuleData } from './schema.ts';

/** A rule file in a few words. */
export type Summary = {
  readonly binary: string;
  /** The binary and the other names of the same program. */
  readonly names: readonly string[];
  readonly state: RuleData['maturity'];
  readonly origin: Origin;
  /** Where a user's file loosens the built-in one, as JSON pointers. */
  readonly overrides: readonly string[];
  /** The environments that some shape of it presumes. */
  readonly profiles: readonly string[];
  /** What some shape of it does besides printing. */
  readonly effects: readonly Effect[];
  readonly docs: string;
};

/** What a rule file is about: the union over all its subcommands. */
export function summaryOf({ file, origin }: { file: RuleData; origin: Origin }, profiles: Profiles): Summary {
  const proofs = compileFile(file, profiles, origin, [])
    .slice(0, 1)
    .flatMap(({ root }) =>
      nodesOf(root)
        .filter(isAnswer)
        .map(({ proof }) => proof),
    );
  return {
    binary: file.binary,
    names: [file.binary, ...(file.also ?? [])],
    state: file.maturity,
    origin,
    overrides: overridesIn(file),
    profiles: [...new Set(proofs.map(({ profile }) => profile.name))].sort(),
    effects: [...new Set(proofs.flatMap(({ effects }) => effects))].sort(),
    docs: file.docs,
  };
}

function nodesOf(node: NodeRule): readonly NodeRule[] {
  return [node, ...[...node.subcommands.values()].flatMap(nodesOf)];
}

/** A node that only leads to others answers nothing itself. */
function isAnswer({ shapes, delegates }: NodeRule): boolean {
  return shapes.length > 0 || delegates.length > 0;
}
