import bashParser from 'bash-parser';
import {
  type AndOr,
  type Command,
  type PipelineNode,
  parse as parseWithUnbash,
  type Redirection as Redirected,
} from 'unbash';
import { type Compound, compoundFrom, HOME, type ListOperator, redirectionOf, type Stage } from './compound-reading.ts';

/** How another parser reads a compound text; null where it sees anything else than simple commands and their joints. */
export type CompoundParser = {
  readonly name: string;
  /** Texts longer than this are not shown to it. */
  readonly maxChars: number;
  /** Whether it is known to misread a text, for a reason that is no structure of ours. */
  readonly misreads: (text: string) => boolean;
  readonly read: (text: string) => Compound | null;
};

export const COMPOUND_PARSERS: readonly CompoundParser[] = [
  { name: 'unbash', maxChars: 16_384, misreads: () => false, read: readUnbash },
  {
    name: 'bash-parser',
    // It takes seconds for two thousand backticks.
    maxChars: 512,
    // It knows no `&>`, unescapes as JavaScript does, drops what follows `#`, calls a tilde an expansion, takes a variable
    // behind a redirection for the name of the command, and a number before a redirection for its descriptor, whatever
    // stands between them.
    misreads: (text) => /&>|[\\#~]|[<>][^;|]*=|[0-9][ \t]+[<>0-9]|&[ \t]*[0-9][<>]/.test(text),
    read: readBashParser,
  },
];

/** The words of a list as it is collected. */
type Joined = { readonly pipelines: Stage[][]; readonly operators: ListOperator[] };

function readUnbash(text: string): Compound | null {
  const script = parseWithUnbash(text);
  if (script.errors !== undefined && script.errors.length > 0) return null;
  const joined: Joined = { pipelines: [], operators: [] };
  for (const { command, background } of script.commands) {
    if (background === true) return null;
    if (joined.pipelines.length > 0) joined.operators.push(';');
    const list: Pick<AndOr, 'commands' | 'operators'> =
      command.type === 'AndOr' ? command : { commands: [command], operators: [] };
    for (const [index, node] of list.commands.entries()) {
      if (index > 0) joined.operators.push(list.operators[index - 1] as ListOperator);
      const stages = unbashStages(node);
      if (stages === null) return null;
      joined.pipelines.push(stages);
    }
  }
  return compoundFrom(joined.pipelines, joined.operators);
}

function unbashStages(node: PipelineNode): Stage[] | null {
  if (node.type === 'Pipeline' && (node.prefixes.length > 0 || node.operators.includes('|&'))) return null;
  const stages = (node.type === 'Pipeline' ? node.commands : [node]).map((command) =>
    command.type === 'Command' ? unbashStage(command) : null,
  );
  return stages.every((stage) => stage !== null) ? stages : null;
}

function unbashStage({ name, prefix, suffix }: Command): Stage | null {
  if (name === undefined) return null;
  const words = [name.value];
  const assignments: Stage['assignments'][number][] = [];
  const redirections: (string | null)[] = [];
  for (const each of [...prefix, ...suffix]) {
    // The tree does not show what is expanded.
    if (each.type === 'Word') words.push(each.text.startsWith('~/') ? HOME + each.value.slice(1) : each.value);
    else if (each.type !== 'Assignment') redirections.push(unbashRedirection(each));
    else assignments.push({ name: each.name, value: each.text.slice(each.name.length + 1) });
  }
  return stageFrom(words, assignments, redirections);
}

function unbashRedirection(redirection: Redirected): string | null {
  if (redirection.type !== 'Redirect') return null;
  const { descriptor, operator, target } = redirection;
  if (descriptor?.type === 'FileDescriptorVariable') return null;
  return `${descriptor?.value ?? ''}${operator}${target?.value ?? ''}`;
}

type Text = { readonly text: string };
type BashParserNode = {
  readonly type: string;
  readonly async?: boolean;
  readonly bang?: boolean;
  readonly op?: string | Text;
  readonly left?: BashParserNode;
  readonly right?: BashParserNode;
  readonly commands?: readonly BashParserNode[];
  readonly name?: Text;
  readonly prefix?: readonly BashParserItem[];
  readonly suffix?: readonly BashParserItem[];
};
type BashParserItem = {
  readonly type: string;
  readonly text?: string;
  readonly expansion?: unknown;
  readonly op?: Text;
  readonly file?: Text;
  readonly numberIo?: Text;
};

function readBashParser(text: string): Compound | null {
  const { commands = [] } = bashParser(text) as BashParserNode;
  const joined: Joined = { pipelines: [], operators: [] };
  for (const command of commands) {
    if (joined.pipelines.length > 0) joined.operators.push(';');
    if (!addBashParserNode(command, joined)) return null;
  }
  return compoundFrom(joined.pipelines, joined.operators);
}

function addBashParserNode(node: BashParserNode, joined: Joined): boolean {
  const { type, op, left, right, commands } = node;
  if (node.async === true || node.bang === true) return false;
  if (type === 'LogicalExpression' && left !== undefined && right !== undefined) {
    if (!addBashParserNode(left, joined)) return false;
    joined.operators.push(op === 'and' ? '&&' : '||');
    return addBashParserNode(right, joined);
  }
  const stages = (type === 'Pipeline' ? (commands ?? []) : [node]).map(bashParserStage);
  if (!stages.every((stage) => stage !== null)) return false;
  joined.pipelines.push(stages);
  return true;
}

function bashParserStage({ type, name, prefix = [], suffix = [] }: BashParserNode): Stage | null {
  if (type !== 'Command' || name === undefined) return null;
  const words = [name.text];
  const assignments: Stage['assignments'][number][] = [];
  const redirections: (string | null)[] = [];
  for (const { type: kind, text = '', expansion, op, file, numberIo } of [...prefix, ...suffix]) {
    if (expansion !== undefined) return null;
    if (kind === 'Word') words.push(text);
    else if (kind === 'Redirect') redirections.push(`${numberIo?.text ?? ''}${op?.text ?? ''}${file?.text ?? ''}`);
    else assignments.push({ name: text.slice(0, text.indexOf('=')), value: text.slice(text.indexOf('=') + 1) });
  }
  return stageFrom(words, assignments, redirections);
}

function stageFrom(
  words: readonly string[],
  assignments: Stage['assignments'],
  spelled: readonly (string | null)[],
): Stage | null {
  const redirections = spelled.map((each) => (each === null ? null : redirectionOf(each)));
  if (!redirections.every((each) => each !== null)) return null;
  return { words, assignments, redirections, hasGlob: false };
}

/** Two readings of one text, as far as both tell: no parser tells what a glob is. */
export function isSameReading(one: Compound, other: Compound): boolean {
  const bare = ({ cd, pipelines, operators }: Compound): string =>
    JSON.stringify({
      cd,
      pipelines: pipelines.map((stages) =>
        stages.map(({ words, assignments, redirections }) => ({ words, assignments, redirections })),
      ),
      operators: operators.slice(0, pipelines.length - 1),
    });
  return bare(one) === bare(other);
}
