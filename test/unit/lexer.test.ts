import { describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS, lex } from '../../src/classifier/lexer.ts';

function textsOf(text: string): string[] {
  const lexed = lex(text);
  if (!lexed.ok) throw new Error(`refused with ${lexed.code} at ${lexed.span.join()}`);
  return lexed.words.map((word) => word.text);
}

describe('quoting is undone as bash undoes it', () => {
  test.each<[form: string, text: string, words: string[]]>([
    ['plain', 'ls -la src/a.ts', ['ls', '-la', 'src/a.ts']],
    ['plain punctuation', 'x a_b-c.d/e:f,g+h@i%j]k', ['x', 'a_b-c.d/e:f,g+h@i%j]k']],
    ['blanks around and between', ' \t x  a\t\tb \t', ['x', 'a', 'b']],
    [
      'single',
      "x 'a b' '$a `b` ; & | < > ( ) { } * ? [ ~ # ! \\ \"'",
      ['x', 'a b', '$a `b` ; & | < > ( ) { } * ? [ ~ # ! \\ "'],
    ],
    ['single, with a tab', "x 'a\tb'", ['x', 'a\tb']],
    ['double', 'x "a b" "; & | < > ( ) { } * ? [ ~ # !! \'"', ['x', 'a b', "; & | < > ( ) { } * ? [ ~ # !! '"]],
    ['double, escapes that count', 'x "\\$a \\` \\" \\\\"', ['x', '$a ` " \\']],
    ['double, escapes that do not', 'x "\\a \\n \\! \\\' \\é"', ['x', "\\a \\n \\! \\' \\é"]],
    ['double, a backslash before the last escape', 'x "\\\\\\"" y', ['x', '\\"', 'y']],
    ['backslash', 'x \\a \\  \\\t \\\\ \\\' \\"', ['x', 'a', ' ', '\t', '\\', "'", '"']],
    [
      'backslash before an operator',
      'x \\( \\) \\; \\! \\& \\| \\< \\> \\$ \\` \\{ \\}',
      ['x', ...'()!;&|<>$`{}'.split('')].toSorted(),
    ],
    ['backslash before what begins a word specially', 'x \\# \\~ \\*', ['x', '#', '~', '*']],
    ['empty', 'x \'\' "" \'\'""', ['x', '', '', '']],
    ['joined', 'x a\'b\'"c"\\d', ['x', 'abcd']],
    ['a single quote by hand', "x 'it'\\''s'", ['x', "it's"]],
    ['one form within another', "x \"'\" '\"' \\'a\\'", ['x', "'", '"', "'a'"]],
    ['beyond ASCII', 'x é "日本" \'😀\' \\ü ﬁ', ['x', 'é', '日本', '😀', 'ü', 'ﬁ']],
    ['a combining mark', 'x e\u0301', ['x', 'e\u0301']],
  ])('%s', (form, text, words) => {
    const read = textsOf(text);
    expect(form.startsWith('backslash before an operator') ? read.toSorted() : read).toEqual(words);
  });

  test.each<[what: string, text: string, words: string[]]>([
    ['a hash within a word', "x a#b ''#c", ['x', 'a#b', '#c']],
    ['a tilde within a word', 'x HEAD~1 a~ ""~ ~'.slice(0, -2), ['x', 'HEAD~1', 'a~', '~']],
    ['an exclamation mark behind the command', 'find . ! -name a!b', ['find', '.', '!', '-name', 'a!b']],
    ['a caret', 'git log HEAD^ ^dev', ['git', 'log', 'HEAD^', '^dev']],
    ['an equals sign behind the command', 'x a=b --c=d =', ['x', 'a=b', '--c=d', '=']],
    ['a keyword behind the command', 'x if do [[ time', ['x', 'if', 'do', '[[', 'time']],
    ['a quoted keyword', "'if' a", ['if', 'a']],
    [
      'revision suffixes',
      'x @{u} HEAD@{1} stash@{0} a@{1.day.ago} HEAD^{tree} v1^{} @{-1}',
      ['x', '@{u}', 'HEAD@{1}', 'stash@{0}', 'a@{1.day.ago}', 'HEAD^{tree}', 'v1^{}', '@{-1}'],
    ],
    ['the command [', '[ -f a ]', ['[', '-f', 'a', ']']],
  ])('%s is data', (_what, text, words) => {
    expect(textsOf(text)).toEqual(words);
  });
});

