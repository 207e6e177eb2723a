import { describe, expect, test } from 'vitest';
import { builtInKind, KIND_NAMES } from '../../src/classifier/kinds.ts';
import { kindOfValue, kindOfWords } from '../../src/classifier/values.ts';

const ALONE = { base: '', piped: false };
const IN_PIPE = { base: '/work', piped: true };

function accepted(name: string, texts: readonly string[]): readonly string[] {
  return texts.filter((text) => builtInKind(name)?.refuses(text, ALONE) === null);
}

/** Each kind: texts that are of it, and near ones that are not. */
const CASES: Readonly<Record<string, { readonly yes: readonly string[]; readonly no: readonly string[] }>> = {
  number: {
    yes: ['0', '5', '123456789012345'],
    no: ['', '-5', '+5', '5k', '1.5', '1234567890123456', '٣', ' 5', '5 '],
  },
  offset: { yes: ['5', '+5', '-5'], no: ['', '+', '-', '++5', '5k', '+-5'] },
  size: { yes: ['5', '+5k', '-5MiB', '5b', '1KB', '7T'], no: ['', 'k', '5x', '5kk', '+k', '5 k'] },
  word: { yes: ['a', '/dev/tty', 'a b', '+x'], no: ['', '-', '-a'] },
  text: { yes: ['', '-a', 'anything', '/dev/tty'], no: [] },
  pattern: { yes: ['', '-a', 'a|b'], no: [] },
  revision: { yes: ['HEAD', 'HEAD~3..HEAD', ':/x'], no: ['', '-x'] },
  'dotted-name': { yes: ['a.b', 'user.name', '.'], no: ['', 'a', '-a.b'] },
  package: {
    yes: [
      'left-pad',
      'a',
      '@scope/name',
      '@scope/name@1.2.3',
      'a@^1.0.0',
      'a@~2',
      'a@latest',
      'a.b_c',
      'a@1.0.0-rc.1+b',
    ],
    no: [
      '',
      './a',
      '../a',
      '/a',
      'user/repo',
      'a/b/c',
      '@scope',
      '@/name',
      '@scope/',
      '@a/b/c',
      'git+ssh://h/a',
      'https://h/a',
      'github:user/repo',
      'a@npm:b',
      'a@git://h',
      'a@1@2',
      'a@',
      'a@>=1',
      'a.tgz',
      'a.tar.gz',
      'a@b.TGZ',
      'a.tar',
      '-a',
      '.a',
      '~a',
      'é',
      '\u212a',
      'a b',
    ],
  },
  path: { yes: ['a', './a', '/a/b', 'a b', 'h:a', '+a'], no: ['', '-', '-a', '/dev/tty'] },
  tree: { yes: ['a', '.', '../a', '/a'], no: ['', '-', '-a', '/', '..', '../..', '/a/..', '/dev', '/proc/1'] },
  'unsigned-path': { yes: ['a', '/a'], no: ['', '-', '-a', '+a', '/dev/tty'] },
  'local-path': { yes: ['a', '/a/b'], no: ['', '-', '-a', 'h:a', ':a', '/dev/tty'] },
  directory: { yes: ['a', '..', '/a'], no: ['', '-', '-a', '/dev', '/proc/1'] },
  'jq-filter': { yes: ['.', '.a[0] | keys', 'map(.b)'], no: ['', 'input', 'repeat(1)', '.a = 1', '. as $x | $x'] },
  name: { yes: ['a', 'a.b', 'a:amd64', 'a*', '.'], no: ['', '-a', '/', './a', 'a/b', 'a/'] },
  'printf-format': {
    yes: ['', 'a', '%%', '%s', '%-20s %5d\\n', '%05.2f%%', '\\045n', '\\\\', '% +#0-9.x'],
    no: [
      '%',
      '%n',
      '%%%n',
      '\\%n',
      '%-5n',
      '%.3n',
      '%ln',
      '%*d',
      '%.*d',
      '%1234d',
      '%.1234d',
      '%ld',
      '%(%s)T',
      '%y',
      '%5%',
      '%é',
    ],
  },
  'sed-program': { yes: ['p', '1,5p', 's/a/b/g'], no: ['', 'w f', 's/a/b/e', '1!{e}'] },
};

