import type { NodeRule } from './compiled.ts';
import type { ReasonCode } from './verdict.ts';

/** What a sentence can name. */
export type Facts = {
  /** The refused part of the text, quoted and harmless to show. */
  readonly at: string;
  /** The node that was asked, as words: `git branch`. */
  readonly command: string;
  /** The kind of value that would be accepted, or the variable that is not known. */
  readonly expected: string;
};

type Sentence = (facts: Facts) => string;
type Entry = { readonly message: Sentence; readonly hint: string | null };

const QUOTE = 'Put it between single quotes if it is data.';
const SPLIT = 'Ask about each command by itself.';

function entry(message: Sentence, hint: string | null = null): Entry {
  return { message, hint };
}

/** One sentence a code, and what would make such a command parallel where that can be said in general. */
const SENTENCES: Readonly<Record<ReasonCode, Entry>> = Object.freeze({
  INPUT_NOT_TEXT: entry(() => 'A command is a string, and this is none.', 'Give the text that bash would get.'),
  TEXT_EMPTY: entry(() => 'There is no command in this text.'),
  TEXT_TOO_LONG: entry(() => 'The text is longer than the limit.', 'Raise `limits.maxChars`, or make it shorter.'),
  WORDS_TOO_MANY: entry(() => 'The command has more words than the limit.', 'Raise `limits.maxWords`, or name less.'),
  PARTS_TOO_MANY: entry(() => 'The text has more parts than the limit.', 'Raise `limits.maxParts`, or ask for less.'),
  TEXT_NEWLINE: entry(() => 'A line end finishes a command, so more than one may run.', SPLIT),
  TEXT_CONTROL: entry(({ at }) => `${at} is a control character; programs disagree on what it means.`, 'Leave it out.'),
  TEXT_NOT_WELL_FORMED: entry(
    () => 'Half a surrogate pair stands here, which is no character.',
    'Give well-formed text.',
  ),
  TEXT_INVISIBLE: entry(
    ({ at }) => `${at} cannot be seen or reorders what is seen, so the text is not what it looks like.`,
  ),
  TEXT_BLANK: entry(({ at }) => `${at} looks like a blank and is part of a word for bash.`, 'Use a space.'),
  TEXT_OPERATOR: entry(
    ({ at }) => `${at} joins, groups or ends commands, and simple mode reads one simple command.`,
    'Ask in compound mode, which reads lists and pipelines of proved commands, or about each command by itself.',
  ),
  TEXT_REDIRECTION: entry(
    ({ at }) => `${at} redirects input or output, which can write a file.`,
    'Leave it out: output and errors are kept apart anyway. Compound mode reads `2>&1` and those to /dev/null.',
  ),
  TEXT_EXPANSION: entry(({ at }) => `${at} makes bash put other text here, which cannot be known.`, QUOTE),
  TEXT_TILDE: entry(
    ({ at }) => `${at} expands to a home directory, which cannot be known.`,
    'Write the directory out.',
  ),
  TEXT_BRACE: entry(({ at }) => `${at} begins what may expand to several words, or is no plain text for bash.`, QUOTE),
  TEXT_COMMENT: entry(() => 'A comment hides the rest of the line.', QUOTE),
  TEXT_HISTORY: entry(({ at }) => `${at} negates a command or calls up an earlier one here.`),
  TEXT_ASSIGNMENT: entry(({ at }) => `${at} sets a variable that can change what the command does.`, 'Leave it out.'),
  TEXT_KEYWORD: entry(({ at }) => `${at} is a word of the shell's grammar here.`, SPLIT),
  TEXT_QUOTE_OPEN: entry(() => 'A quote is opened and not closed.', 'Close the quote.'),
  TEXT_BACKSLASH: entry(() => 'Nothing that can be quoted follows the backslash.', QUOTE),
  TEXT_GLOB: entry(({ at }) => `${at} expands to names of files, which cannot be known here.`, QUOTE),
  TEXT_BACKGROUND: entry(
    ({ at }) => `${at} leaves a command running in the background, where nobody waits for it.`,
    'Join the commands with `;`, or quote it if it is data.',
  ),
  TEXT_PIPE_ERRORS: entry(({ at }) => `${at} is not among the operators that are read.`, 'Write `2>&1 |`.'),
  TEXT_GROUP: entry(
    ({ at }) => `${at} makes a group, a function or a list of values.`,
    'Write the commands one after the other, in compound mode, or quote it if it is data.',
  ),
  TEXT_HERE_DOCUMENT: entry(({ at }) => `${at} puts text of the command into its standard input.`, 'Name a file.'),
  TEXT_PART_EMPTY: entry(
    ({ at }) => `A command is missing at ${at}.`,
    'Put a command on both sides of every operator.',
  ),
  COMMAND_NOT_PLAIN: entry(({ at }) => `${at} is not a bare name.`, 'Write the bare name of the program.'),
  COMMAND_UNKNOWN: entry(
    ({ at }) => `No rule says what ${at} does.`,
    'A rule file can describe it: `signalbox rules new NAME` starts one.',
  ),
  COMMAND_REFUSED: entry(({ at }) => `${at} has no form that is proved.`),
  COMPOUND_ONLY: entry(({ at }) => `${at} has a meaning only behind a pipe.`),
  CD_NOT_LEADING: entry(
    ({ at }) =>
      `${at} changes the directory for what follows, and only \`cd DIR &&\` at the very beginning is followed.`,
    'Put `cd DIR &&` first, or ask with that working directory.',
  ),
  CD_TARGET: entry(
    ({ at }) => `It cannot be told where ${at} leads.`,
    'Name a directory that begins with `/`, `./`, `../` or a name, without `..` behind a name and without options.',
  ),
  SUBCOMMAND_MISSING: entry(
    ({ command }) => `\`${command}\` needs a subcommand here.`,
    'Name a subcommand that reads.',
  ),
  SUBCOMMAND_UNKNOWN: entry(({ at, command }) => `The rule of \`${command}\` lists no subcommand ${at}.`),
  OPTION_UNKNOWN: entry(({ at, command }) => `The rule of \`${command}\` lists no option ${at}.`),
  OPTION_QUOTED: entry(
    ({ at }) => `The name of an option is partly quoted in ${at}.`,
    'Write the option without quotes.',
  ),
  OPTION_FORM: entry(({ at, command }) => `\`${command}\` does not take a value in the form of ${at}.`),
  OPTION_VALUE_MISSING: entry(
    ({ at, expected }) => `${at} needs a value (${expected}) behind it.`,
    'Put the value behind the option.',
  ),
  OPTION_REQUIRED: entry(({ command }) => `\`${command}\` is proved only with an option that is missing here.`),
  OPTION_CONFLICT: entry(({ command }) => `\`${command}\` is not proved with these options together.`),
  VALUE_REFUSED: entry(({ at, expected }) => `The value in ${at} is not what the option takes (${expected}).`),
  OPERAND_REFUSED: entry(({ at, expected }) => `${at} is not what may stand here (${expected}).`),
  OPERAND_MISSING: entry(({ command }) => `\`${command}\` needs more operands.`),
  OPERAND_UNEXPECTED: entry(({ at, command }) => `\`${command}\` takes no operand ${at} here.`),
  OPERAND_QUOTED_OPTION: entry(
    ({ at }) => `${at} is quoted and begins with a dash; the program takes it for an option.`,
    'Put `--` before operands that begin with a dash.',
  ),
  OPERAND_SUBSCRIPT: entry(({ at }) => `bash may evaluate the subscript in ${at}, and that can run a command.`),
  EXPRESSION_REFUSED: entry(({ at }) => `The expression does not hold together at ${at}.`),
  PATH_DEVICE: entry(
    ({ at }) => `${at} may lead under /dev, /proc or /sys, where reading can block or act.`,
    'Say which directory the command runs in, if the path is relative.',
  ),
  GLOB_REFUSED: entry(
    ({ at }) => `${at} may expand to a name that is no plain operand here.`,
    'Globs may stand only in a last list of files, behind every option, and begin with a letter or `./`.',
  ),
  STDIN_READ: entry(({ command }) => `\`${command}\` would wait for standard input.`, 'Name a file.'),
  PROGRAM_REFUSED: entry(({ at }) => `${at} is no program of the part of its language that is proved.`),
  DELEGATE_REFUSED: entry(({ at }) => `What would run at ${at} is not harmless with any name behind it.`),
  NAMES_REFUSED: entry(
    ({ at }) => `${at} may print any name, and the command behind the pipe would open it.`,
    'Let the names come from a command that lists files.',
  ),
  SECOND_READING: entry(() => 'A second parser reads this text differently.', 'Write it with plainer quotes.'),
  DIRECTORY_DEVICE: entry(() => 'The working directory lies under /dev, /proc or /sys.', 'Run it elsewhere.'),
  CD_OUTSIDE_ROOTS: entry(({ at }) => `${at} lies outside the directories that may be worked in.`),
  CD_UNCERTAIN: entry(() => 'Where it changes to is missing, or is not told by its name alone.'),
  VARIABLE_UNKNOWN: entry(
    ({ expected }) => `The variable ${expected} may change what the command does.`,
    'Leave it out.',
  ),
  PROFILES_CONTRADICT: entry(
    ({ expected }) => `The parts are proved in environments that differ in ${expected}.`,
    SPLIT,
  ),
  ENVIRONMENT_SHOWN: entry(
    ({ command }) => `\`${command}\` shows the whole environment, and a compound is run without most of it.`,
    SPLIT,
  ),
  EFFECT_REFUSED: entry(
    ({ expected }) => `The command has the effect \`${expected}\`, and the caller lets no such command be parallel.`,
    'Allow the effect, if such commands may overlap.',
  ),
  REPOSITORY_UNREADABLE: entry(
    ({ expected }) => `It cannot be told what this repository makes a read do: ${expected}.`,
    'Mend what cannot be read, or say that the repository can be trusted.',
  ),
  REPOSITORY_LAYOUT: entry(
    ({ expected }) => `The repository is not where its directory says: ${expected}.`,
    'Run it in an ordinary work tree.',
  ),
  REPOSITORY_PARTIAL: entry(
    ({ expected }) => `Parts of this repository may be missing, and a read would fetch them: ${expected}.`,
  ),
  REPOSITORY_CONFIGURED: entry(
    ({ expected }) => `This read may start a program that the configuration names: ${expected}.`,
    'Say that the repository can be trusted, if its programs only read.',
  ),
  REPOSITORY_STALE: entry(
    ({ expected }) => `This read would record new times in the index before it answers: ${expected}.`,
    'It refreshes the index when it runs alone; the next one is parallel.',
  ),
  PROGRAM_UNTRUSTED: entry(({ at }) => `The program that ${at} would run is not trusted.`),
  OPERAND_NOT_REGULAR: entry(({ at }) => `${at} is a pipe, a socket or a device.`),
  PLATFORM_UNPROVEN: entry(() => 'Nothing is proved on this platform.'),
});

/** The sentence for a person. */
export function messageOf(code: ReasonCode, facts: Facts): string {
  return SENTENCES[code].message(facts);
}

/** What would make it parallel, when that can be said: what the rule of the node lists, or what holds in general. */
export function hintOf(code: ReasonCode, node: NodeRule | null): string | null {
  return (node === null ? '' : listedBy(node, code)) || SENTENCES[code].hint;
}

/** What the rule of a node lists where something else stood; empty where that would not help. */
function listedBy({ advice }: NodeRule, code: ReasonCode): string {
  switch (code) {
    case 'SUBCOMMAND_MISSING':
    case 'SUBCOMMAND_UNKNOWN':
      return advice().subcommands;
    case 'OPTION_REQUIRED':
    case 'OPTION_CONFLICT':
    case 'OPERAND_MISSING':
    case 'OPERAND_UNEXPECTED':
    case 'OPERAND_REFUSED':
      return advice().shapes;
    default:
      return '';
  }
}
