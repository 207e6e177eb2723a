import { describe, expect, test } from 'vitest';
import { lex } from '../../src/classifier/lexer.ts';
import { isVisible } from '../../src/classifier/visible-characters.ts';

describe('the table of visible characters', () => {
  test('holds letters, marks, digits and signs of every plane, and nothing that is drawn as nothing', () => {
    for (const text of 'é你ȁ̈٣€→😀𠀀') expect([text, isVisible(text.codePointAt(0)!)]).toEqual([text, true]);
    for (const code of [0xad, 0x200b, 0x2028, 0x3164, 0xe000, 0xfeff, 0xffff, 0xe0001, 0x10ffff]) {
      expect([code, isVisible(code)]).toEqual([code, false]);
    }
  });

  test('holds no ASCII and nothing that is no code point', () => {
    for (const code of [0, 0x41, 0x7f, 0x80, -1, 0x110000, Number.NaN]) expect(isVisible(code)).toBe(false);
  });
});

describe('what nobody can see is refused in every place', () => {
  test.each<[name: string, character: string, code: string]>([
    ['C1 control', '\u0080', 'TEXT_CONTROL'],
    ['next line', '\u0085', 'TEXT_CONTROL'],
    ['no-break space', '\u00a0', 'TEXT_BLANK'],
    ['soft hyphen', '\u00ad', 'TEXT_INVISIBLE'],
    ['combining grapheme joiner', '\u034f', 'TEXT_INVISIBLE'],
    ['Arabic letter mark', '\u061c', 'TEXT_INVISIBLE'],
    ['Arabic number sign', '\u0600', 'TEXT_INVISIBLE'],
    ['Hangul choseong filler', '\u115f', 'TEXT_INVISIBLE'],
    ['Hangul filler', '\u3164', 'TEXT_INVISIBLE'],
    ['halfwidth Hangul filler', '\uffa0', 'TEXT_INVISIBLE'],
    ['ogham space', '\u1680', 'TEXT_BLANK'],
    ['Khmer inherent vowel', '\u17b4', 'TEXT_INVISIBLE'],
    ['Mongolian variation selector', '\u180b', 'TEXT_INVISIBLE'],
    ['Mongolian vowel separator', '\u180e', 'TEXT_INVISIBLE'],
    ['en quad', '\u2000', 'TEXT_BLANK'],
    ['zero width space', '\u200b', 'TEXT_INVISIBLE'],
    ['zero width joiner', '\u200d', 'TEXT_INVISIBLE'],
    ['right-to-left mark', '\u200f', 'TEXT_INVISIBLE'],
    ['line separator', '\u2028', 'TEXT_BLANK'],
    ['paragraph separator', '\u2029', 'TEXT_BLANK'],
    ['right-to-left override', '\u202e', 'TEXT_INVISIBLE'],
    ['narrow no-break space', '\u202f', 'TEXT_BLANK'],
    ['medium mathematical space', '\u205f', 'TEXT_BLANK'],
    ['word joiner', '\u2060', 'TEXT_INVISIBLE'],
    ['right-to-left isolate', '\u2067', 'TEXT_INVISIBLE'],
    ['Braille blank', '\u2800', 'TEXT_BLANK'],
    ['ideographic space', '\u3000', 'TEXT_BLANK'],
    ['private use', '\ue000', 'TEXT_INVISIBLE'],
    ['variation selector 16', '\ufe0f', 'TEXT_INVISIBLE'],
    ['byte order mark', '\ufeff', 'TEXT_INVISIBLE'],
    ['interlinear annotation', '\ufff9', 'TEXT_INVISIBLE'],
    ['object replacement', '\ufffc', 'TEXT_INVISIBLE'],
    ['replacement character', '\ufffd', 'TEXT_INVISIBLE'],
    ['noncharacter', '\uffff', 'TEXT_INVISIBLE'],
    ['noncharacter within', '\ufdd0', 'TEXT_INVISIBLE'],
    ['unassigned', '\u0378', 'TEXT_INVISIBLE'],
    ['high surrogate', '\ud83d', 'TEXT_NOT_WELL_FORMED'],
    ['low surrogate', '\ude00', 'TEXT_NOT_WELL_FORMED'],
    ['null notehead', '\u{1d159}', 'TEXT_BLANK'],
    ['musical format control', '\u{1d173}', 'TEXT_INVISIBLE'],
    ['tag', '\u{e0020}', 'TEXT_INVISIBLE'],
    ['variation selector 17', '\u{e0100}', 'TEXT_INVISIBLE'],
    ['private use plane', '\u{10fffd}', 'TEXT_INVISIBLE'],
  ])('%s', (_name, character, code) => {
    const places: [before: string, after: string][] = [
      ['', ' ls'],
      ['ls', ''],
      ['ls ', ''],
      ['ls a', 'b'],
      ["ls '", "'"],
      ['ls "', '"'],
      ['ls "\\', '"'],
      ['ls \\', ''],
      ['ls \\', 'a'],
    ];
    for (const [before, after] of places) {
      expect(lex(before + character + after)).toMatchObject({
        ok: false,
        code,
        span: [before.length, before.length + character.length],
      });
    }
  });

  test('every ASCII control character but the tab, in every place', () => {
    const controls = Array.from({ length: 33 }, (_, index) => (index === 32 ? '\x7f' : String.fromCharCode(index)));
    for (const control of controls.filter((character) => character !== '\t')) {
      const code = control === '\n' || control === '\r' ? 'TEXT_NEWLINE' : 'TEXT_CONTROL';
      for (const text of [`${control}ls`, `ls ${control}`, `ls '${control}'`, `ls "${control}"`, `ls \\${control}`]) {
        expect(lex(text), JSON.stringify(text)).toMatchObject({ ok: false, code });
      }
    }
  });
});
