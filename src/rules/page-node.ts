import { usageLine } from '../classifier/advice.ts';
import type { NodeRule, ShapeRule } from '../classifier/compiled.ts';
import { namesOf, spellingsOf } from '../classifier/usage.ts';
import { code, codes, prose, table } from './markdown.ts';
import type { RuleFile, RuleNode, RuleOption, RuleShape } from './schema.ts';

const STDIN = {
  never: 'is not read',
  named: 'is read where a word is `-`: serial alone',
  'unless-operand': 'is read when the last list of operands is empty: serial alone',
  always: 'is read: serial alone',
} as const;

/** The sections of a node and of all below it. @param compiled the same node, with what it inherits. */
export function nodeSections(file: RuleFile, node: RuleNode, compiled: NodeRule): readonly string[] {
  const below = Object.entries(node.subcommands ?? {}).flatMap(([key, inner]) => {
    const known = compiled.subcommands.get(namesOf(key)[0]!);
    return known === undefined ? [] : nodeSections(file, inner, known);
  });
  return [...nodeSection(file, node, compiled), ...below];
}

function feederFacts(feeders: RuleNode['after'] = {}, tell: (rule: string) => string): readonly string[] {
  return Object.entries(feeders).map(([rule, options]) => {
    const only =
      options.length === 0 ? 'without options' : `with no options but ${codes(options.flatMap(optionTexts))}`;
    return `${tell(code(rule))}, ${only}`;
  });
}

/** `-t`, or `-t f` for each value that it may have. */
function optionTexts(option: NonNullable<RuleNode['after']>[string][number]): readonly string[] {
  if (typeof option === 'string') return [option];
  return Object.entries(option).flatMap(([spelling, values]) => values.map((value) => `${spelling} ${value}`));
}

function nodeSection(file: RuleFile, node: RuleNode, compiled: NodeRule): readonly string[] {
  const { path, proof, shapes } = compiled;
  const facts = [
    `effects: ${proof.effects.length === 0 ? 'none' : codes(proof.effects)}`,
    ...(proof.assumes.length === 0 ? [] : [`assumes: ${codes(proof.assumes)}`]),
    ...(node.profile === undefined ? [] : [`profile: ${code(node.profile)}`]),
    ...(node.syntax === undefined ? [] : [`reads its options as ${code(node.syntax)}`]),
    ...(proof.wholeEnvironment ? ['is handed the whole environment'] : []),
    ...feederFacts(node.after, (rule) => `behind ${rule}, which prints names of files`),
    ...feederFacts(node.through, (rule) => `with ${rule} between them, which passes names on`),
    ...Object.entries(node.headings ?? {}).map(
      ([rule, without]) => `${code(rule)} names one place at most, and no glob, unless with ${codes(without)}`,
    ),
    ...Object.entries(node.nul ?? {}).map(
      ([rule, nul]) =>
        `${code(rule)} ends names with NUL with ${codes(nul.with)}${nul.unless === undefined ? '' : `, and some with a newline with ${codes(nul.unless)}`}: all stages do, or none`,
    ),
    ...(node.starts === undefined ? [] : [`starts ${codes(node.starts)}`]),
    ...(node.dashes === undefined ? [] : ['a word with a dash that is no option is text']),
    ...(node.override === true ? ['overrides the built-in rule'] : []),
  ];
  const docs = 'docs' in node ? ` ([documentation](${node.docs}))` : '';
  return [
    `### ${code(path)}`,
    '',
    `${sentence(node.why)}${docs}`,
    '',
    ...facts.map((fact) => `- ${fact}`),
    ...(node.evidence ?? []).map((fact) => `- evidence: ${prose(fact)}`),
    '',
    ...shapeTable(node, path, shapes),
    ...optionTable(file, node),
    ...delegateTable(node, path),
    ...expressionLines(node),
    ...subcommandLines(node, path),
    ...refusalTable(node, path),
  ];
}

