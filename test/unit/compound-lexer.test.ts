import { describe, expect, test } from 'vitest';
import { lexList } from '../../src/classifier/lexer.ts';

/** `code "stretch"`, or the commands, each with its operator, words and redirections. */
function read(text: string, limits = {}): unknown {
  const list = lexList(text, limits);
  if (!list.ok) return `${list.code} ${JSON.stringify(text.slice(...list.span))}`;
  return list.commands.map(({ joint, assignments, words, redirections, start, end }) => {
    const before = assignments.map(({ name, value }) => `${name}=${value}`);
    return [
      joint?.text ?? '',
      [...before, ...words.map((word) => word.text)],
      redirections.map((one) => one.text),
      text.slice(start, end),
    ];
  });
}

const words = (...list: string[]): unknown => [['', list, [], list.join(' ')]];

describe('operators', () => {
  test('cut a text into commands, with blanks or without', () => {
    for (const operator of ['&&', '||', ';', '|']) {
      for (const text of [`a b${operator}c`, `a b ${operator} c`, `\ta b ${operator}\tc `]) {
        expect(read(text)).toEqual([
          ['', ['a', 'b'], [], 'a b'],
          [operator, ['c'], [], 'c'],
        ]);
      }
    }
  });

  test('are told from what is quoted or escaped', () => {
    expect(read("a '&&' \"|\" \\; b'c|'d")).toEqual([
      ['', ['a', '&&', '|', ';', 'bc|d'], [], "a '&&' \"|\" \\; b'c|'d"],
    ]);
  });

  test('a last semicolon may stand, and makes a compound of one command', () => {
    expect(lexList('a;')).toMatchObject({ ok: true, compound: true, commands: [{ start: 0, end: 1, joint: null }] });
    expect(lexList('a ; ')).toMatchObject({ ok: true, compound: true });
    expect(lexList('a 2>&1')).toMatchObject({ ok: true, compound: true });
    expect(lexList('a b')).toMatchObject({ ok: true, compound: false });
    expect(lexList('a;b')).toMatchObject({
      ok: true,
      compound: true,
      commands: [{}, { joint: { text: ';', start: 1, end: 2 } }],
    });
  });

  test.each([
    ['a & b', 'TEXT_BACKGROUND "&"'],
    ['a&', 'TEXT_BACKGROUND "&"'],
    ['& a', 'TEXT_BACKGROUND "&"'],
    ['a &;', 'TEXT_BACKGROUND "&"'],
    ['a &&& b', 'TEXT_BACKGROUND "&"'],
    ['a |& b', 'TEXT_PIPE_ERRORS "|&"'],
    ['(a)', 'TEXT_GROUP "("'],
    ['((a))', 'TEXT_GROUP "("'],
    ['a )', 'TEXT_GROUP ")"'],
    ['a; (b)', 'TEXT_GROUP "("'],
    ['f () b', 'TEXT_GROUP "("'],
    ['a(b', 'TEXT_GROUP "("'],
    ['a=(b)', 'TEXT_GROUP "("'],
    ['a;; b', 'TEXT_PART_EMPTY ";;"'],
    ['a ;& b', 'TEXT_PART_EMPTY ";&"'],
    ['a ; ; b', 'TEXT_PART_EMPTY ";"'],
    ['a && || b', 'TEXT_PART_EMPTY "||"'],
    ['a | | b', 'TEXT_PART_EMPTY "|"'],
    ['a ||| b', 'TEXT_PART_EMPTY "|"'],
    ['; a', 'TEXT_PART_EMPTY ";"'],
    ['&& a', 'TEXT_PART_EMPTY "&&"'],
    ['| a', 'TEXT_PART_EMPTY "|"'],
    ['a &&', 'TEXT_PART_EMPTY "&&"'],
    ['a || ', 'TEXT_PART_EMPTY "||"'],
    ['a |', 'TEXT_PART_EMPTY "|"'],
    ['a &&;', 'TEXT_PART_EMPTY ";"'],
    [';', 'TEXT_PART_EMPTY ";"'],
    ['>/dev/null', 'TEXT_PART_EMPTY ">/dev/null"'],
    ['a; 2>&1 ;b', 'TEXT_PART_EMPTY "2>&1"'],
    ['a |\nb', 'TEXT_NEWLINE "\\n"'],
    ['a\n', 'TEXT_NEWLINE "\\n"'],
    ['a; $b', 'TEXT_EXPANSION "$"'],
    ['a | `b`', 'TEXT_EXPANSION "`"'],
    ['a <(b)', 'TEXT_EXPANSION "<("'],
    ['a >(b)', 'TEXT_EXPANSION ">("'],
    ['a2<(b)', 'TEXT_EXPANSION "<("'],
    ['a; { b; }', 'TEXT_GROUP "{"'],
    ['{\ta; }', 'TEXT_GROUP "{"'],
    ['{', 'TEXT_GROUP "{"'],
    ['{a; }', 'TEXT_BRACE "{"'],
    ['a { b', 'TEXT_BRACE "{"'],
    ['a; }', 'TEXT_BRACE "}"'],
    ['! a', 'TEXT_HISTORY "!"'],
    ['a && ! b', 'TEXT_HISTORY "!"'],
    ['a | ! b', 'TEXT_HISTORY "!"'],
    ['a;#b', 'TEXT_COMMENT "#b"'],
    ['a >#b', 'TEXT_COMMENT "#b"'],
    ['A=b', 'TEXT_ASSIGNMENT "A=b"'],
    [' A=b ', 'TEXT_ASSIGNMENT " A=b "'],
    ['A=b; c', 'TEXT_ASSIGNMENT "A=b"'],
    ['c; A=b B=c', 'TEXT_ASSIGNMENT "A=b B=c"'],
    ['c; A=b 2>&1', 'TEXT_ASSIGNMENT "A=b 2>&1"'],
    ['A=b 2>&1', 'TEXT_ASSIGNMENT "A=b 2>&1"'],
    ['a; b[0]=c d', 'TEXT_ASSIGNMENT "b[0]=c"'],
    ['a; b*', 'TEXT_GLOB "b*"'],
    ['a; ~/b', 'TEXT_TILDE "~"'],
    ['a ~b', 'TEXT_TILDE "~"'],
    ['a "b', 'TEXT_QUOTE_OPEN "\\"b"'],
    ['', 'TEXT_EMPTY ""'],
    ['  ', 'TEXT_EMPTY "  "'],
  ])('%j is refused: %s', (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  test('words of the grammar are refused wherever a command may begin', () => {
    for (const word of [
      'if',
      'then',
      'for',
      'while',
      'until',
      'case',
      'select',
      'function',
      'time',
      'coproc',
      '[[',
      'do',
      'done',
      'in',
    ]) {
      for (const before of ['', 'a; ', 'a && ', 'a || ', 'a | ', '2>&1 ', 'a; A=b ']) {
        expect(read(`${before}${word} x`)).toBe(`TEXT_KEYWORD ${JSON.stringify(word)}`);
      }
      expect(read(`a ${word}`)).toEqual(words('a', word));
    }
  });
});

describe('redirections', () => {
  const harmless = ['2>&1', '1>&2', '>&2', '2>/dev/null', '>/dev/null', '&>/dev/null', '</dev/null'];

  test('the seven may stand before, between and behind the words, and touch them where bash lets them', () => {
    for (const one of harmless) {
      expect(read(`${one} a b`)).toEqual([['', ['a', 'b'], [one], `${one} a b`]]);
      expect(read(`a ${one} b`)).toEqual([['', ['a', 'b'], [one], `a ${one} b`]]);
      expect(read(`a b ${one}`)).toEqual([['', ['a', 'b'], [one], `a b ${one}`]]);
      expect(read(`A=b ${one} c`)).toEqual([['', ['A=b', 'c'], [one], `A=b ${one} c`]]);
      expect(read(`a ${one}|b`)).toEqual([
        ['', ['a'], [one], `a ${one}`],
        ['|', ['b'], [], 'b'],
      ]);
      expect(read(`a ${one};`)).toEqual([['', ['a'], [one], `a ${one}`]]);
      const at = one.search(/[^0-9<>&]|[0-9]$/);
      const spaced = `a ${one.slice(0, at)} \t${one.slice(at)}`;
      expect(read(spaced)).toEqual([['', ['a'], [one], spaced]]);
    }
    for (const one of ['>&2', '>/dev/null', '&>/dev/null', '</dev/null']) {
      expect(read(`a'b'${one}`)).toEqual([['', ['ab'], [one], `a'b'${one}`]]);
    }
    expect(read('a 2>&1>/dev/null')).toEqual([['', ['a'], ['2>&1', '>/dev/null'], 'a 2>&1>/dev/null']]);
  });

  test('a number belongs to the operator only if it is bare, whole and touches it', () => {
    expect(read('a 2 >/dev/null')).toEqual([['', ['a', '2'], ['>/dev/null'], 'a 2 >/dev/null']]);
    expect(read('a 2&>/dev/null')).toEqual([['', ['a', '2'], ['&>/dev/null'], 'a 2&>/dev/null']]);
    expect(read('a b2>/dev/null')).toEqual([['', ['a', 'b2'], ['>/dev/null'], 'a b2>/dev/null']]);
    expect(read("a '2'>/dev/null")).toEqual([['', ['a', '2'], ['>/dev/null'], "a '2'>/dev/null"]]);
    expect(read('a \\2>/dev/null')).toEqual([['', ['a', '2'], ['>/dev/null'], 'a \\2>/dev/null']]);
    expect(read('a -2>/dev/null')).toEqual([['', ['a', '-2'], ['>/dev/null'], 'a -2>/dev/null']]);
  });

  test.each([
    '>x',
    '>>x',
    '>>/dev/null',
    '2>>/dev/null',
    '&>>/dev/null',
    '&>x',
    '>|/dev/null',
    '<>/dev/null',
    '<x',
    '<&0',
    '2>&-',
    '1>&1',
    '2>&2',
    '02>&1',
    '1>/dev/null',
    '0</dev/null',
    '3>/dev/null',
    '12>/dev/null',
    '2>&1-',
    '2>&12',
    '2>&1x',
    '>&/dev/null',
    '>/dev/nullx',
    '>/dev//null',
    '>/dev/./null',
    '>/dev/null/',
    '>"/dev/null"',
    ">'/dev/null'",
    '>/dev/nul\\l',
    '2>&"1"',
    '2>&\\1',
    '>/dev/nul?',
    '</dev/zero',
    '2>&1é',
  ])('%j is refused as a whole', (redirection) => {
    expect(read(`a ${redirection} b`)).toBe(`TEXT_REDIRECTION ${JSON.stringify(redirection)}`);
    expect(read(`a; ${redirection}`)).toBe(`TEXT_REDIRECTION ${JSON.stringify(redirection)}`);
  });

  test.each([
    ['a >', 'TEXT_REDIRECTION ">"'],
    ['a 2> ', 'TEXT_REDIRECTION "2>"'],
    ['a >;b', 'TEXT_REDIRECTION ">"'],
    ['a > >b', 'TEXT_REDIRECTION ">"'],
    ['a &> |b', 'TEXT_REDIRECTION "&>"'],
    ['a >/dev/null2>&1', 'TEXT_REDIRECTION ">/dev/null2"'],
    ['a > $b', 'TEXT_EXPANSION "$"'],
    ['a >~/b', 'TEXT_REDIRECTION ">~/b"'],
    ['a <<b', 'TEXT_HERE_DOCUMENT "<<"'],
    ['a 2<<-b', 'TEXT_HERE_DOCUMENT "2<<-"'],
    ['a <<<b', 'TEXT_HERE_DOCUMENT "<<<"'],
  ])('%j: %s', (text, expected) => {
    expect(read(text)).toBe(expected);
  });
});

describe('limits', () => {
  test('of characters, words and parts; a redirection counts as a word', () => {
    expect(read('abcd', { maxChars: 3 })).toBe('TEXT_TOO_LONG "abcd"');
    expect(read('a b; c', { maxWords: 3 })).toHaveLength(2);
    expect(read('a b; c d', { maxWords: 3 })).toBe('WORDS_TOO_MANY "d"');
    expect(read('a b; c 2>&1', { maxWords: 3 })).toBe('WORDS_TOO_MANY "2>&1"');
    expect(read('a; b', { maxParts: 2 })).toHaveLength(2);
    expect(read('a; b;', { maxParts: 2 })).toHaveLength(2);
    expect(read('a; b; c d', { maxParts: 2 })).toBe('PARTS_TOO_MANY "c d"');
    expect(read('a; b; c; d', { maxParts: 2 })).toBe('PARTS_TOO_MANY "c; d"');
  });

  test('by default 64 parts; what is no number refuses', () => {
    const parts = (count: number): string => new Array(count).fill('a').join(';');
    expect(read(parts(64))).toHaveLength(64);
    expect(read(parts(65))).toBe('PARTS_TOO_MANY "a"');
    expect(read('a;b', { maxParts: Number.NaN })).toBe('PARTS_TOO_MANY "a;b"');
    expect(lexList('a;b;c', { maxParts: 2 })).toMatchObject({ check: 'input', commands: [{}, {}, {}] });
    expect(lexList('a;(')).toMatchObject({ check: 'metacharacters', commands: [{}, {}] });
    expect(lexList('%1; a')).toMatchObject({ check: 'leading-token', code: 'COMMAND_NOT_PLAIN' });
  });
});
