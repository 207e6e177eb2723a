import { checkFile, count, type FileCheck, type Mutated, mutateFile, type Surroundings } from './file-check.ts';
import type { Proposed } from './schema.ts';

const MOST_LISTED = 12;

/** What a check says to a person. */
export type Checked = {
  readonly lines: readonly string[];
  readonly isFine: boolean;
  /** Examples that would notice the changes that nothing notices; null when there are none. */
  readonly wanted: Proposed | null;
};

/** Checks a file, in lines for a person. @param mutates also changes each entry in turn; seconds for a large file. */
export function checkLines(path: string, surroundings: Surroundings, mutates: boolean): Checked {
  const checked = checkFile(path, surroundings);
  const isFine = checked.problems.length === 0;
  const lines = [...checked.problems, ...verdictOf(checked)];
  if (!isFine || !mutates || checked.file === null) return { lines, isFine, wanted: null };
  const mutated = mutateFile(path, checked.file, surroundings);
  return { lines: [...lines, ...mutationLines(checked.file.binary, mutated)], isFine, wanted: mutated.wanted };
}

/** The last line of a check. */
export function resultLine(files: number, wrong: number): string {
  const counted = (count: number): string => (count === 1 ? '1 file is' : `${count} files are`);
  return wrong === 0 ? `${counted(files)} fine.` : `${counted(wrong)} not fine.`;
}

function verdictOf({ file, examples, proposed, failed }: FileCheck): readonly string[] {
  if (file === null) return [];
  const outcome = failed === 0 ? 'all as stated' : `${failed} not as stated`;
  return [`${file.binary}: ${examples} examples and ${proposed} proposed ones, ${outcome}`];
}

function mutationLines(binary: string, { mutants, unnoticed, wanted }: Mutated): readonly string[] {
  const head = `${binary}: ${mutants - unnoticed.length} of ${mutants} changes are noticed by an example`;
  if (unnoticed.length === 0 || wanted === null) return [head];
  const more = unnoticed.length - MOST_LISTED;
  return [
    head,
    ...unnoticed.slice(0, MOST_LISTED).map(({ pointer, change }) => `  ${pointer}: ${change}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
    ...(count(wanted) === 0
      ? []
      : ['  These would notice what the examples of the file do not; are the answers right?']),
    ...wanted.parallel.slice(0, MOST_LISTED).map((command) => `    parallel: ${command}`),
    ...wanted.serial.slice(0, MOST_LISTED).map(({ command, code }) => `    ${code}: ${command}`),
  ];
}
