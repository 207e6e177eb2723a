import { describe, expect, test } from 'vitest';
import { type LexedList, lexList } from '../../src/classifier/lexer.ts';

/** One line a part: the operator before it, its pieces, and where it stands. */
function parts(list: LexedList): readonly string[] {
  return list.commands.map(({ joint, assignments, words, redirections, start, end }) => {
    const given = assignments.map(({ name, value }) => `${name}=${value}`);
    const moved = redirections.map(({ text }) => `<${text}>`);
    const pieces = [...given, ...words.map(({ text }) => text), ...moved].join(' ');
    return `${joint === null ? '' : `${joint.text} `}${pieces} @${start}-${end}`;
  });
}

function read(text: string): { readonly parts: readonly string[]; readonly compound: boolean } | string {
  const list = lexList(text);
  return list.ok ? { parts: parts(list), compound: list.compound } : list.code;
}

/** The check, the code and the stretch that is to blame. */
function blamed(text: string, limits = {}): string {
  const list = lexList(text, limits);
  return list.ok ? 'accepted' : `${list.check} ${list.code} ${JSON.stringify(text.slice(...list.span))}`;
}

describe('a list of pipelines', () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['a | b', ['a @0-1', '| b @4-5']],
    ['a|b', ['a @0-1', '| b @2-3']],
    ['a&&b', ['a @0-1', '&& b @3-4']],
    ['a b && c || d ; e | f', ['a b @0-3', '&& c @7-8', '|| d @12-13', '; e @16-17', '| f @20-21']],
    ['  a ;\tb', ['a @2-3', '; b @6-7']],
    ['a \'|\' b\\; "&&" | c', ['a | b; && @0-14', '| c @17-18']],
    ['LANG=C a | LANG=C b', ['LANG=C a @0-8', '| LANG=C b @11-19']],
    ['a "" | b', ['a  @0-4', '| b @7-8']],
    // What would be special where a command begins is so behind every operator, and nowhere else.
    ['a if | b !', ['a if @0-4', '| b ! @7-10']],
  ];
  test.each(cases)('%j is cut at its operators', (text, expected) => {
    expect(read(text)).toEqual({ parts: expected, compound: true });
  });

  test('ends with a semicolon or without', () => {
    for (const text of ['a;', 'a ;', 'a ; \t']) expect(read(text), text).toEqual({ parts: ['a @0-1'], compound: true });
    expect(read('a | b;')).toEqual({ parts: ['a @0-1', '| b @4-5'], compound: true });
  });

  test('of one simple command is none', () => {
    for (const text of ['a b', ' a  b ', 'X=1 a b']) expect(read(text), text).toMatchObject({ compound: false });
    expect(read('a b')).toEqual({ parts: ['a b @0-3'], compound: false });
  });

  test('words keep where they stand, and that they begin in the home directory', () => {
    const list = lexList('a | b ~/c*');
    expect(list.commands[1]!.words).toEqual([
      { raw: 'b', text: 'b', start: 4, end: 5, plain: 1, glob: false },
      { raw: '~/c*', text: '~/c*', start: 6, end: 10, plain: 4, glob: true, home: true },
    ]);
    expect(lexList('a ~/b c').commands[0]!.words[2]).toEqual({
      raw: 'c',
      text: 'c',
      start: 6,
      end: 7,
      plain: 1,
      glob: false,
    });
  });
});