describe('a word', () => {
  test('has its spelling, its text, its span and the length of its plain beginning', () => {
    expect(lex(` ls  --a='b c'\t"x"`)).toEqual({
      ok: true,
      assignments: [],
      words: [
        { raw: 'ls', text: 'ls', start: 1, end: 3, plain: 2, glob: false },
        { raw: "--a='b c'", text: '--a=b c', start: 5, end: 14, plain: 4, glob: false },
        { raw: '"x"', text: 'x', start: 15, end: 18, plain: 0, glob: false },
      ],
    });
  });

  test.each([
    ['*', true],
    ['a?', true],
    ['[a]', true],
    ['a[', true],
    ["'a'*", true],
    ["'*'", false],
    ['"?"', false],
    ['\\*', false],
    ['\\[a]', false],
    [']', false],
  ])('%s: glob %s', (word, glob) => {
    const lexed = lex(`ls ${word}`);
    expect(lexed.ok && lexed.words[1]?.glob).toBe(glob);
  });

  test('that is the name [ is no glob, with or without an assignment before it', () => {
    for (const text of ['[', '[ a ]', 'A=1 [ a ]']) {
      const lexed = lex(text);
      expect(lexed.ok && lexed.words[0]).toMatchObject({ raw: '[', glob: false, plain: 1 });
    }
  });
});

describe('a leading NAME=LITERAL is an assignment', () => {
  test('with its name, its value and its span', () => {
    expect(lex('LC_ALL=C.UTF-8 _b2= x')).toEqual({
      ok: true,
      assignments: [
        { name: 'LC_ALL', value: 'C.UTF-8', start: 0, end: 14 },
        { name: '_b2', value: '', start: 15, end: 19 },
      ],
      words: [{ raw: 'x', text: 'x', start: 20, end: 21, plain: 1, glob: false }],
    });
  });

  test.each([
    'A=1',
    ' A=1 B=2 ',
    "A='1' x",
    'A="1" x',
    'A=\\1 x',
    'A=a=b x',
    'A=é x',
    'A=* x',
    'A=a#b x',
    'A=b~ x',
    'A=@{u} x',
    'A=!b x',
    'A+=1 x',
    'a[0]=1 x',
    'a[ 0 ]=1 x',
    '1a=1 x',
    'a-b=1 x',
    '=1 x',
    "'A'=1 x",
    'é=1 x',
  ])('%j is neither that nor a command', (text) => {
    expect(lex(text)).toMatchObject({ ok: false, check: 'metacharacters', code: 'TEXT_ASSIGNMENT' });
  });

  test('a quoted equals sign makes a name', () => {
    expect(textsOf('"A=1" x')).toEqual(['A=1', 'x']);
  });
});

