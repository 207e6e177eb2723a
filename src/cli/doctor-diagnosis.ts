import type { ReasonCode } from '../classifier/verdict.ts';

/** What makes commands serial here, as a sentence about what was found and one about what it does. */
export type Finding = {
  readonly code: ReasonCode;
  readonly found: string;
  readonly serial: string;
};

/** What was found of one name that has a rule. */
export type ProgramState = {
  readonly name: string;
  /** The rule file. */
  readonly binary: string;
  /** `builtin`: bash answers it. `proved`: the program is the one of its rule. */
  readonly state: 'builtin' | 'proved' | 'missing' | 'serial';
  readonly path: string | null;
  /** The first line that it says of its version; null when it was not asked, or said nothing. */
  readonly version: string | null;
  /** Other files of the same name further along PATH, which are never run. */
  readonly shadowed: readonly string[];
  readonly code?: ReasonCode;
  readonly why?: string;
};

/** An entry of PATH. */
export type PathEntry = {
  readonly entry: string;
  readonly isThere: boolean;
  /** Why nothing that is found there is proved, as a clause; null when it may be. */
  readonly surprise: string | null;
};

/** A fact that makes nothing serial, and what it means. */
export type Fact = { readonly name: string; readonly value: string; readonly note: string | null };

/** A variable that profiles mind. */
export type VariableState = {
  /** A name, or a beginning of names with a star behind it. */
  readonly name: string;
  readonly profiles: readonly string[];
  /** The variables of that name, or beginning, that are set. */
  readonly set: readonly string[];
};

/** Everything that `signalbox doctor` looks at. */
export type Diagnosis = {
  readonly version: string;
  readonly ruleset: string;
  readonly cwd: string;
  readonly facts: readonly Fact[];
  readonly programs: readonly ProgramState[];
  readonly path: readonly PathEntry[];
  /** Those that the profiles of the rules mind, set or not. */
  readonly variables: readonly VariableState[];
  /** Empty: everything that the rules prove is proved here. */
  readonly findings: readonly Finding[];
};
