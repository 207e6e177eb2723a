import { describe, expect, test } from 'vitest';
import { lex } from '../../src/classifier/lexer.ts';
import { secondReading } from '../../src/classifier/second-reading.ts';

function agrees(text: string): boolean {
  const lexed = lex(text);
  if (!lexed.ok) throw new Error(`refused with ${lexed.code}`);
  const assigned = lexed.assignments.map(({ name, value }) => ({ text: `${name}=${value}`, glob: false }));
  return secondReading(text, [...assigned, ...lexed.words]);
}

describe("shell-quote's second reading", () => {
  test.each([
    'ls -la src',
    'grep -rn \'a|b; c\' "d $" src'.replace('$', ''),
    "sed -n '1,5p' 'it'\\''s'",
    'find . -name \\*.ts \\( -size +1 \\)',
    'git show HEAD~1:a/b stash@{0} HEAD^{tree}',
    'LC_ALL=C sort -k2,2n a\\ b',
    'ls *.ts [a]',
    "grep '' \"\" é '日 本'",
    'grep "\\$a" f',
  ])('agrees with %s', (text) => {
    expect(agrees(text)).toBe(true);
  });

  test.each([
    ['a hash within a word is a comment to it', 'grep a#b f'],
    ['it keeps the backslash before a backtick', 'grep "\\`" f'],
  ])('takes the yes away where it reads otherwise: %s', (_why, text) => {
    expect(agrees(text)).toBe(false);
  });

  test.each([
    ['an operator', 'ls; rm', ['ls', ';', 'rm']],
    ['a comment', 'ls # a', ['ls']],
    ['a variable', 'ls $a', ['ls', '']],
    ['a variable within a word', 'ls a$b', ['ls', 'a']],
    ['a variable in quotes', 'ls "$constructor"', ['ls', '']],
    ['a redirection', 'ls > a', ['ls', '>', 'a']],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is bash's placeholder that is meant
    ['an error of the parser', 'ls ${}', ['ls', '']],
    ['too few words', 'ls a b', ['ls', 'a']],
    ['too many words', 'ls a', ['ls', 'a', 'b']],
    ['another word', 'ls a', ['ls', 'b']],
    ['no words', '', ['']],
  ])('never agrees to %s, whatever the words are said to be', (_what, text, words) => {
    expect(
      secondReading(
        text,
        words.map((word) => ({ text: word, glob: false })),
      ),
    ).toBe(false);
  });
});
