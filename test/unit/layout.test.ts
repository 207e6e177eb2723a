import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseSource, ROOT, readSources } from './source-files.ts';

const sources = readSources();

/** Names of the tools that the rule files are about. */
function toolNames(): Set<string> {
  const names = new Set<string>();
  for (const file of readdirSync(join(ROOT, 'rules'))) {
    if (!file.endsWith('.json')) continue;
    const { binary, also = [] } = JSON.parse(readFileSync(join(ROOT, 'rules', file), 'utf8'));
    for (const name of [binary, ...also]) if (typeof name === 'string') names.add(name);
  }
  return names;
}

/**
 * Names of tools that are also words of ours: fields of the contract, kinds and roles of the rule format, a character.
 * As a literal each of them means only what stands behind it; a new one is a decision, and goes in here.
 */
const OTHER_MEANINGS: ReadonlyMap<string, string> = new Map([
  ['[', 'a character'],
  ['base64', 'a way of giving bytes as text'],
  ['command', 'a field of a batch and of a rule file'],
  ['env', 'a field of a command'],
  ['false', 'a value of a setting'],
  ['go', 'a way of reading options'],
  ['groups', 'a field of a plan and of a rule file'],
  ['id', 'a field of a command and of a batch'],
  ['join', 'a role in an expression of a rule file'],
  ['size', 'a kind of value'],
  ['tree', 'a kind of value'],
  ['true', 'a value of a setting'],
]);

/** Parsers of small languages, the keys of repositories, and the repository probe: exempt by the design, each by name. */
const EXEMPT = ['dispatcher/lock-keys.ts', 'dispatcher/repository-surroundings.ts'];
const isExempt = (path: string) => path.startsWith('classifier/programs/') || EXEMPT.includes(path);

/** Nobody writes it, and nobody reads it whole. */
const GENERATED = 'client/api.ts';

describe('the shape of the sources', () => {
  test.each(sources.filter(({ path }) => path !== GENERATED))('$path has at most 300 lines', ({ text }) => {
    expect(text.split('\n').length - 1).toBeLessThanOrEqual(300);
  });

  test('files are named with lower-case nouns and hyphens', () => {
    for (const { path } of sources)
      expect(path).toMatch(/^(?:[a-z0-9]+(?:-[a-z0-9]+)*\/)*[a-z0-9]+(?:-[a-z0-9]+)*\.ts$/);
  });

  test("no code holds a tool's name: rules are data", () => {
    const names = toolNames();
    expect([...names]).toEqual(expect.arrayContaining(['git', 'ls', 'grep', 'sed', 'docker', 'kubectl']));
    const ours = sources.filter(({ path }) => !isExempt(path));
    const held = ours.flatMap(({ path, strings }) => strings.map((text) => ({ path, text })));
    const named = held.filter(({ text }) => names.has(text));
    expect(named.filter(({ text }) => !OTHER_MEANINGS.has(text))).toEqual([]);
  });

  test('a name in a literal or a template is found, one in a comment is not', () => {
    const { strings } = parseSource(
      'x.ts',
      `// 'git'\nconst a = 'git'; const b = \`ls\`; const c = \`\${a}grep\`; f('sed'); type T = 'cat';`,
    );
    expect(strings).toEqual(['git', 'ls', '', 'grep', 'sed']);
  });
});

describe('the repository', () => {
  const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' }).split('\0').filter(Boolean);
  const text = (path: string) => readFileSync(join(ROOT, path), 'utf8');
  const present = tracked.filter((path) => existsSync(join(ROOT, path)));

  test('the lock file holds no address of a registry', () => {
    const lock = JSON.parse(text('package-lock.json'));
    const addressed = Object.entries<{ resolved?: string }>(lock.packages).filter(
      ([, entry]) => entry.resolved !== undefined,
    );
    expect(addressed.map(([name]) => name)).toEqual([]);
    expect(text('package-lock.json')).not.toContain('://registry.');
  });

  test('every dependency is pinned to one version', () => {
    const { dependencies, devDependencies } = JSON.parse(text('package.json'));
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies }))
      expect(`${name} ${version}`).toMatch(/ \d+\.\d+\.\d+$/);
  });

  test('no file names a directory of one machine', () => {
    // Names that stand for anybody; a real one would be of somebody's machine.
    const anybody = new Set(['app', 'dev', 'me', 'node', 'someone', 'user', 'you']);
    const found = present
      .filter((path) => !path.startsWith('test/vectors/') && path !== 'test/unit/layout.test.ts')
      .flatMap((path) =>
        [...text(path).matchAll(/(?<![\w./])\/(?:(?:home|Users)\/([\w.-]+)|(?:root|work)\/[\w.-]+)/g)]
          .filter(([, name]) => name === undefined || !anybody.has(name))
          .map(([match]) => `${path}: ${match}`),
      );
    expect(found).toEqual([]);
  });

  test('every test runs: none is skipped, exclusive or to be written', () => {
    const marks = ['skip', 'only', 'todo', 'skipIf', 'runIf'].flatMap((mark) => [
      `test.${mark}`,
      `it.${mark}`,
      `describe.${mark}`,
    ]);
    const marked = present
      .filter((path) => path.endsWith('.test.ts') && path !== 'test/unit/layout.test.ts')
      .filter((path) => marks.some((mark) => text(path).includes(mark)));
    expect(marked).toEqual([]);
  });
});
