import type { Proof } from './compiled.ts';
import { joinProfiles } from './joint-profile.ts';
import type { RuleRef } from './verdict.ts';

/** What proofs that stand together say, or the variable in which their environments contradict each other. */
export type JoinedProof = { readonly proof: Proof } | { readonly variable: string };

/** Everything that one of them says, in order of appearance. Whether a user loosened an entry is settled before. */
export function joinProofs(proofs: readonly Proof[]): JoinedProof {
  const joined = joinProfiles(proofs.map(({ profile }) => profile));
  if ('variable' in joined) return joined;
  const rule = distinct(proofs.flatMap((proof) => proof.rule));
  const proof: Proof = {
    rule,
    overridden: rule,
    effects: Object.freeze([...new Set(proofs.flatMap(({ effects }) => effects))]),
    assumes: Object.freeze([...new Set(proofs.flatMap(({ assumes }) => assumes))]),
    wholeEnvironment: proofs.some(({ wholeEnvironment }) => wholeEnvironment),
    profile: joined.profile,
  };
  return { proof: Object.freeze(proof) };
}

/** The same proof, its rules as the verdict names them. */
export function settled(proof: Proof, override: boolean): Proof {
  return override ? Object.freeze({ ...proof, rule: proof.overridden }) : proof;
}

function distinct(rules: readonly RuleRef[]): readonly RuleRef[] {
  const known = new Map(rules.map((rule) => [JSON.stringify([rule.path, rule.origin]), rule]));
  return Object.freeze([...known.values()]);
}
