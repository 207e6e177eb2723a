import { describe, expect, test } from 'vitest';
import type { SyntaxName } from '../../src/classifier/syntax.ts';
import { answersOf, fileWith, option, ruleSetWith } from '../rules/fixture.ts';

/** One table of options, read by each syntax. */
function rulesFor(syntax: SyntaxName) {
  const attached = syntax === 'words' || syntax === 'spaced' ? {} : { optional: true as const };
  return ruleSetWith(
    fileWith({
      syntax,
      command: {
        options: {
          '-a, --all; -b, --brief': option(),
          '-n, --lines': option({ takes: 'number' }),
          '-w, --width': option({ takes: 'number' as const, form: 'spaced' as const }),
          '-m, --mode': option({ takes: ['fast', 'slow'], ...attached }),
          '-NUMBER': option(),
        },
        operands: ['word*'],
      },
    }),
  );
}

function holds(syntax: SyntaxName, expected: Readonly<Record<string, string>>): void {
  expect(answersOf(rulesFor(syntax), Object.keys(expected))).toEqual(expected);
}

describe('getopt', () => {
  test('switches stand alone, together and among operands, and take no value', () => {
    holds('getopt', {
      'tool -a': 'parallel',
      'tool --all x -b': 'parallel',
      'tool -ab x': 'parallel',
      'tool -ba': 'parallel',
      'tool --all=x': 'OPTION_FORM',
      'tool -ac': 'OPTION_UNKNOWN',
      'tool -ca': 'OPTION_UNKNOWN',
      'tool --al': 'OPTION_UNKNOWN',
      'tool --alls': 'OPTION_UNKNOWN',
      'tool -aé': 'OPTION_UNKNOWN',
    });
  });

  test('a value stands in the next word, joined, or behind an equals sign', () => {
    holds('getopt', {
      'tool -n 5': 'parallel',
      'tool -n5': 'parallel',
      'tool -an5 x': 'parallel',
      'tool -an 5 x': 'parallel',
      'tool --lines 5': 'parallel',
      'tool --lines=5': 'parallel',
      'tool -n': 'OPTION_VALUE_MISSING',
      'tool -an': 'OPTION_VALUE_MISSING',
      'tool --lines': 'OPTION_VALUE_MISSING',
      'tool -n x': 'VALUE_REFUSED',
      'tool -nx': 'VALUE_REFUSED',
      'tool -na': 'VALUE_REFUSED',
      'tool -n=5': 'VALUE_REFUSED',
      'tool --lines=': 'VALUE_REFUSED',
      'tool --line=5': 'OPTION_UNKNOWN',
      'tool --lines5': 'OPTION_UNKNOWN',
    });
  });

  test('the next word is a value whatever it looks like', () => {
    holds('getopt', {
      'tool -n -a': 'VALUE_REFUSED',
      'tool -n --': 'VALUE_REFUSED',
      'tool -n 5 -- -a': 'OPERAND_REFUSED',
    });
  });

  test('an optional value is joined or absent, and never the next word', () => {
    holds('getopt', {
      'tool -m': 'parallel',
      'tool -mfast': 'parallel',
      'tool --mode': 'parallel',
      'tool --mode=slow': 'parallel',
      'tool --mode slow': 'parallel',
      'tool --mode=other': 'VALUE_REFUSED',
      'tool -mother': 'VALUE_REFUSED',
      'tool -am': 'parallel',
      'tool -ma': 'VALUE_REFUSED',
    });
  });

  test('a form that the rule narrows is refused in the others', () => {
    holds('getopt', {
      'tool -w 5': 'parallel',
      'tool --width 5': 'parallel',
      'tool -w5': 'OPTION_FORM',
      'tool --width=5': 'OPTION_FORM',
    });
    const options = { '-w, --width': option({ takes: 'number' as const, form: 'joined' as const }), '-a': option() };
    const rules = ruleSetWith(fileWith({ command: { options } }));
    expect(answersOf(rules, ['tool --width=5', 'tool -aw5', 'tool --width 5', 'tool -w 5', 'tool -aw 5'])).toEqual({
      'tool --width=5': 'parallel',
      'tool -aw5': 'parallel',
      'tool --width 5': 'OPTION_FORM',
      'tool -w 5': 'OPTION_FORM',
      'tool -aw 5': 'OPTION_FORM',
    });
  });

  test('-NUMBER is a dash and digits, and no word of its own', () => {
    holds('getopt', {
      'tool -20': 'parallel',
      'tool -5 x': 'parallel',
      'tool -20x': 'OPTION_UNKNOWN',
      'tool -a5': 'OPTION_UNKNOWN',
      'tool -NUMBER': 'OPTION_UNKNOWN',
      'tool -٣': 'OPTION_UNKNOWN',
    });
  });

  test('-- ends the options; behind it and alone, a dash is an operand', () => {
    holds('getopt', {
      'tool -- x': 'parallel',
      'tool -a -- x': 'parallel',
      'tool -- -a': 'OPERAND_REFUSED',
      'tool -- --': 'OPERAND_REFUSED',
      'tool -': 'OPERAND_REFUSED',
    });
  });

  test('names are compared as they are spelled: quotes and escapes make none', () => {
    holds('getopt', {
      "tool '-a'": 'OPERAND_QUOTED_OPTION',
      'tool "-a"': 'OPERAND_QUOTED_OPTION',
      'tool \\-a': 'OPERAND_QUOTED_OPTION',
      "tool ''-a": 'OPERAND_QUOTED_OPTION',
      "tool -'a'": 'OPTION_QUOTED',
      "tool -a'b'": 'OPTION_QUOTED',
      'tool -\\a': 'OPTION_QUOTED',
      "tool --'all'": 'OPTION_QUOTED',
      'tool --a\\ll': 'OPTION_QUOTED',
      "tool --lin'es=5'": 'OPTION_QUOTED',
      "tool --lines'='5": 'OPTION_QUOTED',
      "tool --lines='5'": 'parallel',
      "tool -n'5'": 'parallel',
      "tool -n '5'": 'parallel',
      "tool '--' -a": 'OPERAND_QUOTED_OPTION',
    });
  });

  test('a glob in an option or as its value is refused', () => {
    holds('getopt', {
      'tool -*': 'GLOB_REFUSED',
      'tool --lines=*': 'GLOB_REFUSED',
      'tool -n *': 'GLOB_REFUSED',
      'tool -n[5]': 'GLOB_REFUSED',
      'tool -a?': 'GLOB_REFUSED',
    });
  });
});

