import type { BinaryRule, NodeRule, Proof, Rules } from './compiled.ts';
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
  /** What is known against it, where no node could say that. */
  readonly note?: string;
};

/** Words that are a command of their own, run by the one that was read. */
export type Delegation = { readonly node: NodeRule; readonly name: Word; readonly operands: readonly Word[] };

/** What one reading of a command collects on its way through the rules. */
export type Reading = {
  readonly rules: Rules;
  /** Whether standard input is a pipe. */
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
  /** Set instead of a proof when a command remains to be judged. */
  delegation: Delegation | null;
};

export function startReading(rules: Rules, home: string, piped: boolean): Reading {
  return {
    rules,
    piped,
    home,
    base: home,
    words: [],
    binary: null,
    directories: [],
    paths: [],
    globs: false,
    ended: false,
    override: false,
    proof: null,
    delegation: null,
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

/**
 * Holds a text against a kind, and notes what it names. Whether an option that names a directory really moves the
 * command there is the program's business, so a path has to be fine from both.
 */
export function takeText(reading: Reading, kind: Kind, text: string, glob: boolean): ReasonCode | null {
  const code = kind.refuses(text, reading);
  if (code !== null || kind.role === 'plain') return code;
  if (reading.base !== reading.home) {
    const fromHome = kind.refuses(text, { base: reading.home, piped: reading.piped });
    if (fromHome !== null) return fromHome;
  }
  if (kind.role === 'path') reading.paths.push(kind.walked === true ? { text, glob, walked: true } : { text, glob });
  else reading.directories.push(text);
  return null;
}
