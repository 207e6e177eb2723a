import type { Proof } from './compiled.ts';
import { changesDirectory, leadingChange, refuseChange } from './directory-change.ts';
import { joinProofs, settled } from './joint-proof.ts';
import type { ClassifyOptions, PathUse } from './judgement.ts';
import type { ListedCommand } from './lexer.ts';
import { readWords, refusePart } from './part.ts';
import { resolve } from './paths.ts';
import { type Input, type Reading, type Refusal, refuseText, startReading } from './reading.ts';
import type { Part } from './verdict.ts';

/** The parts of a compound as they were read. What all of them say is the proof of the root, unless one was refused. */
export type CompoundReading = {
  /** One for each part whose words were read, proved or not. */
  readonly readings: readonly Reading[];
  readonly parts: readonly Part[];
  readonly refusal: Refusal | null;
};

type Options = Pick<ClassifyOptions, 'env' | 'allow' | 'repository' | 'roots'>;

/** The one redirection that gives a command something to read. */
const NULL_INPUT = '</dev/null';

/** The one that takes nothing but errors away. */
const QUIET_ERRORS = '2>/dev/null';

/**
 * Reads every part of a compound as if it stood alone, but for its standard input and the directory that a leading
 * change leads to. All of them have to be proved, and their environments have to go together.
 *
 * @param root the reading of the whole text; what the parts name is noted in it.
 */
export function readCompound(root: Reading, commands: readonly ListedCommand[], options: Options): CompoundReading {
  const readings: Reading[] = [];
  const parts: Part[] = [];
  const proofs: Proof[] = [];
  const refused = (refusal: Refusal): CompoundReading => ({ readings, parts, refusal });

  const isMoved = changesDirectory(commands[0]!);
  const change = isMoved ? refuseChange(commands, root.home, options.roots) : null;
  if (change !== null) return refused(change);
  const homes = isMoved ? homesOf(root.home, commands) : [root.home];
  let feeders: Reading[] | null = null;
  for (const command of isMoved ? commands.slice(1) : commands) {
    const { start, end } = command;
    const odd = refuseForm(command);
    if (odd !== null) return refused(odd);
    const input = inputOf(command, root.input);
    if (input !== 'pipe') feeders = [];
    const reading = startPart(root, homes[0]!, command, input, feeders);
    readings.push(reading);
    const { length } = root.paths;
    const refusal = refuseAnywhere(reading, homes, command, options);
    reading.named = root.paths.slice(length);
    // Only what reads behind it looks at the list.
    feeders = feeders ?? [];
    feeders.push(reading);
    if (refusal !== null) return refused(refusal);
    const proof = settled(reading.proof!, reading.override);
    if (proof.wholeEnvironment) return refused(refuseWhole(reading, start, end));
    proofs.push(proof);
    parts.push(partOf(command, proof, input));
  }
  if (readings.some(({ delegate }) => delegate !== null)) markListed(root);
  const joined = joinProofs(proofs);
  if ('variable' in joined) {
    const [start, end] = [commands[0]!.start, commands.at(-1)!.end];
    return refused(refuseText('environment', 'PROFILES_CONTRADICT', start, end, joined.variable));
  }
  root.proof = joined.proof;
  return { readings, parts: Object.freeze(parts), refusal: null };
}

/** What is opened under names that a listing printed may be anything below the places that the text names. */
function markListed({ paths }: Reading): void {
  const listed = paths.map((path): PathUse => ({ ...path, walked: true }));
  paths.splice(0, paths.length, ...listed, { text: '.', glob: false, walked: true });
}

/** What the parts name from one on, whatever they are: nothing of it is proved. */
export function nameParts(root: Reading, commands: readonly ListedCommand[]): readonly Reading[] {
  return commands.map((command) => {
    const reading = startPart(root, root.home, command, 'pipe', []);
    readWords(reading);
    return reading;
  });
}

/** Where the parts run: where the change leads, and if some may run though it failed, also where it started. */
function homesOf(home: string, commands: readonly ListedCommand[]): readonly string[] {
  const { text, alsoHere } = leadingChange(commands, true)!;
  const target = resolve(home, text);
  return alsoHere ? [target, home] : [target];
}

function startPart(
  root: Reading,
  home: string,
  { words, redirections }: ListedCommand,
  input: Input,
  feeders: readonly Reading[] | null,
): Reading {
  const reading = startReading(root.rules, home, input, root);
  reading.words = words;
  reading.feeders = feeders;
  reading.mixesOutput = redirections.some(({ text }) => text !== QUIET_ERRORS && text !== NULL_INPUT);
  return reading;
}

/** A stage behind a pipe reads from it; another reads nothing that ends, unless it says that it reads the null device. */
function inputOf({ joint, redirections }: ListedCommand, first: Input): Input {
  if (joint?.text === '|' || (joint === null && first === 'pipe')) return 'pipe';
  return redirections.some(({ text }) => text === NULL_INPUT) ? 'null' : 'none';
}

function refuseForm(command: ListedCommand): Refusal | null {
  const { start, end, joint, redirections } = command;
  if (changesDirectory(command)) return refuseText('leading-token', 'CD_NOT_LEADING', start, end);
  if (joint?.text !== '|') return null;
  // Two things to read from, of which one would be left with nobody to read it.
  const twice = redirections.find(({ text }) => text === NULL_INPUT);
  return twice === undefined ? null : refuseText('metacharacters', 'TEXT_REDIRECTION', twice.start, twice.end);
}

/** The reading itself is of the first place; the others only refuse. */
function refuseAnywhere(
  reading: Reading,
  [, ...others]: readonly string[],
  command: ListedCommand,
  options: Options,
): Refusal | null {
  const { start, end, assignments } = command;
  const refusal = refusePart(reading, assignments, options, start, end);
  if (refusal !== null) return refusal;
  for (const home of others) {
    const again = startReading(reading.rules, home, reading.input);
    again.words = reading.words;
    again.feeders = reading.feeders;
    const elsewhere = refusePart(again, assignments, options, start, end);
    if (elsewhere !== null) return elsewhere;
  }
  return null;
}

/** A compound gets what its profiles hand over, so a part that shows the whole environment would show another one. */
function refuseWhole({ binary }: Reading, start: number, end: number): Refusal {
  return { check: 'environment', code: 'ENVIRONMENT_SHOWN', start, end, node: binary!.root, expected: null };
}

function partOf({ start, end }: ListedCommand, proof: Proof, input: Input): Part {
  const { rule, profile, effects } = proof;
  const span = Object.freeze([start, end] as const);
  return Object.freeze({ span, rule, profile: profile.name, effects, stdin: input === 'pipe' ? 'pipe' : 'null' });
}
