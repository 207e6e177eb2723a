import type { BinaryRule, NodeRule, Proof, Role, Rules, Stdin } from './compiled.ts';
import type { PathUse } from './judgement.ts';
import type { Kind } from './kinds.ts';
import type { Check, ReasonCode } from './verdict.ts';
import type { Word } from './word.ts';

/** Why a command is not proved. Sentences are made of it later, and only when it is the answer. */
export type Refusal = {
  readonly check: Check;
  readonly code: ReasonCode;
  readonly start: number;
  readonly end: number;
  /** The node that was asked. */
  readonly node: NodeRule | null;
  /** The kind of value that would have been accepted, or the variable that is not known. */
  readonly expected: string | null;
  /** What is known against it, where its node does not say so by the word. */
  readonly note?: string;
};

/** What a command finds where it reads: nothing that ends, the null device because it says so, or the stage before it. */
export type Input = 'none' | 'null' | 'pipe';

/** Words that are a command of their own, run by the one that was read. */
export type Delegation = { readonly node: NodeRule; readonly name: Word; readonly operands: readonly Word[] };

/** An option that was there: the value is null where it has none. */
export type UsedOption = { readonly spellings: readonly string[]; readonly role: Role; value: string | null };

/** Whether one of these spellings is among the options that were there. */
export function usesAny(options: readonly UsedOption[], listed: ReadonlySet<string>): boolean {
  return options.some(({ spellings }) => spellings.some((one) => listed.has(one)));
}

/** What one reading of a command collects on its way through the rules. */
export type Reading = {
  readonly rules: Rules;
  readonly input: Input;
  /** The stages before it in its pipeline; null when nobody told. */
  feeders: readonly Reading[] | null;
  /** The options that were there, in their order. */
  readonly options: UsedOption[];
  /** It reads standard input. */
  readsInput: boolean;
  /** Its output is not all that it prints, or not only that: errors among the names, or names among the errors. */
  mixesOutput: boolean;
  /** What it names as a part of a compound: it may read that instead of its input, and print it. */
  named: readonly PathUse[];
  /** Whether it may read standard input. */
  readonly piped: boolean;
  /** Where the command starts, and where its options have led it since; see paths.ts. */
  readonly home: string;
  base: string;
  /** All that the lexer read, with the command's name. */
  words: readonly Word[];
  binary: BinaryRule | null;
  readonly directories: string[];
  readonly paths: PathUse[];
  /** An operand holds a glob, so only bash can run it. */
  globs: boolean;
  /** `--` has ended the options. */
  ended: boolean;
  /** An entry that loosens a built-in one was used. */
  override: boolean;
  /** Set when a shape fitted. */
  proof: Proof | null;
  /** Set instead of a proof when a command remains to be judged, and the binary that it is of. */
  delegation: Delegation | null;
  delegate: BinaryRule | null;
};

/** The lists that the parts of one text share. */
export type Named = Pick<Reading, 'directories' | 'paths'>;

export function startReading(
  rules: Rules,
  home: string,
  input: Input,
  { directories, paths }: Named = { directories: [], paths: [] },
): Reading {
  return {
    rules,
    input,
    feeders: null,
    options: [],
    readsInput: false,
    mixesOutput: false,
    named: [],
    piped: input !== 'none',
    home,
    base: home,
    words: [],
    binary: null,
    directories,
    paths,
    globs: false,
    ended: false,
    override: false,
    proof: null,
    delegation: null,
    delegate: null,
  };
}

/** A refusal of a stretch of the text, before or after the third check. */
export function refuseText(
  check: Check,
  code: ReasonCode,
  start: number,
  end: number,
  expected: string | null = null,
): Refusal {
  return { check, code, start, end, node: null, expected };
}

/** A refusal of the third check, at a word. */
export function refuse(code: ReasonCode, word: Word, node: NodeRule, expected: string | null = null): Refusal {
  return { check: 'subcommand', code, start: word.start, end: word.end, node, expected };
}

/** A refusal of a word that is no such value. */
export function refuseValue(code: ReasonCode, word: Word, node: NodeRule, kind: Kind): Refusal {
  return { ...refuse(code, word, node, kind.name), ...(kind.otherwise !== undefined && { note: kind.otherwise }) };
}

/** A refusal of a word of which bash makes another text: names of files, or a place in the home directory. */
export function refuseExpansion(word: Word, node: NodeRule): Refusal {
  if (word.home !== true) return refuse('GLOB_REFUSED', word, node);
  return refuseText('metacharacters', 'TEXT_TILDE', word.start, word.start + 1);
}

/**
 * Holds a text against a kind, and notes what it names. Whether an option that names a directory really moves the
 * command there is the program's business, so a path has to be fine from both.
 *
 * @param stdin what is done with standard input here.
 * @param operand the word it is of, where that is an operand.
 */
export function takeText(
  reading: Reading,
  kind: Kind,
  text: string,
  stdin: Stdin,
  operand: Word | null,
): ReasonCode | null {
  // To who never reads its input `-` is something else: a file of that name, or a list of names to look at.
  const piped = reading.piped && stdin !== 'never';
  const code = kind.refuses(text, { base: reading.base, piped });
  if (code !== null || kind.role === 'plain') return code;
  if (reading.base !== reading.home) {
    const fromHome = kind.refuses(text, { base: reading.home, piped });
    if (fromHome !== null) return fromHome;
  }
  if (kind.role === 'path') reading.paths.push(pathUse(kind, text, operand));
  else reading.directories.push(text);
  return null;
}

function pathUse(kind: Kind, text: string, operand: Word | null): PathUse {
  const glob = operand?.glob ?? false;
  if (operand?.home === true) return { text: operand.text, glob, home: true, ...(kind.walked && { walked: true }) };
  return kind.walked === true ? { text, glob, walked: true } : { text, glob };
}
