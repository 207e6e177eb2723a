import { compileFile } from '../classifier/compile.ts';
import type { BinaryRule, DelegateRule, NodeRule, OptionRule } from '../classifier/compiled.ts';
import { type Problem, type Report, reportInto } from '../classifier/problems.ts';
import { namesOf } from '../classifier/usage.ts';
import { isNarrower } from './narrower-kind.ts';
import type { Profiles } from './profiles-schema.ts';
import type { RuleData, RuleNode } from './schema.ts';
import { uncoveredShapes } from './shape-tightening.ts';

/**
 * What a user's file permits beyond the built-in file of the same binary. An entry that permits (an option, a spelling, a
 * word of a list, a placeholder, a shape, a subcommand, a delegate, a word that stands alone) may be taken away and not
 * added. One that restricts (`with`, `without`, `--`, a count, a kind, a form, `stdin`) may be made stricter and not
 * laxer. An option without a dash is of both kinds and has to stay. What cannot be compared counts as laxer. Where an entry says `override`, nobody looks inside it.
 */
export function loosenings(user: RuleData, builtIn: RuleData, profiles: Profiles): readonly Problem[] {
  if (user.override) return [];
  const problems: Problem[] = [];
  const [mine, theirs] = [compiled(user, profiles), compiled(builtIn, profiles)];
  // What does not fit together is no rule to compare; it is reported when the set is made of the files.
  if (mine === null) return [];
  if (theirs === null)
    return [{ pointer: '', message: 'expected a built-in rule that fits together, to compare with' }];
  const report = reportInto(problems);
  compareFiles(user, builtIn, report);
  for (const word of mine.alone.keys()) {
    if (!theirs.alone.has(word)) report.at('alone').say(beyond(`that "${word}" may stand alone`));
  }
  compareStarts(user.command, builtIn.command, report.at('command'));
  compareNodes(user.command, mine.root, theirs.root, report.at('command'));
  return problems;
}

/** What a message says of a loosening, and what to do about it. */
function beyond(what: string): string {
  return `expected nothing that the built-in rule does not permit, got ${what}; "override": true here would permit it`;
}

function compiled(file: RuleData, profiles: Profiles): BinaryRule | null {
  const problems: Problem[] = [];
  const [binary] = compileFile(file, profiles, 'user', problems);
  return problems.length > 0 ? null : binary!;
}

const STRICTNESS = ['stable', 'experimental', 'retired'] as const;

function compareFiles(user: RuleData, builtIn: RuleData, report: Report): void {
  const kept = (list: readonly string[] | undefined, of: readonly string[] | undefined): boolean =>
    (of ?? []).every((one) => list?.includes(one));
  if (!kept(builtIn.also, user.also)) report.at('also').say(beyond('another name'));
  if (!kept(user.resources, builtIn.resources)) report.at('resources').say(beyond('fewer lock keys'));
  if (user.profile !== builtIn.profile) report.at('profile').say(beyond('another profile'));
  if (builtIn.identity !== undefined && (user.identity === undefined || !kept(builtIn.identity, user.identity)))
    report.at('identity').say(beyond('another program'));
  if (user.builtin !== builtIn.builtin) report.at('builtin').say(beyond('another way to run'));
  if (builtIn.only !== undefined && user.only === undefined) report.at('only').say(beyond('a meaning outside pipes'));
  if (STRICTNESS.indexOf(user.maturity) < STRICTNESS.indexOf(builtIn.maturity)) {
    report.at('maturity').say(beyond(`"${user.maturity}" instead of "${builtIn.maturity}"`));
  }
}

function compareNodes(user: RuleNode, mine: NodeRule, theirs: NodeRule, report: Report): void {
  if (user.override) return;
  if (mine.syntax !== theirs.syntax && !sameSyntax(mine, theirs)) report.at('syntax').say(beyond('another syntax'));
  if (mine.dashesAreText && !theirs.dashesAreText) report.at('dashes').say(beyond('text with a dash'));
  compareOptions(mine, theirs, report);
  compareBareWords(mine, theirs, report);
  compareExpressions(mine, theirs, report);
  compareProofs(mine, theirs, report);
  for (const delegate of mine.delegates) {
    if (!theirs.delegates.some((one) => isStricterDelegate(delegate, one)))
      report.at('delegates').say(beyond(`that it runs ${delegate.command}`));
  }
  for (const list of ['after', 'through'] as const) {
    for (const [rule, options] of mine[list]) {
      const known = theirs[list].get(rule);
      if (known === undefined) report.at(list).say(beyond(`names from "${rule}"`));
      if (known === undefined) continue;
      const more = [...options].find(([option, values]) => !known.has(option) || !isWithin(values, known.get(option)!));
      if (more !== undefined) report.at(list, rule).say(beyond(`names from it with ${more[0]}`));
    }
  }
  for (const [rule, without] of theirs.headings) {
    const kept = mine.headings.get(rule);
    if (kept === undefined || !isWithin(kept, without)) report.at('headings').say(beyond(`headings of "${rule}"`));
  }
  for (const rule of new Set([...mine.nul.keys(), ...theirs.nul.keys()])) {
    const [own, known] = [mine.nul.get(rule), theirs.nul.get(rule)];
    const isSame = own !== undefined && known !== undefined && isWithin(own.with, known.with);
    if (!isSame || !isWithin(known.with, own.with) || !isWithin(known.unless, own.unless))
      report.at('nul').say(beyond(`another end of the names of "${rule}"`));
  }
  for (const index of uncoveredShapes(mine, theirs)) {
    const at = user.shapes === undefined ? report.at('operands') : report.at('shapes', index);
    at.say(beyond('a shape'));
  }
  for (const [key, node] of Object.entries(user.subcommands ?? {})) {
    for (const name of namesOf(key)) {
      const at = report.at('subcommands', key);
      const below = theirs.subcommands.get(name);
      if (below !== undefined) compareNodes(node, mine.subcommands.get(name)!, below, at);
      else if (!node.override) at.say(beyond(`the subcommand "${name}"`));
    }
  }
}