describe('a refusal points at what is to blame', () => {
  test.each<[code: string, text: string, blamed: string]>([
    ['TEXT_NEWLINE', 'ls\nrm', '\n'],
    ['TEXT_NEWLINE', 'ls\n', '\n'],
    ['TEXT_NEWLINE', '\nls', '\n'],
    ['TEXT_NEWLINE', 'ls\r', '\r'],
    ['TEXT_NEWLINE', "ls 'a\nb'", '\n'],
    ['TEXT_NEWLINE', 'ls "a\rb"', '\r'],
    ['TEXT_NEWLINE', 'ls \\\n', '\n'],
    ['TEXT_NEWLINE', 'ls "a\\\nb"', '\n'],
    ['TEXT_CONTROL', 'ls \0', '\0'],
    ['TEXT_CONTROL', "ls '\x1b'", '\x1b'],
    ['TEXT_CONTROL', 'ls "\x07"', '\x07'],
    ['TEXT_CONTROL', 'ls a\vb', '\v'],
    ['TEXT_CONTROL', 'ls a\fb', '\f'],
    ['TEXT_CONTROL', 'ls \\\x7f', '\x7f'],
    ['TEXT_CONTROL', 'ls \x85', '\x85'],
    ['TEXT_CONTROL', "ls '\x9b'", '\x9b'],
    ['TEXT_NOT_WELL_FORMED', 'ls \ud800', '\ud800'],
    ['TEXT_NOT_WELL_FORMED', 'ls "\udc00"', '\udc00'],
    ['TEXT_NOT_WELL_FORMED', "ls '\udc00\ud800'", '\udc00'],
    ['TEXT_NOT_WELL_FORMED', 'ls \\\ud83d', '\ud83d'],
    ['TEXT_BLANK', 'ls\u00a0-a', '\u00a0'],
    ['TEXT_BLANK', "ls 'a\u3000b'", '\u3000'],
    ['TEXT_BLANK', 'ls "a\u2028b"', '\u2028'],
    ['TEXT_BLANK', 'ls \\\u2003', '\u2003'],
    ['TEXT_BLANK', 'ls \u2800', '\u2800'],
    ['TEXT_INVISIBLE', 'ls \ufeffa', '\ufeff'],
    ['TEXT_INVISIBLE', "ls 'a\u202eb'", '\u202e'],
    ['TEXT_INVISIBLE', 'ls "a\u200bb"', '\u200b'],
    ['TEXT_INVISIBLE', 'ls \\\u00ad', '\u00ad'],
    ['TEXT_INVISIBLE', 'ls \u{e0041}', '\u{e0041}'],
    ['TEXT_OPERATOR', 'ls; rm', ';'],
    ['TEXT_OPERATOR', 'ls && rm', '&&'],
    ['TEXT_OPERATOR', 'ls &', '&'],
    ['TEXT_OPERATOR', 'ls|wc', '|'],
    ['TEXT_OPERATOR', 'ls |& wc', '|&'],
    ['TEXT_OPERATOR', '(ls)', '('],
    ['TEXT_OPERATOR', 'ls @(a)', '('],
    ['TEXT_OPERATOR', 'ls )', ')'],
    ['TEXT_REDIRECTION', 'ls > a', '>'],
    ['TEXT_REDIRECTION', 'ls >> a', '>>'],
    ['TEXT_REDIRECTION', 'ls 2>/dev/null', '2>'],
    ['TEXT_REDIRECTION', 'ls 2>&1', '2>&'],
    ['TEXT_REDIRECTION', 'ls a2>b', '>'],
    ['TEXT_REDIRECTION', 'ls &>/dev/null', '&>'],
    ['TEXT_REDIRECTION', 'ls <<<a', '<<<'],
    ['TEXT_REDIRECTION', '<a ls', '<'],
    ['TEXT_EXPANSION', 'ls $a', '$'],
    ['TEXT_EXPANSION', 'ls a$', '$'],
    ['TEXT_EXPANSION', "ls $'a'", '$'],
    ['TEXT_EXPANSION', 'ls "$a"', '$'],
    ['TEXT_EXPANSION', 'ls "a$"', '$'],
    ['TEXT_EXPANSION', 'ls "`a`"', '`'],
    ['TEXT_EXPANSION', 'ls `a`', '`'],
    ['TEXT_EXPANSION', '$a', '$'],
    ['TEXT_EXPANSION', 'ls <(a)', '<('],
    ['TEXT_EXPANSION', 'ls >(a)', '>('],
    ['TEXT_TILDE', 'ls ~', '~'],
    ['TEXT_TILDE', 'ls ~root/a', '~'],
    ['TEXT_TILDE', '~/bin/ls', '~'],
    ['TEXT_TILDE', 'ls a=~', '~'],
    ['TEXT_TILDE', 'ls --a=~/b', '~'],
    ['TEXT_TILDE', 'ls a=b:~', '~'],
    ['TEXT_TILDE', 'A=~ ls', '~'],
    ['TEXT_BRACE', 'ls {a,b}', '{'],
    ['TEXT_BRACE', 'ls a{1..3}', '{'],
    ['TEXT_BRACE', 'ls {}', '{'],
    ['TEXT_BRACE', 'ls }', '}'],
    ['TEXT_GROUP', '{ ls', '{'],
    ['TEXT_GROUP', 'LC_ALL=C {', '{'],
    ['TEXT_BRACE', '{ls', '{'],
    ['TEXT_BRACE', 'ls @{a,b}', '{a'],
    ['TEXT_BRACE', 'ls @{1..2}', '{1..2}'],
    ['TEXT_BRACE', 'ls @{a', '{a'],
    ['TEXT_BRACE', "ls @{'a'}", '{'],
    ['TEXT_BRACE', 'ls @{é}', '{'],
    ['TEXT_BRACE', 'ls @{1},x}', '}'],
    ['TEXT_BRACE', "ls '@'{a,b}", '{'],
    ['TEXT_COMMENT', 'ls # all', '# all'],
    ['TEXT_COMMENT', '#', '#'],
    ['TEXT_HISTORY', '! ls', '!'],
    ['TEXT_HISTORY', '!!', '!'],
    ['TEXT_HISTORY', '^a^b', '^'],
    ['TEXT_HISTORY', 'A=1 ! ls', '!'],
    ['TEXT_KEYWORD', 'time ls', 'time'],
    ['TEXT_KEYWORD', 'if a', 'if'],
    ['TEXT_KEYWORD', '[[ a ]]', '[['],
    ['TEXT_KEYWORD', 'coproc ls', 'coproc'],
    ['TEXT_KEYWORD', 'A=1 while a', 'while'],
    ['TEXT_QUOTE_OPEN', "ls 'a b", "'a b"],
    ['TEXT_QUOTE_OPEN', 'ls "a', '"a'],
    ['TEXT_QUOTE_OPEN', 'ls "a\\"', '"a\\"'],
    ['TEXT_QUOTE_OPEN', 'ls "a\\', '"a\\'],
    ['TEXT_QUOTE_OPEN', "ls '", "'"],
    ['TEXT_BACKSLASH', 'ls \\', '\\'],
    ['TEXT_BACKSLASH', 'ls a\\', '\\'],
    ['TEXT_GLOB', 'l? a', 'l?'],
    ['TEXT_GLOB', '* a', '*'],
    ['TEXT_GLOB', '[a', '[a'],
    ['TEXT_GLOB', "'l's*", "'l's*"],
    ['COMMAND_NOT_PLAIN', '%1', '%1'],
    ['COMMAND_NOT_PLAIN', "'%'a b", "'%'a"],
    ['COMMAND_NOT_PLAIN', 'A=1 \\% b', '\\%'],
    ['TEXT_EMPTY', ' \t ', ' \t '],
    ['TEXT_EMPTY', '', ''],
  ])('%s: %j', (code, text, blamed) => {
    const lexed = lex(text);
    if (lexed.ok) throw new Error('it was accepted');
    expect([lexed.code, text.slice(...lexed.span)]).toEqual([code, blamed]);
  });

  test('and gives the words before it', () => {
    const lexed = lex("git -C 'a b' status > x");
    expect(lexed.ok).toBe(false);
    expect(lexed.words.map((word) => word.text)).toEqual(['git', '-C', 'a b', 'status']);
  });

  test.each([
    ['TEXT_EMPTY', 'input'],
    ['TEXT_TOO_LONG', 'input'],
    ['WORDS_TOO_MANY', 'input'],
    ['COMMAND_NOT_PLAIN', 'leading-token'],
    ['TEXT_OPERATOR', 'metacharacters'],
  ])('%s belongs to the check %s', (code, check) => {
    const texts = ['', 'a'.repeat(20_000), 'a '.repeat(600), '%1', 'a;b'];
    const refusals = texts.map((text) => lex(text)).flatMap((lexed) => (lexed.ok ? [] : [lexed]));
    expect(refusals.find((refusal) => refusal.code === code)?.check).toBe(check);
  });
});