test('no-clusters: letters do not stand together, joined values do', () => {
  holds('no-clusters', {
    'tool -a -b': 'parallel',
    'tool -ab': 'OPTION_UNKNOWN',
    'tool -n5': 'parallel',
    'tool -an5': 'OPTION_UNKNOWN',
    'tool --lines=5': 'parallel',
    'tool -n 5': 'parallel',
    'tool -mfast': 'parallel',
  });
});

test('pflag: an equals sign belongs to a short option, and only behind it stands an optional value', () => {
  holds('pflag', {
    'tool -n=5': 'parallel',
    'tool -n5': 'parallel',
    'tool -an=5': 'parallel',
    'tool -m=fast': 'parallel',
    'tool -m=other': 'VALUE_REFUSED',
    'tool -ma': 'parallel',
    'tool -mfast': 'OPTION_UNKNOWN',
    'tool -mn 5': 'parallel',
    'tool --mode=fast': 'parallel',
    'tool -a=x': 'OPTION_UNKNOWN',
    'tool --all=x': 'OPTION_FORM',
    'tool -w=5': 'OPTION_FORM',
  });
});

test('go: one dash or two, no clusters, nothing joined, options end at the first operand', () => {
  holds('go', {
    'tool -all': 'OPTION_UNKNOWN',
    'tool --a': 'parallel',
    'tool -a': 'parallel',
    'tool ---a': 'OPTION_UNKNOWN',
    'tool -n=5': 'parallel',
    'tool --n=5': 'parallel',
    'tool --n 5': 'parallel',
    'tool -n 5': 'parallel',
    'tool -n5': 'OPTION_FORM',
    'tool -ab': 'OPTION_UNKNOWN',
    'tool --lines=5': 'parallel',
    'tool --x=5': 'OPTION_UNKNOWN',
    'tool x -a': 'OPERAND_REFUSED',
    'tool -a x': 'parallel',
    'tool -a -- x': 'parallel',
  });
});

test('words: options are whole words, values are the next, and -- is no end of options', () => {
  holds('words', {
    'tool -a x --brief': 'parallel',
    'tool -n 5': 'parallel',
    'tool -n5': 'OPTION_FORM',
    'tool -ab': 'OPTION_UNKNOWN',
    'tool --lines 5': 'parallel',
    'tool --lines=5': 'OPTION_UNKNOWN',
    'tool --': 'OPTION_UNKNOWN',
    'tool -m fast': 'parallel',
    'tool -m': 'OPTION_VALUE_MISSING',
  });
});

test('spaced: letters stand together, values are the next word only', () => {
  holds('spaced', {
    'tool -ab': 'parallel',
    'tool -an 5': 'parallel',
    'tool -n5': 'OPTION_FORM',
    'tool --lines=5': 'OPTION_UNKNOWN',
    'tool --lines 5': 'parallel',
    'tool -- x': 'parallel',
  });
});

test('words without a dash can be options, wherever they stand', () => {
  const options = { '!; \\(; \\)': option(), '=': option({ takes: 'text' }), 'of=': option() };
  const rules = ruleSetWith(fileWith({ syntax: 'words', command: { options, operands: ['word?'] } }));
  expect(
    answersOf(rules, ['tool !', 'tool x !', 'tool \\(', 'tool "("', 'tool x = -y', 'tool x =', 'tool x y']),
  ).toEqual({
    'tool !': 'parallel',
    'tool x !': 'parallel',
    'tool \\(': 'parallel',
    'tool "("': 'OPTION_QUOTED',
    'tool x = -y': 'parallel',
    'tool x =': 'OPTION_VALUE_MISSING',
    'tool x y': 'OPERAND_UNEXPECTED',
  });
});

test('where words with a dash are text, an unlisted one is an operand, quoted or not', () => {
  const rules = ruleSetWith(
    fileWith({
      syntax: 'words',
      command: { dashes: 'text', options: { '-e': option() }, operands: ['text*'], globs: true },
    }),
  );
  expect(answersOf(rules, ['tool -e', 'tool -x', "tool '-x'", 'tool --', 'tool -x a*', 'tool -*'])).toEqual({
    'tool -e': 'parallel',
    'tool -x': 'parallel',
    "tool '-x'": 'parallel',
    'tool --': 'parallel',
    'tool -x a*': 'parallel',
    'tool -*': 'GLOB_REFUSED',
  });
});

test('an option of one dash and several letters is found whole before it is read as a cluster', () => {
  const options = { '-v; -vv': option(), '-x': option() };
  const rules = ruleSetWith(fileWith({ command: { options } }));
  expect(answersOf(rules, ['tool -vv', 'tool -vx', 'tool -vvx'])).toEqual({
    'tool -vv': 'parallel',
    'tool -vx': 'parallel',
    'tool -vvx': 'parallel',
  });
});
