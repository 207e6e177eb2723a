import type { DelegateRule, Feeders, NodeRule, NulRule } from './compiled.ts';
import { isRoot, namesDevices } from './paths.ts';
import { type Reading, type UsedOption, usesAny } from './reading.ts';

/** What a program that splits its input into names takes out of them. */
const SPLITTING = ' \t\n\v\f\r\'"\\';

/**
 * Who among them hands on what is no whole name of a file to a delegated command of the node, if any does.
 *
 * @param self the reading of the node's own words.
 * @param delegate may be more particular than its node.
 */
export function unfitFeeder(self: Reading, node: NodeRule, delegate: DelegateRule): Reading | undefined {
  const feeders = self.feeders ?? [];
  const end = nameEnd(self.options, node.nul.get(node.path));
  return feeders.find((one) => !namesFiles(one, node, delegate, self.home) || !endsNamesWith(one, node, end));
}

/**
 * Whether the names that a stage hands on are those of files that it, or one before it, has found: its rule is listed, and
 * all its options with their values, since others invent names, pick pipes and devices or print more than names; it does
 * not look at the root, which holds the devices, no word of it spells one, and no place that it names is more than one
 * name to who reads it.
 *
 * @param delegate the command that is given the names; it may be more particular than the rest.
 */
function namesFiles(feeder: Reading, node: NodeRule, delegate: DelegateRule, home: string): boolean {
  const { words, input, named, readsInput } = feeder;
  if (feeder.mixesOutput) return false;
  const passesOn = input === 'pipe' && readsInput && named.length === 0 && isListed(feeder, node.through);
  // What passes names on may begin with the second half of one.
  if (!(passesOn && delegate.after === null) && !(isListed(feeder, node.after) && mayFeed(feeder, delegate)))
    return false;
  if (printsHeadings(feeder, node)) return false;
  if (named.some(({ text }) => [...text].some((character) => SPLITTING.includes(character)))) return false;
  const bases = [home, feeder.home, feeder.base];
  const isOutside = (text: string): boolean => namesDevices(text) || bases.some((base) => isRoot(text, base));
  // Where the home directory lies, or leads to, is not known here: it may be the root.
  return !isOutside('.') && !words.some(({ text, home: isHome }) => isHome === true || isOutside(text));
}

function mayFeed({ proof }: Reading, { after }: DelegateRule): boolean {
  return after === null || proof!.rule.every(({ path }) => after.has(path));
}

/** Whether a stage cuts and ends names as who takes them does: otherwise several are one, or a part of one is another. */
function endsNamesWith({ proof, options }: Reading, { nul }: NodeRule, end: NameEnd | null): boolean {
  return end !== null && proof!.rule.every(({ path }) => nameEnd(options, nul.get(path)) === end);
}

type NameEnd = 'line' | 'nul';

/** Null when it is the one here and the other there. */
function nameEnd(options: readonly UsedOption[], rule: NulRule | undefined): NameEnd | null {
  if (rule === undefined || !usesAny(options, rule.with)) return 'line';
  return usesAny(options, rule.unless) ? null : 'nul';
}

/** A heading is made of the text, not found. A glob may be several places. */
function printsHeadings({ proof, named, options }: Reading, { headings }: NodeRule): boolean {
  if (named.length < 2 && !named.some(({ glob }) => glob)) return false;
  return proof!.rule.some(({ path }) => {
    const without = headings.get(path);
    return without !== undefined && !usesAny(options, without);
  });
}

function isListed({ proof, options }: Reading, feeders: Feeders): boolean {
  return proof!.rule.every(({ path }) => {
    const listed = feeders.get(path);
    return listed !== undefined && options.every((_, at) => isListedOption(options, at, listed));
  });
}

function isListedOption(
  options: readonly UsedOption[],
  at: number,
  listed: ReadonlyMap<string, ReadonlySet<string> | null>,
): boolean {
  const { spellings, value } = options[at]!;
  const spelling = spellings.find((one) => listed.has(one));
  if (spelling === undefined) return false;
  const values = listed.get(spelling)!;
  return values === null || (value !== null && values.has(value) && holdsForAll(options, at));
}

/** Whether what is found is held to the option: one that is negated, or has an alternative, picks what it does not say. */
function holdsForAll(options: readonly UsedOption[], at: number): boolean {
  const negates = ({ role }: UsedOption, one: number): boolean =>
    role === 'not' && (one === at - 1 || options[one + 1]!.role === 'open');
  if (options.some(negates)) return false;
  let [depth, least] = [0, 0];
  return options.slice(at + 1).every(({ role }) => {
    if (role === 'open') depth++;
    if (role === 'close') depth--;
    least = Math.min(least, depth);
    return role !== 'join' || depth > least;
  });
}
