import parse from 'shell-quote/parse.js';
import { type AndOr, type Command, type PipelineNode, parse as parseScript, type Redirection } from 'unbash';
import type { ReadPart, ReadWord, SecondReading } from './judgement.ts';

/** What shell-quote gets for a variable. Our scanner accepts no expansion, so seeing one is already a disagreement. */
const EXPANSION = Object.freeze({ op: 'expansion' });

/**
 * Another parser's opinion: true when it reads the same words, leading assignments included, and of a compound the same
 * operators and redirections. It is asked only about text that the lexer accepted, and may only take a yes away: both
 * parsers misread hostile text (to shell-quote a newline is a blank, a backtick is text), so their agreement proves nothing.
 *
 * Simple commands are read by shell-quote, compounds by unbash. Whether a word holds a glob is not compared: that was
 * decided before, and shell-quote takes `\*` for one.
 */
export const secondReading: SecondReading = (command, words, parts) => {
  try {
    return parts === undefined ? readsWords(command, words) : readsParts(command, parts);
  } catch {
    return false;
  }
};

function readsWords(command: string, words: readonly ReadWord[]): boolean {
  const entries = parse(command, () => EXPANSION);
  if (entries.length !== words.length) return false;
  return words.every((word, index) => {
    const entry = entries[index];
    return word.text === (typeof entry === 'object' && 'pattern' in entry ? entry.pattern : entry);
  });
}

/** One simple command as unbash reads it, in the form that ours takes for the comparison. */
type Other = {
  readonly joint: string | null;
  readonly words: readonly string[];
  readonly redirections: readonly string[];
};

function readsParts(command: string, parts: readonly ReadPart[]): boolean {
  const others = commandsOf(command);
  if (others?.length !== parts.length) return false;
  return parts.every(({ joint, words, redirections }, index) => {
    const other = others[index]!;
    return (
      joint === other.joint &&
      isSame(
        words.map(({ text }) => text),
        other.words,
      ) &&
      isSame(redirections, other.redirections)
    );
  });
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((one, index) => one === others[index]);
}

/** Null where unbash sees an error, or anything besides simple commands and what joins them. */
function commandsOf(text: string): readonly Other[] | null {
  const { commands, errors = [], shebang } = parseScript(text);
  if (errors.length > 0 || shebang !== undefined) return null;
  const others: (Other | null)[] = [];
  for (const { command, background } of commands) {
    if (background === true) return null;
    const list: Pick<AndOr, 'commands' | 'operators'> =
      command.type === 'AndOr' ? command : { commands: [command], operators: [] };
    for (const [index, node] of list.commands.entries()) {
      const joint = index > 0 ? list.operators[index - 1]! : others.length > 0 ? ';' : null;
      others.push(...stagesOf(node, joint));
    }
  }
  return others.every((other) => other !== null) ? others : null;
}

function stagesOf(node: PipelineNode, joint: string | null): readonly (Other | null)[] {
  if (node.type !== 'Pipeline') return [node.type === 'Command' ? otherOf(node, joint) : null];
  const isPlain = node.prefixes.length === 0 && node.operators.every((operator) => operator === '|');
  if (!isPlain) return [null];
  return node.commands.map((command, index) =>
    command.type === 'Command' ? otherOf(command, index === 0 ? joint : '|') : null,
  );
}

function otherOf({ name, prefix, suffix }: Command, joint: string | null): Other | null {
  if (name === undefined) return null;
  const assignments: string[] = [];
  const words = [name.value];
  const redirections: string[] = [];
  for (const piece of prefix) {
    if (piece.type === 'Assignment') assignments.push(piece.text);
    else redirections.push(spellingOf(piece));
  }
  for (const piece of suffix) {
    if (piece.type === 'Word') words.push(piece.value);
    // Only behind names that declare variables, none of which is ever proved.
    else if (piece.type === 'Assignment') return null;
    else redirections.push(spellingOf(piece));
  }
  return { joint, words: [...assignments, ...words], redirections };
}

/** As ours spells it; a here-document, or a descriptor that a variable gets, becomes something that ours never is. */
function spellingOf(redirection: Redirection): string {
  if (redirection.type !== 'Redirect') return redirection.operator;
  const { descriptor, operator, target } = redirection;
  if (descriptor?.type === 'FileDescriptorVariable') return `{${operator}`;
  return [descriptor?.value, operator, target?.text].join('');
}
