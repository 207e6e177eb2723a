/** Made from the API document by `npm run generate`: change the schemas in src/http, not this. */

/** The commands that were sent, in that order */
export type Appended = {
  readonly batchId: string;
  readonly commands: readonly ({
    readonly id: string;
    /** It was in the batch before */
    readonly known: boolean;
  })[];
};

export type AppendRequest = {
  /** In the order that counts */
  readonly commands: readonly (string | Command)[];
};

export type ApprovalsRequest = {
  readonly approvals: readonly ({
    /** Of the command */
    readonly id: string;
    readonly decision: 'approve' | 'decline';
    /** Told in the event and, of a decline, in the result */
    readonly reason?: string;
  })[];
};

/** The commands stand in call order, always */
export type Batch = {
  readonly id: string;
  readonly state: BatchState;
  /** Nothing of it starts; what runs goes on */
  readonly paused: boolean;
  /** The commands that wait to be approved or declined, in call order */
  readonly asks: readonly string[];
  readonly createdAt: string;
  readonly commands: readonly CommandResult[];
};

/** `seq` counts from 1 without a gap; every event says whose it is */
export type BatchEvent = {
  readonly seq: number;
  readonly batchId: string;
  readonly at: number;
  readonly commandId: string;
  readonly type: 'accepted';
  readonly command: string;
  readonly verdict: Verdict;
  /** The command may still be changed before it starts */
  readonly provisional?: true;
} | {
  readonly seq: number;
  readonly batchId: string;
  readonly at: number;
  readonly commandId: string;
  readonly type: 'waiting';
  readonly waitsFor: readonly ({
    readonly batchId: string;
    readonly commandId: string;
  })[];
  readonly others?: number;
} | {
  readonly seq: number;
  readonly batchId: string;
  readonly at: number;
  readonly commandId: string;
  readonly type: 'started';
  readonly verdict: Verdict;
  readonly pid: number | null;
  /** The text that runs, where it is not the accepted one */
  readonly command?: string;
  /** The verdict is serial, and it runs beside others on the word of the caller */
  readonly vouched?: true;
} | {
  readonly seq: number;
  readonly batchId: string;
  readonly at: number;
  readonly commandId: string;
  readonly type: 'output';
  readonly stream: 'stdout' | 'stderr';
  readonly text: string;
  /** There when the piece is no UTF-8 */
  readonly encoding?: 'base64';
} | {
  readonly seq: number;
  readonly batchId: string;
  readonly at: number;
  readonly commandId: string;
  readonly type: 'finished';
  readonly state: CommandState;
  /** As bash reports it */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly truncated: Truncation;
  readonly queuedMs: number | null;
  readonly waitedMs: number | null;
  readonly ranMs: number | null;
  /** Why it did not run, or was ended */
  readonly note: string | null;
} | {
  readonly seq: number;
  readonly batchId: string;
  readonly at: number;
  readonly commandId: string;
  readonly type: 'asking';
  /** The text that would run, where it is not the accepted one */
  readonly command?: string;
} | {
  readonly seq: number;
  readonly batchId: string;
  readonly at: number;
  readonly commandId: string;
  readonly type: 'answered';
  readonly decision: 'approve' | 'decline';
  readonly reason?: string;
} | {
  readonly seq: number;
  readonly batchId: string;
  readonly at: number;
  readonly type: 'paused' | 'resumed';
} | {
  readonly seq: number;
  readonly batchId: string;
  readonly at: number;
  readonly type: 'batch-finished';
  readonly state: BatchState;
};

/** The options of a batch that comes in lines; only ever the first of them */
export type BatchHead = {
  readonly batch: {
    /** Absolute, or relative to the first root. Default: the first root */
    readonly cwd?: string;
    /** `compound` also proves lists and pipelines. Default: as the service is configured, which is `simple` */
    readonly mode?: 'simple' | 'compound';
    /** Which readers may be parallel, within what the service allows. Default: all that it does */
    readonly allow?: {
      readonly network?: boolean;
      readonly daemon?: boolean;
    };
    /** Commands of this batch that run at once */
    readonly maxParallel?: number;
    /** How far a serial command is alone: in its workspace, or among all commands of the service */
    readonly scope?: 'workspace' | 'host';
    /** What a command that ends with a non-zero code does to the rest. Default: `continue` */
    readonly onFailure?: 'continue' | 'stop' | 'cancel-siblings';
    /** Milliseconds for the whole batch, waiting included */
    readonly deadlineMs?: number;
    /** The batch takes more commands, at `/batches/{id}/commands`, until `/batches/{id}/close` */
    readonly open?: boolean;
    /** What becomes of the batch when the client of this request leaves before its answer. Default: `continue` */
    readonly onDisconnect?: 'continue' | 'cancel';
  };
};

