import { compileFile } from '../classifier/compile.ts';
import type { Rules } from '../classifier/compiled.ts';
import { NUMBER } from '../classifier/option-table.ts';
import { namesOf, spellingsOf } from '../classifier/usage.ts';
import { A_NUMBER, candidatesOf } from './candidates.ts';
import type { Mutant } from './draft.ts';
import { mutate, rulesWith, type Survivor } from './mutation.ts';
import type { Profiles } from './profiles-schema.ts';
import type { Proposed, RuleFile } from './schema.ts';
import { answerOf } from './self-test.ts';

/** A command, and what the unchanged rules say of it alone and behind a pipe. */
type Candidate = { readonly command: string; readonly alone: string; readonly piped: string };

export type Proposal = {
  /** Examples that notice what the file's own do not. */
  readonly examples: Proposed;
  /** The changes that no candidate notices. Read each: it may be without effect, or the candidates miss something. */
  readonly left: readonly Survivor[];
};

/** Longer commands say no more, and nobody reads them. */
const MOST_CHARACTERS = 200;

/** Proposes the fewest examples it finds for the entries of a file that its own examples do not notice. */
export function propose(file: RuleFile, profiles: Profiles, others: Rules): Proposal {
  const none: Proposed = { binary: file.binary, parallel: [], piped: [], serial: [] };
  const { survivors } = mutate(file, none, profiles, others);
  const rules = rulesWith(file, profiles, others)!;
  const poolBehind = narrowed(poolOf(file, profiles, rules));
  const chosen: Candidate[] = [];
  const left: Survivor[] = [];
  for (const survivor of survivors) {
    const prefixes = prefixesOf(file, survivor.mutant);
    const texts = textsIn(file, survivor.mutant);
    const notices = (candidate: Candidate): boolean =>
      (texts === null || texts.some((text) => candidate.command.includes(text))) &&
      differs(candidate, survivor.rules, file.only);
    if (chosen.some((candidate) => isBehind(candidate, prefixes) && notices(candidate))) continue;
    const found = poolBehind(prefixes).find(notices);
    if (found === undefined) left.push(survivor);
    else chosen.push(found);
  }
  return { examples: sorted(file, chosen), left };
}

/** Where in a path to some entry the keys of its node end. */
function endOfNode(path: Mutant['path']): number {
  let at = 1;
  while (path[0] === 'command' && path[at] === 'subcommands' && at + 2 < path.length) at += 2;
  return at;
}

/** How commands begin that reach the node of a change: `git log`. What is no node's own can be reached by any. */
function prefixesOf({ binary, also = [] }: RuleFile, { path }: Mutant): readonly string[] {
  let prefixes: readonly string[] = [binary, ...also];
  for (let at = 1; path[0] === 'command' && path[at] === 'subcommands'; at += 2) {
    const names = namesOf(String(path[at + 1]));
    prefixes = prefixes.flatMap((prefix) => names.map((name) => `${prefix} ${name}`));
  }
  return prefixes;
}

/** What is changed of an option, or of a text of a kind, shows only where that stands. Null for other changes. */
function textsIn(file: RuleFile, { path }: Mutant): readonly string[] | null {
  if (path[0] === 'values') return textsOfValue(file, path);
  const table = path[0] === 'groups' ? 1 : endOfNode(path);
  if (path[0] !== 'groups' && path[table] !== 'options') return null;
  return spellingsOf(String(path[table + 1]))
    .flat()
    .map((spelling) => ` ${spelling === NUMBER ? A_NUMBER : spelling}`);
}

function textsOfValue(file: RuleFile, path: Mutant['path']): readonly string[] | null {
  const entry = path.reduce<unknown>((value, key) => (value as Record<string, unknown>)[String(key)], file);
  return typeof entry === 'string' ? [entry] : null;
}

function isBehind({ command }: Candidate, prefixes: readonly string[]): boolean {
  return prefixes.some((prefix) => command === prefix || command.startsWith(`${prefix} `));
}

/** The candidates of one node. Changes come node by node, so the last answer is kept. */
function narrowed(pool: readonly Candidate[]): (prefixes: readonly string[]) => readonly Candidate[] {
  let last = { key: '', found: pool };
  return (prefixes) => {
    const key = prefixes.join('\n');
    if (key !== last.key) last = { key, found: pool.filter((candidate) => isBehind(candidate, prefixes)) };
    return last.found;
  };
}

function poolOf(file: RuleFile, profiles: Profiles, rules: Rules): readonly Candidate[] {
  const commands = new Set(candidatesOf(compileFile(file, profiles, 'built-in', [])));
  return [...commands]
    .filter((command) => command.length <= MOST_CHARACTERS)
    .map((command) => ({ command, alone: answerOf(command, rules, false), piped: answerOf(command, rules, true) }));
}

function differs({ command, alone, piped }: Candidate, rules: Rules, only: RuleFile['only']): boolean {
  if (only === 'compound') return answerOf(command, rules, true) !== piped;
  if (answerOf(command, rules, false) !== alone) return true;
  return isPipedExample({ command, alone, piped }) && answerOf(command, rules, true) !== piped;
}

function isPipedExample({ alone, piped }: Candidate): boolean {
  return alone === 'STDIN_READ' && piped === 'parallel';
}

function sorted({ binary, only }: RuleFile, chosen: readonly Candidate[]): Proposed {
  const answer = ({ alone, piped }: Candidate): string => (only === 'compound' ? piped : alone);
  const commands = (fits: (candidate: Candidate) => boolean): readonly string[] =>
    chosen.filter(fits).map(({ command }) => command);
  const piped = only === 'compound' ? [] : commands(isPipedExample);
  const serial = chosen.filter((one) => answer(one) !== 'parallel' && !piped.includes(one.command));
  return {
    binary,
    parallel: commands((one) => answer(one) === 'parallel'),
    piped,
    serial: serial.map((one) => ({ command: one.command, code: answer(one) as Proposed['serial'][number]['code'] })),
  };
}
