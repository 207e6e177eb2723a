import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { KIND_NAMES } from '../../src/classifier/kinds.ts';
import { lexList } from '../../src/classifier/lexer.ts';
import { ROOT } from './source-files.ts';

const read = (page: string) => readFileSync(join(ROOT, page), 'utf8');
const inCode = (text: string) =>
  [...text.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

describe('the page for those who work on it', () => {
  const page = read('CONTRIBUTING.md');

  test('names files, directories and scripts that are there', () => {
    const folders = ['', 'src/classifier/', 'src/dispatcher/', 'src/', 'src/http/'];
    const isThere = (name: string) => folders.some((folder) => existsSync(join(ROOT, folder, name)));
    const paths = inCode(page).filter((code) => /^[\w./-]+(?:\.(?:ts|md)|\/)$/.test(code));
    expect(paths.length).toBeGreaterThan(30);
    expect(paths.filter((path) => !isThere(path))).toEqual([]);
    const { scripts } = JSON.parse(read('package.json'));
    const named = [...page.matchAll(/npm run ([a-z][a-z:]*)/g)].map(([, name = '']) => name);
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
    for (const [file, name] of [
      ['operators', 'HARMLESS'],
      ['classify', 'examine'],
    ])
      expect(read(`src/classifier/${file}.ts`)).toContain(` ${name}`);
  });

  test('names every kind of test', () => {
    const kinds = readdirSync(join(ROOT, 'test'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !['support', 'vectors'].includes(entry.name))
      .map(({ name }) => name);
    const row = page.split('\n').find((line) => line.startsWith('| `test/`')) ?? '';
    expect(inCode(row)).toEqual(expect.arrayContaining(kinds));
  });
});

test('the table of kinds in docs/rules.md has every built-in kind, and no other', () => {
  const [, rest = ''] = read('docs/rules.md').split('## Operands and kinds of values\n');
  const [table = ''] = rest.split('\n\n');
  const first = table
    .split('\n')
    .slice(2)
    .flatMap((row) => inCode(row.split('|')[1] ?? ''))
    .filter((code) => !code.startsWith('['));
  expect(first.sort()).toEqual([...KIND_NAMES].sort());
});

test('docs/verdicts.md lists exactly the redirections that a compound may have', () => {
  const possible = ['', '0', '1', '2', '&'].flatMap((descriptor) =>
    ['<', '>', '>>', '<>', '>|', '<&', '>&'].flatMap((operator) =>
      ['/dev/null', '/dev/tty', '0', '1', '2', '-', 'f'].map((target) => descriptor + operator + target),
    ),
  );
  const accepted = possible.filter((redirection) => lexList(`a ${redirection}`).ok);
  const [, rest = ''] = /have these\s+redirections([\s\S]*?)\. `cd DIR/.exec(read('docs/verdicts.md')) ?? [];
  expect(inCode(rest).sort()).toEqual(accepted.sort());
});
