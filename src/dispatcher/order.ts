import type { Allowance } from '../classifier/allowance.ts';
import type { Judge } from '../classifier/judgement.ts';
import type { Environment } from './environment.ts';
import type { Platform } from './platform.ts';
import type { ProfileTable } from './profiles.ts';
import type { RepositoryProbe } from './repository-probe.ts';
import type { ToolIdentity } from './tool-identity.ts';
import type { LockRequest, Mode, Scope } from './types.ts';

/** A command as it was added: complete, with an absolute directory. */
export type Order = {
  readonly command: string;
  readonly cwd: string;
  readonly env: Environment;
  readonly lockKeys: readonly LockRequest[];
  /** The caller gives its word that it may run beside others that share none of its exclusive keys. */
  readonly vouched?: boolean;
};

/** How the commands of a batch are judged. */
export type Terms = { readonly mode: Mode; readonly allow: Allowance; readonly scope: Scope };

/** What every command is judged with. */
export type Assessor = {
  readonly judge: Judge;
  readonly profiles: ProfileTable;
  readonly base: Environment;
  /** The markers of the commands that this process itself is part of. */
  readonly lineage: string | undefined;
  readonly platform: Platform;
  readonly identity: ToolIdentity;
  readonly allowUnprovenPlatform: boolean;
  /** Null where every repository is trusted. */
  readonly probe: RepositoryProbe | null;
  /** Where a directory that a text changes to must lie; null: anywhere. */
  readonly roots: readonly string[] | null;
  /** The embedder's word on that; null: none. */
  readonly mayRunIn: ((directory: string) => boolean) | null;
};
