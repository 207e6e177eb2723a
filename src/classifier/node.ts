import type { RuleData, RuleExpression, RuleNode } from '../rules/schema.ts';
import { adviceOn } from './advice.ts';
import type { ExpressionRule, Feeders, NodeRule, NulRule, OptionRule, ProfileRule } from './compiled.ts';
import { type KindFinder, NUMBER, optionTable } from './option-table.ts';
import type { Report } from './problems.ts';
import { type Inherited, type Origin, proofOf } from './proof.ts';
import { compileShapes } from './shape.ts';
import { SYNTAXES } from './syntax.ts';
import { itemOf, namesOf, spellingsOf } from './usage.ts';

/** What every node of one file is compiled with. */
export type FileContext = {
  readonly file: RuleData;
  readonly origin: Origin;
  readonly kinds: KindFinder;
  readonly profiles: (name: string, at: Report) => ProfileRule;
};

const ASCII = 128;

/** Compiles a node and all below it. What it does not say itself it inherits, but for its syntax. */
export function compileNode(
  context: FileContext,
  node: RuleNode,
  path: string,
  above: Inherited,
  report: Report,
): NodeRule {
  const named = SYNTAXES[node.syntax ?? context.file.syntax];
  // The options of a node that runs another command end where that command begins.
  const syntax = node.delegates === undefined ? named : { ...named, stops: true };
  const table = optionTable(context.file, node, syntax, context.kinds, report);
  const here: Inherited = {
    stdin: node.stdin ?? above.stdin,
    effects: node.effects ?? above.effects,
    observes: node.observes ?? above.observes,
    override: above.override || node.override === true,
    profile: node.profile === undefined ? above.profile : context.profiles(node.profile, report),
    refuses: notesOf(node, above.refuses, table),
  };
  checkText(node, table, report);
  if (
    node.bare !== undefined &&
    (node.subcommands === undefined || node.shapes !== undefined || node.operands !== undefined)
  ) {
    report.at('bare').say('expected `bare` only where there are subcommands and no shape of its own');
  }
  if (node.expression !== undefined && syntax !== SYNTAXES.words) {
    report.at('expression').say('expected the syntax `words` beside an expression');
  }
  const options = new Map([...table].filter(([spelling]) => spelling !== NUMBER));
  return {
    path,
    syntax,
    options,
    letters: lettersOf(options),
    number: table.get(NUMBER) ?? null,
    bareOptions: [...options.keys()].some((spelling) => !spelling.startsWith('-')),
    bareTexts: new Set([...options.keys()].filter((spelling) => !spelling.startsWith('-')).map(unquoted)),
    dashesAreText: node.dashes === 'text',
    subcommands: compileSubcommands(context, node, path, here, report),
    shapes: compileShapes(node, table, context.kinds, here.stdin, report),
    delegates: (node.delegates ?? []).map((one) => ({
      command: one.command,
      exactly: one.exactly ?? null,
      after: one.after === undefined ? null : new Set(one.after),
      without: new Set(one.without),
    })),
    after: feedersOf(node.after),
    through: feedersOf(node.through),
    headings: new Map(Object.entries(node.headings ?? {}).map(([rule, without]) => [rule, new Set(without)])),
    nul: nulRulesOf(node.nul),
    expression: node.expression === undefined ? null : expressionOf(node.expression),
    stdin: here.stdin,
    refuses: here.refuses,
    otherwise: node.otherwise ?? null,
    bare: node.bare ?? null,
    proof: proofOf(context.file, path, context.origin, here),
    advice: once(() => adviceOn(node, path)),
  };
}

