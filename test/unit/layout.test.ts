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
 * Words that are a tool's name and something else besides. Each is allowed in the files named, and nowhere else;
 * everything under classifier/programs/ (parsers of small languages) and dispatcher/lock-keys.ts is exempt by design.
 */
const OTHER_MEANINGS: ReadonlyMap<string, readonly string[]> = new Map();

const isExempt = (path: string, name: string) =>
  path.startsWith('classifier/programs/') ||
  path === 'dispatcher/lock-keys.ts' ||
  (OTHER_MEANINGS.get(name) ?? []).includes(path);

describe('the shape of the sources', () => {
  test.each(sources)('$path has at most 300 lines', ({ text }) => {
    expect(text.split('\n').length - 1).toBeLessThanOrEqual(300);
  });

  test('files are named with lower-case nouns and hyphens', () => {
    for (const { path } of sources)
      expect(path).toMatch(/^(?:[a-z0-9]+(?:-[a-z0-9]+)*\/)*[a-z0-9]+(?:-[a-z0-9]+)*\.ts$/);
  });

  test("no code holds a tool's name: rules are data", () => {
    const names = toolNames();
    expect([...names]).toEqual(expect.arrayContaining(['git', 'ls', 'grep', 'sed', 'docker', 'kubectl']));
    const held = sources.flatMap(({ path, strings }) =>
      strings.filter((text) => names.has(text) && !isExempt(path, text)).map((text) => `${path}: '${text}'`),
    );
    expect(held).toEqual([]);
  });

  test('a name in a literal or a template is found, one in a comment is not', () => {
    const { strings } = parseSource(
      'x.ts',
      `// 'git'\nconst a = 'git'; const b = \`ls\`; const c = \`\${a}grep\`; f('sed');`,
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
