import type { RuleData, RuleNode } from '../rules/schema.ts';
import type { ProfileRule, Proof, Stdin } from './compiled.ts';
import type { Assumption, Effect, RuleRef } from './verdict.ts';

/** Whose entry it is; `override` is worked out per node. */
export type Origin = 'built-in' | 'user';

type Observed = NonNullable<RuleNode['observes']>[number];
type Done = NonNullable<RuleNode['effects']>[number];

/** What a node hands down to its subcommands. */
export type Inherited = {
  readonly stdin: Stdin;
  readonly effects: readonly Done[];
  readonly observes: readonly Observed[];
  readonly override: boolean;
  readonly profile: ProfileRule;
  readonly refuses: ReadonlyMap<string, string>;
};

const OBSERVED: Readonly<Record<Observed, Effect>> = {
  files: 'reads-files',
  repository: 'reads-repository',
  index: 'reads-repository',
  processes: 'reads-processes',
  environment: 'reads-environment',
  clock: 'reads-clock',
  daemon: 'talks-to-daemon',
  remote: 'reads-network',
};

const DONE: Readonly<Record<Done, Effect>> = {
  network: 'reads-network',
  'temporary-files': 'temporary-files',
  'own-log': 'own-log',
  'own-cache': 'own-cache',
  'configured-programs': 'configured-programs',
};

const PLAIN_REPOSITORY: readonly Assumption[] = Object.freeze(['repository-plain'] as const);
const FRESH_INDEX: readonly Assumption[] = Object.freeze(['repository-plain', 'index-fresh'] as const);
const NOTHING: readonly Assumption[] = Object.freeze([]);

/** What a parallel verdict of this node says. */
export function proofOf(
  file: RuleData,
  path: string,
  origin: Origin,
  node: Omit<Inherited, 'stdin' | 'refuses'>,
): Proof {
  const effects = [...node.observes.map((one) => OBSERVED[one]), ...node.effects.map((one) => DONE[one])];
  const rule = refsOf(file.binary, path, node.override ? 'override' : origin);
  return Object.freeze({
    rule,
    overridden: refsOf(file.binary, path, 'override'),
    effects: Object.freeze([...new Set(effects)]),
    assumes: assumptionsOf(node.observes),
    wholeEnvironment: node.observes.includes('environment'),
    profile: node.profile,
  });
}

function assumptionsOf(observes: readonly Observed[]): readonly Assumption[] {
  if (observes.includes('index')) return FRESH_INDEX;
  return observes.includes('repository') ? PLAIN_REPOSITORY : NOTHING;
}

/** What the verdict of a word that may stand alone says: such a command looks at nothing. */
export function proofOfAlone(file: RuleData, path: string, origin: Origin, profile: ProfileRule): Proof {
  const override = file.override === true;
  return proofOf(file, path, origin, { effects: [], observes: [], override, profile });
}

function refsOf(binary: string, path: string, origin: RuleRef['origin']): readonly RuleRef[] {
  return Object.freeze([Object.freeze({ binary, path, origin })]);
}
