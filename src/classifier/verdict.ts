/**
 * The answer of the classifier. `parallel` means proved; `serial` means everything else, and never "forbidden".
 * This file imports nothing: it is the contract that every other part shares.
 */

/** How a proved command must be run for the proof to hold. */
export type Run =
  /** Without a shell, from exactly these words. `env` is what the profile sets, and the listed leading assignments. */
  | { readonly form: 'argv'; readonly argv: readonly string[]; readonly env: Readonly<Record<string, string>> }
  /** The text itself, in a pinned bash with LC_CTYPE=C.UTF-8: globs and builtins. */
  | { readonly form: 'bash' };

/** Which entry of which rule file proved it. `origin` tells a built-in entry from one of the user's. */
export type RuleRef = {
  readonly binary: string;
  /** The path to the node that decided, as words: `git remote get-url`. */
  readonly path: string;
  readonly origin: 'built-in' | 'user' | 'override';
};

/** What the command does besides printing; see rule-format in docs/rules.md. */
export type Effect =
  | 'reads-files'
  | 'reads-repository'
  | 'reads-processes'
  | 'reads-environment'
  | 'reads-clock'
  | 'talks-to-daemon'
  | 'reads-network'
  | 'temporary-files'
  | 'own-log'
  | 'own-cache'
  | 'configured-programs';

/** One simple command of a compound: a stage of a pipeline, or a member of a list. */
export type Part = {
  /** From its first word or redirection to its last, half-open, in UTF-16 code units of the command. */
  readonly span: readonly [start: number, end: number];
  readonly rule: readonly RuleRef[];
  /** The profile that its rule presumes; `generic` when the rule names none. */
  readonly profile: string;
  readonly effects: readonly Effect[];
  /** What it may read: the null device, or the output of the stage before it. */
  readonly stdin: 'null' | 'pipe';
};

/** What the proof takes for granted because nobody looked. */
export type Assumption =
  /** No configured driver, filter or layout changes what the read does. */
  | 'repository-plain'
  /** No file has new times and its old content: git would then record the times, and the profile keeps it from that. */
  | 'index-fresh';

/** The check that refused. `input` is about the call (not a string), `environment` about what surrounds the command. */
export type Check = 'input' | 'metacharacters' | 'leading-token' | 'subcommand' | 'environment';

/** Closed union and public API: every code has an anchor in docs/verdicts.md. Within each check, roughly in the order asked. */
export const REASON_CODES = [
  // input
  'INPUT_NOT_TEXT',
  'TEXT_EMPTY',
  'TEXT_TOO_LONG',
  'WORDS_TOO_MANY',
  'PARTS_TOO_MANY',
  // metacharacters
  'TEXT_NEWLINE',
  'TEXT_CONTROL',
  'TEXT_NOT_WELL_FORMED',
  'TEXT_INVISIBLE',
  'TEXT_BLANK',
  'TEXT_OPERATOR',
  'TEXT_REDIRECTION',
  'TEXT_EXPANSION',
  'TEXT_TILDE',
  'TEXT_BRACE',
  'TEXT_COMMENT',
  'TEXT_HISTORY',
  'TEXT_ASSIGNMENT',
  'TEXT_KEYWORD',
  'TEXT_QUOTE_OPEN',
  'TEXT_BACKSLASH',
  'TEXT_GLOB',
  'TEXT_BACKGROUND',
  'TEXT_PIPE_ERRORS',
  'TEXT_GROUP',
  'TEXT_HERE_DOCUMENT',
  'TEXT_PART_EMPTY',
  // leading token
  'COMMAND_NOT_PLAIN',
  'COMMAND_UNKNOWN',
  'COMMAND_REFUSED',
  'COMPOUND_ONLY',
  'CD_NOT_LEADING',
  'CD_TARGET',
  // subcommand and shape
  'SUBCOMMAND_MISSING',
  'SUBCOMMAND_UNKNOWN',
  'OPTION_UNKNOWN',
  'OPTION_QUOTED',
  'OPTION_FORM',
  'OPTION_VALUE_MISSING',
  'OPTION_REQUIRED',
  'OPTION_CONFLICT',
  'VALUE_REFUSED',
  'OPERAND_REFUSED',
  'OPERAND_MISSING',
  'OPERAND_UNEXPECTED',
  'OPERAND_QUOTED_OPTION',
  'OPERAND_SUBSCRIPT',
  'EXPRESSION_REFUSED',
  'PATH_DEVICE',
  'GLOB_REFUSED',
  'STDIN_READ',
  'PROGRAM_REFUSED',
  'DELEGATE_REFUSED',
  'NAMES_REFUSED',
  // environment
  'SECOND_READING',
  'DIRECTORY_DEVICE',
  'CD_OUTSIDE_ROOTS',
  'CD_UNCERTAIN',
  'VARIABLE_UNKNOWN',
  'PROFILES_CONTRADICT',
  'ENVIRONMENT_SHOWN',
  'EFFECT_REFUSED',
  'REPOSITORY_UNREADABLE',
  'REPOSITORY_LAYOUT',
  'REPOSITORY_PARTIAL',
  'REPOSITORY_CONFIGURED',
  'REPOSITORY_STALE',
  'PROGRAM_UNTRUSTED',
  'OPERAND_NOT_REGULAR',
  'PLATFORM_UNPROVEN',
] as const;

export type ReasonCode = (typeof REASON_CODES)[number];

/** The codes of what a probe of a repository can find. */
export type RepositoryCode = Extract<ReasonCode, `REPOSITORY_${string}`>;

/** Why a command is serial, and where in its text. */
export type Reason = {
  readonly check: Check;
  readonly code: ReasonCode;
  /** "We do not know this", or "we know that this writes, executes, locks or blocks". It explains; it never decides. */
  readonly knowledge: 'unrecognised' | 'known-unsafe';
  /** Half-open, in UTF-16 code units of the command. */
  readonly span: readonly [start: number, end: number];
  /** One sentence for a person. */
  readonly message: string;
  readonly rule?: RuleRef;
  /** What would make it parallel, when that can be said. */
  readonly hint?: string;
};

export type Verdict =
  | {
      readonly kind: 'parallel';
      readonly run: Run;
      /**
       * The name of the environment that the proof presumes; `generic` when the rule names none. Of a compound: the
       * distinct names of its parts in code-unit order, joined with `+`, without `generic` where another stands there.
       */
      readonly profile: string;
      readonly rule: readonly RuleRef[];
      readonly effects: readonly Effect[];
      readonly assumes: readonly Assumption[];
      /** Present exactly when the text was judged as a compound; `rule`, `effects` and `assumes` are then the unions. */
      readonly parts?: readonly Part[];
      /** The content hash of the rule set that proved it. */
      readonly ruleset: string;
    }
  | { readonly kind: 'serial'; readonly reason: Reason; readonly ruleset: string };
