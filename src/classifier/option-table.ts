import type { RuleData, RuleExpression, RuleNode, RuleOption } from '../rules/schema.ts';
import type { OptionRule, Role } from './compiled.ts';
import { type Kind, plain } from './kinds.ts';
import type { Report } from './problems.ts';
import type { Syntax } from './syntax.ts';
import { alternativesOf, spellingsOf } from './usage.ts';
import { kindOfWords } from './values.ts';

/** Finds a kind by name: the file's own, then the built-in ones. Reports a name that nobody defined. */
export type KindFinder = (name: string, report: Report) => Kind;

/** The special key for `-20`. */
export const NUMBER = '-NUMBER';

/** What stands for a kind that could not be found: accepts nothing. */
export const NO_KIND: Kind = Object.freeze(plain('nothing', () => false));

/** The options read at a node: its groups' and its own, by every spelling. A spelling declared twice is a problem. */
export function optionTable(
  file: RuleData,
  node: RuleNode,
  syntax: Syntax,
  kinds: KindFinder,
  report: Report,
): ReadonlyMap<string, OptionRule> {
  const table = new Map<string, OptionRule>();
  const related = relatedSpellings(node);
  const roles = rolesOf(node.expression, report.at('expression'));
  for (const { options, at } of sourcesOf(file, node, report)) {
    for (const [key, option] of Object.entries(options)) {
      const here = at.at(key);
      checkForms(key, option, syntax, here);
      const value = kindTaken(option, kinds, here);
      for (const spellings of spellingsOf(key)) {
        const id = table.size;
        for (const spelling of spellings) {
          if (table.has(spelling)) here.say(`expected each spelling once, but "${spelling}" is declared twice`);
          table.set(spelling, {
            id,
            spellings,
            value,
            optional: option.optional ?? false,
            form: option.form ?? 'any',
            related: spellings.some((one) => related.has(one)),
            role: roles.get(spelling) ?? 'term',
            override: option.override ?? false,
          });
        }
      }
    }
  }
  checkReferences(table, node, roles, report);
  return table;
}

type Source = { readonly options: Readonly<Record<string, RuleOption>>; readonly at: Report };

function sourcesOf(file: RuleData, node: RuleNode, report: Report): readonly Source[] {
  const groups = (node.use ?? []).flatMap((name, index): Source[] => {
    if (file.groups !== undefined && Object.hasOwn(file.groups, name)) {
      return [{ options: file.groups[name]!, at: report.at('use', index) }];
    }
    report.at('use', index).say(`expected the name of a group of this file, got "${name}"`);
    return [];
  });
  return [...groups, { options: node.options ?? {}, at: report.at('options') }];
}

function checkForms(key: string, option: RuleOption, syntax: Syntax, report: Report): void {
  const attached = syntax.joined || syntax.equals;
  if (!attached && (option.optional || option.form === 'joined')) {
    report.say('in this syntax a value is always the next word, so it can be neither `optional` nor `joined`');
  }
  if (option.takes !== undefined && spellingsOf(key).flat().includes(NUMBER)) {
    report.say(`${NUMBER} is its own value and takes none`);
  }
}

function kindTaken(option: RuleOption, kinds: KindFinder, report: Report): Kind | null {
  if (option.takes === undefined) return null;
  if (typeof option.takes === 'string') return kinds(option.takes, report.at('takes'));
  return kindOfWords(option.takes);
}

/** The spellings that some shape asks for, as the file writes them. */
function relatedSpellings(node: RuleNode): ReadonlySet<string> {
  const relations = (node.shapes ?? []).flatMap((shape) => [
    ...(shape.with ?? []).flatMap(alternativesOf),
    ...(shape.without ?? []),
  ]);
  return new Set(relations);
}

const EXPRESSION_ROLES = ['open', 'close', 'not', 'join', 'leading'] as const satisfies readonly Role[];

function rolesOf(expression: RuleExpression | undefined, report: Report): ReadonlyMap<string, Role> {
  const roles = new Map<string, Role>();
  for (const role of EXPRESSION_ROLES) {
    for (const spelling of expression?.[role] ?? []) {
      if (roles.has(spelling)) report.at(role).say(`expected "${spelling}" in one list only`);
      roles.set(spelling, role);
    }
  }
  return roles;
}

/** Whatever relates to an option names one of this node; connectives of an expression take no value. */
function checkReferences(
  table: ReadonlyMap<string, OptionRule>,
  node: RuleNode,
  roles: ReadonlyMap<string, Role>,
  report: Report,
): void {
  for (const [index, shape] of (node.shapes ?? []).entries()) {
    const at = report.at('shapes', index);
    for (const spelling of (shape.with ?? []).flatMap(alternativesOf)) {
      if (!table.has(spelling)) at.at('with').say(`expected an option of this node, got "${spelling}"`);
    }
    for (const spelling of shape.without ?? []) {
      if (!table.has(spelling)) at.at('without').say(`expected an option of this node, got "${spelling}"`);
    }
  }
  for (const [spelling, role] of roles) {
    const option = table.get(spelling);
    const fits = option !== undefined && (option.value === null || role === 'leading');
    if (!fits) report.at('expression', role).say(`expected a switch of this node, got "${spelling}"`);
  }
  for (const spelling of Object.keys(node.refuses ?? {}).flatMap((key) => spellingsOf(key).flat())) {
    if (table.has(spelling)) report.at('refuses').say(`"${spelling}" is an option of this node, so it is not refused`);
  }
}
