import { type Allowance, checkAllowance, strictest } from '../classifier/allowance.ts';
import { checkNames, namesOf } from '../classifier/option-names.ts';
import { checkDirectory, DAY_MS, isDuration } from './command-input.ts';
import { readMaxParallel } from './max-parallel.ts';
import { hook, invalid, oneOf } from './option-checks.ts';
import type { ApproveHook, AsksApproval, BatchOptions, BeforeHook, Mode, OnFailure, Redact, Scope } from './types.ts';

export const MODES: readonly Mode[] = ['simple', 'compound'];
const SCOPES: readonly Scope[] = ['workspace', 'host'];
const ON_FAILURE: readonly OnFailure[] = ['continue', 'stop', 'cancel-siblings'];

const BATCH_NAMES = namesOf<BatchOptions>({
  cwd: true,
  mode: true,
  allow: true,
  maxParallel: true,
  scope: true,
  onFailure: true,
  deadlineMs: true,
  inside: true,
  before: true,
  approval: true,
  approve: true,
  redact: true,
});

/** The options of a batch, checked and complete. */
export type BatchSettings = {
  readonly cwd: string;
  readonly mode: Mode;
  readonly allow: Allowance;
  readonly maxParallel: number;
  readonly scope: Scope;
  readonly onFailure: OnFailure;
  readonly deadlineMs: number;
  readonly before: BeforeHook | null;
  readonly approval: 'required' | AsksApproval | null;
  readonly approve: ApproveHook | null;
  /** What lines of output go through, in this order. */
  readonly redactors: readonly Redact[];
};

/** What a batch has that says nothing of it. */
type Defaults = Pick<BatchSettings, 'cwd' | 'mode' | 'allow' | 'before' | 'approval' | 'approve' | 'redactors'> & {
  readonly limits: Pick<BatchSettings, 'maxParallel' | 'deadlineMs'>;
};

/** @throws SignalboxError OPTION_INVALID, DIRECTORY_MISSING. */
export function readBatchOptions(options: BatchOptions, defaults: Defaults): BatchSettings {
  checkNames(options, BATCH_NAMES, 'a batch');
  const { cwd, limits, allow } = defaults;
  const { mode = defaults.mode, scope = 'workspace', onFailure = 'continue', deadlineMs = limits.deadlineMs } = options;
  oneOf('mode', mode, MODES);
  oneOf('scope', scope, SCOPES);
  oneOf('onFailure', onFailure, ON_FAILURE);
  checkAllowance(options.allow);
  if (!isDuration(deadlineMs)) throw invalid(`deadlineMs to be an integer from 1 to ${DAY_MS}`, deadlineMs);
  return {
    cwd: checkDirectory(options.cwd, cwd, '/cwd'),
    mode,
    allow: strictest(allow, options.allow),
    maxParallel: readMaxParallel(options.maxParallel ?? limits.maxParallel, 'maxParallel'),
    scope,
    onFailure,
    deadlineMs,
    before: hook('before', options.before, defaults.before),
    approval: readApproval(options.approval, defaults.approval),
    approve: hook('approve', options.approve, defaults.approve),
    redactors: [...redactorsOf(options.redact), ...defaults.redactors],
  };
}

/** @throws SignalboxError OPTION_INVALID. */
export function readApproval(
  given: BatchOptions['approval'],
  byDefault: BatchSettings['approval'],
): BatchSettings['approval'] {
  if (given === undefined || given === 'required' || typeof given === 'function') return given ?? byDefault;
  throw invalid('approval to be "required" or a function', given);
}

/** @throws SignalboxError OPTION_INVALID. */
export function redactorsOf(redact: Redact | undefined): readonly Redact[] {
  const given = hook('redact', redact, null);
  return Object.freeze(given === null ? [] : [given]);
}
