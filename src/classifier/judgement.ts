import type { Allowance } from './allowance.ts';
import type { RuleSet } from './rule-set.ts';
import type { RepositoryCode, Verdict } from './verdict.ts';

/** Limits past which the answer is serial. */
export type Limits = {
  /** UTF-16 code units of one command. Default 16,384. */
  readonly maxChars: number;
  /** Words of one text, over all its parts. Default 512. */
  readonly maxWords: number;
  /** Simple commands of one text, a leading `cd` among them; asked in compound mode. Default 64. */
  readonly maxParts: number;
};

/** What a parser passes to one command: leading assignments are among the words. */
export type ReadWord = { readonly text: string; readonly glob: boolean };

/** One simple command of a compound, as it was read. */
export type ReadPart = {
  /** The operator before it; null for the first. */
  readonly joint: '&&' | '||' | ';' | '|' | null;
  readonly words: readonly ReadWord[];
  /** Descriptor, operator and target without blanks: `2>/dev/null`. */
  readonly redirections: readonly string[];
};

/**
 * An independent parser's opinion, asked only about text that the three checks accepted: true when it reads the same
 * words. It can take a yes away and never give one; throwing counts as false. Leading assignments are among the words.
 *
 * @param parts given for a compound, whose words all stand in `words`, one after the other. What ends with a last `;`
 * has no part for it.
 */
export type SecondReading = (command: string, words: readonly ReadWord[], parts?: readonly ReadPart[]) => boolean;

/** One thing found in a repository, or in the configuration that counts for it, that takes a yes away. */
export type RepositoryFinding = {
  readonly code: RepositoryCode;
  /** All reads that look at the repository, or only those whose rule says that they may start programs or look at the index. */
  readonly affects: 'every-read' | 'configured-programs' | 'index-reads';
  /** What and where, as a clause for a person. */
  readonly detail: string;
};

/** What a probe found. Nothing: the repository is plain, and reads of it rest on no assumption. */
export type RepositoryFacts = { readonly findings: readonly RepositoryFinding[] };

export type ClassifyOptions = {
  readonly rules: RuleSet;
  /** `compound` reads lists and pipelines too. Default `simple`. */
  readonly mode?: 'simple' | 'compound';
  /** The absolute directory the command would run in. Paths are normalised against it; one under /dev, /proc or /sys is serial. */
  readonly cwd?: string;
  /** Names of variables that the caller sets for this command alone. One that the profile does not know makes it serial. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * What a probe of the repositories that the command reads has found (`probeRepository`), merged over every directory
   * that the text names: the working directory, `cd`, `-C`. Without it a read of a repository assumes that it is plain,
   * and the verdict says so.
   */
  readonly repository?: RepositoryFacts;
  /** What `~/` stands for, absolute: `judge` then names such paths by where they lead. */
  readonly homeDirectory?: string;
  /** Absolute directories. When given, the target of a leading `cd` must lie, as a path, in one of them. */
  readonly roots?: readonly string[];
  /** Which readers may be parallel; one that may not is serial with the code EFFECT_REFUSED. Default: all. */
  readonly allow?: Allowance;
  readonly secondReading?: SecondReading;
  readonly limits?: Partial<Limits>;
};

/** A literal path or glob that stood as an operand or an option's value, as typed (not resolved). */
export type PathUse = {
  readonly text: string;
  readonly glob: boolean;
  /** `text` begins with `~/`, for which bash puts the home directory, and nobody told which that is. */
  readonly home?: true;
  /** Everything below it is opened too. */
  readonly walked?: true;
};

/** A leading `cd LITERAL &&`. */
export type DirectoryChange = {
  /** The target as typed (not resolved). */
  readonly text: string;
  /** The rest holds `;` or `||`, so that some of it may run though the change failed: both directories are judged. */
  readonly alsoHere: boolean;
};

/**
 * The verdict and what the dispatcher needs besides: where the command works and what it looks at. Filled in as far as
 * the reading came, also for serial commands (a writer with `-C DIR` still names its directory).
 */
export type Judgement = {
  readonly verdict: Verdict;
  /** Directories named by options that the rule marks `directory`, as typed, in order. */
  readonly directories: readonly string[];
  readonly paths: readonly PathUse[];
  /** Lock keys that the rule names besides the workspace: `docker-daemon`, `cluster`. */
  readonly resources: readonly string[];
  /** Programs that the binary may start itself; each is looked up as the command's own name is. */
  readonly starts: readonly string[];
  /** The leading names of all parts that bash does not answer itself, in order, each once: each is looked up on PATH. */
  readonly programs: readonly string[];
  /** Null when the text begins with no change of directory that may be followed. */
  readonly cd: DirectoryChange | null;
  /** True when the rule shows the environment (`env`): the run gets the whole base. */
  readonly wholeEnvironment: boolean;
};

/** What the dispatcher, the command line and the service call: `classify` with everything but the command bound. */
export type Judge = (
  command: string,
  context: {
    readonly cwd: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly mode?: 'simple' | 'compound';
    readonly repository?: RepositoryFacts;
    readonly allow?: Allowance;
    readonly roots?: readonly string[];
    readonly homeDirectory?: string;
  },
) => Judgement;
