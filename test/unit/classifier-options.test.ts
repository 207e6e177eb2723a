import { describe, expect, test } from 'vitest';
import { classify, judge } from '../../src/classifier/classify.ts';
import { builtInKind } from '../../src/classifier/kinds.ts';
import type { RuleSet } from '../../src/classifier/rule-set.ts';
import type { SyntaxName } from '../../src/classifier/syntax.ts';
import { answer, answersOf, fileWith, option, ruleSetWith } from '../rules/fixture.ts';

/** The code with the stretch that is to blame. */
function blamed(rules: RuleSet, command: string): string {
  const verdict = classify(command, { rules });
  if (verdict.kind === 'parallel') return 'parallel';
  return `${verdict.reason.code} ${command.slice(...verdict.reason.span)}`;
}

const toolWith = (syntax: SyntaxName, options: Parameters<typeof option>[0], operands = ['text*']): RuleSet =>
  ruleSetWith(fileWith({ syntax, command: { options: options as never, operands } }));

describe('the dashes of an option', () => {
  test('count: a letter is no long name where two dashes are not one', () => {
    const rules = toolWith('getopt', { '-n; -a': option(), '--long': option() });
    expect(answersOf(rules, ['tool -n', 'tool -an', 'tool --long', 'tool --n', 'tool ---n', 'tool -long'])).toEqual({
      'tool -n': 'parallel',
      'tool -an': 'parallel',
      'tool --long': 'parallel',
      'tool --n': 'OPTION_UNKNOWN',
      'tool ---n': 'OPTION_UNKNOWN',
      'tool -long': 'OPTION_UNKNOWN',
    });
  });

  test('count where two are one: a word without a dash is not the option of that name with one', () => {
    const rules = toolWith('go', { all: option(), '-x': option(), '--y': option() });
    expect(
      answersOf(rules, ['tool all', 'tool -all', 'tool --all', 'tool -x', 'tool --x', 'tool --y', 'tool x']),
    ).toEqual({
      'tool all': 'parallel',
      'tool -all': 'OPTION_UNKNOWN',
      'tool --all': 'OPTION_UNKNOWN',
      'tool -x': 'parallel',
      'tool --x': 'parallel',
      'tool --y': 'parallel',
      'tool x': 'parallel',
    });
  });
});

describe('a quote in an option', () => {
  const rules = toolWith('getopt', {
    '-a; -b': option(),
    '-n': option({ takes: 'text' }),
    '--name': option({ takes: 'text' }),
    '--all': option(),
  });

  test('refuses it, wherever the quote stands in its name or behind its letters', () => {
    for (const word of [
      "-a'b'",
      "-'n'5",
      "-a'n'5",
      "-a''",
      '-n""',
      "-an''",
      "-a'b'n5",
      '-a\\b',
      "--na'me'=x",
      "--'all'",
      '--a\\ll',
      "--all''",
    ])
      expect(blamed(rules, `tool ${word} y`), word).toBe(`OPTION_QUOTED ${word}`);
    for (const word of ["'-a'", '"--all"', '\\-a', "''-a"])
      expect(blamed(rules, `tool ${word} y`), word).toBe(`OPERAND_QUOTED_OPTION ${word}`);
  });

  test('is welcome in its value', () => {
    for (const word of ["-n'x'", "-n''x", "-an'x y'", "--name='x'", '--name="x y"', "--name=x'y'", "-n 'x'"])
      expect(blamed(rules, `tool ${word} y`), word).toBe('parallel');
  });

  test('refuses it also where a value is always the next word', () => {
    for (const syntax of ['words', 'spaced'] as const) {
      const spaced = toolWith(syntax, { '--name': option({ takes: 'text' }), '--all': option() });
      expect(blamed(spaced, "tool --al'l'"), syntax).toBe("OPTION_QUOTED --al'l'");
      expect(blamed(spaced, 'tool --name=x'), syntax).toBe('OPTION_UNKNOWN --name=x');
      expect(blamed(spaced, 'tool --all=x'), syntax).toBe('OPTION_UNKNOWN --all=x');
    }
  });

  test('refuses a word that is an option without a dash, and no other', () => {
    const bare = toolWith('words', { '!; not': option(), '-x': option() });
    expect(
      answersOf(bare, ['tool !', 'tool not', "tool 'not'", "tool !''", "tool 'a b'", 'tool "x"', "tool '-x'"]),
    ).toEqual({
      'tool !': 'parallel',
      'tool not': 'parallel',
      "tool 'not'": 'OPTION_QUOTED',
      "tool !''": 'OPTION_QUOTED',
      "tool 'a b'": 'parallel',
      'tool "x"': 'parallel',
      "tool '-x'": 'OPERAND_QUOTED_OPTION',
    });
  });
});

describe('a number behind a dash', () => {
  test('is an option only where the rule lists it', () => {
    const without = toolWith('getopt', { '-a': option() });
    expect(answersOf(without, ['tool -20', 'tool -5', 'tool -a5'])).toEqual({
      'tool -20': 'OPTION_UNKNOWN',
      'tool -5': 'OPTION_UNKNOWN',
      'tool -a5': 'OPTION_UNKNOWN',
    });
    const listed = toolWith('getopt', { '-NUMBER': option() });
    for (const word of ['-0', '-9', '-90', '-09', '-1234567890'])
      expect(answer(listed, `tool ${word}`), word).toBe('parallel');
    for (const word of ['-9x', '-x9', '-1.5', '-/', '-:', '-9:', '-5/', '--5'])
      expect(answer(listed, `tool ${word}`), word).toBe('OPTION_UNKNOWN');
  });
});

