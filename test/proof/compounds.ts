import { existsSync, readFileSync } from 'node:fs';
import { classify, judge } from '../../src/classifier/classify.ts';
import { lexList } from '../../src/classifier/lexer.ts';
import type { RuleSet } from '../../src/classifier/rule-set.ts';
import type { Verdict } from '../../src/classifier/verdict.ts';
import type { DispatcherOptions } from '../../src/dispatcher/options.ts';
import { type Candidate, filesFor } from './commands.ts';
import { type Fixture, makeFixture } from './fixture.ts';
import { placeFor, wordFor } from './mapping.ts';
import { type Allowance, type Judging, type Outcome, type Proof, watch } from './run.ts';
import { drawEvenly, randomFrom } from './sample.ts';
import type { Services } from './services.ts';
import { startsOf } from './starts.ts';
import { type Grounds, mindsOf, type ProofSet, presenceOf, severalAtOnce } from './suite.ts';

/**
 * The proof of compounds: lists and pipelines that the rules call parallel, run as the dispatcher runs them, under strace.
 * Half of them are what agents sent, where the corpus lies beside the project; the others are examples of compounds, and
 * of simple commands joined.
 */

const CORPUS = new URL('../../../shared/corpus/agent-commands.jsonl', import.meta.url);

/** How examples are joined: `A` stands for one that is parallel alone, `P` for one that reads what a pipe feeds it. */
const FORMS = [
  'A | P',
  'A | P',
  'A 2>&1 | P | P',
  'A 2>/dev/null | P',
  'A && A',
  'A; A | P',
  'A | P || true',
  'A >/dev/null 2>&1 && A',
  'cd src && A | P',
  'A || A;',
];

/** Compounds, each once and in a fixed order: at most so many of each kind, drawn by a seed. */
export function compoundsOf({ rules, files, candidates }: ProofSet, most: number, seed: number): readonly string[] {
  const seen = corpusOf(rules);
  const ofCorpus = drawEvenly(seen, (text) => String(namesOf(text, rules)), Math.floor(most / 2), seed);
  const whole = files.flatMap(({ examples }) => examples.parallel).filter((text) => isCompound(text, rules));
  const ofExamples = drawEvenly(whole, (text) => text, Math.floor(most / 4), seed);
  const alone = candidates.filter(({ source }) => source === 'example').map(({ command }) => command);
  const piped = files.flatMap(({ only, examples }) => [
    ...(examples.piped ?? []),
    ...(only === 'compound' ? examples.parallel.filter((text) => !isCompound(text, rules)) : []),
  ]);
  const made = new Set<string>();
  const random = randomFrom(seed);
  const pick = (from: readonly string[]): string => from[Math.floor(random() * from.length)]!;
  while (made.size < most - ofCorpus.length - ofExamples.length) {
    const text = pick(FORMS)
      .replaceAll('A', () => pick(alone))
      .replaceAll('P', () => pick(piped));
    if (isCompound(text, rules)) made.add(text);
  }
  return [...new Set([...ofCorpus, ...ofExamples, ...made])];
}

/** What agents sent, with paths that the fixture can have. */
function corpusOf(rules: RuleSet): readonly string[] {
  if (!existsSync(CORPUS)) return [];
  const lines = readFileSync(CORPUS, 'utf8').split('\n');
  const texts = lines.filter((line) => line !== '').map((line): string => JSON.parse(line).cmd);
  return texts.filter((text) => isCompound(text, rules)).map((text) => mapped(text, rules));
}

/** Whether a text is parallel as a compound. */
function isCompound(text: string, rules: RuleSet): boolean {
  return partsOf(classify(text, { rules, mode: 'compound' })) !== null;
}

function partsOf(verdict: Verdict) {
  return verdict.kind === 'parallel' && verdict.parts !== undefined ? verdict.parts : null;
}