describe('built-in kinds', () => {
  test('every kind has cases', () => {
    expect(Object.keys(CASES).sort()).toEqual([...KIND_NAMES].sort());
  });

  for (const [name, { yes, no }] of Object.entries(CASES)) {
    test(`${name} accepts what it should, and nothing near it`, () => {
      expect(accepted(name, yes)).toEqual(yes);
      expect(accepted(name, no)).toEqual([]);
    });
  }

  test('a dash is a file name only behind a pipe, and never a directory', () => {
    for (const name of ['path', 'tree', 'unsigned-path', 'local-path']) {
      expect(builtInKind(name)?.refuses('-', ALONE)).toBe('STDIN_READ');
      expect(builtInKind(name)?.refuses('-', IN_PIPE)).toBe(null);
    }
    expect(builtInKind('directory')?.refuses('-', IN_PIPE)).toBe('VALUE_REFUSED');
  });

  test('a name nobody defined is none, whatever the prototype of objects holds', () => {
    for (const name of ['constructor', '__proto__', 'toString', '']) expect(builtInKind(name)).toBe(undefined);
  });
});

describe('kinds that a file defines', () => {
  test('a list of words is exactly these', () => {
    const kind = kindOfWords(['get', 'list']);
    expect(['get', 'list', 'get ', 'Get', 'ge', ''].filter((text) => kind.refuses(text, ALONE) === null)).toEqual([
      'get',
      'list',
    ]);
    expect(kind.name).toBe('one of get, list');
    expect(kindOfWords([...'abcdefghij']).name).toBe('one of a, b, c, d, e, f, g, h …');
  });

  test('the empty text may be one of its words', () => {
    const kind = kindOfValue('mark', { why: 'made up for tests', words: ['', 'x'] });
    expect(['', 'x', ' ', 'xx'].filter((text) => kind.refuses(text, ALONE) === null)).toEqual(['', 'x']);
  });

  test('words, beginnings and templates are alternatives', () => {
    const kind = kindOfValue('format', {
      why: 'made up for tests',
      words: ['plain', 'constructor'],
      starts: ['path='],
      template: { after: ['', 'format:'], mark: '%', allow: ['a', 'an', 'x', '%', '(name)'] },
    });
    const yes = [
      'plain',
      'constructor',
      'path=',
      'path=/any $thing',
      '%a',
      'by %an on %x',
      '100%%',
      'format:%an',
      'format:',
      'format:plain',
      'other:%(name)',
    ];
    const no = ['', 'other', 'path', 'xpath=', 'toString', '%', '%z', '%a%', '%(name', '%(other)', 'format:%z', 'z:%z'];
    expect([...yes, ...no].filter((text) => kind.refuses(text, ALONE) === null)).toEqual(yes);
  });

  test('the longest placeholder counts, so that a shorter one does not hide what follows', () => {
    const template = { after: [''], mark: '%', allow: ['a', 'a%'] };
    const kind = kindOfValue('format', { why: 'made up for tests', template });
    // With the short one first, `%a%z` would be `%a` and a forbidden `%z`; the long one takes both characters.
    expect(kind.refuses('%a%z', ALONE)).toBe(null);
    expect(kind.refuses('%az%z', ALONE)).toBe('VALUE_REFUSED');
  });

  test('the empty beginning counts only where a mark stands', () => {
    const kind = kindOfValue('format', {
      why: 'made up for tests',
      template: { after: [''], mark: '%', allow: ['a'] },
    });
    expect(kind.refuses('alias', ALONE)).toBe('VALUE_REFUSED');
    expect(kind.refuses('alias %a', ALONE)).toBe(null);
  });
});
