/** What a bare command name looks like, for messages. */
export const NAME_SHAPE = 'a bare lower-case name (a letter, then letters, digits, `.`, `_`, `-`, `+`), or `[`';

const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const LATER = `${LOWER}0123456789._-+`;

/** A name that may stand first in a command: bare, lower-case, no path. */
export function isCommandName(name: string): boolean {
  if (name === '[') return true;
  return name !== '' && LOWER.includes(name[0]!) && [...name].every((character) => LATER.includes(character));
}

/** A spelling of an option: not empty, no blanks, not `--` itself, and no value behind a dash. */
export function isSpelling(spelling: string): boolean {
  if (spelling === '' || spelling === '-' || spelling === '--' || spelling.includes(' ')) return false;
  return !(spelling.startsWith('-') && spelling.includes('='));
}

const NAME_START = `${LOWER}${LOWER.toUpperCase()}_`;

/** A name of an environment variable. */
export function isVariableName(name: string): boolean {
  const rest = `${NAME_START}0123456789`;
  return name !== '' && NAME_START.includes(name[0]!) && [...name].every((character) => rest.includes(character));
}
