import { describe, expect, test } from 'vitest';
import type { ReadPart } from '../../src/classifier/judgement.ts';
import { lexList } from '../../src/classifier/lexer.ts';
import { secondReading } from '../../src/classifier/second-reading.ts';

const wordsOf = (words: readonly string[]) => words.map((text) => ({ text, glob: false }));

/** A part as somebody claims to have read it: its operator, its words, its redirections. */
type Claim = readonly [joint: ReadPart['joint'], words: readonly string[], redirections?: readonly string[]];

function agrees(text: string, claims: readonly Claim[]): boolean {
  const parts = claims.map(([joint, words, redirections = []]) => ({ joint, words: wordsOf(words), redirections }));
  return secondReading(
    text,
    parts.flatMap(({ words }) => words),
    parts,
  );
}

/** The same with what our own lexer reads. */
function agreesWithOurs(text: string): boolean {
  const list = lexList(text);
  if (!list.ok) throw new Error(`refused with ${list.code}`);
  return agrees(
    text,
    list.commands.map(({ joint, assignments, words, redirections }) => [
      joint?.text ?? null,
      [...assignments.map(({ name, value }) => `${name}=${value}`), ...words.map((word) => word.text)],
      redirections.map((one) => one.text),
    ]),
  );
}

describe("unbash's second reading of a compound", () => {
  test.each([
    'a b | c',
    'a && b || c ; d | e | f',
    'a ; b',
    'a;',
    'a | b;',
    'a \'b | c\' | d "e && f" g\\;h',
    'LANG=C a b=c | LANG=C d',
    'a 2>&1 | b',
    'a 2>/dev/null >/dev/null | b </dev/null',
    '2>&1 a b',
    'a &>/dev/null && b >&2 ; c 1>&2',
    'cd a && b',
    'a *.ts | b [c]',
    'a > /dev/null',
    'a HEAD^{tree} | b @{u}',
  ])('agrees with ours: %s', (text) => {
    expect(agreesWithOurs(text)).toBe(true);
  });

  const claims: readonly (readonly [string, string, readonly Claim[]])[] = [
    [
      'another operator',
      'a | b',
      [
        [null, ['a']],
        ['&&', ['b']],
      ],
    ],
    [
      'another operator between pipelines',
      'a | b ; c',
      [
        [null, ['a']],
        ['|', ['b']],
        ['&&', ['c']],
      ],
    ],
    [
      'another operator behind a pipeline',
      'a | b && c',
      [
        [null, ['a']],
        ['|', ['b']],
        [';', ['c']],
      ],
    ],
    ['a part less', 'a | b', [[null, ['a']]]],
    [
      'a part more',
      'a',
      [
        [null, ['a']],
        ['|', ['b']],
      ],
    ],
    [
      'another word',
      'a b | c',
      [
        [null, ['a', 'x']],
        ['|', ['c']],
      ],
    ],
    [
      'a word less',
      'a b | c',
      [
        [null, ['a']],
        ['|', ['c']],
      ],
    ],
    [
      'a word more',
      'a | c',
      [
        [null, ['a', 'b']],
        ['|', ['c']],
      ],
    ],
    ['another redirection', 'a 2>&1', [[null, ['a'], ['2>/dev/null']]]],
    ['a redirection of another descriptor', 'a 2>/dev/null', [[null, ['a'], ['>/dev/null']]]],
    ['a redirection to another file', 'a >f', [[null, ['a'], ['>/dev/null']]]],
    ['a redirection less', 'a 2>&1', [[null, ['a']]]],
    ['a redirection more', 'a', [[null, ['a'], ['2>&1']]]],
    ['redirections in another order', 'a 2>&1 >/dev/null', [[null, ['a'], ['>/dev/null', '2>&1']]]],
    [
      'an assignment behind the name',
      'export A=1 | b',
      [
        [null, ['export', 'A=1']],
        ['|', ['b']],
      ],
    ],
    ['a descriptor that a variable gets', 'a {x}>/dev/null', [[null, ['a'], ['>/dev/null']]]],
    ['a here-document', 'a <<x\nb\nx', [[null, ['a'], ['<<x']]]],
    ['a here-string', 'a <<<b', [[null, ['a'], ['<<<b']]]],
    [
      'a command in the background',
      'a & b',
      [
        [null, ['a']],
        [';', ['b']],
      ],
    ],
    ['a last one in the background', 'a &', [[null, ['a']]]],
    [
      'a negation',
      '! a | b',
      [
        [null, ['a']],
        ['|', ['b']],
      ],
    ],
    [
      'a pipe that takes errors',
      'a |& b',
      [
        [null, ['a']],
        ['|', ['b']],
      ],
    ],
    [
      'a pipe that takes errors after one that does not',
      'a | b |& c',
      [
        [null, ['a']],
        ['|', ['b']],
        ['|', ['c']],
      ],
    ],
    ['a group', '(a)', [[null, ['a']]]],
    [
      'a group behind a pipe',
      'a | (b)',
      [
        [null, ['a']],
        ['|', ['b']],
      ],
    ],
    [
      'a group in a list',
      'a && { b; }',
      [
        [null, ['a']],
        ['&&', ['b']],
      ],
    ],
    [
      'a loop',
      'while a; do b; done',
      [
        [null, ['a']],
        [';', ['b']],
      ],
    ],
    [
      'a condition',
      'a && if b; then c; fi',
      [
        [null, ['a']],
        ['&&', ['b']],
        [';', ['c']],
      ],
    ],
    ['a function', 'a() { b; }', [[null, ['a']]]],
    [
      'assignments alone',
      'A=1 | b',
      [
        [null, ['A=1']],
        ['|', ['b']],
      ],
    ],
    [
      'a redirection alone',
      '>/dev/null | b',
      [
        [null, [], ['>/dev/null']],
        ['|', ['b']],
      ],
    ],
    ['an error', 'a | ', [[null, ['a']]]],
    [
      'an open quote',
      "a | 'b",
      [
        [null, ['a']],
        ['|', ['b']],
      ],
    ],
    ['an interpreter line', '#!/bin/x\na', [[null, ['a']]]],
    ['nothing', '', [[null, []]]],
  ];
  test.each(claims)('never agrees to %s: %j', (_what, text, claim) => {
    expect(agrees(text, claim)).toBe(false);
  });

  test('a thrown error is a no', () => {
    expect(secondReading('a | b', [], [null as never])).toBe(false);
    expect(secondReading('a', null as never)).toBe(false);
  });
});
