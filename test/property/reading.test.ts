import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import { type Lexed, lex } from '../../src/classifier/lexer.ts';
import { secondReading } from '../../src/classifier/second-reading.ts';
import { isVisible } from '../../src/classifier/visible-characters.ts';
import { hostileText, randomFrom } from '../support/hostile-text.ts';

/** Any JavaScript string: every code unit, so lone surrogates too, with those that mean something more often. */
const codeUnit = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...'ab1-./= \t\'"\\$`!#~*?[]{}@^,:;&|<>()\n\r\0') },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) },
);
const anyString = fc.oneof(
  fc.array(codeUnit, { maxLength: 60 }).map((units) => units.join('')),
  fc.integer().map((seed) => hostileText(randomFrom(seed))),
);

type Accepted = { readonly text: string; readonly lexed: Extract<Lexed, { ok: true }> };

/** Texts that the lexer accepts: the first one out of a hostile source. */
const accepted: fc.Arbitrary<Accepted> = fc.integer().map((seed) => {
  const random = randomFrom(seed);
  for (;;) {
    const text = hostileText(random);
    const lexed = lex(text);
    if (lexed.ok) return { text, lexed };
  }
});

/** Characters that a reader sees, from all planes. */
const visible = fc.oneof(
  fc.integer({ min: 0x20, max: 0x7e }),
  fc.integer({ min: 0xa1, max: 0x1ffff }).filter((code) => isVisible(code)),
);
const visibleText = fc.array(visible, { maxLength: 20 }).map((codes) => String.fromCodePoint(...codes));

/** The places of a text where a character would stand outside quotes and not behind a backslash; told without the lexer. */
function placesOutsideQuotes(text: string): number[] {
  const places: number[] = [];
  let quote = '';
  for (let at = 0; at <= text.length; at++) {
    if (quote === '') places.push(at);
    const character = text[at];
    if (character === '\\' && quote !== "'") at++;
    else if (quote === '' && (character === "'" || character === '"')) quote = character;
    else if (character === quote) quote = '';
  }
  return places;
}

function insert(text: string, at: number, added: string): string {
  return text.slice(0, at) + added + text.slice(at);
}

const RUNS = { numRuns: 3_000 } as const;