test('a word of thousands of quoted parts is put together in order', () => {
  const parts = Array.from({ length: 5_000 }, (_, index) => String(index));
  const limits = { maxChars: 100_000 };
  for (const spell of [(part: string) => `'${part}'`, (part: string) => `"${part}"`, (part: string) => `\\${part}`]) {
    const lexed = lex(`x a${parts.map(spell).join('')} 'b'`, limits);
    expect(lexed.ok && lexed.words.map((word) => word.text)).toEqual(['x', `a${parts.join('')}`, 'b']);
  }
});

describe('limits', () => {
  test('by default 16,384 characters, 512 words and 64 parts', () => {
    expect(DEFAULT_LIMITS).toEqual({ maxChars: 16_384, maxWords: 512, maxParts: 64 });
    expect(lex('a'.repeat(16_384)).ok).toBe(true);
    expect(lex('a'.repeat(16_385))).toMatchObject({ ok: false, code: 'TEXT_TOO_LONG', span: [0, 16_385] });
    expect(lex('a '.repeat(512)).ok).toBe(true);
    expect(lex('a '.repeat(513))).toMatchObject({ ok: false, code: 'WORDS_TOO_MANY', span: [1024, 1026] });
  });

  test('can be set one by one, and count assignments as words', () => {
    expect(lex('abc', { maxChars: 3 }).ok).toBe(true);
    expect(lex('abcd', { maxChars: 3 })).toMatchObject({ ok: false, code: 'TEXT_TOO_LONG' });
    expect(lex('A=1 b c', { maxWords: 3 }).ok).toBe(true);
    expect(lex('A=1 b c', { maxWords: 2 })).toMatchObject({
      ok: false,
      code: 'WORDS_TOO_MANY',
      words: [{ text: 'b' }],
    });
  });

  test('that are no numbers refuse everything', () => {
    expect(lex('a', { maxChars: Number.NaN })).toMatchObject({ ok: false, code: 'TEXT_TOO_LONG' });
    expect(lex('a', { maxWords: Number.NaN })).toMatchObject({ ok: false, code: 'WORDS_TOO_MANY' });
  });
});
