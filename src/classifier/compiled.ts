import type { Kind } from './kinds.ts';
import type { Syntax } from './syntax.ts';
import type { Assumption, Effect, RuleRef, Run } from './verdict.ts';

/**
 * Rule files as the classifier asks them: everything that depends on the file alone is worked out once. Look-ups of
 * text from outside go through Map and Set only.
 */

/** What a word is in an expression of option-like words. */
export type Role = 'term' | 'open' | 'close' | 'not' | 'join' | 'leading';

export type OptionRule = {
  /** The same for all spellings of one option, and unlike any other option of the node. */
  readonly id: number;
  readonly spellings: readonly string[];
  /** Null for a switch. */
  readonly value: Kind | null;
  readonly optional: boolean;
  readonly form: 'any' | 'joined' | 'spaced';
  /** A shape asks whether it is there. */
  readonly related: boolean;
  readonly role: Role;
  /** A user loosened a built-in entry with it. */
  readonly override: boolean;
};

/** One item of a usage line. */
export type Item = { readonly kind: Kind; readonly least: number; readonly most: number };

/** The operands on one side of `--`. */
export type Usage = {
  readonly items: readonly Item[];
  /** How many words it needs at least; without its last item, `leastBeforeLast`. */
  readonly least: number;
  readonly leastBeforeLast: number;
};

/** `named`: where a word is `-`, and nowhere else. */
export type Stdin = 'never' | 'named' | 'unless-operand' | 'always';

/** With these options, without those, these operands: parallel. */
export type ShapeRule = {
  /** Of each list of ids one must be there. */
  readonly with: readonly (readonly number[])[];
  readonly without: readonly number[];
  /** One usage, or those before and after `--`. */
  readonly parts: readonly Usage[];
  readonly globs: boolean;
  readonly stdin: Stdin;
  readonly override: boolean;
};

export type DelegateRule = {
  readonly command: string;
  /** These words and no others (`NUMBER`: digits), or null: they end with `--`, and the inner reading has passed it. */
  readonly exactly: readonly string[] | null;
  /**
   * The rules of listings, as paths, behind one of which alone it may stand, with nothing between them; null: behind all
   * that its node lists.
   */
  readonly after: ReadonlySet<string> | null;
  /** Options of its node with which it is not run. */
  readonly without: ReadonlySet<string>;
};

/** With one of these options names end with NUL, with one of the others some end with a newline nevertheless. */
export type NulRule = { readonly with: ReadonlySet<string>; readonly unless: ReadonlySet<string> };

/** Rules, as paths, each with the options that it may have, and those with the values that they may have, null for any. */
export type Feeders = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string> | null>>;

/** How terms of an expression may follow each other. */
export type ExpressionRule = { readonly implicitJoin: boolean; readonly operandsFirst: boolean };

export type NodeRule = {
  /** As words: `git remote get-url`. */
  readonly path: string;
  readonly syntax: Syntax;
  readonly options: ReadonlyMap<string, OptionRule>;
  /** The options of one dash and one ASCII character, by its code. */
  readonly letters: readonly (OptionRule | undefined)[];
  /** What `-20` is. */
  readonly number: OptionRule | null;
  /** Some options are words without a dash. */
  readonly bareOptions: boolean;
  /** What the program sees where one of them is typed, however it was quoted. */
  readonly bareTexts: ReadonlySet<string>;
  /** A word with a dash that is no option is an operand. */
  readonly dashesAreText: boolean;
  readonly subcommands: ReadonlyMap<string, NodeRule>;
  /** What it does with standard input while its options are read, and in shapes that do not say. */
  readonly stdin: Stdin;
  readonly shapes: readonly ShapeRule[];
  readonly delegates: readonly DelegateRule[];
  /** The rules, as paths, of stages before it that print names of files, and of those between that pass some of them on. */
  readonly after: Feeders;
  readonly through: Feeders;
  /** Of these, the rules that print a heading for each of several places, each with the options that keep it from that. */
  readonly headings: ReadonlyMap<string, ReadonlySet<string>>;
  /** By the paths of it and of who feeds it: how they are told to end names with NUL. Who is not there cannot be. */
  readonly nul: ReadonlyMap<string, NulRule>;
  readonly expression: ExpressionRule | null;
  /** Notes on words that are known to be unsafe. Asked only when the verdict is serial already. */
  readonly refuses: ReadonlyMap<string, string>;
  /** The same on operands that no shape takes. */
  readonly otherwise: string | null;
  /** The same for the node without a subcommand, where it cannot stand alone. */
  readonly bare: string | null;
  readonly proof: Proof;
  /** Made when it is asked for the first time: few nodes ever need it. */
  readonly advice: () => Advice;
};

/** What a person can be told of a node who wrote something else. Empty where there is nothing to tell. */
export type Advice = {
  /** The shapes as usage lines. */
  readonly shapes: string;
  /** The names of the subcommands. */
  readonly subcommands: string;
};

/** What a parallel verdict of a node says; shared by all of them, and frozen. */
export type Proof = {
  readonly rule: readonly RuleRef[];
  /** The same where the verdict rests on an entry with which a user loosened a built-in one. */
  readonly overridden: readonly RuleRef[];
  readonly effects: readonly Effect[];
  readonly assumes: readonly Assumption[];
  readonly wholeEnvironment: boolean;
  readonly profile: ProfileRule;
};

export type BinaryRule = {
  readonly name: string;
  readonly root: NodeRule;
  /** Words that are accepted as the sole argument, each with its proof. */
  readonly alone: ReadonlyMap<string, Proof>;
  readonly builtin: boolean;
  readonly compoundOnly: boolean;
  readonly resources: readonly string[];
  /** Programs that the binary may start itself, whatever it is asked. */
  readonly starts: readonly string[];
};

/** The environment that a proof presumes. */
export type ProfileRule = {
  readonly name: string;
  /** What the run sets, the generic part included. */
  readonly set: Extract<Run, { form: 'argv' }>['env'];
  /** The names that the run hands over from the base environment, the generic ones included. */
  readonly pass: ReadonlySet<string>;
  /** Names, or beginnings with a star behind them, that in the base would make the program answer something else. */
  readonly minds: readonly string[];
};

/** Everything `classify` asks. */
export type Rules = {
  readonly hash: string;
  readonly binaries: ReadonlyMap<string, BinaryRule>;
  /** Names without a rule that are known to be unsafe, each with what it does. Asked only when nothing else is known. */
  readonly never: ReadonlyMap<string, string>;
  /** Leading `NAME=VALUE`: the values that may stand behind each name. */
  readonly assignments: ReadonlyMap<string, ReadonlySet<string>>;
};
