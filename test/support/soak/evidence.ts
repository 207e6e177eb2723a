/**
 * What a soak leaves behind for its auditor. Nothing here comes from the product: the shapes are those that its
 * documentation promises on the wire, and what the clients know of what they asked.
 */

/** Finds the same faults in the same evidence, whoever wrote it. */
export type Finding = { readonly kind: FindingKind; readonly batch: string; readonly detail: string };

export type FindingKind =
  | 'sequence'
  | 'life'
  | 'result'
  | 'state'
  | 'exit'
  | 'verdict'
  | 'output'
  | 'bytes'
  | 'order'
  | 'overlap'
  | 'overtaking'
  | 'records'
  | 'seat'
  | 'left-over'
  | 'service';

/** What a stream must hold, to the byte. */
export type Expected =
  | { readonly kind: 'exact'; readonly text: string }
  /** `line` and LF again and again, cut to `bytes`. */
  | { readonly kind: 'flood'; readonly line: string; readonly bytes: number }
  | { readonly kind: 'starts'; readonly text: string }
  | { readonly kind: 'holds'; readonly text: string }
  /** What the last writer of that place left in its seat: `busy ID` or `free ID`. */
  | { readonly kind: 'seat'; readonly place: string }
  | { readonly kind: 'any' };

/** A key as the clients know it. Places are paths below the root, `.` is the root itself; a place covers what is below it. */
export type AskedKey = { readonly key: string; readonly mode: 'shared' | 'exclusive' };

/** One command as a client asked for it. */
export type Asked = {
  /** Of all commands of the soak. */
  readonly name: string;
  /** In its batch. */
  readonly id: string;
  readonly command: string;
  readonly fields: {
    readonly cwd?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly timeoutMs?: number;
    readonly stdin?: string;
    readonly lockKeys?: readonly AskedKey[];
  };
  /** `serial`: it writes, or nobody can know, so that a parallel verdict is a fault. */
  readonly verdict: 'parallel' | 'serial';
  /** What it works in, in the mode of its verdict. */
  readonly places: readonly string[];
  /** What it looks at besides. */
  readonly reads: readonly string[];
  readonly exits: readonly number[];
  readonly stdout: Expected;
  readonly stderr: Expected;
  /** It writes `B` when it begins and, unless it is killed or kills itself, `E` when it ends. */
  readonly records: 'none' | 'begin' | 'both';
};

/** An event as it came over the wire. */
export type WireEvent = {
  readonly seq: number;
  readonly batchId: string;
  readonly at: number;
  readonly type: string;
  readonly commandId?: string;
  readonly command?: string;
  readonly verdict?: { readonly kind: string };
  readonly stream?: string;
  readonly text?: string;
  readonly state?: string;
  readonly exitCode?: number | null;
  readonly signal?: string | null;
  readonly truncated?: { readonly stdoutBytes: number; readonly stderrBytes: number } | null;
  readonly ranMs?: number | null;
  readonly note?: string | null;
};

/** A result as it came over the wire. */
export type WireResult = {
  readonly id: string;
  readonly command: string;
  readonly verdict: { readonly kind: string };
  readonly state: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: { readonly stdoutBytes: number; readonly stderrBytes: number } | null;
  readonly ranMs: number | null;
  readonly note: string | null;
};

export type WireBatch = { readonly id: string; readonly state: string; readonly commands: readonly WireResult[] };

/** What one connection was told: the events behind number `after`. */
export type Reading = { readonly after: number; readonly events: readonly WireEvent[] };

export type BatchEvidence = {
  /** The clients' name for it. */
  readonly tag: string;
  /** Null when the client left before it learnt of one. */
  readonly batchId: string | null;
  readonly asked: readonly Asked[];
  readonly onFailure: 'continue' | 'stop' | 'cancel-siblings';
  readonly deadlineMs: number | null;
  /** A client asked for its end, or left and had said that this should end it. */
  readonly mayBeCancelled: boolean;
  /** The upload broke, so that only the first of them may have arrived. */
  readonly mayBeShort: boolean;
  readonly sentAt: number;
  readonly endedAt: number;
  readonly readings: readonly Reading[];
  /** Null with `batchId`. */
  readonly result: WireBatch | null;
};

/** What is kept of a command for the audit of all batches together. */
export type Trace = {
  readonly name: string;
  readonly batch: string;
  readonly index: number;
  readonly asked: Pick<Asked, 'places' | 'reads' | 'records'> & { readonly lockKeys: readonly AskedKey[] };
  /** False when no client was told of it; then it may have run or not. */
  readonly isKnown: boolean;
  readonly acceptedAs: 'parallel' | 'serial';
  /** By the verdict of its start; null when it never started. */
  readonly startedAs: 'parallel' | 'serial' | null;
  readonly acceptedAt: number;
  /** When it is known to stand in its queues. */
  readonly joinedAt: number | null;
  readonly startedAt: number | null;
  readonly finishedAt: number;
  readonly state: string;
  readonly seatRead: { readonly place: string; readonly text: string } | null;
};
