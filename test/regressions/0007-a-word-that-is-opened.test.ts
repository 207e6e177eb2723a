/**
 * Report: `git ls-files -o --exclude-per-directory=pipe`, `apt show ./pipe.deb`, and `find . -newermt 'TZ=":/srv/pipe" …'` were
 * parallel, and waited for a FIFO that the text names: the word was no path for us, and a file for the program.
 * The kind: a value or an operand that the program opens is a path, a word of a list, or a name without a slash.
 */
import { describe, expect, test } from 'vitest';
import { classify } from '../../src/classifier/classify.ts';
import { loadRules } from '../../src/rules/load.ts';

const rules = loadRules();
const answer = (command: string): string => {
  const verdict = classify(command, { rules, cwd: '/home/someone/project' });
  return verdict.kind === 'parallel' ? 'parallel' : verdict.reason.code;
};

describe('a word that the program opens as a file', () => {
  test.each([
    'git ls-files -o --exclude-per-directory=pipe',
    'git ls-files -o --exclude-per-directory pipe',
    'git ls-files -o --exclude-per-directory=/dev/ttyS0',
    'git ls-files -o --exclude-per-directory=../pipe',
    'git log --encoding=/srv/pipe',
    'git show --encoding pipe',
    `find . -newermt 'TZ=":/srv/pipe" 2020-01-01'`,
    `find . -newerat ' TZ="/srv/pipe" now'`,
    `find . -newerct 'TZ="../../../srv/pipe"'`,
    `date -d 'TZ=":/srv/pipe" now'`,
    'iconv -f ./pipe f',
    'iconv -t /srv/pipe f',
    'tput -T /srv/pipe cols',
  ])('is refused as a value: %s', (command) => expect(answer(command)).toMatch(/^(VALUE_REFUSED|OPTION_UNKNOWN)$/));

  test.each([
    'apt show ./pipe.deb',
    'apt show /srv/pipe.deb',
    'apt list sub/pipe.deb',
    'apt policy ./pipe.deb',
    'apt-cache show ./pipe.deb',
    'apt-cache showsrc ./pipe.dsc',
    'apt-cache madison ./pipe.deb',
    'apt-cache depends ./pipe.deb',
    'apt-cache policy ./pipe.deb',
    'apt-cache pkgnames ./pipe',
  ])('is refused as an operand: %s', (command) => expect(answer(command)).toBe('OPERAND_REFUSED'));

  test.each([
    'git ls-files -o --exclude-per-directory=.gitignore',
    'git log --encoding=UTF-8',
    'find . -newermt 2026-01-01',
    "find . -newermt '1 hour ago'",
    "find . -newermt '-2 days'",
    'find . -newermt yesterday',
    'apt show bash',
    'apt-cache policy libc6:amd64',
  ])('is fine where it cannot be one: %s', (command) => expect(answer(command)).toBe('parallel'));
});
