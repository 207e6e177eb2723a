import { lex } from '../../src/classifier/lexer.ts';
import { files, vectors } from '../rules/built-in.ts';
import type { Samples } from './compound-text.ts';

/** The words of the rules' own examples: each binary counts the same, however many examples it has. */
const PER_FILE = 6;

/**
 * What compounds are made of: examples of the rules, as many of each file, and the vectors. Those of files that have no
 * meaning alone stand behind pipes only.
 */
export const samples: Samples = {
  alone: [
    ...files.filter(({ only }) => only !== 'compound').flatMap(({ examples }) => some(examples.parallel)),
    ...vectors('parallel').map(({ cmd }) => cmd),
  ].filter((command) => lex(command).ok),
  piped: files
    .flatMap(({ only, examples }) => [...(examples.piped ?? []), ...(only === 'compound' ? examples.parallel : [])])
    .filter((command) => lex(command).ok),
};

/** Evenly from the beginning to the end of a list. */
function some(commands: readonly string[]): readonly string[] {
  const step = Math.max(1, commands.length / PER_FILE);
  return commands.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step));
}

/** Every name that a built-in rule knows. */
export const names: readonly string[] = files.flatMap(({ binary, also = [] }) => [binary, ...also]);
