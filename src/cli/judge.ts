import { Option } from 'commander';
import type { Judge } from '../classifier/judgement.ts';
import type { RuleSet } from '../classifier/rule-set.ts';
import { createJudge } from '../dispatcher/judge.ts';
import { createProbingJudge } from '../dispatcher/repository-judge.ts';
import { probeRepository } from '../dispatcher/repository-probe.ts';
import type { Io } from './io.ts';

/** `--trust-repository`, known to every command that judges. */
export function trustOption(): Option {
  return new Option('--trust-repository', 'do not look for programs that repositories configure');
}

/** The judge of the commands that run nothing: as the dispatcher's, where the directory is there to be looked at. */
export function judgeOf(rules: RuleSet, { env }: Pick<Io, 'env'>, trusts: boolean): Judge {
  const judge = createJudge(rules);
  return trusts ? judge : createProbingJudge(judge, { probe: probeRepository, environment: env });
}
