import { refusedEffect } from './allowance.ts';
import { readCommand } from './command.ts';
import type { Proof } from './compiled.ts';
import type { ClassifyOptions, RepositoryFacts } from './judgement.ts';
import { findBinary } from './leading-token.ts';
import { type Reading, type Refusal, refuseText } from './reading.ts';
import { isHostileDirectory, unknownVariable } from './surroundings.ts';
import type { Assumption } from './verdict.ts';
import { quoted, visible } from './visible-text.ts';
import type { Assignment } from './word.ts';

/** Taken for granted of a repository that nobody has probed. */
const PLAIN_REPOSITORY: Assumption = 'repository-plain';

/** Taken for granted of the list of tracked files. */
const FRESH_INDEX: Assumption = 'index-fresh';

/**
 * Everything that is asked of one simple command, be it the whole text or a part of it: null when `reading` holds a
 * proof that stands in these surroundings.
 *
 * @param start of the command in its text; what surrounds it is blamed on all of it.
 */
export function refusePart(
  reading: Reading,
  assignments: readonly Assignment[],
  options: Pick<ClassifyOptions, 'env' | 'allow' | 'repository'>,
  start: number,
  end: number,
): Refusal | null {
  return (
    refuseAssignments(reading, assignments) ??
    readWords(reading) ??
    refuseSurroundings(reading, reading.proof!, options, start, end) ??
    refuseRepository(reading.proof!, options.repository, start, end)
  );
}

/** Only the listed names with exactly the listed values may stand before a command. */
function refuseAssignments(reading: Reading, assignments: readonly Assignment[]): Refusal | null {
  for (const { name, value, start, end } of assignments) {
    if (!reading.rules.assignments.get(name)?.has(value))
      return refuseText('metacharacters', 'TEXT_ASSIGNMENT', start, end);
  }
  return null;
}

/** The second and third check. */
export function readWords(reading: Reading): Refusal | null {
  const name = reading.words[0];
  if (name === undefined) return null;
  const binary = findBinary(reading.rules, name, reading.input === 'pipe');
  if ('code' in binary) return binary;
  reading.binary = binary;
  return readCommand(reading, binary, reading.words);
}

function refuseSurroundings(
  reading: Reading,
  proof: Proof,
  { env, allow }: Pick<ClassifyOptions, 'env' | 'allow'>,
  start: number,
  end: number,
): Refusal | null {
  if (isHostileDirectory(reading.home)) return refuseText('environment', 'DIRECTORY_DEVICE', start, end);
  const unknown = env === undefined ? null : unknownVariable(env, proof, reading.rules);
  if (unknown !== null) return refuseText('environment', 'VARIABLE_UNKNOWN', start, end, quoted(unknown));
  // The caller may want readers of the network or of a daemon to be alone.
  const refused = refusedEffect(proof.effects, allow);
  return refused === null ? null : refuseText('environment', 'EFFECT_REFUSED', start, end, refused);
}

/** What a probe found can take the yes away from a read of the repository; anything but a known kind affects it. */
function refuseRepository(
  { assumes, effects }: Proof,
  repository: RepositoryFacts | undefined,
  start: number,
  end: number,
): Refusal | null {
  if (repository === undefined || !assumes.includes(PLAIN_REPOSITORY)) return null;
  const startsPrograms = effects.includes('configured-programs');
  const readsIndex = assumes.includes(FRESH_INDEX);
  const finding = repository.findings.find(({ affects }) => {
    if (affects === 'configured-programs') return startsPrograms;
    return affects !== 'index-reads' || readsIndex;
  });
  return finding === undefined ? null : refuseText('environment', finding.code, start, end, visible(finding.detail));
}
