import { describe, expect, test } from 'vitest';
import { classify } from '../../src/classifier/classify.ts';
import { displayWidth } from '../../src/classifier/display-width.ts';
import { explain, renderExplanation } from '../../src/classifier/explain.ts';
import { underlined } from '../../src/classifier/underline.ts';
import { visibleCharacter } from '../../src/classifier/visible-text.ts';
import { fileWith, option, ruleSetWith } from '../rules/fixture.ts';

const rules = ruleSetWith(
  fileWith({ command: { options: { '-a': option() }, operands: ['word?'], refuses: { '-o': 'writes a file' } } }),
);

function explained(command: string, cwd = '/work') {
  return explain(classify(command, { rules, cwd }), command);
}

function states(command: string, cwd?: string): readonly string[] {
  return explained(command, cwd).steps.map(({ check, state }) => `${check} ${state}`);
}

describe('the steps', () => {
  test('are the three checks in order, up to the one that refused', () => {
    expect(states('tool -a x')).toEqual(['metacharacters passed', 'leading-token passed', 'subcommand passed']);
    expect(states('tool; x')).toEqual([
      'metacharacters refused',
      'leading-token not-reached',
      'subcommand not-reached',
    ]);
    expect(states('nobody')).toEqual(['metacharacters passed', 'leading-token refused', 'subcommand not-reached']);
    expect(states('tool -x')).toEqual(['metacharacters passed', 'leading-token passed', 'subcommand refused']);
  });

  test('with what lies before or behind them only when it refused', () => {
    expect(states('')).toEqual([
      'input refused',
      'metacharacters not-reached',
      'leading-token not-reached',
      'subcommand not-reached',
    ]);
    expect(states('tool', '/dev')).toEqual([
      'metacharacters passed',
      'leading-token passed',
      'subcommand passed',
      'environment refused',
    ]);
  });
});

test('a serial verdict is explained with its stretch, its rule, and what would help', () => {
  expect(explained('tool a b')).toMatchObject({
    kind: 'serial',
    command: 'tool a b',
    span: [7, 8],
    code: 'OPERAND_UNEXPECTED',
    knowledge: 'unrecognised',
    hint: 'Proved are: `tool [WORD]`.',
    rule: [{ binary: 'tool', path: 'tool', origin: 'built-in' }],
    ruleset: 'sha256:made-up',
  });
  expect(explained('nobody').rule).toEqual([]);
  expect(explained('tool -o')).toMatchObject({ knowledge: 'known-unsafe', hint: null });
});

test('a parallel verdict is explained with what proved it', () => {
  expect(explained('tool x')).toMatchObject({ kind: 'parallel', span: null, code: null, knowledge: null, hint: null });
  expect(explained('tool x').message).toBe('Proved by the built-in rule of `tool`.');
  const verdict = classify('tool x', { rules });
  if (verdict.kind !== 'parallel') throw new Error('expected a proof');
  const theirs = { ...verdict, rule: [{ binary: 'tool', path: 'tool', origin: 'override' as const }] };
  expect(explain(theirs, 'tool x').message).toBe('Proved by the override rule of `tool`.');
});

describe('as text', () => {
  test('a refusal underlines the stretch and says what would help', () => {
    expect(renderExplanation(explained('tool a new')).split('\n')).toEqual([
      'serial: OPERAND_UNEXPECTED (unrecognised)',
      '',
      '  tool a new',
      '         ^^^',
      '',
      '[ok] Metacharacters: bash would do exactly what was read, and nothing else',
      '[ok] Leading token: the first word is a bare name that has a rule',
      '[no] Subcommand and shape: `tool` takes no operand `new` here.',
      '',
      'What would help: Proved are: `tool [WORD]`.',
    ]);
    expect(renderExplanation(explained('tool -o'))).not.toContain('What would help');
  });

  test('a proof names its rule and underlines nothing', () => {
    const text = renderExplanation(explained('tool x'));
    expect(text).toContain('parallel\n\n  tool x\n\n[ok]');
    expect(text).toContain('Proved by the built-in rule of `tool`.');
    expect(text).not.toContain('^');
  });

  test('no control character is ever printed as such', () => {
    const hostile = [
      'tool \u001b[31mx',
      'tool\r\nrm',
      'a\u0000b',
      'tool \u202egpj',
      'tool \u200bx',
      'tool \ud800x',
      'tool \u0085x',
      '\u009b31m',
    ];
    for (const command of hostile) {
      const text = renderExplanation(explained(command));
      expect([...text].filter((character) => character !== '\n' && /[\p{C}\p{Zl}\p{Zp}]/u.test(character))).toEqual([]);
    }
  });
});