function namesOf(text: string, rules: RuleSet): readonly string[] {
  return judge(text, { rules, mode: 'compound' }).programs.slice(0, 1);
}

/** The compound with its paths in the project, and its change of directory led to the project itself. */
function mapped(text: string, rules: RuleSet): string {
  const { cd, paths, directories, verdict } = judge(text, { rules, mode: 'compound' });
  const replaced = new Map(paths.map((path) => [path.text, placeFor(path.text)]));
  for (const directory of [...directories, ...(cd === null ? [] : [cd.text])]) replaced.set(directory, '.');
  let after = text;
  for (const { start, end } of lexList(text)
    .commands.flatMap(({ words }) => words)
    .reverse()) {
    after = `${after.slice(0, start)}${wordFor(text.slice(start, end), replaced)}${after.slice(end)}`;
  }
  const rulesOf = (one: Verdict): string => JSON.stringify(partsOf(one)?.map(({ rule }) => rule));
  return rulesOf(classify(after, { rules, mode: 'compound' })) === rulesOf(verdict) ? after : text;
}

/** Each part as a command of its own, so that the files which it names are there. */
function commandsIn(text: string, rules: RuleSet): readonly Candidate[] {
  const verdict = classify(text, { rules, mode: 'compound' });
  const parts = partsOf(verdict) ?? [];
  return lexList(text)
    .commands.slice(-parts.length)
    .map(({ words }, index) => ({
      command: words.map(({ raw }) => raw).join(' '),
      source: 'example',
      binary: parts[index]?.rule[0]?.binary ?? '',
    }));
}

/** Fixtures that hold every file that the compounds name. */
export function groundsOf({ rules }: ProofSet, texts: readonly string[], services: Services): Grounds {
  const files = filesFor(
    texts.flatMap((text) => commandsIn(text, rules)),
    rules,
  );
  const options = { trapped: true, services, minds: mindsOf(rules), files };
  return { stale: makeFixture({ ...options, stale: true }), fresh: makeFixture({ ...options, stale: false }) };
}

/** Those of which every program is there, and the others. */
export function partedCompounds(
  set: ProofSet,
  texts: readonly string[],
): { readonly present: readonly string[]; readonly missing: readonly string[] } {
  const isThere = presenceOf(set);
  const isPresent = (text: string): boolean =>
    judge(text, { rules: set.rules, mode: 'compound' }).programs.every(isThere);
  return { present: texts.filter(isPresent), missing: texts.filter((text) => !isPresent(text)) };
}

/**
 * Runs compounds, several at once; what the dispatcher would not run in a repository with a stale index is run in the
 * other one.
 */
export async function proveCompounds(
  { rules, files }: ProofSet,
  texts: readonly string[],
  { stale, fresh }: Grounds,
  onEach: (outcome: Outcome) => void = () => {},
): Promise<readonly Outcome[]> {
  const judging: Judging & Pick<DispatcherOptions, 'mode'> = { rules, mode: 'compound' };
  const byBinary = new Map(files.map((file) => [file.binary, file]));
  const allowanceOf =
    (text: string) =>
    (verdict: Proof): Allowance => {
      const own = verdict.rule.flatMap(({ binary, path }) => {
        const file = byBinary.get(binary);
        return file === undefined ? [] : [{ file, starts: startsOf(file, path, text) }];
      });
      return {
        effects: verdict.effects,
        exceptions: own.flatMap(({ file }) => file.exceptions ?? []),
        programs: new Set([
          'bash',
          ...own.flatMap(({ starts }) => starts),
          ...judge(text, { rules, mode: 'compound' }).starts,
        ]),
      };
    };
  const run = (text: string, fixture: Fixture) => watch(text, fixture, judging, allowanceOf(text));
  return severalAtOnce(texts, async (text) => {
    const first = await run(text, stale);
    const outcome = first.refused === 'REPOSITORY_STALE' ? await run(text, fresh) : first;
    onEach(outcome);
    return outcome;
  });
}
