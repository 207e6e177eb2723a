import { classify } from '../../src/classifier/classify.ts';
import { lexList } from '../../src/classifier/lexer.ts';
import type { RuleSet } from '../../src/classifier/rule-set.ts';
import type { Part } from '../../src/classifier/verdict.ts';
import { isSameReading } from './compound-parsers.ts';
import { type Compound, compoundOf, compoundOfList } from './compound-reading.ts';
import { names, samples } from './compound-samples.ts';
import { compoundText } from './compound-text.ts';
import { randomFrom } from './hostile-text.ts';

/** A text that the lexer accepts as a list of pipelines, and how it reads it. */
export type AcceptedList = { readonly text: string; readonly compound: Compound };

/** Records must reach the reader whole, and a pipe gives them whole up to 4,096 bytes. */
const LONGEST = 1_000;

const known: ReadonlySet<string> = new Set(names);

/**
 * At least `least` different texts that the lexer accepts, an equal share out of each seed, and the number of refused
 * ones by code. Only those are among them whose every command has a printer of its name.
 */
export function acceptedLists(
  seeds: readonly number[],
  least: number,
): { readonly accepted: readonly AcceptedList[]; readonly refused: ReadonlyMap<string, number> } {
  const accepted = new Map<string, AcceptedList>();
  const refused = new Map<string, number>();
  for (const [index, seed] of seeds.entries()) {
    const random = randomFrom(seed);
    while (accepted.size < (least / seeds.length) * (index + 1)) {
      const text = compoundText(random, samples);
      const list = lexList(text);
      if (!list.ok) {
        refused.set(list.code, (refused.get(list.code) ?? 0) + 1);
        continue;
      }
      const compound = compoundOfList(list);
      if (compound === null || !list.compound || text.length > LONGEST || !isAskable(compound)) continue;
      accepted.set(text, { text, compound });
    }
  }
  return { accepted: [...accepted.values()], refused };
}

/** `cd` may fail for reasons that are no matter of reading; so only those that bash follows or has nowhere to follow. */
function isAskable({ cd, pipelines }: Compound): boolean {
  if (cd !== null && (cd === '' || cd.startsWith('-') || cd.startsWith('//') || /[*?[]/.test(cd))) return false;
  return pipelines.every((stages) => stages.every(({ words }) => known.has(words[0] ?? '')));
}

/** At least `least` different texts that are proved as compounds, an equal share out of each seed. */
export function parallelCompounds(seeds: readonly number[], least: number, rules: RuleSet): readonly AcceptedList[] {
  const found = new Map<string, AcceptedList>();
  for (const [index, seed] of seeds.entries()) {
    const random = randomFrom(seed);
    while (found.size < (least / seeds.length) * (index + 1)) {
      const text = compoundText(random, samples);
      if (text.length > LONGEST) continue;
      const verdict = classify(text, { rules, mode: 'compound', cwd: '/home/someone/project' });
      if (verdict.kind === 'serial' || verdict.parts === undefined) continue;
      found.set(text, { text, compound: readAsJudged(text, verdict.parts) });
    }
  }
  return [...found.values()];
}

/** The lexer's reading, which the spans of the verdict's parts must tell too. */
function readAsJudged(text: string, parts: readonly Part[]): Compound {
  const list = lexList(text);
  const compound = list.ok ? compoundOfList(list) : null;
  if (compound === null) throw new Error(`Parallel, although the lexer refuses it: ${JSON.stringify(text)}`);
  if (!isSameReading(compound, compoundOf(text, parts))) {
    throw new Error(`The spans of the parts are not what was read: ${JSON.stringify({ text, parts })}`);
  }
  return compound;
}
