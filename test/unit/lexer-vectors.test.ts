import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { lex } from '../../src/classifier/lexer.ts';

type Row = { readonly text: string; readonly bash: readonly string[] | null };

const rows: Row[] = readFileSync(new URL('../vectors/lexer.jsonl', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line));

/** Commands that run their operands: what bash calls is not their name. The leading token's check refuses them. */
const RUNS_ITS_OPERANDS: ReadonlySet<string> = new Set(['eval', 'command', 'builtin', 'exec']);

describe("bash's own reading of 177 short texts", () => {
  test('all rows are there', () => {
    expect(rows.length).toBe(177);
  });

  test.each(rows)('$text', ({ text, bash }) => {
    const lexed = lex(text);
    if (!lexed.ok) return expect(lexed.words.length).toBeLessThanOrEqual(text.length);
    const words = lexed.words.map((word) => word.text);
    if (RUNS_ITS_OPERANDS.has(words[0] ?? '')) return expect(bash === null || bash[0] === 'evil').toBe(true);
    // These two are for later checks to refuse or allow; the lexer says that they are there.
    const isLeftOpen = lexed.assignments.length > 0 || lexed.words.some((word) => word.glob);
    expect(bash).toEqual(isLeftOpen ? null : words);
  });

  test('what bash does not read as one plain call is refused, but for globs, assignments and exec', () => {
    const accepted = rows.filter(({ text, bash }) => bash === null && lex(text).ok).map(({ text }) => text);
    expect(accepted).toEqual(
      ['exec evil', 'FOO=1 evil', 'args *', 'args ?', 'args [a-z]', "args ''*"].toSorted(inOrderOfRows),
    );
  });

  test('what is refused although bash reads it as one plain call is known', () => {
    const strict = rows.filter(({ text, bash }) => bash !== null && !lex(text).ok).map(({ text }) => text);
    expect(strict).toMatchInlineSnapshot(`
      [
        "args <\\
      (evil)",
        "args x &\\
      & evil",
        "args <(evil)",
        "args x<(evil)",
        "args $'\`evil\`'",
        "args $'a\\';evil;'",
        "args x&&evil",
        "{ evil; }",
        "function f { evil; }; f",
        "f() { evil; }; f",
        "\\
      evil",
        "
      evil",
        "args x evil",
        "args xevil",
        "args xevil",
        "args xevil",
        "args x
      evil",
        "args ~root",
        "args {a,b}",
        "args {1..3}",
        "args a{,}",
        "args a$",
        "args "a$"",
        "args $ a",
        "args \\",
        "args ;",
        "args # c",
        "args ﻿a",
        "args a b",
        "args x",
      ]
    `);
  });
});

function inOrderOfRows(left: string, right: string): number {
  const place = (text: string) => rows.findIndex((row) => row.text === text);
  return place(left) - place(right);
}
