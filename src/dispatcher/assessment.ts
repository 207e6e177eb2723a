import type { Judgement } from '../classifier/judgement.ts';
import type { Verdict } from '../classifier/verdict.ts';
import { allPlaces, locksOf, provedPlaces } from './command-locks.ts';
import { type Environment, homeIn, serialEnvironment } from './environment.ts';
import type { LockMode, LockRequest } from './lock-types.ts';
import { namedPlaces } from './named-places.ts';
import type { Assessor, Order, Terms } from './order.ts';
import { markerValue } from './process-table.ts';
import { type Launch, provedRun, refusal } from './proved-run.ts';
import { judgeProbed } from './repository-judge.ts';

/** What is known of a command at one moment. Everything in it may be different at the next. */
export type Assessment = {
  readonly verdict: Verdict;
  readonly locks: readonly LockRequest[];
  readonly launch: Launch;
  readonly environment: (marker: string) => Environment;
  /** The real directory that a proved text changes to; null when it stays where it is. */
  readonly changesTo: string | null;
};

/** What was found of a command at an earlier time. */
export type Before = { readonly settled?: Verdict | null; readonly changesTo?: string | null };

/** Above the workspaces of all commands. */
const EVERYWHERE = ['file:/', 'exclusive'] as const;

/**
 * Judges a command and holds the verdict against what surrounds it: platform, variables, the program that its name
 * finds, the files that its operands name. All of that can only take a yes away. Reads the file system, changes nothing.
 *
 * @param before what stands of an earlier time: a serial verdict, and where its change of directory led.
 */
export function assess(
  assessor: Assessor,
  batchId: string,
  terms: Terms,
  order: Order,
  { settled = null, changesTo: earlier = null }: Before = {},
): Assessment {
  // A value that the base has anyway changes nothing.
  const own = Object.entries(order.env).filter(([name, value]) => !has(assessor.base, name, value));
  const judgement = judged(assessor, terms, { ...order, env: Object.fromEntries(own) });
  const { lockKeys } = order;
  let verdict = settled ?? judgement.verdict;
  if (verdict.kind === 'parallel') {
    const places = provedPlaces(order.cwd, judgement);
    const proof = provedRun(assessor, { order, terms, judgement, places, earlier });
    if (proof.kind === 'parallel') return { ...proof, locks: locksOf(batchId, 'shared', places, judgement, lockKeys) };
    verdict = proof.verdict;
  }
  const places = allPlaces(order.cwd, judgement);
  const { base, lineage } = assessor;
  const environment = (marker: string) =>
    serialEnvironment(base, order.env, { cwd: order.cwd, marker: markerValue(lineage, marker) });
  const named = namedPlaces({ ...order, ...places, environment: environment('') });
  const elsewhere = terms.scope === 'host' ? new Map([...named, EVERYWHERE]) : named;
  // Where the caller has not told what it changes yet, its word counts for nothing yet.
  const isShared = order.vouched === true && lockKeys.length > 0;
  const locks = isShared
    ? locksOf(batchId, 'shared', places, judgement, lockKeys, sharedOf(elsewhere))
    : locksOf(batchId, 'exclusive', places, judgement, lockKeys, elsewhere);
  return { verdict, locks, launch: null, environment, changesTo: null };
}

function sharedOf(keys: ReadonlyMap<string, LockMode>): ReadonlyMap<string, LockMode> {
  return new Map(Array.from(keys.keys(), (key) => [key, 'shared']));
}

function judged(
  { judge, probe, base, roots }: Assessor,
  { mode, allow }: Terms,
  { command, cwd, env }: Order,
): Judgement {
  const context = { cwd, env, mode, allow, ...(roots === null ? {} : { roots }), ...homeIn(base) };
  try {
    return probe === null
      ? judge(command, context)
      : judgeProbed(judge, command, context, { probe, environment: base });
  } catch (error) {
    // A judge that fails has proved nothing, here and now.
    const message = `The judge failed: ${error instanceof Error ? error.message : String(error)}`;
    const verdict = refusal('PLATFORM_UNPROVEN', message, command, '');
    return {
      verdict,
      directories: [],
      paths: [],
      resources: [],
      starts: [],
      programs: [],
      cd: null,
      wholeEnvironment: false,
    };
  }
}

function has(environment: Environment, name: string, value: string): boolean {
  return Object.hasOwn(environment, name) && environment[name] === value;
}
