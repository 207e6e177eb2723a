import { describe, expect, test } from 'vitest';
import { isVisible } from '../../src/classifier/visible-characters.ts';

const LAST = 0x10ffff;
const CATEGORIES = /[\p{L}\p{M}\p{N}\p{P}\p{S}]/u;
const DRAWN_AS_NOTHING = /\p{Default_Ignorable_Code_Point}/u;
const UNASSIGNED = /\p{Cn}/u;
/** Blanks by their looks, and the two characters that stand for something else. */
const LEFT_OUT: ReadonlySet<number> = new Set([0x2800, 0x13441, 0x13442, 0x16fe4, 0x1d159, 0xfffc, 0xfffd]);

function codePoints(holds: (code: number, character: string) => boolean): string[] {
  const found: string[] = [];
  for (let code = 0x80; code <= LAST; code++) {
    if (holds(code, String.fromCodePoint(code))) found.push(`U+${code.toString(16)}`);
  }
  return found;
}

function isVisibleToTheEngine(code: number, character: string): boolean {
  return CATEGORIES.test(character) && !DRAWN_AS_NOTHING.test(character) && !LEFT_OUT.has(code);
}

describe('the table of visible characters', () => {
  test('holds nothing that Unicode, as far as the engine knows it, does not call visible', () => {
    expect(
      codePoints((code, text) => isVisible(code) && !isVisibleToTheEngine(code, text) && !UNASSIGNED.test(text)),
    ).toEqual([]);
  });

  test('holds everything that Unicode 17 calls visible, as far as the engine knows it', () => {
    const isNewer = Number.parseInt(process.versions.unicode ?? '0', 10) > 17;
    const missing = codePoints((code, text) => isVisibleToTheEngine(code, text) && !isVisible(code));
    // A newer engine knows characters that the table refuses until it is renewed; there must be few of them.
    expect(missing.length).toBeLessThanOrEqual(isNewer ? 20_000 : 0);
    expect(codePoints((code) => isVisible(code)).length).toBeGreaterThan(150_000);
  });
});
