import { statSync } from 'node:fs';
import type { Judge, Judgement, RepositoryFacts, RepositoryFinding } from '../classifier/judgement.ts';
import { checkNames, copyKnown, namesOf } from '../classifier/option-names.ts';
import type { Part, Verdict } from '../classifier/verdict.ts';
import { type Places, provedPlaces } from './command-locks.ts';
import { CONTEXT_NAMES, type JudgeContext } from './judge.ts';
import { pathKey } from './lock-keys.ts';
import { invalid, object } from './option-checks.ts';
import { isInside } from './paths.ts';
import type { ProbedRepository, RepositoryProbe } from './repository-probe.ts';

/** What the probe needs besides the command. */
export type ProbeContext = {
  readonly probe: RepositoryProbe;
  /** What a command that names no variables is started with. */
  readonly environment: Readonly<Record<string, string | undefined>>;
};

/**
 * Asks the judge, and where its yes rests on a plain repository, looks at the repositories that the command reads and
 * asks again with what was found. The judge decides; a yes that still assumes after that is left for the caller to refuse.
 */
export function judgeProbed(judge: Judge, command: string, context: JudgeContext, probing: ProbeContext): Judgement {
  const judgement = judge(command, context);
  if (!assumesPlain(judgement)) return judgement;
  return judge(command, { ...copyKnown(context, CONTEXT_NAMES), repository: factsOf(judgement, context, probing) });
}

/** Whether a judgement is a yes that nobody has held against the repository. */
export function assumesPlain({ verdict }: Judgement): boolean {
  return verdict.kind === 'parallel' && verdict.assumes.includes('repository-plain');
}

function factsOf(
  judgement: Judgement,
  { cwd, env }: JudgeContext,
  { probe, environment }: ProbeContext,
): RepositoryFacts {
  const { verdict } = judgement;
  const programs = verdict.kind !== 'parallel' || verdict.effects.includes('configured-programs');
  const places = provedPlaces(cwd, judgement);
  const readsElsewhere = programs && hasOperandElsewhere(judgement, places);
  const index = verdict.kind !== 'parallel' || verdict.assumes.includes('index-fresh');
  const options = { environment: { ...environment, ...env }, programs, index, readsElsewhere };
  try {
    const probed = places.bases.map((base) => probe(base, options));
    const counted = readsOnce(verdict) ? relevant(probed, places.starts.length) : probed;
    return { findings: counted.flatMap(({ findings }) => findings) };
  } catch (error) {
    const detail = `the probe failed: ${error instanceof Error ? error.message : String(error)}`;
    const finding: RepositoryFinding = { code: 'REPOSITORY_UNREADABLE', affects: 'every-read', detail };
    return { findings: [finding] };
  }
}

/** Whether one command at most reads a repository: of several, one may do so where it starts, and another elsewhere. */
function readsOnce(verdict: Verdict): boolean {
  if (verdict.kind !== 'parallel' || verdict.parts === undefined) return true;
  const isReader = ({ effects }: Part) =>
    effects.includes('reads-repository') || effects.includes('configured-programs');
  return verdict.parts.filter(isReader).length <= 1;
}

/** A directory that lies in no repository does not count where the command's own options lead it to another one. */
function relevant(probed: readonly ProbedRepository[], starts: number): readonly ProbedRepository[] {
  const led = probed.slice(starts);
  if (led.length === 0 || probed.slice(0, starts).some(({ isOutside }) => !isOutside)) return probed;
  return led.every(({ isOutside }) => !isOutside) ? led : probed;
}

function hasOperandElsewhere({ paths }: Judgement, { bases, workspaces }: Places): boolean {
  return paths.some(({ text, glob, home }) => {
    if (home === true) return true;
    const literal = glob ? text.slice(0, text.lastIndexOf('/', text.search(/[*?[]/)) + 1) : text;
    return text.includes('\0') || bases.some((base) => !isInside(pathKey(literal || '.', base), workspaces));
  });
}

const PROBING_NAMES = namesOf<Parameters<typeof createProbingJudge>[1]>({
  roots: true,
  probe: true,
  environment: true,
});

/**
 * A judge that probes, for those who only ask: the command line and the service. Directories outside `roots`, and those
 * that do not exist here, may be meant for elsewhere and are not looked at; such a verdict keeps its assumption.
 *
 * @throws SignalboxError OPTION_INVALID.
 */
export function createProbingJudge(
  judge: Judge,
  options: ProbeContext & { readonly roots?: readonly string[] },
): Judge {
  if (typeof judge !== 'function') throw invalid('a judge', judge);
  checkNames(options, PROBING_NAMES, 'createProbingJudge');
  const { roots, probe, environment } = options;
  if (typeof probe !== 'function') throw invalid('probe to be a function', probe);
  const probing = { probe, environment: object('environment', environment) };
  return (command, context) => {
    const judgement = judge(command, context);
    if (!assumesPlain(judgement)) return judgement;
    const { bases } = provedPlaces(context.cwd, judgement);
    const mayLook = bases.every((base) => isHere(base) && (roots === undefined || isInside(pathKey(base), roots)));
    return mayLook ? judgeProbed(judge, command, context, probing) : judgement;
  };
}

function isHere(directory: string): boolean {
  try {
    return statSync(directory, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    return false;
  }
}
