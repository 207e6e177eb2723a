/** The `./dispatcher` entry: batches, the lock that orders them, and what a proved command's environment is made of. */
export type { Judge, Judgement } from '../classifier/judgement.ts';
export { SignalboxError } from '../errors.ts';
export type { AcquireOptions, Blocker, Held, KeyedLockOptions } from './acquire-options.ts';
export { isCallSafe, type ToolSafety } from './call-safety.ts';
export { createDispatcher } from './dispatcher.ts';
export { createJudge } from './judge.ts';
export { KeyedLock } from './keyed-lock.ts';
export { fileLockKey, pathKey, type Workspace, workspaceKeys } from './lock-keys.ts';
export type { HoldMode } from './lock-modes.ts';
export type { KeySnapshot, LockParty } from './lock-snapshot.ts';
export type { Observation, Observe } from './observation.ts';
export type { DispatcherLimits, DispatcherOptions } from './options.ts';
export { type Platform, probePlatform } from './platform.ts';
export { type Profile, type ProfileTable, profilesOf } from './profiles.ts';
export { createProbingJudge, type ProbeContext } from './repository-judge.ts';
export {
  createRepositoryProbe,
  type ProbedRepository,
  type ProbeOptions,
  probeRepository,
  type RepositoryProbe,
} from './repository-probe.ts';
export type { OrphanPolicy, Spawn, SpawnedProcess, SpawnOptions } from './runner.ts';
export { type SafeEnvironmentOptions, safeEnvironment } from './safe-environment.ts';
export { type ScheduledCall, type ScheduleOptions, type ScheduleResult, schedule } from './schedule.ts';
export type { ReleaseSlot, SlotPool } from './slot-pool.ts';
export { createSlots, type Slots } from './slots.ts';
export { StepGate } from './step-gate.ts';
export type { Retention } from './store.ts';
export { type Owner, toolLocks } from './tool-locks.ts';
export type * from './types.ts';
