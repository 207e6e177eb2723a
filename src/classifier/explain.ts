import { SignalboxError } from '../errors.ts';
import { changesDirectory } from './directory-change.ts';
import { lexList } from './lexer.ts';
import { underlined } from './underline.ts';
import type { Check, Part, Reason, RuleRef, Verdict } from './verdict.ts';

/** What became of one check. */
export type Step = {
  readonly check: Check;
  /** For a person: `Metacharacters`. */
  readonly title: string;
  readonly state: 'passed' | 'refused' | 'not-reached';
  /** What the check asks, or why it refused. */
  readonly detail: string;
};

/** What became of one simple command of a compound. */
export type ExplainedPart = {
  readonly span: readonly [start: number, end: number];
  readonly state: Step['state'];
  /** The entries that proved it, where they are known, and what it reads. */
  readonly detail: string;
};

/** A verdict taken apart. */
export type Explanation = {
  readonly command: string;
  readonly kind: Verdict['kind'];
  /** Always the three checks in their order; before or after them the one about input or surroundings, if it refused. */
  readonly steps: readonly Step[];
  /** In the order of the text; empty where it was read as one simple command, or not so far. */
  readonly parts: readonly ExplainedPart[];
  /** The stretch of the command that was refused, as in the reason; null for a parallel verdict. */
  readonly span: readonly [start: number, end: number] | null;
  readonly code: Reason['code'] | null;
  readonly knowledge: Reason['knowledge'] | null;
  readonly message: string;
  /** What would make it parallel, when that can be said. */
  readonly hint: string | null;
  /** The entries that proved it, or the one that was asked. */
  readonly rule: readonly RuleRef[];
  readonly ruleset: string;
};

const TITLES: Readonly<Record<Check, string>> = {
  input: 'Input',
  metacharacters: 'Metacharacters',
  'leading-token': 'Leading token',
  subcommand: 'Subcommand and shape',
  environment: 'Surroundings',
};

const PASSED: Readonly<Record<Check, string>> = {
  input: 'the command is text within the limits',
  metacharacters: 'bash would do exactly what was read, and nothing else',
  'leading-token': 'the first word is a bare name that has a rule',
  subcommand: 'every option, operand and subcommand is listed, and together they fit a proved shape',
  environment: 'directory, variables and second reading agree',
};

const ORDER: readonly Check[] = ['input', 'metacharacters', 'leading-token', 'subcommand', 'environment'];
const ALWAYS: readonly Check[] = ['metacharacters', 'leading-token', 'subcommand'];

/**
 * Takes a verdict apart. Pure; `command` is the text that the verdict is about.
 *
 * @throws SignalboxError OPTION_INVALID when the first argument is no verdict, such as the command itself.
 */
export function explain(verdict: Verdict, command: string): Explanation {
  if (typeof verdict !== 'object' || verdict === null || typeof command !== 'string') {
    throw new SignalboxError('OPTION_INVALID', 'Expected a verdict, as classify gives, and the command it is about');
  }
  if (verdict.kind === 'parallel') {
    return {
      command,
      kind: 'parallel',
      steps: ALWAYS.map((check) => stepOf(check, 'passed', PASSED[check])),
      parts: (verdict.parts ?? []).map(provedPart),
      span: null,
      code: null,
      knowledge: null,
      message: `Proved by ${verdict.rule.map(nameOf).join(', ')}.`,
      hint: null,
      rule: verdict.rule,
      ruleset: verdict.ruleset,
    };
  }
  const { reason, ruleset } = verdict;
  return {
    command,
    kind: 'serial',
    steps: stepsTo(reason),
    parts: partsTo(reason, command),
    span: reason.span,
    code: reason.code,
    knowledge: reason.knowledge,
    message: reason.message,
    hint: reason.hint ?? null,
    rule: reason.rule === undefined ? [] : [reason.rule],
    ruleset,
  };
}

/**
 * The explanation as plain text of several lines, for a terminal of any width from 40 columns: the command with the
 * refused stretch underlined, the steps, and what would help. Control characters are never printed as such.
 *
 * @throws SignalboxError OPTION_INVALID for what is no explanation.
 */
export function renderExplanation(explanation: Explanation): string {
  const { steps: given, parts: told } = (explanation ?? {}) as Partial<Explanation>;
  if (!Array.isArray(given) || !Array.isArray(told)) {
    throw new SignalboxError('OPTION_INVALID', 'Expected an explanation, as explain gives');
  }
  const { command, kind, steps, parts, span, code, knowledge, hint } = explanation;
  const heading = kind === 'parallel' ? 'parallel' : `serial: ${code} (${knowledge})`;
  const lines = [heading, '', ...underlined(command, span).map((line) => `  ${line}`), ''];
  for (const { title, state, detail } of steps) lines.push(`${MARKS[state]} ${title}: ${detail}`);
  for (const [index, part] of parts.entries()) {
    lines.push('', `${MARKS[part.state]} Part ${index + 1} of ${parts.length}: ${part.detail}`);
    lines.push(...underlined(command, part.span).map((line) => `  ${line}`));
  }
  if (kind === 'parallel') lines.push('', explanation.message);
  if (hint !== null) lines.push('', `What would help: ${hint}`);
  return lines.join('\n');
}

const MARKS: Readonly<Record<Step['state'], string>> = { passed: '[ok]', refused: '[no]', 'not-reached': '[--]' };

function stepsTo(reason: Reason): readonly Step[] {
  const refused = ORDER.indexOf(reason.check);
  return ORDER.filter((check) => check === reason.check || ALWAYS.includes(check)).map((check) => {
    const place = ORDER.indexOf(check);
    if (place < refused) return stepOf(check, 'passed', PASSED[check]);
    return place === refused ? stepOf(check, 'refused', reason.message) : stepOf(check, 'not-reached', 'not asked');
  });
}

function provedPart({ span, rule, stdin }: Part): ExplainedPart {
  const input = stdin === 'pipe' ? 'behind a pipe' : 'with nothing to read';
  return { span, state: 'passed', detail: `${rule.map(nameOf).join(', ')}, ${input}` };
}

/** The parts of a compound of which one was refused. The first check is about all of them together. */
function partsTo({ check, span: [start, end] }: Reason, command: string): readonly ExplainedPart[] {
  if (check === 'input' || check === 'metacharacters') return [];
  const list = lexList(command, UNLIMITED);
  if (!list.ok || !list.compound) return [];
  // A leading change of directory is no part, as in a parallel verdict.
  const commands = changesDirectory(list.commands[0]!) ? list.commands.slice(1) : list.commands;
  const refused = commands.findIndex((one) => one.start <= start && end <= one.end);
  if (refused < 0) return [];
  return commands.map((one, index) => {
    const state = index < refused ? 'passed' : index === refused ? 'refused' : 'not-reached';
    return { span: [one.start, one.end] as const, state, detail: STATES[state] };
  });
}

const UNLIMITED = { maxChars: Infinity, maxWords: Infinity, maxParts: Infinity };

const STATES: Readonly<Record<Step['state'], string>> = {
  passed: 'proved',
  refused: 'refused',
  'not-reached': 'not asked',
};

function stepOf(check: Check, state: Step['state'], detail: string): Step {
  return { check, title: TITLES[check], state, detail };
}

function nameOf({ path, origin }: RuleRef): string {
  return origin === 'built-in' ? `the built-in rule of \`${path}\`` : `the ${origin} rule of \`${path}\``;
}