describe('letters of one dash', () => {
  test('may be upper or lower case, from the first to the last, and nothing beyond ASCII', () => {
    const rules = toolWith('getopt', { '-A; -Z; -a; -z; -0; -9': option() });
    expect(answer(rules, 'tool -AZaz09')).toBe('parallel');
    for (const word of ['-é', '-aé', '-\u0100', '-😀', '-B', '-a-'])
      expect(answer(rules, `tool ${word}`), word).toBe('OPTION_UNKNOWN');
  });

  test('a switch takes no value behind an equals sign, and a value is not asked twice', () => {
    const rules = toolWith('getopt', { '-a; --all': option(), '-n; --name': option({ takes: 'number' }) });
    expect(blamed(rules, 'tool --all=x')).toBe('OPTION_FORM --all=x');
    expect(blamed(rules, 'tool --name=5 x')).toBe('parallel');
    expect(blamed(rules, 'tool --name=x')).toBe('VALUE_REFUSED --name=x');
    expect(blamed(rules, 'tool x -n')).toBe('OPTION_VALUE_MISSING -n');
    expect(blamed(rules, 'tool x y --name')).toBe('OPTION_VALUE_MISSING --name');
  });
});

describe('an option that names a directory', () => {
  const rules = ruleSetWith(
    fileWith({
      command: {
        options: {
          '-C': option({ takes: 'directory' }),
          '-f': option({ takes: 'path' }),
          '-t': option({ takes: 'text' }),
        },
        operands: ['path*'],
        globs: true,
      },
    }),
  );
  const from = (cwd: string | undefined, command: string) => answer(rules, command, cwd);

  test('moves the command, and nothing else does', () => {
    expect(from('/srv/x', 'tool -C / dev/tty')).toBe('PATH_DEVICE');
    expect(from('/srv/x', 'tool -f / dev/tty')).toBe('parallel');
    expect(from('/srv/x', 'tool -t / dev/tty')).toBe('parallel');
    expect(from('/srv/x', 'tool dev/tty')).toBe('parallel');
  });

  test('may lead up from where nobody knows: what lies there may be the root', () => {
    expect(from(undefined, 'tool -C .. dev/tty')).toBe('PATH_DEVICE');
    expect(from(undefined, 'tool -C ../.. dev')).toBe('PATH_DEVICE');
    expect(from(undefined, 'tool -C ../x -f dev/tty')).toBe('PATH_DEVICE');
    expect(from(undefined, 'tool -C ../x y')).toBe('parallel');
    expect(from('/srv/x', 'tool -C .. dev/tty')).toBe('parallel');
    expect(from('/srv', 'tool -C .. dev/tty')).toBe('PATH_DEVICE');
  });

  test('a glob is judged from both places too', () => {
    expect(from('/srv/x', 'tool -C / d*')).toBe('PATH_DEVICE');
    expect(from('/', 'tool -C /srv d*')).toBe('PATH_DEVICE');
    expect(from('/srv/x', 'tool -C /srv d*')).toBe('parallel');
    expect(judge('tool a* -C /srv', { rules, cwd: '/srv/x' }).verdict.kind).toBe('serial');
  });
});

describe('kinds', () => {
  const place = { base: '/srv/x', piped: false };
  const code = (kind: string, text: string) => builtInKind(kind)!.refuses(text, place);

  test('have their code for what they refuse', () => {
    expect(code('local-path', 'host:file')).toBe('VALUE_REFUSED');
    expect(code('unsigned-path', '+5')).toBe('VALUE_REFUSED');
    expect(code('sed-program', 'w')).toBe('PROGRAM_REFUSED');
    expect(code('jq-filter', '$x')).toBe('PROGRAM_REFUSED');
    expect(code('path', '')).toBe('VALUE_REFUSED');
    expect(code('directory', '-x')).toBe('VALUE_REFUSED');
    expect(code('number', 'x')).toBe('VALUE_REFUSED');
    expect(code('path', '-')).toBe('STDIN_READ');
    expect(code('path', '/dev/null')).toBe('PATH_DEVICE');
  });

  test('take a name for a name: what would be a glob without its quotes is none', () => {
    for (const name of ['/d*v/x', '/*', '/[dp]*', '/de?']) expect(code('path', name), name).toBeNull();
  });

  test('letters of a package are those of ASCII, from the first to the last', () => {
    for (const name of ['A', 'Z', 'AZ', 'a', 'z', 'az', '0', '9', 'aA-zZ', '@A/Z', 'a@Z', 'Z@^A', 'z@~1.0+Z'])
      expect(code('package', name), name).toBeNull();
    for (const name of ['@', '[', '`', '{', '/', ':', 'a[', 'a`', 'a{', 'a:b', 'a@@', '\u212a', '\u00e9'])
      expect(code('package', name), name).toBe('VALUE_REFUSED');
  });

  test('digits are those of ASCII, from the first to the last', () => {
    for (const text of ['0', '9', '90', '123456789012345']) expect(code('number', text), text).toBeNull();
    for (const text of ['/', ':', '9:', '/0', '1234567890123456', '\u0661'])
      expect(code('number', text), text).toBe('VALUE_REFUSED');
  });

  test('a tree is not the root, however it is spelled', () => {
    for (const root of ['/', '//', '/.', '/..', '/../..', '/x/..', '/./', '../..', '../../', '../../../..'])
      expect(code('tree', root), root).toBe('PATH_DEVICE');
    for (const below of ['..', '.', '/srv', '/srv/', '../y', '../../srv'])
      expect(code('tree', below), below).toBeNull();
    const lost = { base: '', piped: false };
    for (const climbing of ['..', '../..']) expect(builtInKind('tree')!.refuses(climbing, lost)).toBe('PATH_DEVICE');
    for (const here of ['.', 'x', './x/..', 'x/..']) expect(builtInKind('tree')!.refuses(here, lost), here).toBeNull();
  });
});