function compileSubcommands(
  context: FileContext,
  node: RuleNode,
  path: string,
  here: Inherited,
  report: Report,
): ReadonlyMap<string, NodeRule> {
  const nodes = new Map<string, NodeRule>();
  for (const [key, below] of Object.entries(node.subcommands ?? {})) {
    const at = report.at('subcommands', key);
    for (const name of namesOf(key)) {
      if (!isPlainWord(name)) at.say(`expected a plain word that is no option, got "${name}"`);
      if (nodes.has(name)) at.say(`expected each name once, but "${name}" stands twice`);
      nodes.set(name, compileNode(context, below, `${path} ${name}`, here, at));
    }
  }
  return nodes;
}

/** Names are found by the raw spelling: one with a quote in it would be found by a quoted word. */
function isPlainWord(name: string): boolean {
  const plain = [...name].every((character) => !' \t\\\'"*?['.includes(character));
  return plain && name !== '' && !name.startsWith('-');
}

/** What bash makes of a spelling of a rule file: `(` of `\(` and of `'('`. */
function unquoted(spelling: string): string {
  return [...spelling].filter((character) => !'\\\'"'.includes(character)).join('');
}

/** The options `-x`, by the code of their letter. */
function lettersOf(options: ReadonlyMap<string, OptionRule>): readonly (OptionRule | undefined)[] {
  const letters = new Array<OptionRule | undefined>(ASCII).fill(undefined);
  for (const [spelling, option] of options) {
    const code = spelling.charCodeAt(1);
    if (spelling.length === 2 && spelling.startsWith('-') && code < ASCII) letters[code] = option;
  }
  return letters;
}

function feedersOf(feeders: RuleNode['after'] = {}): Feeders {
  return new Map(
    Object.entries(feeders).map(([rule, options]) => {
      const listed = new Map<string, ReadonlySet<string> | null>();
      for (const option of options) {
        if (typeof option === 'string') listed.set(option, null);
        else for (const [spelling, values] of Object.entries(option)) listed.set(spelling, new Set(values));
      }
      return [rule, listed];
    }),
  );
}

function nulRulesOf(rules: RuleNode['nul'] = {}): ReadonlyMap<string, NulRule> {
  return new Map(
    Object.entries(rules).map(([rule, nul]) => [rule, { with: new Set(nul.with), unless: new Set(nul.unless) }]),
  );
}

function expressionOf(expression: RuleExpression): ExpressionRule {
  return {
    implicitJoin: expression.implicitJoin ?? false,
    operandsFirst: expression.operandsFirst ?? false,
  };
}

/**
 * The notes of a node, and those from above on options by name. A letter, or a word, may mean something else here, and so
 * does an option that the node lists.
 */
function notesOf(
  node: RuleNode,
  above: ReadonlyMap<string, string>,
  table: ReadonlyMap<string, OptionRule>,
): ReadonlyMap<string, string> {
  const inherited = [...above].filter(([spelling]) => isOptionName(spelling) && !table.has(spelling));
  const own = Object.entries(node.refuses ?? {}).flatMap(([key, note]) =>
    spellingsOf(key)
      .flat()
      .map((spelling) => [spelling, note] as const),
  );
  return new Map([...inherited, ...own]);
}

/** Longer than `-x`. */
function isOptionName(spelling: string): boolean {
  return spelling.startsWith('-') && spelling.length > 2;
}

/**
 * Where words with a dash are text, an option that is taken away becomes an operand. So that this can only tighten, such
 * a node has switches and one unbounded list of text, and nothing else.
 */
function checkText(node: RuleNode, table: ReadonlyMap<string, OptionRule>, report: Report): void {
  if (node.dashes !== 'text') return;
  const [first, ...more] = (node.operands ?? []).map(itemOf);
  const isText = first !== undefined && (first.kind === 'text' || first.kind === 'pattern');
  const takesAnything = isText && first.least === 0 && first.most === Infinity && more.length === 0;
  const onlySwitches = [...table.values()].every((option) => option.value === null);
  if (!takesAnything || !onlySwitches || node.expression !== undefined) {
    report.at('dashes').say('expected only switches and `"operands": ["text*"]` where words with a dash are text');
  }
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
