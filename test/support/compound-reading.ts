import { type LexedList, type ListedCommand, lexList, type Word } from '../../src/classifier/lexer.ts';
import type { Part } from '../../src/classifier/verdict.ts';

/** A compound as it is read: what a shell would be expected to do with it. */
export type Compound = {
  /** The target of a leading `cd … &&`; null: there is none. */
  readonly cd: string | null;
  /** Pipelines of at least one stage. */
  readonly pipelines: readonly (readonly Stage[])[];
  /** What stands behind each pipeline; behind the last only `;` may, so there can be one less. */
  readonly operators: readonly ListOperator[];
};

export type ListOperator = '&&' | '||' | ';';

export type Stage = {
  readonly words: readonly string[];
  readonly assignments: readonly { readonly name: string; readonly value: string }[];
  readonly redirections: readonly Redirection[];
  readonly hasGlob: boolean;
};

/** The redirections that a compound may hold, in one spelling each. */
export const REDIRECTIONS = ['2>&1', '1>&2', '2>/dev/null', '>/dev/null', '&>/dev/null', '</dev/null'] as const;
export type Redirection = (typeof REDIRECTIONS)[number];

/** Other spellings of the same. */
const ALIKE: ReadonlyMap<string, Redirection> = new Map([
  ...REDIRECTIONS.map((each): [string, Redirection] => [each, each]),
  ['>&2', '1>&2'],
  ['1>/dev/null', '>/dev/null'],
  ['0</dev/null', '</dev/null'],
]);

/** The one spelling of a redirection that a compound may hold; null for any other. */
export function redirectionOf(spelling: string): Redirection | null {
  return ALIKE.get(spelling) ?? null;
}

/** A list whose first command may be a change of directory. */
export function compoundFrom(
  pipelines: readonly (readonly Stage[])[],
  operators: readonly ListOperator[],
): Compound | null {
  const [first, ...others] = pipelines;
  const [change, ...more] = first ?? [];
  if (change === undefined) return null;
  if (change.words[0] !== 'cd') return { cd: null, pipelines, operators };
  const [, target] = change.words;
  if (target === undefined || change.words.length > 2 || more.length > 0 || operators[0] !== '&&') return null;
  return { cd: target, pipelines: others, operators: operators.slice(1) };
}

/** The home directory of whoever runs the compounds of a test. */
export const HOME = '/home/someone';

/**
 * How the lexer reads an accepted list. Null where a change of directory stands in it that is not followed.
 */
export function compoundOfList({ commands }: Extract<LexedList, { readonly ok: true }>): Compound | null {
  const pipelines: Stage[][] = [];
  const operators: ListOperator[] = [];
  for (const { joint, ...command } of commands) {
    if (joint === null || joint.text !== '|') pipelines.push([]);
    if (joint !== null && joint.text !== '|') operators.push(joint.text);
    pipelines.at(-1)?.push(stageOfListed(command));
  }
  return compoundFrom(pipelines, operators);
}

function stageOfListed({ words, assignments, redirections }: Omit<ListedCommand, 'joint'>): Stage {
  return {
    words: words.map(passed),
    assignments: assignments.map(({ name, value }) => ({ name, value })),
    redirections: redirections.map(({ text }) => {
      const redirection = redirectionOf(text);
      if (redirection === null) throw new Error(`A redirection that may not be there: ${text}`);
      return redirection;
    }),
    hasGlob: words.some(({ glob }) => glob),
  };
}

/** What bash passes for a word. */
function passed({ text, home }: Word): string {
  return home === true ? HOME + text.slice(1) : text;
}

/**
 * How an accepted compound is read, put together from the spans of its parts alone: the operators are what stands between
 * them. Throws where spans and text do not fit together, or where something stands in the text that may not.
 */
export function compoundOf(text: string, parts: readonly Pick<Part, 'span'>[]): Compound {
  const fail = (why: string): Error => new Error(`${why}: ${JSON.stringify({ text, parts })}`);
  const first = parts[0];
  if (first === undefined) throw fail('No parts');
  const pipelines: Stage[][] = [[]];
  const operators: ListOperator[] = [];
  const leading = text.slice(0, first.span[0]);
  // The change of directory is no part that a rule proves; it may be among the parts or stand before them.
  if (withoutBlanks(leading) !== '') {
    const end = leading.lastIndexOf('&&');
    if (end < 0 || withoutBlanks(leading.slice(end + 2)) !== '') throw fail('Text before the first part');
    pipelines.unshift([stageOf(leading.slice(0, end))]);
    operators.push('&&');
  }
  for (const [index, { span }] of parts.entries()) {
    pipelines.at(-1)?.push(stageOf(text.slice(...span)));
    const next = parts[index + 1];
    const between = withoutBlanks(text.slice(span[1], next?.span[0]));
    if (next === undefined && between === '') continue;
    if (between === ';' || (next !== undefined && (between === '&&' || between === '||'))) operators.push(between);
    else if (next === undefined || between !== '|') throw fail('Something else than an operator between parts');
    if (next !== undefined && between !== '|') pipelines.push([]);
  }
  const compound = compoundFrom(pipelines, operators);
  if (compound === null) throw fail('A change of directory that is not followed');
  return compound;
}

function withoutBlanks(text: string): string {
  return text.replaceAll(/[ \t]/g, '');
}

/** One simple command with its redirections, which are cut out of it by their spelling. */
export function stageOf(text: string): Stage {
  const redirections: Redirection[] = [];
  let rest = '';
  let quote = '';
  /** Where the word begins that is being read. */
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '\\' && quote !== "'") {
      rest += text.slice(at, at + 2);
      at += 1;
      continue;
    }
    if (character === quote) quote = '';
    else if (quote === '' && (character === "'" || character === '"')) quote = character;
    else if (quote === '' && (character === '<' || character === '>')) {
      const found = redirectionAt(text, at, rest.slice(from));
      // Its descriptor is already among the words.
      rest = `${rest.slice(0, rest.length - found.before)} `;
      from = rest.length;
      redirections.push(found.redirection);
      at = found.end - 1;
      continue;
    }
    rest += character;
    if (quote === '' && (character === ' ' || character === '\t')) from = rest.length;
  }
  // As a list, because only in one a word may begin with `~/`.
  const list = lexList(rest);
  const [command, more] = list.commands;
  if (!list.ok) throw new Error(`A part that does not lex, ${list.code}: ${JSON.stringify(text)}`);
  if (command === undefined || more !== undefined) throw new Error(`Not one command: ${JSON.stringify(text)}`);
  return { ...stageOfListed(command), redirections };
}

/** The redirection whose `<` or `>` stands at a place; `before` characters of it stand before that, at the end of the word. */
function redirectionAt(
  text: string,
  at: number,
  word: string,
): { readonly redirection: Redirection; readonly before: number; readonly end: number } {
  const before = /^[0-9]+$/.test(word) ? word : word.endsWith('&') ? '&' : '';
  const [behind = '', operator = '', target = ''] = /^([<>]&?)[ \t]*([^ \t<>&;|]*)/.exec(text.slice(at)) ?? [];
  const redirection = redirectionOf(`${before}${operator}${target}`);
  if (redirection === null) throw new Error(`A redirection that may not be there: ${JSON.stringify(text)}`);
  return { redirection, before: before.length, end: at + behind.length };
}
