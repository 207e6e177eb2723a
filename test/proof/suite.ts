import { availableParallelism } from 'node:os';
import { lex } from '../../src/classifier/lexer.ts';
import type { RuleSet } from '../../src/classifier/rule-set.ts';
import { loadRules } from '../../src/rules/load.ts';
import type { RuleFile } from '../../src/rules/schema.ts';
import { BUILT_IN_DIRECTORY, readRuleDirectory } from '../../src/rules/sources.ts';
import { type Candidate, candidatesOf, filesFor } from './commands.ts';
import { type Observer, observe } from './coverage.ts';
import { type Fixture, isInstalled, makeFixture } from './fixture.ts';
import { optionCommands } from './option-commands.ts';
import { createProver, type Outcome } from './run.ts';
import { drawEvenly } from './sample.ts';
import type { Services } from './services.ts';

/** The rules that are proved, and every command that is to be run for them. */
export type ProofSet = {
  readonly rules: RuleSet;
  readonly files: readonly RuleFile[];
  readonly candidates: readonly Candidate[];
};

/** What is added to the commands that somebody wrote, for the entries of the rules that none of them rests on. */
type Added = {
  /** Default: all. */
  readonly most?: number;
  readonly seed?: number;
  /** Whether every spelling of an option counts, and not only the option. Default false. */
  readonly spellings?: boolean;
};

/**
 * The same with a command for every entry that no other rests on, or for some of them, drawn evenly from all binaries.
 */
export function withEveryOption(
  set: ProofSet,
  { most = Infinity, seed = 0, spellings = false }: Added = {},
): ProofSet & { readonly observer: Observer } {
  const observer = observe(set.rules);
  const commands = set.candidates.map(({ command }) => command);
  const covered = new Set(commands.flatMap(observer.entriesOf));
  const left = observer.entries.filter(({ key, kind }) => !covered.has(key) && (spellings || kind !== 'spelling'));
  const entries = most === Infinity ? left : drawEvenly(left, ({ binary }) => binary, most, seed);
  const made = optionCommands(set.rules, { ...observer, entries }, commands);
  return { ...set, observer, candidates: [...set.candidates, ...made] };
}

/** @param directory of rule files; default: the package's own. Experimental ones are proved like the others. */
export function readProof(directory = BUILT_IN_DIRECTORY): ProofSet {
  const files = readRuleDirectory(directory).map(({ file }) => file);
  const experimental = files.filter(({ maturity }) => maturity === 'experimental').map(({ binary }) => binary);
  const rules = loadRules({ directory, experimental });
  const proved = files.filter(({ maturity }) => maturity !== 'retired');
  return { rules, files: proved, candidates: candidatesOf(rules, proved, directory) };
}

/**
 * Where commands run: a repository whose index is stale, so that whoever refreshes one writes; and the same without, for
 * the reads that the dispatcher does not run beside others while it is.
 */
export type Grounds = { readonly stale: Fixture; readonly fresh: Fixture };

/** Both hold every file that the commands name. */
export function groundsFor({ rules, candidates }: ProofSet, services: Services, trapped: boolean): Grounds {
  const options = { trapped, services, minds: mindsOf(rules), files: filesFor(candidates, rules) };
  return { stale: makeFixture({ ...options, stale: true }), fresh: makeFixture({ ...options, stale: false }) };
}

/** Whatever any profile minds in the environment of its parent. */
export function mindsOf({ profiles: { generic, profiles } }: RuleSet): readonly string[] {
  return [generic, ...Object.values(profiles)].flatMap(({ minds = [] }) => minds);
}

export type Proved = Candidate & { readonly outcome: Outcome };

export type Course = {
  /** Is told of each as it ends. */
  readonly onEach?: (proved: Proved) => void;
  /** Once it says so, no other is begun. */
  readonly isOver?: () => boolean;
  /** How many run at once. Default: one more than there are processors, and five at most. */
  readonly jobs?: number;
};

/** Runs commands, several at once, in the order given. What is over its time on a busy machine is run once more alone. */
export async function proveAll(
  { rules, files }: ProofSet,
  candidates: readonly Candidate[],
  { stale, fresh }: Grounds,
  { onEach = () => {}, isOver = () => false, jobs }: Course = {},
): Promise<readonly Proved[]> {
  const [first, second] = [createProver(rules, files, stale), createProver(rules, files, fresh)];
  const proveOne = async (candidate: Candidate): Promise<Proved> => {
    const outcome = await first.prove(candidate.command);
    const isLeft = outcome.refused === 'REPOSITORY_STALE';
    return { ...candidate, outcome: isLeft ? await second.prove(candidate.command) : outcome };
  };
  const act = async (candidate: Candidate): Promise<Proved | null> => {
    if (isOver()) return null;
    const one = await proveOne(candidate);
    if (!isLate(one)) onEach(one);
    return one;
  };
  const proved = await severalAtOnce(candidates, act, jobs);
  const settled: Proved[] = [];
  for (const one of proved.filter((each) => each !== null)) {
    const again = isLate(one) ? await proveOne(one) : one;
    if (again !== one) onEach(again);
    settled.push(again);
  }
  return settled;
}

function isLate({ outcome }: Proved): boolean {
  return outcome.result.state === 'timed-out';
}

/** strace waits as often as it works: a few more than there are processors. */
export async function severalAtOnce<Item, Result>(
  items: readonly Item[],
  act: (item: Item) => Promise<Result>,
  jobs = Math.min(availableParallelism(), 4) + 1,
): Promise<readonly Result[]> {
  const results = new Array<Result>(items.length);
  const left = items.entries();
  const work = async (): Promise<void> => {
    for (const [index, item] of left) results[index] = await act(item);
  };
  await Promise.all(Array.from({ length: jobs }, work));
  return results;
}

/** Parts the commands whose program is where the fixture looks, or answered by bash, from those that cannot be run. */
export function parted(set: ProofSet): {
  readonly present: readonly Candidate[];
  readonly missing: readonly Candidate[];
} {
  const isThere = presenceOf(set);
  const isPresent = ({ binary, command }: Candidate): boolean => isThere(lex(command).words[0]?.text ?? binary);
  return {
    present: set.candidates.filter(isPresent),
    missing: set.candidates.filter((candidate) => !isPresent(candidate)),
  };
}

/** Whether a name can be run where the commands are. */
export function presenceOf({ files }: Pick<ProofSet, 'files'>): (name: string) => boolean {
  const builtins = files.filter(({ builtin }) => builtin).flatMap(({ binary, also = [] }) => [binary, ...also]);
  const known = new Map(builtins.map((name) => [name, true]));
  return (name) => {
    const answer = known.get(name) ?? isInstalled(name);
    known.set(name, answer);
    return answer;
  };
}
