import type { Judge } from '../classifier/judgement.ts';
import type { RuleSet } from '../classifier/rule-set.ts';
import { type Config, commandEnvironment } from '../config.ts';
import { createDispatcher } from '../dispatcher/dispatcher.ts';
import { createJudge } from '../dispatcher/judge.ts';
import type { Observe } from '../dispatcher/observation.ts';
import { createProbingJudge } from '../dispatcher/repository-judge.ts';
import { probeRepository } from '../dispatcher/repository-probe.ts';
import type { Dispatcher } from '../dispatcher/types.ts';
import { mayRunIn } from './directories.ts';

/**
 * The dispatcher that a configuration asks for. It starts commands in the roots only, whatever became of a directory
 * since it was named, and keeps no ended batch, because the service does. `observe` is that of the service's metrics.
 */
export function createServiceDispatcher(
  config: Config,
  rules: RuleSet,
  env: Readonly<Record<string, string | undefined>>,
  observe?: Observe,
): Dispatcher {
  const { limits, roots, allow, mode } = config;
  return createDispatcher({
    rules,
    environment: commandEnvironment(config, env),
    cwd: roots[0] ?? '/',
    trustRepository: config.repositories === 'trust',
    mode,
    roots,
    allow,
    limits: {
      maxParallel: limits.maxParallel,
      processLimit: limits.maxRunning,
      maxCommands: limits.maxCommands,
      maxLiveBatches: limits.maxLiveBatches,
      maxQueuedCommands: limits.maxQueuedCommands,
      timeoutMs: limits.timeoutMs,
      deadlineMs: limits.deadlineMs,
      maxOutputBytesPerCommand: limits.maxOutputBytes,
      maxOutputBytesPerBatch: limits.maxBatchOutputBytes,
    },
    retention: { maxBatches: 0 },
    ...(observe === undefined ? {} : { observe }),
    mayRunIn: (directory) => mayRunIn(directory, roots),
  });
}

/**
 * The judge of those who only ask. It looks at repositories inside the roots only: an answer must not tell what lies
 * elsewhere.
 */
export function createServiceJudge(
  config: Config,
  rules: RuleSet,
  env: Readonly<Record<string, string | undefined>>,
): Judge {
  const judge = createJudge(rules, config.allow);
  if (config.repositories === 'trust') return judge;
  const environment = commandEnvironment(config, env);
  return createProbingJudge(judge, { probe: probeRepository, environment, roots: config.roots });
}
