import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { displayWidth } from '../../src/classifier/display-width.ts';
import { toWidth, visible, visibleLines } from '../../src/cli/display-text.ts';

/** Node's own measure, which stands on ICU: the second witness for every width below. */
function widthByNode(text: string): number {
  const output = Object.assign(new PassThrough(), { columns: 100_000 });
  const reader = createInterface({ input: new PassThrough(), output, prompt: '', terminal: true });
  reader.write(text);
  const { cols } = reader.getCursorPos();
  reader.close();
  return cols;
}

describe('text of others on a terminal', () => {
  test('every C0 control, DEL and C1 control becomes something that can be seen', () => {
    for (let code = 0; code < 0xa0; code += 1) {
      if (code >= 0x20 && code < 0x7f) continue;
      const shown = visible(`a${String.fromCodePoint(code)}b`);
      expect(shown).toMatch(/^a\\(?:[tnr]|x[0-9a-f]{2})b$/);
    }
  });

  test('what hides or reorders text becomes its number', () => {
    expect(visible('a\u202eb')).toBe('a\\u{202e}b');
    expect(visible('a\u200bb\ufeffc')).toBe('a\\u{200b}b\\u{feff}c');
    expect(visible('a\u00a0b\u3000c')).toBe('a\\u{a0}b\\u{3000}c');
    expect(visible('a\u2028b')).toBe('a\\u{2028}b');
    expect(visible('a\ud800b')).toBe('a\\u{d800}b');
    expect(visible('\u3164')).toBe('\\u{3164}');
  });

  test('an escape sequence keeps its letters and loses its escape', () => {
    expect(visible('\u001b[2Jls')).toBe('\\x1b[2Jls');
  });

  test('ordinary text of any script stays as it is', () => {
    for (const text of ['git log --oneline', 'grep "naïve" größe', '日本語', 'ls 🎉', 'e\u0301'])
      expect(visible(text)).toBe(text);
  });

  test('output keeps its lines and nothing else', () => {
    expect(visibleLines('a\tb\n\u001b[31mc\r\nd')).toEqual(['a  b', '\\x1b[31mc\\r', 'd']);
  });
});

describe('columns', () => {
  const samples = [
    '',
    'ls -la',
    'größe',
    'e\u0301a\u0308',
    '日本語',
    'ｆｕｌｌ',
    '한국어',
    '🎉🚀',
    'a日b',
    '…█░·',
    '␛␊',
    'ﾊﾝｶｸ',
    '𠀀',
    '中文 and ascii',
  ];

  test.each(samples)('%j is as wide as Node measures it', (text) => {
    expect(displayWidth(text)).toBe(widthByNode(text));
  });

  test.each(samples)('%j fits exactly into every width', (text) => {
    for (let width = 0; width < 20; width += 1) expect(displayWidth(toWidth(text, width))).toBe(width);
  });

  test('what is cut says so, and a wide character is never halved', () => {
    expect(toWidth('abcdef', 4)).toBe('abc…');
    expect(toWidth('日本語', 4)).toBe('日… ');
    expect(toWidth('abcd', 4)).toBe('abcd');
    expect(toWidth('ab', 4)).toBe('ab  ');
  });
});
