import { spawn as nodeSpawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { type Allowance, checkAllowance, strictest } from '../classifier/allowance.ts';
import type { Judge } from '../classifier/judgement.ts';
import { checkNames, namesOf } from '../classifier/option-names.ts';
import type { RuleSet } from '../classifier/rule-set.ts';
import { MODES, readApproval, redactorsOf } from './batch-options.ts';
import { checkDirectory, DAY_MS } from './command-input.ts';
import { baseEnvironment } from './environment.ts';
import { createJudge } from './judge.ts';
import type { KeyedLock } from './keyed-lock.ts';
import { createMarkerSearch } from './marker-search.ts';
import { readMaxParallel } from './max-parallel.ts';
import { type Observe, observing } from './observation.ts';
import { count, hook, invalid, NO_LIMIT, oneOf } from './option-checks.ts';
import type { Assessor } from './order.ts';
import { systemPipes } from './pipe-source.ts';
import { type Platform, probePlatform } from './platform.ts';
import { MARKER_VARIABLE, type ProcessTable, systemProcesses } from './process-table.ts';
import { type ProfileTable, profilesOf } from './profiles.ts';
import { probeRepository } from './repository-probe.ts';
import type { OrphanPolicy, RunnerDeps, Spawn } from './runner.ts';
import { createSlots, type Slots } from './slots.ts';
import type { Retention } from './store.ts';
import { ANY_TOOL, createToolIdentity, knownTools } from './tool-identity.ts';
import { type Owner, toolLocks } from './tool-locks.ts';
import type { ApproveHook, AsksApproval, BeforeHook, Mode, Redact } from './types.ts';

export type DispatcherLimits = {
  /** Commands of one batch that run at once, 1 to 256. Default 10, or SIGNALBOX_MAX_PARALLEL. */
  readonly maxParallel: number;
  /** Commands of all batches that run at once, 1 to 4,096. Default 32. */
  readonly processLimit: number;
  /** Commands of one batch. Default: no limit. */
  readonly maxCommands: number;
  /** Batches that have not ended. Default: no limit. */
  readonly maxLiveBatches: number;
  /** Commands of all batches that have not started. Default: no limit. */
  readonly maxQueuedCommands: number;
  /** Milliseconds that a command may run unless it says otherwise, 1 to 86,400,000. Default 600,000. */
  readonly timeoutMs: number;
  /** Milliseconds that a batch may take unless it says otherwise, 1 to 86,400,000. Default 1,800,000. */
  readonly deadlineMs: number;
  /** Bytes kept of what one command prints on both streams. Default 1,048,576. */
  readonly maxOutputBytesPerCommand: number;
  /** Bytes kept of what all commands of a batch print. Default 8,388,608. */
  readonly maxOutputBytesPerBatch: number;
  /** Milliseconds between the request to end and the end by force. Default 2,000. */
  readonly graceMs: number;
  /** Milliseconds of silence after which a pipe that a child keeps open is given up. Default 200. */
  readonly drainMs: number;
};

export type DispatcherOptions = {
  /** Rules that `loadRules` made. They give the judge and the profiles where those are not given. */
  readonly rules?: RuleSet;
  readonly judge?: Judge;
  readonly profiles?: ProfileTable;
  /** Orders its batches, and those of all that share it. Default: `toolLocks`, the one of this process. */
  readonly lock?: KeyedLock<Owner>;
  /** Share one to count the commands of several dispatchers together; then `processLimit` does not count. */
  readonly slots?: Slots;
  /** What commands may see. Default: the process's environment. Always without what makes bash run something. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Directory of batches that name none. Default: the process's. */
  readonly cwd?: string;
  readonly limits?: Partial<DispatcherLimits>;
  /** Processes that a command leaves behind are ended after `drainMs`, or left alone and named. Default `kill`. */
  readonly orphans?: OrphanPolicy;
  /** Believe the verdicts where nothing is proved. Default false. */
  readonly allowUnprovenPlatform?: boolean;
  /** Do not look for programs, fetches and odd layouts that repositories configure (`probeRepository`). Default false. */
  readonly trustRepository?: boolean;
  /** How the texts of batches are read that do not say. Default `simple`. */
  readonly mode?: Mode;
  /**
   * Absolute real directories, of which one must hold the directory that a proved text changes to. Default: anywhere that
   * `mayRunIn` allows.
   */
  readonly roots?: readonly string[];
  /** Which readers may be parallel; a batch can take away more, and give nothing back. Default: all. */
  readonly allow?: Allowance;
  /** Absolute path of the bash that runs texts. Default: the first that is found. */
  readonly bash?: string;
  readonly platform?: Platform;
  /** Ended batches that `get` still knows. Default: 100, for an hour, within 268,435,456 bytes. */
  readonly retention?: Partial<Retention>;
  /**
   * Asked right before each start with the real path of the command's directory, which may have become another one since
   * the command was added. Where the answer is no, or it throws, the command is `failed`. Default: anywhere.
   */
  readonly mayRunIn?: (directory: string) => boolean;
  /** Sees every command of the batches that give none of their own. Default: none. */
  readonly before?: BeforeHook;
  /** Which commands need approval, in the batches that do not say, besides those that ask for it themselves. Default: none. */
  readonly approval?: 'required' | AsksApproval;
  /** Gives it, in the batches that have no such hook. Default: none; whoever has the batch answers. */
  readonly approve?: ApproveHook;
  /** Takes out of what commands print what nobody may see, before it is kept, cut or told, in all batches. Default: nothing. */
  readonly redact?: Redact;
  /** Told at once of all that happens, for counting; called in the midst of it, so it must be quick and not call back. */
  readonly observe?: Observe;
  /** Milliseconds of the epoch. Default: a clock that never goes back. */
  readonly now?: () => number;
  /** Ids of batches. Default: random UUIDs. */
  readonly newId?: () => string;
  readonly spawn?: Spawn;
  readonly processes?: ProcessTable;
};

/** Checked, complete and frozen. */
export type Settings = {
  readonly assessor: Assessor;
  readonly mode: Mode;
  readonly allow: Allowance;
  readonly lock: KeyedLock<Owner>;
  readonly slots: Slots;
  readonly runner: RunnerDeps;
  readonly cwd: string;
  readonly limits: DispatcherLimits;
  readonly orphans: OrphanPolicy;
  readonly retention: Retention;
  readonly mayRunIn: ((directory: string) => boolean) | null;
  readonly before: BeforeHook | null;
  readonly approval: 'required' | AsksApproval | null;
  readonly approve: ApproveHook | null;
  readonly redactors: readonly Redact[];
  readonly observe: Observe;
  readonly now: () => number;
  readonly newId: () => string;
};

const NAMES = namesOf<DispatcherOptions>({
  rules: true,
  judge: true,
  profiles: true,
  lock: true,
  slots: true,
  environment: true,
  cwd: true,
  limits: true,
  orphans: true,
  allowUnprovenPlatform: true,
  trustRepository: true,
  mode: true,
  roots: true,
  allow: true,
  bash: true,
  platform: true,
  retention: true,
  mayRunIn: true,
  before: true,
  approval: true,
  approve: true,
  redact: true,
  observe: true,
  now: true,
  newId: true,
  spawn: true,
  processes: true,
});

const RETENTION_NAMES = namesOf<Retention>({ maxBatches: true, maxAgeMs: true, maxBytes: true });

const MAX_BYTES = 1_073_741_824;

const ORPHANS: readonly OrphanPolicy[] = ['kill', 'keep'];

/** @throws SignalboxError OPTION_INVALID, saying what was expected and what came; DIRECTORY_MISSING. */
export function readDispatcherOptions(options: DispatcherOptions): Settings {
  checkNames(options, NAMES, 'createDispatcher');
  const { rules, mode = 'simple', now = monotonic, newId = randomUUID, orphans = 'kill' } = options;
  const { roots = null, mayRunIn = null, allowUnprovenPlatform = false, trustRepository = false } = options;
  const judge = options.judge ?? (rules === undefined ? undefined : createJudge(rules));
  if (typeof judge !== 'function') throw invalid('rules or a judge', options.judge);
  oneOf('mode', mode, MODES);
  oneOf('orphans', orphans, ORPHANS);
  if (typeof allowUnprovenPlatform !== 'boolean')
    throw invalid('allowUnprovenPlatform to be true or false', allowUnprovenPlatform);
  if (typeof trustRepository !== 'boolean') throw invalid('trustRepository to be true or false', trustRepository);
  checkAllowance(options.allow);
  if (mayRunIn !== null && typeof mayRunIn !== 'function') throw invalid('mayRunIn to be a function', mayRunIn);
  if (roots !== null && !(Array.isArray(roots) && roots.every(isAbsolute))) {
    throw invalid('roots to be a list of absolute directories', roots);
  }
  const limits = readLimits(options.limits ?? {});
  const table = options.processes ?? systemProcesses;
  const base = baseEnvironment(options.environment ?? process.env);
  const platform = options.platform ?? probePlatform(options.bash);
  return Object.freeze({
    assessor: Object.freeze({
      judge,
      profiles: options.profiles ?? (rules === undefined ? new Map() : profilesOf(rules)),
      base,
      lineage: process.env[MARKER_VARIABLE],
      platform,
      identity: rules === undefined ? ANY_TOOL : createToolIdentity(knownTools(rules), base.PATH),
      allowUnprovenPlatform,
      probe: trustRepository ? null : probeRepository,
      roots: roots === null ? null : Object.freeze([...roots]),
      mayRunIn,
    }),
    mode,
    allow: strictest(options.allow, undefined),
    lock: options.lock ?? toolLocks,
    slots: options.slots ?? createSlots({ limit: limits.processLimit }),
    runner: Object.freeze({
      spawn: options.spawn ?? (nodeSpawn as unknown as Spawn),
      // A stand-in for `spawn` brings its own streams.
      pipes: options.spawn === undefined ? systemPipes() : null,
      table,
      findCarriers: createMarkerSearch(table),
      now,
    }),
    cwd: checkDirectory(resolve(options.cwd ?? process.cwd()), '/', '/cwd'),
    limits,
    orphans,
    retention: readRetention(options.retention ?? {}),
    mayRunIn,
    before: hook('before', options.before, null),
    approval: readApproval(options.approval, null),
    approve: hook('approve', options.approve, null),
    redactors: redactorsOf(options.redact),
    observe: observing(hook('observe', options.observe, null)),
    now,
    newId,
  });
}

function readRetention(given: Partial<Retention>): Retention {
  checkNames(given, RETENTION_NAMES, 'retention');
  const read = (name: keyof Retention, byDefault: number) =>
    count(`retention.${name}`, given[name] ?? byDefault, 0, NO_LIMIT);
  return Object.freeze({
    maxBatches: read('maxBatches', 100),
    maxAgeMs: read('maxAgeMs', 3_600_000),
    maxBytes: read('maxBytes', 268_435_456),
  });
}

function readLimits(given: Partial<DispatcherLimits>): DispatcherLimits {
  const read = (name: keyof DispatcherLimits, byDefault: number, least: number, most: number) =>
    count(`limits.${name}`, given[name] ?? byDefault, least, most);
  const limits: DispatcherLimits = Object.freeze({
    maxParallel: readMaxParallel(given.maxParallel, 'limits.maxParallel'),
    processLimit: read('processLimit', 32, 1, 4096),
    maxCommands: read('maxCommands', NO_LIMIT, 1, NO_LIMIT),
    maxLiveBatches: read('maxLiveBatches', NO_LIMIT, 1, NO_LIMIT),
    maxQueuedCommands: read('maxQueuedCommands', NO_LIMIT, 1, NO_LIMIT),
    timeoutMs: read('timeoutMs', 600_000, 1, DAY_MS),
    deadlineMs: read('deadlineMs', 1_800_000, 1, DAY_MS),
    maxOutputBytesPerCommand: read('maxOutputBytesPerCommand', 1_048_576, 0, MAX_BYTES),
    maxOutputBytesPerBatch: read('maxOutputBytesPerBatch', 8_388_608, 0, MAX_BYTES),
    graceMs: read('graceMs', 2000, 0, DAY_MS),
    drainMs: read('drainMs', 200, 1, DAY_MS),
  });
  checkNames(given, new Set(Object.keys(limits)), 'limits');
  return limits;
}

function isAbsolute(path: unknown): boolean {
  return typeof path === 'string' && path.startsWith('/') && !path.includes('\0');
}

function monotonic(): number {
  return performance.timeOrigin + performance.now();
}