describe('lex', () => {
  test.prop([anyString], {
    numRuns: 10_000,
    examples: [['%1'], ['args a@{1},x}'], ['\ud800'], ["'"], ['\\'], ['a=~'], [''], ['@{'], ['"\\']],
  })('is total and pure for any string: twice the same words, or the same refusal within the text', (text) => {
    const lexed = lex(text);
    expect(lex(text)).toEqual(lexed);
    if (lexed.ok) return;
    const [start, end] = lexed.span;
    expect(start >= 0 && end <= text.length && (start < end || text === '')).toBe(true);
  });

  test.prop([anyString], RUNS)('makes words that tile the text, with only blanks between them', (text) => {
    const lexed = lex(text);
    const pieces = lexed.ok ? [...lexed.assignments, ...lexed.words] : lexed.words;
    let end = 0;
    for (const piece of pieces) {
      expect(piece.start).toBeGreaterThanOrEqual(end);
      if (lexed.ok) expect(text.slice(end, piece.start)).toMatch(end === 0 ? /^[ \t]*$/ : /^[ \t]+$/);
      if ('raw' in piece) {
        expect(piece.raw).toBe(text.slice(piece.start, piece.end));
        expect(piece.text.startsWith(piece.raw.slice(0, piece.plain))).toBe(true);
        expect(/['"\\]/.test(piece.raw)).toBe(piece.plain < piece.raw.length);
      } else expect(`${piece.name}=${piece.value}`).toBe(text.slice(piece.start, piece.end));
      end = piece.end;
    }
    if (lexed.ok) expect(text.slice(end)).toMatch(/^[ \t]*$/);
  });

  test.prop([accepted], RUNS)('reads the same words when only the blanks between them change', ({ lexed }) => {
    const assigned = lexed.assignments.map(({ name, value }) => `${name}=${value}`);
    const again = lex(` ${[...assigned, ...lexed.words.map((word) => word.raw)].join('\t ')} `);
    expect(again.ok && again.words.map((word) => word.text)).toEqual(lexed.words.map((word) => word.text));
  });

  test.prop([accepted, fc.constantFrom(...';&|<>()$`\n\r\0'), fc.nat()], {
    ...RUNS,
    examples: [[{ text: 'a b', lexed: lex('a b') } as Accepted, '\n', 3]],
  })(
    'an unquoted ; & | < > ( ) $ ` LF CR or NUL put anywhere into an accepted text refuses it',
    ({ text }, added, nth) => {
      const places = placesOutsideQuotes(text);
      const at = places[nth % places.length] as number;
      expect(lex(insert(text, at, added)).ok).toBe(false);
    },
  );

  test.prop(
    [accepted, fc.constantFrom('\n', '\r', '\0', '\u001b', '\u00a0', '\u202e', '\u200b', '\ud800'), fc.nat()],
    RUNS,
  )(
    'a line end, a control character or an unseen one put anywhere, quoted or not, refuses the text',
    ({ text }, added, nth) => {
      // Also within a pair of surrogates: whatever comes between them leaves one of them alone.
      expect(lex(insert(text, nth % (text.length + 1), added)).ok).toBe(false);
    },
  );

  test.prop([accepted], RUNS)('a quote put at the end is left open', ({ text }) => {
    for (const quote of ["'", '"'])
      expect(lex(`${text} ${quote}`)).toMatchObject({ ok: false, code: 'TEXT_QUOTE_OPEN' });
  });

  test.prop([visibleText], RUNS)('a visible text is one word of itself when it is quoted, in any form', (text) => {
    const single = `'${text.replaceAll("'", "'\\''")}'`;
    const double = `"${text.replace(/["$`\\]/g, '\\$&')}"`;
    const escaped = [...text].map((character) => `\\${character}`).join('');
    for (const spelling of text === '' ? [single, double] : [single, double, escaped]) {
      const lexed = lex(`x ${spelling}`);
      expect(lexed.ok && lexed.words.map((word) => word.text), spelling).toEqual(['x', text]);
    }
  });

  test.prop([accepted, fc.nat({ max: 40 })], RUNS)('a tighter limit never accepts more', ({ text, lexed }, limit) => {
    const byChars = lex(text, { maxChars: limit });
    expect(byChars).toEqual(
      text.length <= limit ? lexed : expect.objectContaining({ ok: false, code: 'TEXT_TOO_LONG' }),
    );
    const total = lexed.words.length + lexed.assignments.length;
    const byWords = lex(text, { maxWords: limit });
    expect(byWords).toEqual(total <= limit ? lexed : expect.objectContaining({ ok: false, code: 'WORDS_TOO_MANY' }));
  });
});

describe('the second reading', () => {
  const seen = ({ lexed }: Accepted) => [
    ...lexed.assignments.map(({ name, value }) => ({ text: `${name}=${value}`, glob: false })),
    ...lexed.words,
  ];

  test.prop([anyString, fc.array(fc.record({ text: anyString, glob: fc.boolean() }), { maxLength: 4 })], RUNS)(
    'is total: for any string and any words it says yes or no',
    (text, words) => {
      expect(typeof secondReading(text, words)).toBe('boolean');
    },
  );

  test.prop([accepted, fc.nat(), visibleText], RUNS)(
    'turns a yes into a no as soon as a word is missing, added or another',
    (each, nth, other) => {
      const words = seen(each);
      const at = nth % words.length;
      const word = words[at] as { text: string; glob: boolean };
      expect(secondReading(each.text, words.toSpliced(at, 1))).toBe(false);
      expect(secondReading(each.text, words.toSpliced(at, 0, word))).toBe(false);
      const changed = other === word.text ? `${other}x` : other;
      expect(secondReading(each.text, words.with(at, { ...word, text: changed }))).toBe(false);
    },
  );

  test.prop([accepted, fc.constantFrom(...';&|<>()$`\n\r\0'), fc.nat()], RUNS)(
    'cannot give a yes: what it agrees to without the lexer stays refused',
    ({ text }, added, nth) => {
      const places = placesOutsideQuotes(text);
      const hostile = insert(text, places[nth % places.length] as number, added);
      const lexed = lex(hostile);
      const answer = lexed.ok && secondReading(hostile, lexed.words);
      expect(answer).toBe(false);
    },
  );
});
