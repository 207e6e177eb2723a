import type { ProfileRule, Rules } from './compiled.ts';
import { nameParts, readCompound } from './compound.ts';
import { changesDirectory, leadingChange } from './directory-change.ts';
import type { ClassifyOptions, Judgement, PathUse, ReadPart, ReadWord, SecondReading } from './judgement.ts';
import { withNote } from './leading-token.ts';
import { type Lexed, type LexedList, type ListedCommand, lex, lexList, type Unread } from './lexer.ts';
import { readWords, refusePart } from './part.ts';
import { type Reading, type Refusal, refuseText, startReading } from './reading.ts';
import { reasonOf } from './reason.ts';
import { rulesIn } from './rule-set.ts';
import { checkOptions, homeOf } from './surroundings.ts';
import type { Assumption, Run, Verdict } from './verdict.ts';
import type { Assignment } from './word.ts';

/** A verdict and the reading it came from. */
export type Examined = { readonly verdict: Verdict; readonly reading: Reading; readonly compound: Compound | null };

/** A text that is no lone simple command, as far as it was read. */
type Compound = {
  readonly commands: readonly ListedCommand[];
  /** The lexer read it to its end. */
  readonly isWhole: boolean;
  readonly readings: readonly Reading[];
};

/** What is left to assume once the repository was probed. */
const NO_ASSUMPTIONS: readonly Assumption[] = Object.freeze([]);

/** Builtins, globs and compounds: bash runs the text itself. */
const IN_BASH: Run = Object.freeze({ form: 'bash' });

/**
 * Whether a command may run at the same time as its siblings. Synchronous and pure; it never throws for any JavaScript
 * value as the command, and whatever is not proved is serial.
 *
 * @throws SignalboxError RULES_INVALID when `rules` is no rule set; OPTION_INVALID for another option that is not allowed.
 */
export function classify(command: unknown, options: ClassifyOptions): Verdict {
  return examine(command, rulesIn(options), options, false).verdict;
}

/** The verdict with what the dispatcher needs besides; see `Judgement`. Total and pure as `classify` is. */
export function judge(command: unknown, options: ClassifyOptions): Judgement {
  const { verdict, reading, compound } = examine(command, rulesIn(options), options, false);
  const readings = compound === null ? [reading] : partsOf(reading, compound);
  // What the text names before the lexer refused it still tells where a writer works.
  if (compound === null && reading.binary === null) readWords(reading);
  const binaries = readings.flatMap(({ binary }) => (binary === null ? [] : [binary]));
  const delegates = readings.flatMap(({ delegate }) => (delegate === null ? [] : [delegate]));
  const started = [
    ...binaries.flatMap(({ starts }) => starts),
    ...delegates.flatMap(({ name, starts }) => [name, ...starts]),
  ];
  return {
    verdict,
    directories: reading.directories,
    paths: reading.paths.map((path) => pathFrom(path, options.homeDirectory)),
    resources: distinct([...binaries, ...delegates].flatMap(({ resources }) => resources)),
    starts: distinct(started),
    programs: distinct(binaries.flatMap(({ builtin, name }) => (builtin ? [] : [name]))),
    cd: compound === null ? null : leadingChange(compound.commands, compound.isWhole),
    wholeEnvironment: reading.proof?.wholeEnvironment ?? false,
  };
}

