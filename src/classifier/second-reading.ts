import parse from 'shell-quote/parse.js';
import type { SecondReading } from './judgement.ts';

/** What shell-quote gets for a variable. Our scanner accepts no expansion, so seeing one is already a disagreement. */
const EXPANSION = Object.freeze({ op: 'expansion' });

/**
 * shell-quote's opinion of a simple command: true when it reads the same words, leading assignments included. It is
 * asked only about text that the lexer accepted, and may only take a yes away: shell-quote misreads much hostile text
 * (a newline is a blank to it, a backtick is text), so its agreement proves nothing.
 *
 * Whether a word holds a glob is not compared: that was decided before, and shell-quote takes `\*` for one.
 */
export const secondReading: SecondReading = (command, words) => {
  try {
    const entries = parse(command, () => EXPANSION);
    if (entries.length !== words.length) return false;
    return words.every((word, index) => {
      const entry = entries[index];
      return word.text === (typeof entry === 'object' && 'pattern' in entry ? entry.pattern : entry);
    });
  } catch {
    return false;
  }
};
