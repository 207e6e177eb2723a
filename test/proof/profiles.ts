import { spawn as nodeSpawn } from 'node:child_process';
import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { classify } from '../../src/classifier/classify.ts';
import { exportRules, type RuleSet, restoreRules } from '../../src/classifier/rule-set.ts';
import type { Spawn } from '../../src/dispatcher/runner.ts';
import type { CommandResult } from '../../src/dispatcher/types.ts';
import { UNPRIVILEGED } from '../support/strace.ts';
import type { Candidate } from './commands.ts';
import type { Fixture } from './fixture.ts';
import { dispatchOne } from './run.ts';
import type { Grounds } from './suite.ts';

/**
 * A profile must not change what an ordinary command answers: here a command is run with what its profile sets and
 * without, in the same place, where nothing leads into a trap.
 */

/** The same rules with profiles that set nothing. */
export function withoutSettings(rules: RuleSet): RuleSet {
  const data = exportRules(rules);
  const { generic, profiles } = data.profiles;
  const unset = Object.entries(profiles).map(([name, profile]) => [name, { ...profile, set: {} }] as const);
  return restoreRules({
    ...data,
    profiles: { ...data.profiles, generic: { ...generic, set: {} }, profiles: Object.fromEntries(unset) },
  });
}

/** The commands whose profile sets something: for any other there is nothing to compare. */
export function affected(candidates: readonly Candidate[], rules: RuleSet): readonly Candidate[] {
  const { profiles } = rules.profiles;
  return candidates.filter(({ command }) => {
    const verdict = classify(command, { rules });
    const profile = verdict.kind === 'parallel' ? verdict.profile : '';
    return Object.hasOwn(profiles, profile) && Object.keys(profiles[profile]!.set).length > 0;
  });
}

export type Answer = { readonly exitCode: number | null; readonly stdout: string; readonly stderr: string };

export type Comparison =
  | { readonly kind: 'same' }
  /** Two runs of the same kind differ already. */
  | { readonly kind: 'unsteady' }
  | { readonly kind: 'differs'; readonly with: Answer; readonly without: Answer };

/** How often both are run again where they differ. */
const ROUNDS = 3;

/** @param without what `withoutSettings` made of `rules`. */
export async function compare(
  command: string,
  { stale, fresh }: Grounds,
  rules: RuleSet,
  without: RuleSet,
): Promise<Comparison> {
  const spawn: Spawn = (file, words, options) =>
    nodeSpawn(file, [...words], { ...options, stdio: [...options.stdio], ...UNPRIVILEGED });
  const { result } = await dispatchOne(command, stale, { rules, spawn });
  // What is serial while an index is stale has no answer to compare there.
  const fixture = result === null ? fresh : stale;
  const restale = keepIndexes(fixture);
  const answer = async (one: RuleSet): Promise<Answer> => {
    restale();
    const { result: ran } = await dispatchOne(command, fixture, { rules: one, spawn });
    if (ran === null) throw new Error(`Expected ${command} to be parallel`);
    return answerOf(ran);
  };
  const set = result === null ? await answer(rules) : answerOf(result);
  const unset = await answer(without);
  if (isSame(set, unset)) return { kind: 'same' };
  // Only a difference that comes again is one: what asks two things at once tells of the one that answers first.
  const [sets, unsets] = [[set], [unset]];
  for (let round = 0; round < ROUNDS; round += 1) {
    sets.push(await answer(rules));
    unsets.push(await answer(without));
  }
  const isApart = sets.every((one) => unsets.every((other) => !isSame(one, other)));
  const isSteady = [sets, unsets].every(([first, ...others]) => others.every((other) => isSame(first!, other)));
  return isApart && isSteady ? { kind: 'differs', with: set, without: unset } : { kind: 'unsteady' };
}

/** Without its profile git refreshes the index, and then there is nothing left that could make a difference. */
function keepIndexes({ project }: Fixture): () => void {
  const paths = ['.git/index', '.git/modules/vendor/index'].map((name) => join(project, name));
  const kept = paths.map((path) => ({ path, content: readFileSync(path), times: statSync(path) }));
  return () => {
    for (const { path, content, times } of kept) {
      writeFileSync(path, content);
      utimesSync(path, times.atime, times.mtime);
    }
  };
}

/** npm says where it has written its log, or that it has not: that is what its profile is about, and no answer. */
const OF_LOGS = ['A complete log of this run can be found in', 'Log files were not written'];

function answerOf({ exitCode, stdout, stderr }: CommandResult): Answer {
  const told = stderr.split('\n').filter((line) => !OF_LOGS.some((words) => line.includes(words)));
  return { exitCode, stdout, stderr: told.join('\n') };
}

function isSame(one: Answer, other: Answer): boolean {
  return one.exitCode === other.exitCode && one.stdout === other.stdout && one.stderr === other.stderr;
}