export type BatchRequest = {
  /** Absolute, or relative to the first root. Default: the first root */
  readonly cwd?: string;
  /** `compound` also proves lists and pipelines. Default: as the service is configured, which is `simple` */
  readonly mode?: 'simple' | 'compound';
  /** Which readers may be parallel, within what the service allows. Default: all that it does */
  readonly allow?: {
    readonly network?: boolean;
    readonly daemon?: boolean;
  };
  /** Commands of this batch that run at once */
  readonly maxParallel?: number;
  /** How far a serial command is alone: in its workspace, or among all commands of the service */
  readonly scope?: 'workspace' | 'host';
  /** What a command that ends with a non-zero code does to the rest. Default: `continue` */
  readonly onFailure?: 'continue' | 'stop' | 'cancel-siblings';
  /** Milliseconds for the whole batch, waiting included */
  readonly deadlineMs?: number;
  /** The batch takes more commands, at `/batches/{id}/commands`, until `/batches/{id}/close` */
  readonly open?: boolean;
  /** What becomes of the batch when the client of this request leaves before its answer. Default: `continue` */
  readonly onDisconnect?: 'continue' | 'cancel';
  /** In the order that counts */
  readonly commands: readonly (string | Command)[];
};

export type BatchState = 'open' | 'running' | 'finished' | 'cancelled';

export type Capabilities = {
  readonly name: 'signalbox';
  readonly version: string;
  /** The content hash of the rule set */
  readonly ruleset: string;
  /** What this service can do; look for a token, never at the version */
  readonly capabilities: readonly string[];
  readonly modes: readonly string[];
  /** The one of a request that names none */
  readonly mode: string;
  readonly limits: Readonly<Record<string, number>>;
  /** How many ended batches are kept, for how long, in how many bytes */
  readonly retention: Readonly<Record<string, number>>;
};

export type ClassifyRequest = {
  /** Text; anything else is serial */
  readonly command?: string | number | boolean | null | readonly unknown[] | Readonly<Record<string, unknown>>;
  readonly commands?: readonly (string | number | boolean | null | readonly unknown[] | Question)[];
  /** `compound` also proves lists and pipelines. Default: as the service is configured, which is `simple` */
  readonly mode?: 'simple' | 'compound';
  /** Which readers may be parallel, within what the service allows. Default: all that it does */
  readonly allow?: {
    readonly network?: boolean;
    readonly daemon?: boolean;
  };
  /** Where it would run: absolute. It need not exist here. Default: the first root */
  readonly cwd?: string;
  /** Variables added for this command alone */
  readonly env?: Readonly<Record<string, string>>;
};

export type Command = {
  /** Unique in the batch. Default: `c1`, `c2` … by place */
  readonly id?: string;
  /** The text that would be given to `bash -c` */
  readonly command: string;
  /** Absolute, or relative to the directory of the batch */
  readonly cwd?: string;
  /** Variables added for this command alone */
  readonly env?: Readonly<Record<string, string>>;
  /** Milliseconds of running; waiting does not count */
  readonly timeoutMs?: number;
  /** Text for standard input. Default: the null device */
  readonly stdin?: string;
  /** What the command changes besides its workspace */
  readonly lockKeys?: readonly LockRequest[];
  /** The word of the caller that it may run beside others though nothing proves it. Takes an exclusive key in `lockKeys`, and a token with the scope `vouch` */
  readonly assume?: 'parallel';
  /** It runs only when it has been approved, at `/batches/{id}/approvals` */
  readonly approval?: 'required';
};

export type CommandResult = {
  readonly id: string;
  readonly command: string;
  readonly verdict: Verdict;
  /** The verdict is serial, and it runs beside others on the word of the caller */
  readonly vouched?: true;
  readonly state: CommandState;
  /** As bash reports it */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly truncated: Truncation;
  readonly queuedMs: number | null;
  readonly waitedMs: number | null;
  readonly ranMs: number | null;
  /** Why it did not run, or was ended */
  readonly note: string | null;
  /** What the texts are: as they were printed, or base64 of bytes that are no UTF-8 */
  readonly encoding: {
    readonly stdout: 'utf8' | 'base64';
    readonly stderr: 'utf8' | 'base64';
  };
  readonly stdout: string;
  readonly stderr: string;
  readonly orphans: readonly number[];
};

