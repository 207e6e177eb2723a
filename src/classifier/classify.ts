import { type Allowance, refusedEffect } from './allowance.ts';
import { readCommand } from './command.ts';
import type { ProfileRule, Proof, Rules } from './compiled.ts';
import type { ClassifyOptions, Judgement, RepositoryFacts, SecondReading } from './judgement.ts';
import { findBinary, withNote } from './leading-token.ts';
import { type Lexed, lex } from './lexer.ts';
import { type Reading, type Refusal, refuseText, startReading } from './reading.ts';
import { reasonOf } from './reason.ts';
import { rulesOf } from './rule-set.ts';
import { checkOptions, homeOf, isHostileDirectory, unknownVariable } from './surroundings.ts';
import type { Assumption, Run, Verdict } from './verdict.ts';
import { quoted, visible } from './visible-text.ts';
import type { Assignment, Word } from './word.ts';

/** A verdict and the reading it came from. */
export type Examined = { readonly verdict: Verdict; readonly reading: Reading };

/** What the lexer refused. */
type Unread = Extract<Lexed, { readonly ok: false }>;

/** What is left to assume once the repository was probed. */
const NO_ASSUMPTIONS: readonly Assumption[] = Object.freeze([]);

/** Builtins and globs: bash runs the text itself. */
const IN_BASH: Run = Object.freeze({ form: 'bash' });

/** Taken for granted of a repository that nobody has probed. */
const PLAIN_REPOSITORY: Assumption = 'repository-plain';

/** Taken for granted of the list of tracked files. */
const FRESH_INDEX: Assumption = 'index-fresh';

/**
 * Whether a command may run at the same time as its siblings. Synchronous and pure; it never throws for any JavaScript
 * value as the command, and whatever is not proved is serial.
 *
 * @throws SignalboxError MODE_UNAVAILABLE for compound mode; RULES_INVALID when `rules` is no rule set; OPTION_INVALID
 * for another option that is not allowed.
 */
export function classify(command: unknown, options: ClassifyOptions): Verdict {
  return examine(command, rulesOf(options.rules), options, false).verdict;
}

/** The verdict with what the dispatcher needs besides; see `Judgement`. Total and pure as `classify` is. */
export function judge(command: unknown, options: ClassifyOptions): Judgement {
  const { verdict, reading } = examine(command, rulesOf(options.rules), options, false);
  // What the text names before the lexer refused it still tells where a writer works.
  if (reading.binary === null) readWords(reading);
  return {
    verdict,
    directories: reading.directories,
    paths: reading.paths,
    resources: reading.binary?.resources ?? [],
    starts: reading.binary?.starts ?? [],
    programs: reading.binary === null || reading.binary.builtin ? [] : [reading.binary.name],
    cd: null,
    wholeEnvironment: reading.proof?.wholeEnvironment ?? false,
  };
}

/**
 * `classify` for a command that may stand behind a pipe; the self-test asks so about the examples that say it.
 *
 * @param piped standard input is a pipe.
 */
export function examine(
  command: unknown,
  rules: Rules,
  options: Omit<ClassifyOptions, 'rules'>,
  piped: boolean,
): Examined {
  checkOptions(options);
  const reading = startReading(rules, homeOf(options.cwd), piped);
  if (typeof command !== 'string') return serial('', refuseText('input', 'INPUT_NOT_TEXT', 0, 0), reading);

  const lexed = lex(command, options.limits);
  reading.words = lexed.words;
  if (!lexed.ok) return serial(command, refuseLexed(rules, command, lexed), reading);
  const refusal =
    refuseAssignments(reading, lexed.assignments) ??
    readWords(reading) ??
    refuseSurroundings(reading, options, command.length) ??
    refuseEffects(reading.proof!, options.allow, command.length) ??
    refuseRepository(reading.proof!, options.repository, command.length) ??
    refuseSecondReading(options.secondReading, command, lexed.assignments, lexed.words);
  if (refusal !== null) return serial(command, refusal, reading);

  const { effects, assumes, rule, overridden, profile } = reading.proof!;
  const verdict: Verdict = {
    kind: 'parallel',
    run: runOf(reading, lexed.assignments),
    profile: profile.name,
    rule: reading.override ? overridden : rule,
    effects,
    assumes: options.repository === undefined ? assumes : NO_ASSUMPTIONS,
    ruleset: rules.hash,
  };
  return { verdict, reading };
}