describe('redirections', () => {
  const HARMLESS = ['2>&1', '1>&2', '>&2', '2>/dev/null', '>/dev/null', '&>/dev/null', '</dev/null'];
  test.each(HARMLESS)('%s is harmless behind, before and between words, with a blank before its target', (one) => {
    const spaced = one.replace(/(&1|&2|\/dev\/null)$/, (target) => ` ${target}`);
    expect(read(`a ${one}`)).toEqual({ parts: [`a <${one}> @0-${2 + one.length}`], compound: true });
    expect(read(`${one} a`)).toMatchObject({ parts: [`a <${one}> @0-${2 + one.length}`] });
    expect(read(`a ${one} b`)).toMatchObject({ parts: [`a b <${one}> @0-${4 + one.length}`] });
    expect(read(`a ${one}|b ${one}`)).toMatchObject({ parts: [expect.any(String), expect.stringMatching(/^\| b </)] });
    if (!one.includes('&1') && !one.includes('&2')) {
      expect(read(`a ${spaced}`)).toMatchObject({ parts: [`a <${one}> @0-${3 + one.length}`] });
    }
  });

  test('a number belongs to the operator that it touches, and only so', () => {
    expect(read('a2>/dev/null')).toMatchObject({ parts: ['a2 <>/dev/null> @0-12'] });
    expect(read('a 2 >&2')).toMatchObject({ parts: ['a 2 <>&2> @0-7'] });
    expect(read('a 2&>/dev/null')).toMatchObject({ parts: ['a 2 <&>/dev/null> @0-14'] });
    expect(read('2>&1 a')).toMatchObject({ parts: ['a <2>&1> @0-6'] });
    expect(read("a '2'>/dev/null")).toMatchObject({ parts: ['a 2 <>/dev/null> @0-15'] });
  });

  const REFUSED: readonly (readonly [string, string])[] = [
    ['a > f', '> f'],
    ['a >> f', '>> f'],
    ['a >>/dev/null', '>>/dev/null'],
    ['a >|/dev/null', '>|/dev/null'],
    ['a < f', '< f'],
    ['a <>/dev/null', '<>/dev/null'],
    ['a <&3', '<&3'],
    ['a &>>/dev/null', '&>>/dev/null'],
    ['a &> f', '&> f'],
    ['a >&1', '>&1'],
    ['a 3>&1', '3>&1'],
    ['a 02>&1', '02>&1'],
    ['a 1>/dev/null', '1>/dev/null'],
    ['a 0</dev/null', '0</dev/null'],
    ['a 2>&12', '2>&12'],
    ['a 2>&1x', '2>&1x'],
    ['a 2>&-', '2>&-'],
    ['a >&/dev/null', '>&/dev/null'],
    ['a >/dev/null2', '>/dev/null2'],
    ['a >"/dev/null"', '>"/dev/null"'],
    ['a >/dev/nul?', '>/dev/nul?'],
    ['a >~/x', '>~/x'],
    ['a >', '>'],
    ['a > ; b', '>'],
    ['a 2>|b', '2>|b'],
    ['a > >/dev/null', '>'],
    ['>f', '>f'],
  ];
  test.each(REFUSED)('%j is refused', (text, at) => {
    expect(blamed(text)).toBe(`metacharacters TEXT_REDIRECTION ${JSON.stringify(at)}`);
  });

  test('what begins like one and is something else has its own reason', () => {
    expect(blamed('a <<x')).toBe('metacharacters TEXT_HERE_DOCUMENT "<<"');
    expect(blamed('a 3<<-x')).toBe('metacharacters TEXT_HERE_DOCUMENT "3<<-"');
    expect(blamed('a <<<x')).toBe('metacharacters TEXT_HERE_DOCUMENT "<<<"');
    expect(blamed('a <(b)')).toBe('metacharacters TEXT_EXPANSION "<("');
    expect(blamed('a >(b)')).toBe('metacharacters TEXT_EXPANSION ">("');
    expect(blamed('a >$b')).toBe('metacharacters TEXT_EXPANSION "$"');
  });
});