export type CommandState = 'queued' | 'waiting' | 'running' | 'exited' | 'failed' | 'timed-out' | 'cancelled' | 'skipped' | 'not-started' | 'interrupted';

export type Health = {
  readonly status: 'ok';
};

/** What became of a line: `taken` into the batch, `known` from before and not run again, or an `error`, behind which nothing is read */
export type LineRecord = {
  readonly batchId: string;
  /** Counts every line of the body from 1 */
  readonly line: number;
  readonly type: 'taken';
  readonly commandId: string;
} | {
  readonly batchId: string;
  /** Counts every line of the body from 1 */
  readonly line: number;
  readonly type: 'known';
  readonly commandId: string;
} | {
  readonly batchId: string;
  /** Counts every line of the body from 1 */
  readonly line: number;
  readonly type: 'error';
  readonly code: 'OPTION_INVALID' | 'RULES_INVALID' | 'CONFIG_INVALID' | 'REQUEST_INVALID' | 'BODY_NOT_JSON' | 'BODY_TOO_LARGE' | 'LINE_TOO_LONG' | 'MEDIA_TYPE_REFUSED' | 'NOT_ACCEPTABLE' | 'COMMANDS_EMPTY' | 'COMMANDS_TOO_MANY' | 'COMMAND_ID_DUPLICATE' | 'COMMAND_ID_CONFLICT' | 'COMMAND_HAS_NUL' | 'COMMAND_EMPTY' | 'TEXT_UNREPRESENTABLE' | 'DIRECTORY_MISSING' | 'DIRECTORY_OUTSIDE_ROOTS' | 'DIRECTORY_CONTAINS_ROOT' | 'HOST_REFUSED' | 'ORIGIN_REFUSED' | 'TOKEN_MISSING' | 'TOKEN_REFUSED' | 'TOKEN_EXPIRED' | 'SCOPE_MISSING' | 'CLASSIFY_ONLY' | 'BATCH_UNKNOWN' | 'BATCH_FOREIGN' | 'BATCH_GONE' | 'BATCHES_TOO_MANY' | 'STREAMS_TOO_MANY' | 'RATE_LIMITED' | 'QUEUE_FULL' | 'ROUTE_UNKNOWN' | 'METHOD_REFUSED' | 'URL_MALFORMED' | 'HTTP_MALFORMED' | 'HEADERS_TOO_LARGE' | 'REQUEST_TIMEOUT' | 'EXPECTATION_REFUSED' | 'VOUCH_WITHOUT_KEYS' | 'APPROVAL_UNKNOWN' | 'APPROVAL_CONFLICT' | 'BATCH_CLOSED' | 'SHUTTING_DOWN' | 'LIST_UNREADABLE' | 'ANSWER_UNEXPECTED' | 'BIND_FAILED' | 'LOCK_CYCLE' | 'LOCK_UPGRADE' | 'JOURNAL_FULL' | 'JOURNAL_FAILED' | 'JOURNAL_CORRUPT' | 'JOURNAL_HELD' | 'INTERNAL';
  readonly detail: string;
  /** A JSON pointer into the line */
  readonly pointer?: string;
  readonly hint?: string;
  readonly errors?: readonly ({
    readonly pointer?: string;
    readonly detail: string;
  })[];
};

/** A key in a mode; a bare string asks for the key exclusively */
export type LockRequest = string | {
  readonly key: string;
  readonly mode?: 'shared' | 'exclusive';
};

export type Locks = {
  /** Who waits for whom, the longest first */
  readonly waits: readonly ({
    /** Null for work besides commands */
    readonly batchId: string | null;
    readonly commandId: string | null;
    readonly waitingMs: number;
    /** They hold what it needs, or asked before it */
    readonly waitsFor: readonly ({
      /** Null for work besides commands */
      readonly batchId: string | null;
      readonly commandId: string | null;
    })[];
    /** There are others besides those */
    readonly andMore: boolean;
  })[];
  readonly moreWaits: number;
  /** The keys that are held; first those that are waited for */
  readonly keys: readonly ({
    readonly key: string;
    /** The hold that covers the key for those who are named */
    readonly inside: {
      /** Null for work besides commands */
      readonly batchId: string | null;
      readonly commandId: string | null;
    } | null;
    readonly holders: readonly LockUser[];
    readonly waiters: readonly LockUser[];
    readonly moreHolders: number;
    readonly moreWaiters: number;
  })[];
  readonly moreKeys: number;
};

export type LockUser = {
  /** Null for work besides commands */
  readonly batchId: string | null;
  readonly commandId: string | null;
  readonly mode: 'shared' | 'exclusive' | 'intention-shared' | 'intention-exclusive' | 'shared-intention-exclusive';
  /** Milliseconds since it got the key, or since it asked */
  readonly ageMs: number;
};