/** Each is a complete claim: one that fits is enough. */
function shapeTable(node: RuleNode, path: string, compiled: readonly ShapeRule[]): readonly string[] {
  const forms: readonly Partial<RuleShape>[] =
    node.shapes ??
    (node.operands === undefined ? [] : [{ operands: node.operands, ...(node.globs ? { globs: true } : {}) }]);
  const rows = forms.map((shape, index) => [
    code(usageLine(path, { with: shape.with, operands: shape.operands })),
    shape.without === undefined ? '' : shape.without.map((one) => code(one)).join(', '),
    shape.globs ? 'in the last operands' : 'no',
    STDIN[compiled[index]?.stdin ?? 'always'],
    prose(shape.why ?? node.why),
  ]);
  return table(['parallel', 'without', 'globs', 'standard input', 'why'], rows);
}

function optionTable(file: RuleFile, node: RuleNode): readonly string[] {
  const sources = [...(node.use ?? []).map((group) => file.groups?.[group] ?? {}), node.options ?? {}];
  const rows = sources
    .flatMap((options) => Object.entries(options))
    .map(([key, option]) => [
      spellingsOf(key)
        .map((spellings) => codes(spellings))
        .join('; '),
      valueText(option),
      prose(option.why),
    ]);
  return table(['option', 'value', 'why'], rows);
}

function valueText({ takes, optional, form, starts }: RuleOption): string {
  if (takes === undefined) return starts === undefined ? 'none' : `none; starts ${codes(starts)}`;
  const value = typeof takes === 'string' ? code(takes) : takes.map((word) => code(word)).join(', ');
  const notes = [
    ...(optional ? ['may be missing'] : []),
    ...(form === undefined ? [] : [form === 'joined' ? 'only joined' : 'only as the next word']),
    ...(starts === undefined ? [] : [`starts ${codes(starts)}`]),
  ];
  return [value, ...notes].join('; ');
}

function delegateTable(node: RuleNode, path: string): readonly string[] {
  const rows = (node.delegates ?? []).map(({ command, exactly, after, without, why }) => [
    code([path, command, ...(exactly ?? ['…', '--'])].join(' ')),
    after === undefined ? 'any of them' : `right behind ${codes(after)}`,
    without === undefined ? '' : codes(without),
    prose(why),
  ]);
  return table(['runs, behind a pipe', 'fed by', 'without', 'why'], rows);
}

function expressionLines({ expression }: RuleNode): readonly string[] {
  if (expression === undefined) return [];
  const parts = (['open', 'close', 'not', 'join', 'leading'] as const).flatMap((role) => {
    const words = expression[role];
    return words === undefined ? [] : [`${role} ${codes(words)}`];
  });
  return [
    `The options form an expression: ${parts.length === 0 ? 'terms one behind the other' : parts.join('; ')}.`,
    '',
  ];
}

function subcommandLines({ subcommands }: RuleNode, path: string): readonly string[] {
  const keys = Object.keys(subcommands ?? {});
  if (keys.length === 0) return [];
  return [
    `Subcommands of ${code(path)}: ${keys.map((key) => codes(namesOf(key))).join('; ')}. Any other is serial.`,
    '',
  ];
}

function refusalTable({ refuses, bare, otherwise }: RuleNode, path: string): readonly string[] {
  const rows = Object.entries(refuses ?? {}).map(([key, why]) => [
    spellingsOf(key)
      .map((spellings) => codes(spellings))
      .join('; '),
    prose(why),
  ]);
  const alone = bare === undefined ? [] : [[`${code(path)} alone`, prose(bare)]];
  const others = otherwise === undefined ? [] : [[`${code(path)} with other operands`, prose(otherwise)]];
  return table(['serial, known to be unsafe', 'why'], [...alone, ...rows, ...others]);
}

/** Reasons are clauses; as a paragraph they begin with a capital and end with a full stop. */
function sentence(why: string): string {
  const text = prose(why);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}
