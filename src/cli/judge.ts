import { Option } from 'commander';
import type { Allowance } from '../classifier/allowance.ts';
import type { Judge } from '../classifier/judgement.ts';
import type { RuleSet } from '../classifier/rule-set.ts';
import { createJudge } from '../dispatcher/judge.ts';
import { createProbingJudge } from '../dispatcher/repository-judge.ts';
import { probeRepository } from '../dispatcher/repository-probe.ts';
import type { Io } from './io.ts';

/** What the command line read for every command that judges. */
export type JudgeFlags = {
  readonly trustRepository?: true;
  /** True unless `--no-network` stands there. */
  readonly network: boolean;
  /** True unless `--no-daemon` stands there. */
  readonly daemon: boolean;
};

/** `--trust-repository`, known to every command that judges. */
export function trustOption(): Option {
  return new Option('--trust-repository', 'do not look for programs that repositories configure');
}

/** `--no-network`, known to every command that judges. */
export function noNetworkOption(): Option {
  return new Option('--no-network', 'readers of the network are serial');
}

/** `--no-daemon`, known to every command that judges. */
export function noDaemonOption(): Option {
  return new Option('--no-daemon', 'readers that ask a daemon are serial');
}

/** What the flags allow. */
export function allowanceOf({ network, daemon }: Pick<JudgeFlags, 'network' | 'daemon'>): Allowance {
  return { network, daemon };
}

/** The judge of the commands that run nothing: as the dispatcher's, where the directory is there to be looked at. */
export function judgeOf(rules: RuleSet, { env }: Pick<Io, 'env'>, flags: JudgeFlags): Judge {
  const judge = createJudge(rules, allowanceOf(flags));
  if (flags.trustRepository === true) return judge;
  return createProbingJudge(judge, { probe: probeRepository, environment: env });
}