/** One simple command of a list or pipeline */
export type Part = {
  /** Half-open, in UTF-16 code units of the command */
  readonly span: readonly [number, number];
  readonly rule: readonly RuleRef[];
  readonly profile: string;
  readonly effects: readonly ('reads-files' | 'reads-repository' | 'reads-processes' | 'reads-environment' | 'reads-clock' | 'talks-to-daemon' | 'reads-network' | 'temporary-files' | 'own-log' | 'own-cache' | 'configured-programs')[];
  /** What it may read: nothing, or the output of the stage before it */
  readonly stdin: 'null' | 'pipe';
};

/** How a batch would run, at the moment of asking */
export type Plan = {
  /** Neighbours that overlap, and commands that are alone, in call order */
  readonly groups: readonly ({
    readonly kind: 'parallel' | 'serial';
    readonly commandIds: readonly string[];
  })[];
  readonly commands: readonly ({
    readonly id: string;
    readonly command: string;
    readonly verdict: Verdict;
    readonly locks: readonly PlannedLock[];
    /** The verdict is serial, and it runs beside others on the word of the caller */
    readonly vouched?: true;
  })[];
};

/** A key that the command would take, and how */
export type PlannedLock = string | {
  readonly key: string;
  readonly mode?: 'shared' | 'exclusive' | 'intention-shared' | 'intention-exclusive';
};

/** RFC 9457. Switch on `code`, never on a text */
export type Problem = {
  /** Where the code is explained */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  /** What was expected, what came, where */
  readonly detail: string;
  /** Names this one request, as the log does */
  readonly instance: string;
  readonly code: 'OPTION_INVALID' | 'RULES_INVALID' | 'CONFIG_INVALID' | 'REQUEST_INVALID' | 'BODY_NOT_JSON' | 'BODY_TOO_LARGE' | 'LINE_TOO_LONG' | 'MEDIA_TYPE_REFUSED' | 'NOT_ACCEPTABLE' | 'COMMANDS_EMPTY' | 'COMMANDS_TOO_MANY' | 'COMMAND_ID_DUPLICATE' | 'COMMAND_ID_CONFLICT' | 'COMMAND_HAS_NUL' | 'COMMAND_EMPTY' | 'TEXT_UNREPRESENTABLE' | 'DIRECTORY_MISSING' | 'DIRECTORY_OUTSIDE_ROOTS' | 'DIRECTORY_CONTAINS_ROOT' | 'HOST_REFUSED' | 'ORIGIN_REFUSED' | 'TOKEN_MISSING' | 'TOKEN_REFUSED' | 'TOKEN_EXPIRED' | 'SCOPE_MISSING' | 'CLASSIFY_ONLY' | 'BATCH_UNKNOWN' | 'BATCH_FOREIGN' | 'BATCH_GONE' | 'BATCHES_TOO_MANY' | 'STREAMS_TOO_MANY' | 'RATE_LIMITED' | 'QUEUE_FULL' | 'ROUTE_UNKNOWN' | 'METHOD_REFUSED' | 'URL_MALFORMED' | 'HTTP_MALFORMED' | 'HEADERS_TOO_LARGE' | 'REQUEST_TIMEOUT' | 'EXPECTATION_REFUSED' | 'VOUCH_WITHOUT_KEYS' | 'APPROVAL_UNKNOWN' | 'APPROVAL_CONFLICT' | 'BATCH_CLOSED' | 'SHUTTING_DOWN' | 'LIST_UNREADABLE' | 'ANSWER_UNEXPECTED' | 'BIND_FAILED' | 'LOCK_CYCLE' | 'LOCK_UPGRADE' | 'JOURNAL_FULL' | 'JOURNAL_FAILED' | 'JOURNAL_CORRUPT' | 'JOURNAL_HELD' | 'INTERNAL';
  /** A JSON pointer into the body */
  readonly pointer?: string;
  readonly hint?: string;
  /** Every fault that was found */
  readonly errors?: readonly ({
    readonly pointer?: string;
    readonly detail: string;
  })[];
};

export type Question = {
  /** Text; anything else is serial */
  readonly command: string | number | boolean | null | readonly unknown[] | Readonly<Record<string, unknown>>;
  readonly cwd?: string;
  /** Variables added for this command alone */
  readonly env?: Readonly<Record<string, string>>;
};