describe('the underline', () => {
  const drawn = (text: string, start: number, end: number): readonly string[] => underlined(text, [start, end]);

  test('stands under the stretch', () => {
    expect(drawn('abc def', 4, 7)).toEqual(['abc def', '    ^^^']);
    expect(drawn('abc', 0, 1)).toEqual(['abc', '^']);
  });

  test('marks one column for an empty stretch, at its place or at the end', () => {
    expect(drawn('abc', 3, 3)).toEqual(['abc', '   ^']);
    expect(drawn('', 0, 0)).toEqual(['', '^']);
  });

  test('counts wide characters twice, marks that combine not at all, and surrogate pairs once', () => {
    expect(drawn('日本 x', 3, 4)).toEqual(['日本 x', '     ^']);
    expect(drawn('e\u0301 x', 3, 4)).toEqual(['e\u0301 x', '  ^']);
    expect(drawn('🚂 x', 3, 4)).toEqual(['🚂 x', '   ^']);
    expect(drawn('a日b', 1, 2)).toEqual(['a日b', ' ^^']);
    expect(drawn('𝒂 x', 3, 4)).toEqual(['𝒂 x', '  ^']);
  });

  test('counts an escaped character as wide as it is shown', () => {
    expect(drawn('a\tb', 1, 2)).toEqual(['a\\tb', ' ^^']);
    expect(drawn('\u202ex', 1, 2)).toEqual(['\\u{202e}x', '        ^']);
  });

  test('cuts a long command around the stretch', () => {
    const [line, marks] = drawn(`${'a'.repeat(500)}X${'b'.repeat(500)}`, 500, 501) as [string, string];
    expect(displayWidth(line)).toBeLessThan(100);
    expect(line.startsWith('…a')).toBe(true);
    expect(line.endsWith('b…')).toBe(true);
    expect(line[marks.indexOf('^')]).toBe('X');
    const [whole] = underlined('c'.repeat(500), null) as [string];
    expect(whole.startsWith('ccc')).toBe(true);
    expect(displayWidth(whole)).toBeLessThan(100);
  });
});

test('a character is shown as itself, by its letter, or by its number', () => {
  const shown = [
    'a',
    ' ',
    'é',
    '日',
    '\t',
    '\n',
    '\r',
    '\u0000',
    '\u007f',
    '\u0085',
    '\u00a0',
    '\ud800',
    '\u{e0001}',
  ].map((character) => visibleCharacter(character.codePointAt(0) as number));
  expect(shown).toEqual([
    'a',
    ' ',
    'é',
    '日',
    '\\t',
    '\\n',
    '\\r',
    '\\x00',
    '\\x7f',
    '\\x85',
    '\\u{a0}',
    '\\u{d800}',
    '\\u{e0001}',
  ]);
});

test('what is no verdict, such as the command alone, is refused', () => {
  const misused = (...given: readonly unknown[]) => {
    try {
      explain(...(given as Parameters<typeof explain>));
    } catch (error) {
      return error;
    }
    return null;
  };
  const verdict = classify('tool -a', { rules });
  for (const given of [['ls'], [null, 'ls'], [undefined, 'ls'], [verdict], [verdict, 5]])
    expect(misused(...given)).toMatchObject({ name: 'SignalboxError', code: 'OPTION_INVALID' });
  expect(misused(verdict, 'tool -a')).toBe(null);
});

test('what is no explanation is not rendered', () => {
  const verdict = classify('tool -a', { rules });
  const { steps } = explain(verdict, 'tool -a');
  for (const given of [undefined, null, 5, 'ls', verdict, { steps }, { parts: [] }]) {
    expect(() => renderExplanation(given as unknown as Parameters<typeof renderExplanation>[0])).toThrow(
      'Expected an explanation, as explain gives',
    );
  }
});