/** Everything that is not proved. */
function serial(command: string, refusal: Refusal, reading: Reading): Examined {
  return { verdict: { kind: 'serial', reason: reasonOf(command, refusal), ruleset: reading.rules.hash }, reading };
}

/** The lexer stops at a word of the grammar; what is known of it is said all the same. */
function refuseLexed(rules: Rules, command: string, { check, code, span: [start, end] }: Unread): Refusal {
  const refusal = refuseText(check, code, start, end);
  return code === 'TEXT_KEYWORD' ? withNote(rules, command.slice(start, end), refusal) : refusal;
}

/** Only the listed names with exactly the listed values may stand before a command. */
function refuseAssignments(reading: Reading, assignments: readonly Assignment[]): Refusal | null {
  for (const { name, value, start, end } of assignments) {
    if (!reading.rules.assignments.get(name)?.has(value))
      return refuseText('metacharacters', 'TEXT_ASSIGNMENT', start, end);
  }
  return null;
}

/** The second and third check. */
function readWords(reading: Reading): Refusal | null {
  const name = reading.words[0];
  if (name === undefined) return null;
  const binary = findBinary(reading.rules, name, reading.piped);
  if ('code' in binary) return binary;
  reading.binary = binary;
  return readCommand(reading, binary, reading.words);
}

function refuseSurroundings(reading: Reading, { env }: Pick<ClassifyOptions, 'env'>, length: number): Refusal | null {
  if (isHostileDirectory(reading.home)) return refuseText('environment', 'DIRECTORY_DEVICE', 0, length);
  if (env === undefined) return null;
  const unknown = unknownVariable(env, reading.proof!, reading.rules);
  return unknown === null ? null : refuseText('environment', 'VARIABLE_UNKNOWN', 0, length, quoted(unknown));
}

/** The caller may want readers of the network or of a daemon to be alone. */
function refuseEffects({ effects }: Proof, allow: Allowance | undefined, length: number): Refusal | null {
  const refused = refusedEffect(effects, allow);
  return refused === null ? null : refuseText('environment', 'EFFECT_REFUSED', 0, length, refused);
}

/** What a probe found can take the yes away from a read of the repository; anything but a known kind affects it. */
function refuseRepository(
  { assumes, effects }: Proof,
  repository: RepositoryFacts | undefined,
  length: number,
): Refusal | null {
  if (repository === undefined || !assumes.includes(PLAIN_REPOSITORY)) return null;
  const startsPrograms = effects.includes('configured-programs');
  const readsIndex = assumes.includes(FRESH_INDEX);
  const finding = repository.findings.find(({ affects }) => {
    if (affects === 'configured-programs') return startsPrograms;
    return affects !== 'index-reads' || readsIndex;
  });
  return finding === undefined ? null : refuseText('environment', finding.code, 0, length, visible(finding.detail));
}

/** An independent parser can take the yes away; a throw, or anything but `true`, is a no. */
function refuseSecondReading(
  secondReading: SecondReading | undefined,
  command: string,
  assignments: readonly Assignment[],
  words: readonly Word[],
): Refusal | null {
  if (secondReading === undefined) return null;
  // A parser that knows nothing of our lists sees an assignment as a word before the others.
  const before = assignments.map(({ name, value }) => ({ text: `${name}=${value}`, glob: false }));
  let agrees: unknown;
  try {
    agrees = secondReading(command, [...before, ...words]);
  } catch {
    agrees = false;
  }
  return agrees === true ? null : refuseText('environment', 'SECOND_READING', 0, command.length);
}

function runOf(reading: Reading, assignments: readonly Assignment[]): Run {
  if (reading.binary!.builtin || reading.globs) return IN_BASH;
  const env = withAssignments(reading.proof!.profile, assignments);
  return { form: 'argv', argv: reading.words.map((word) => word.text), env };
}

function withAssignments({ set }: ProfileRule, assignments: readonly Assignment[]): ProfileRule['set'] {
  if (assignments.length === 0) return set;
  return Object.freeze({ ...set, ...Object.fromEntries(assignments.map(({ name, value }) => [name, value])) });
}
