import { examine } from '../classifier/classify.ts';
import type { Rules } from '../classifier/compiled.ts';
import type { Examples, RuleFile } from './schema.ts';

/** An example that is not as its file says. */
export type Failure = {
  /** Where it stands in the file. */
  readonly pointer: string;
  readonly command: string;
  readonly expected: string;
  readonly got: string;
};

/**
 * Classifies the examples of a file with rules that hold it. Without a working directory, without a second
 * reading; a binary that has a meaning only behind a pipe is asked behind one.
 *
 * @param at the pointer of the examples in their file.
 */
export function selfTest(
  examples: Examples,
  onlyCompound: RuleFile['only'],
  rules: Rules,
  at = '/examples',
): readonly Failure[] {
  const piped = onlyCompound === 'compound';
  const failures: Failure[] = [];
  const hold = (pointer: string, command: string, expected: string, behindPipe: boolean): void => {
    const got = answerOf(command, rules, behindPipe);
    if (got !== expected) failures.push({ pointer: `${at}${pointer}`, command, expected, got });
  };
  for (const [index, command] of examples.parallel.entries()) hold(`/parallel/${index}`, command, 'parallel', piped);
  for (const [index, command] of (examples.piped ?? []).entries()) {
    hold(`/piped/${index}`, command, piped ? 'COMPOUND_ONLY' : 'STDIN_READ', false);
    hold(`/piped/${index}`, command, 'parallel', true);
  }
  for (const [index, { command, code }] of examples.serial.entries()) hold(`/serial/${index}`, command, code, piped);
  return failures;
}

/** `parallel`, or the code of the reason. Behind a pipe more stages may follow, so that is asked in compound mode. */
export function answerOf(command: string, rules: Rules, piped: boolean): string {
  const { verdict } = examine(command, rules, { mode: piped ? 'compound' : 'simple' }, piped);
  return verdict.kind === 'parallel' ? 'parallel' : verdict.reason.code;
}
