import type { RuleSet } from '../classifier/rule-set.ts';
import { type Config, commandEnvironment } from '../config.ts';
import { createDispatcher } from '../dispatcher/dispatcher.ts';
import type { Dispatcher } from '../dispatcher/types.ts';
import { mayRunIn } from './directories.ts';

/**
 * The dispatcher that a configuration asks for. It starts commands in the roots only, whatever became of a directory
 * since it was named, and keeps no ended batch, because the service does.
 */
export function createServiceDispatcher(
  config: Config,
  rules: RuleSet,
  env: Readonly<Record<string, string | undefined>>,
): Dispatcher {
  const { limits, roots } = config;
  return createDispatcher({
    rules,
    environment: commandEnvironment(config, env),
    cwd: roots[0] ?? '/',
    limits: {
      maxParallel: limits.maxParallel,
      processLimit: limits.maxRunning,
      maxLiveBatches: limits.maxLiveBatches,
      maxQueuedCommands: limits.maxQueuedCommands,
      timeoutMs: limits.timeoutMs,
      deadlineMs: limits.deadlineMs,
      maxOutputBytesPerCommand: limits.maxOutputBytes,
      maxOutputBytesPerBatch: limits.maxBatchOutputBytes,
    },
    retention: { maxBatches: 0 },
    mayRunIn: (directory) => mayRunIn(directory, roots),
  });
}