export type Reason = {
  readonly check: 'input' | 'metacharacters' | 'leading-token' | 'subcommand' | 'environment';
  readonly code: ReasonCode;
  readonly knowledge: 'unrecognised' | 'known-unsafe';
  /** Half-open, in UTF-16 code units of the command */
  readonly span: readonly [number, number];
  readonly message: string;
  readonly rule?: RuleRef;
  readonly hint?: string;
};

/** Why a command is serial; see docs/verdicts.md */
export type ReasonCode = 'INPUT_NOT_TEXT' | 'TEXT_EMPTY' | 'TEXT_TOO_LONG' | 'WORDS_TOO_MANY' | 'PARTS_TOO_MANY' | 'TEXT_NEWLINE' | 'TEXT_CONTROL' | 'TEXT_NOT_WELL_FORMED' | 'TEXT_INVISIBLE' | 'TEXT_BLANK' | 'TEXT_OPERATOR' | 'TEXT_REDIRECTION' | 'TEXT_EXPANSION' | 'TEXT_TILDE' | 'TEXT_BRACE' | 'TEXT_COMMENT' | 'TEXT_HISTORY' | 'TEXT_ASSIGNMENT' | 'TEXT_KEYWORD' | 'TEXT_QUOTE_OPEN' | 'TEXT_BACKSLASH' | 'TEXT_GLOB' | 'TEXT_BACKGROUND' | 'TEXT_PIPE_ERRORS' | 'TEXT_GROUP' | 'TEXT_HERE_DOCUMENT' | 'TEXT_PART_EMPTY' | 'COMMAND_NOT_PLAIN' | 'COMMAND_UNKNOWN' | 'COMMAND_REFUSED' | 'COMPOUND_ONLY' | 'CD_NOT_LEADING' | 'CD_TARGET' | 'SUBCOMMAND_MISSING' | 'SUBCOMMAND_UNKNOWN' | 'OPTION_UNKNOWN' | 'OPTION_QUOTED' | 'OPTION_FORM' | 'OPTION_VALUE_MISSING' | 'OPTION_REQUIRED' | 'OPTION_CONFLICT' | 'VALUE_REFUSED' | 'OPERAND_REFUSED' | 'OPERAND_MISSING' | 'OPERAND_UNEXPECTED' | 'OPERAND_QUOTED_OPTION' | 'OPERAND_SUBSCRIPT' | 'EXPRESSION_REFUSED' | 'PATH_DEVICE' | 'GLOB_REFUSED' | 'STDIN_READ' | 'PROGRAM_REFUSED' | 'DELEGATE_REFUSED' | 'NAMES_REFUSED' | 'SECOND_READING' | 'DIRECTORY_DEVICE' | 'CD_OUTSIDE_ROOTS' | 'CD_UNCERTAIN' | 'VARIABLE_UNKNOWN' | 'PROFILES_CONTRADICT' | 'ENVIRONMENT_SHOWN' | 'EFFECT_REFUSED' | 'REPOSITORY_UNREADABLE' | 'REPOSITORY_LAYOUT' | 'REPOSITORY_PARTIAL' | 'REPOSITORY_CONFIGURED' | 'REPOSITORY_STALE' | 'PROGRAM_UNTRUSTED' | 'OPERAND_NOT_REGULAR' | 'PLATFORM_UNPROVEN';

/** Which entry of which rule file decided */
export type RuleRef = {
  readonly binary: string;
  readonly path: string;
  readonly origin: 'built-in' | 'user' | 'override';
};

/** Bytes that were printed but not kept; null when nothing was cut */
export type Truncation = {
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
} | null;

/** `parallel` is proved; `serial` is everything else, and never means forbidden */
export type Verdict = {
  readonly kind: 'parallel';
  readonly run: {
    readonly form: 'argv';
    readonly argv: readonly string[];
    readonly env: Readonly<Record<string, string>>;
  } | {
    readonly form: 'bash';
  };
  readonly profile: string;
  readonly rule: readonly RuleRef[];
  readonly effects: readonly ('reads-files' | 'reads-repository' | 'reads-processes' | 'reads-environment' | 'reads-clock' | 'talks-to-daemon' | 'reads-network' | 'temporary-files' | 'own-log' | 'own-cache' | 'configured-programs')[];
  readonly assumes: readonly ('repository-plain' | 'index-fresh')[];
  /** There when the text was judged as a compound; the other fields are then the unions */
  readonly parts?: readonly Part[];
  readonly ruleset: string;
} | {
  readonly kind: 'serial';
  readonly reason: Reason;
  readonly ruleset: string;
};

export type Verdicts = {
  readonly verdicts: readonly Verdict[];
};
