import { compileFile } from '../classifier/compile.ts';
import type { Rules } from '../classifier/compiled.ts';
import { namesOf } from '../classifier/usage.ts';
import { candidatesOf } from './candidates.ts';
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
  const pool = poolOf(file, profiles, rules);
  const chosen: Candidate[] = [];
  const left: Survivor[] = [];
  for (const survivor of survivors) {
    const about = prefixesOf(file, survivor.mutant);
    const notices = (candidate: Candidate): boolean =>
      about.some((prefix) => candidate.command.startsWith(prefix)) && differs(candidate, survivor.rules, file.only);
    if (chosen.some(notices)) continue;
    const found = pool.find(notices);
    if (found === undefined) left.push(survivor);
    else chosen.push(found);
  }
  return { examples: sorted(file, chosen), left };
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