function isStricterDelegate(mine: DelegateRule, theirs: DelegateRule): boolean {
  if (mine.command !== theirs.command || String(mine.exactly) !== String(theirs.exactly)) return false;
  return isWithin(mine.after, theirs.after) && isWithin(theirs.without, mine.without);
}

/** Null is everything. */
function isWithin(mine: ReadonlySet<string> | null, theirs: ReadonlySet<string> | null): boolean {
  return theirs === null || (mine !== null && [...mine].every((one) => theirs.has(one)));
}

/** What a program starts is looked up as it is itself, so a name that is left out is one that nobody looks up. */
function compareStarts(user: RuleNode, builtIn: RuleNode, report: Report): void {
  if (user.override) return;
  const unnamed = (builtIn.starts ?? []).find((name) => !user.starts?.includes(name));
  if (unnamed !== undefined) report.at('starts').say(beyond(`that it does not start "${unnamed}"`));
  const theirs = new Map(
    Object.entries(builtIn.subcommands ?? {}).flatMap(([key, node]) =>
      namesOf(key).map((name) => [name, node] as const),
    ),
  );
  for (const [key, node] of Object.entries(user.subcommands ?? {})) {
    const below = namesOf(key).flatMap((name) => theirs.get(name) ?? []);
    for (const one of new Set(below)) compareStarts(node, one, report.at('subcommands', key));
  }
}

function sameSyntax({ syntax: mine }: NodeRule, { syntax: theirs }: NodeRule): boolean {
  return JSON.stringify(mine) === JSON.stringify(theirs);
}

function compareOptions(mine: NodeRule, theirs: NodeRule, report: Report): void {
  const known = new Map<number, number>();
  const permitted = allOptions(theirs);
  for (const [spelling, option] of allOptions(mine)) {
    if (option.override) continue;
    const other = permitted.get(spelling);
    const at = report.at('options');
    if (other === undefined) at.say(beyond(`the option "${spelling}"`));
    else {
      if (!isTighter(option, other)) at.say(beyond(`another value or form for "${spelling}"`));
      // Spellings that were one option must stay one, and others must not become one: shapes speak of options.
      const partner = known.get(option.id) ?? other.id;
      const foreign = [...known].some(([id, one]) => one === other.id && id !== option.id);
      if (partner !== other.id || foreign) at.say(beyond(`"${spelling}" beside other spellings`));
      known.set(option.id, other.id);
    }
  }
}

/** A word without a dash that is an option there and none here would be an operand here. */
function compareBareWords(mine: NodeRule, theirs: NodeRule, report: Report): void {
  for (const spelling of theirs.options.keys()) {
    if (spelling.startsWith('-') || mine.options.has(spelling)) continue;
    report.at('options').say(beyond(`that "${spelling}" is no option`));
  }
}

function allOptions(node: NodeRule): ReadonlyMap<string, OptionRule> {
  return node.number === null ? node.options : new Map([...node.options, ['-NUMBER', node.number]]);
}

function isTighter(mine: OptionRule, theirs: OptionRule): boolean {
  if (mine.role !== theirs.role || mine.optional !== theirs.optional) return false;
  if (theirs.form !== 'any' && mine.form !== theirs.form) return false;
  if (mine.value === null || theirs.value === null) return mine.value === theirs.value;
  return isNarrower(mine.value, theirs.value);
}

function compareExpressions(mine: NodeRule, theirs: NodeRule, report: Report): void {
  if (theirs.expression === null) return;
  if (JSON.stringify(mine.expression) !== JSON.stringify(theirs.expression)) {
    report.at('expression').say(beyond('another expression'));
  }
}

function compareProofs({ proof: mine }: NodeRule, { proof: theirs }: NodeRule, report: Report): void {
  const kept = theirs.effects.every((effect) => mine.effects.includes(effect));
  if (!kept) report.at('observes').say(beyond('fewer effects'));
  if (mine.wholeEnvironment && !theirs.wholeEnvironment) report.at('observes').say(beyond('the whole environment'));
  // Each assumption is something that the dispatcher looks at before it runs the command.
  if (!theirs.assumes.every((one) => mine.assumes.includes(one)))
    report.at('observes').say(beyond('fewer assumptions'));
  if (mine.profile.name !== theirs.profile.name) report.at('profile').say(beyond('another profile'));
}
