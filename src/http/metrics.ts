import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Verdict } from '../classifier/verdict.ts';
import { REASON_CODES } from '../classifier/verdict.ts';
import type { Observation } from '../dispatcher/observation.ts';
import { toolLocks } from '../dispatcher/tool-locks.ts';
import { ERROR_CODES, type ErrorCode } from '../errors.ts';
import { countWaiters, type Locks } from './lock-view.ts';

/**
 * Figures for Prometheus, each server's its own. Every label comes from a closed list that stands in the code: no text of a
 * command, no path, no id and no name of a token is ever one.
 */
export type Metrics = {
  /** For the option `observe` of the dispatcher that the service runs. */
  readonly observe: (observation: Observation) => void;
  /** Counts the answer to a question without a batch. */
  readonly asked: (verdict: Verdict) => void;
  /** Counts a problem that a request was answered with. */
  readonly refused: (code: ErrorCode) => void;
  /** The text of this moment, and its media type. */
  readonly text: () => Promise<string>;
  readonly contentType: string;
};

export type MetricsOptions = {
  readonly version: string;
  readonly ruleset: string;
  /** The lock that the dispatcher takes. Default: `toolLocks`. */
  readonly lock?: Locks;
};

/** Seconds: from what a free lock takes to the longest that a batch may last by default. */
const SECONDS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60, 300, 1_800];

/** The code of a verdict that has none, since it is parallel. */
const NO_CODE = 'none';

type Asked = 'batch' | 'question';

/** What a label may say, by its name; a test holds every line of the text to it. */
export const LABELS: Readonly<Record<string, readonly string[]>> = Object.freeze({
  kind: ['parallel', 'serial'],
  code: [NO_CODE, ...REASON_CODES, ...ERROR_CODES],
  asked: ['batch', 'question'],
  state: [
    ...['waiting', 'running', 'open', 'finished'],
    ...['exited', 'failed', 'timed-out', 'cancelled', 'skipped', 'not-started', 'interrupted'],
  ],
  stream: ['stdout', 'stderr'],
});

export function createMetrics({ version, ruleset, lock = toolLocks }: MetricsOptions): Metrics {
  const registry = new Registry();
  const of = <Label extends string>(name: string, help: string, ...labelNames: Label[]) => ({
    name: `signalbox_${name}`,
    help,
    labelNames,
    registers: [registry],
  });

  new Gauge(of('info', 'Always 1: the version, and the content hash of the rules', 'version', 'ruleset')).set(
    { version, ruleset },
    1,
  );
  // A verdict takes less time than a counter with labels: they are tallied by code, and told when somebody looks.
  const verdicts: Readonly<Record<Asked, Map<string, number>>> = { batch: new Map(), question: new Map() };
  new Counter({
    ...of('verdicts_total', 'Verdicts on commands of batches and on questions', 'kind', 'code', 'asked'),
    collect() {
      this.reset();
      for (const [asked, tally] of Object.entries(verdicts)) {
        for (const [code, count] of tally)
          this.inc({ kind: code === NO_CODE ? 'parallel' : 'serial', code, asked }, count);
      }
    },
  });
  const commands = new Gauge(of('commands', 'Commands that wait to be started, and that run', 'state'));
  const ended = new Counter(of('commands_ended_total', 'Commands that have ended, by how', 'state'));
  const spawnFailures = new Counter(of('spawn_failures_total', 'Commands that could not be started'));
  const truncations = new Counter(of('truncations_total', 'Streams of commands that were not kept whole', 'stream'));
  const batches = new Gauge(of('batches', 'Batches that have not ended', 'state'));
  const batchesEnded = new Counter(of('batches_ended_total', 'Batches that have ended, by how', 'state'));
  const seconds = (name: string, help: string) => new Histogram({ ...of(name, help), buckets: SECONDS });
  const lockWait = seconds('lock_wait_seconds', 'From joining the queues to having every key of a command');
  const lockHold = seconds('lock_hold_seconds', 'From having every key of a command to giving them back');
  const problems = new Counter(of('problems_total', 'Requests that were answered with a problem', 'code'));
  new Gauge({
    ...of('lock_waiters', 'Commands, and other work, that stand in the queues of the lock'),
    collect() {
      this.set(countWaiters(lock.snapshot()));
    },
  });

  for (const state of ['waiting', 'running']) commands.set({ state }, 0);
  for (const state of ['open', 'running']) batches.set({ state }, 0);
  const answered = (asked: Asked, verdict: Verdict): void => {
    const code = verdict.kind === 'serial' ? verdict.reason.code : NO_CODE;
    verdicts[asked].set(code, (verdicts[asked].get(code) ?? 0) + 1);
  };

  /** How many batches take commands, and how many only end theirs. */
  let open = 0;
  let running = 0;
  const tellBatches = (): void => {
    batches.set({ state: 'open' }, open);
    batches.set({ state: 'running' }, running);
  };

  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    asked: (verdict) => answered('question', verdict),
    refused: (code) => problems.inc({ code }),
    observe: (told) => {
      switch (told.type) {
        case 'accepted':
          answered('batch', told.verdict);
          commands.inc({ state: 'waiting' });
          return;
        case 'waiting':
          return;
        case 'started':
          commands.dec({ state: 'waiting' });
          commands.inc({ state: 'running' });
          return;
        case 'finished':
          // Who has run has run for a time; nobody else has.
          commands.dec({ state: told.ranMs === null ? 'waiting' : 'running' });
          ended.inc({ state: told.state });
          if (told.state === 'failed' && told.ranMs === null) spawnFailures.inc();
          if ((told.truncated?.stdoutBytes ?? 0) > 0) truncations.inc({ stream: 'stdout' });
          if ((told.truncated?.stderrBytes ?? 0) > 0) truncations.inc({ stream: 'stderr' });
          return;
        case 'batch-opened':
          open += 1;
          tellBatches();
          return;
        case 'batch-closed':
          open -= 1;
          running += 1;
          tellBatches();
          return;
        case 'batch-finished':
          running -= 1;
          tellBatches();
          batchesEnded.inc({ state: told.state });
          return;
        case 'locks-granted':
          lockWait.observe(told.waitedMs / 1_000);
          return;
        case 'locks-freed':
          lockHold.observe(told.heldMs / 1_000);
          return;
      }
    },
  };
}