function pathFrom(path: PathUse, homeDirectory: string | undefined): PathUse {
  if (path.home !== true || homeDirectory === undefined) return path;
  const { home, text, ...rest } = path;
  return { ...rest, text: homeDirectory + text.slice(1) };
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
  const reading = startReading(rules, homeOf(options.cwd), piped ? 'pipe' : 'none');
  if (typeof command !== 'string') return serial('', refuseText('input', 'INPUT_NOT_TEXT', 0, 0), reading, null);

  const lexed =
    options.mode === 'compound' ? loneOrList(lexList(command, options.limits)) : lex(command, options.limits);
  const commands = 'commands' in lexed ? lexed.commands : null;
  reading.words = 'words' in lexed ? lexed.words : [];
  if (!lexed.ok) {
    const compound = commands === null ? null : { commands, isWhole: false, readings: [] };
    return serial(command, refuseLexed(rules, command, lexed), reading, compound);
  }
  const list = 'commands' in lexed ? readCompound(reading, lexed.commands, options) : null;
  const compound = list === null ? null : { commands: commands!, isWhole: true, readings: list.readings };
  const refusal =
    ('words' in lexed ? refusePart(reading, lexed.assignments, options, 0, command.length) : list!.refusal) ??
    refuseSecondReading(options.secondReading, command, lexed);
  if (refusal !== null) return serial(command, refusal, reading, compound);

  const { effects, assumes, rule, overridden, profile } = reading.proof!;
  const verdict: Verdict = {
    kind: 'parallel',
    run: 'words' in lexed ? runOf(reading, lexed.assignments) : IN_BASH,
    profile: profile.name,
    rule: reading.override ? overridden : rule,
    effects,
    assumes: options.repository === undefined ? assumes : NO_ASSUMPTIONS,
    ruleset: rules.hash,
  };
  return { verdict: list === null ? verdict : { ...verdict, parts: list.parts }, reading, compound };
}

/** Everything that is not proved. */
function serial(command: string, refusal: Refusal, reading: Reading, compound: Compound | null): Examined {
  const { hash } = reading.rules;
  return { verdict: { kind: 'serial', reason: reasonOf(command, refusal), ruleset: hash }, reading, compound };
}

/** A lone simple command is read as in simple mode, whatever the mode is. */
function loneOrList(list: LexedList): Lexed | LexedList {
  const [lone, more] = list.commands;
  if (more !== undefined || (list.ok && list.compound)) return list;
  const { assignments, words } = lone ?? { assignments: [], words: [] };
  return list.ok ? { ok: true, assignments, words } : { ...list, words };
}

/** All parts but changes of directory: those that were read, and then what the others name. */
function partsOf(root: Reading, { commands, readings }: Compound): readonly Reading[] {
  const others = commands.filter((command) => !changesDirectory(command)).slice(readings.length);
  return [...readings, ...nameParts(root, others)];
}

/** The lexer stops at a word of the grammar; what is known of it is said all the same. */
function refuseLexed(rules: Rules, command: string, { check, code, span: [start, end] }: Unread): Refusal {
  const refusal = refuseText(check, code, start, end);
  return code === 'TEXT_KEYWORD' ? withNote(rules, command.slice(start, end), refusal) : refusal;
}

/** An independent parser can take the yes away; a throw, or anything but `true`, is a no. */
function refuseSecondReading(
  secondReading: SecondReading | undefined,
  command: string,
  lexed: Lexed | LexedList,
): Refusal | null {
  if (secondReading === undefined || !lexed.ok) return null;
  let agrees: unknown;
  try {
    if ('words' in lexed) agrees = secondReading(command, wordsOf(lexed));
    else {
      const parts = lexed.commands.map(readPart);
      agrees = secondReading(
        command,
        parts.flatMap(({ words }) => words),
        parts,
      );
    }
  } catch {
    agrees = false;
  }
  return agrees === true ? null : refuseText('environment', 'SECOND_READING', 0, command.length);
}

function readPart(command: ListedCommand): ReadPart {
  const { joint, redirections } = command;
  return { joint: joint?.text ?? null, words: wordsOf(command), redirections: redirections.map(({ text }) => text) };
}

/** A parser that knows nothing of our lists sees an assignment as a word before the others. */
function wordsOf({ assignments, words }: Pick<ListedCommand, 'assignments' | 'words'>): readonly ReadWord[] {
  return [...assignments.map(({ name, value }) => ({ text: `${name}=${value}`, glob: false })), ...words];
}

function distinct(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
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