describe('what is no list of commands', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['a &', 'TEXT_BACKGROUND', '&'],
    ['a & b', 'TEXT_BACKGROUND', '&'],
    ['a |& b', 'TEXT_PIPE_ERRORS', '|&'],
    ['(a)', 'TEXT_GROUP', '('],
    ['a | (b)', 'TEXT_GROUP', '('],
    ['a )', 'TEXT_GROUP', ')'],
    ['a ;; b', 'TEXT_PART_EMPTY', ';;'],
    ['a ;& b', 'TEXT_PART_EMPTY', ';&'],
    ['a |', 'TEXT_PART_EMPTY', '|'],
    ['a &&', 'TEXT_PART_EMPTY', '&&'],
    ['a ||  ', 'TEXT_PART_EMPTY', '||'],
    ['| a', 'TEXT_PART_EMPTY', '|'],
    ['; a', 'TEXT_PART_EMPTY', ';'],
    [';', 'TEXT_PART_EMPTY', ';'],
    ['a && || b', 'TEXT_PART_EMPTY', '||'],
    ['a ; ; b', 'TEXT_PART_EMPTY', ';'],
    ['a ; | b', 'TEXT_PART_EMPTY', '|'],
    ['>/dev/null', 'TEXT_PART_EMPTY', '>/dev/null'],
    ['a | 2>/dev/null', 'TEXT_PART_EMPTY', '2>/dev/null'],
    ['a | LANG=C', 'TEXT_ASSIGNMENT', 'LANG=C'],
    ['LANG=C ; a', 'TEXT_ASSIGNMENT', 'LANG=C'],
    ['LANG=C >/dev/null', 'TEXT_ASSIGNMENT', 'LANG=C >/dev/null'],
    [' LANG=C ', 'TEXT_ASSIGNMENT', ' LANG=C '],
    ['a | if', 'TEXT_KEYWORD', 'if'],
    ['a && ! b', 'TEXT_HISTORY', '!'],
    ['a | b$c', 'TEXT_EXPANSION', '$'],
    ['a | b\nc', 'TEXT_NEWLINE', '\n'],
    ["a | 'b", 'TEXT_QUOTE_OPEN', "'b"],
    ['a | ~/b', 'TEXT_TILDE', '~'],
    ['a ~b', 'TEXT_TILDE', '~'],
    ['a b=~/c', 'TEXT_TILDE', '~'],
    ['a #| b', 'TEXT_COMMENT', '#| b'],
  ];
  test.each(cases)('%j: %s', (text, code, at) => {
    expect(blamed(text)).toBe(`metacharacters ${code} ${JSON.stringify(at)}`);
  });

  test('what was read before is told, the part in which it ends among it', () => {
    const list = lexList('a b | c >f | d');
    expect(list.ok).toBe(false);
    expect(parts(list)).toEqual(['a b @0-3', '| c @6-7']);
    expect(parts(lexList('a b & c'))).toEqual(['a b @0-3']);
    expect(parts(lexList('a | | b'))).toEqual(['a @0-1', '|  @4-4']);
  });

  test('nothing', () => {
    expect(blamed('')).toBe('input TEXT_EMPTY ""');
    expect(blamed(' \t')).toBe('input TEXT_EMPTY " \\t"');
    expect(blamed('a | %1')).toBe('leading-token COMMAND_NOT_PLAIN "%1"');
  });
});

describe('limits of a list', () => {
  test('hold over all its parts', () => {
    expect(blamed('a | b', { maxChars: 5, maxWords: 2, maxParts: 2 })).toBe('accepted');
    expect(blamed('a | b', { maxChars: 4 })).toBe('input TEXT_TOO_LONG "a | b"');
    expect(blamed('a | b c', { maxWords: 2 })).toBe('input WORDS_TOO_MANY "c"');
    expect(blamed('a | b >/dev/null | c', { maxWords: 3 })).toBe('input WORDS_TOO_MANY "c"');
    expect(blamed('a | b ; c d', { maxParts: 2 })).toBe('input PARTS_TOO_MANY "c d"');
    expect(blamed('a | b ;', { maxParts: 2 })).toBe('accepted');
    expect(lexList('a | b', { maxChars: 4 }).commands).toEqual([]);
  });

  test('by default 64 parts', () => {
    expect(lexList(new Array(64).fill('a').join('|')).ok).toBe(true);
    expect(blamed(new Array(65).fill('a').join('|'))).toBe('input PARTS_TOO_MANY "a"');
    expect(lexList(new Array(65).fill('a').join('|'), { maxParts: Number.NaN }).ok).toBe(false);
    expect(lexList('a', { maxChars: Number.NaN }).ok).toBe(false);
    expect(lexList('a', { maxWords: Number.NaN }).ok).toBe(false);
  });
});
