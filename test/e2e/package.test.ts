import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { plainEnvironment, ROOT, temporaryDirectory } from './cli.ts';

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

type Packed = { readonly files: readonly { readonly path: string; readonly size: number }[] };

/** What `npm pack` would put into the package; its scripts stay out, since the build has just been made. */
function packedFiles(): readonly string[] {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const output = JSON.parse(
    execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
  );
  // Older versions of npm print a list, newer ones an object by package name.
  const [packed] = (Array.isArray(output) ? output : Object.values(output)) as Packed[];
  return (packed?.files ?? []).map(({ path }) => path);
}

describe('the package', () => {
  const files = packedFiles();

  test('holds the build, the rules, the documentation, and nothing else', () => {
    const tops = new Set(files.map((path) => path.split('/')[0]));
    expect([...tops].sort()).toEqual(
      ['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md', 'dist', 'docs', 'package.json', 'rules'].sort(),
    );
    expect(files.filter((path) => /(?:^|\/)tests?\/|\.test\.|(?<!\.d)\.ts$/.test(path))).toEqual([]);
  });

  test('holds no built file without a source', () => {
    const sourceOf = (path: string) =>
      join(ROOT, path.replace(/^dist\//, 'src/').replace(/(?:\.d\.ts|\.js|\.json)$/, '.ts'));
    const orphans = files.filter((path) => path.startsWith('dist/') && !existsSync(sourceOf(path)));
    expect(orphans.sort()).toEqual(['d.ts', 'js', 'json'].map((ending) => `dist/built-in-rules.${ending}`));
  });

  test('names no directory of the machine that built it', () => {
    const own = ROOT.replace(/\/$/, '');
    const guilty = files.filter((path) => readFileSync(join(ROOT, path), 'utf8').includes(own));
    expect(guilty).toEqual([]);
  });

  test('every entry of exports and bin is in it, with its types', () => {
    const entries = Object.values<string | { types: string; default: string }>(manifest.exports).flatMap((entry) =>
      typeof entry === 'string' ? [entry] : [entry.types, entry.default],
    );
    for (const entry of [...entries, ...Object.values<string>(manifest.bin)])
      expect(files).toContain(entry.replace(/^\.\//, ''));
    expect(statSync(join(ROOT, manifest.bin.signalbox)).mode & 0o111).toBe(0o111);
  });

  test('needs no script to be installed', () => {
    const atInstall = ['preinstall', 'install', 'postinstall'];
    expect(Object.keys(manifest.scripts).filter((name) => atInstall.includes(name))).toEqual([]);
  });
});

/** A project that depends on the package by its name, and a program in it. */
function projectWith(program: string): string {
  const directory = temporaryDirectory({ 'package.json': '{"type":"module"}' });
  mkdirSync(join(directory, 'node_modules'));
  symlinkSync(ROOT, join(directory, 'node_modules', 'signalbox'));
  writeFileSync(join(directory, 'main.mjs'), program);
  return directory;
}

describe('the entries, as another project imports them', () => {
  test.each([
    ['signalbox', "isConcurrencySafe('git status')", 'isConcurrencySafe'],
    ['signalbox/classifier', "typeof createClassifier === 'function'", 'createClassifier'],
    ['signalbox/dispatcher', "typeof createDispatcher === 'function'", 'createDispatcher'],
    ['signalbox/client', "typeof createClient().classify === 'function'", 'createClient'],
    ['signalbox/server', "typeof buildServer === 'function'", 'buildServer'],
    ['signalbox/rules', "builtInRules.hash.startsWith('sha256:')", 'builtInRules'],
  ])('%s', (entry, claim, name) => {
    const cwd = projectWith(`import { ${name} } from '${entry}'; console.log(${claim});`);
    const { stdout, stderr } = spawnSync(process.execPath, ['main.mjs'], {
      cwd,
      encoding: 'utf8',
      env: plainEnvironment(),
    });
    expect({ stdout, stderr }).toEqual({ stdout: 'true\n', stderr: '' });
  });
});

test('the rules of the build are those that the loader reads and checks', () => {
  const cwd = projectWith(
    `import { readFileSync } from 'node:fs';
     import { loadRules } from 'signalbox';
     import { builtInRules } from 'signalbox/rules';
     const file = JSON.parse(readFileSync(new URL('./built-in-rules.json', import.meta.resolve('signalbox/rules')), 'utf8'));
     console.log(JSON.stringify([loadRules().hash, builtInRules.hash, file.hash]));`,
  );
  const { stdout } = spawnSync(process.execPath, ['main.mjs'], { cwd, encoding: 'utf8', env: plainEnvironment() });
  const hashes: string[] = JSON.parse(stdout);
  expect(hashes[0]).toMatch(/^sha256:/);
  expect(new Set(hashes).size).toBe(1);
});

test('the client works from one bundle with nothing but what a browser has', async () => {
  const directory = projectWith(
    `import { createClient } from 'signalbox/client';
     globalThis.answer = createClient({ url: 'http://service.example', token: 'secret' }).classify('ls');`,
  );
  const bundle = await build({
    entryPoints: [join(directory, 'main.mjs')],
    bundle: true,
    write: false,
    format: 'iife',
    platform: 'browser',
    logLevel: 'silent',
  });
  const asked: { url: string; authorization: string }[] = [];
  const fetch = async (url: URL, { headers }: { headers: { authorization: string } }) => {
    asked.push({ url: url.href, authorization: headers.authorization });
    return new Response('{"kind":"serial"}');
  };
  const context = createContext({ fetch, URL, TextDecoder, setTimeout, clearTimeout });
  runInContext(bundle.outputFiles[0]?.text ?? '', context, { timeout: 10_000 });
  expect(await context.answer).toEqual({ kind: 'serial' });
  expect(asked).toEqual([{ url: 'http://service.example/classify', authorization: 'Bearer secret' }]);
  expect(bundle.outputFiles[0]?.text.length).toBeLessThan(60_000);
});

describe('the classifier where there is no Node', () => {
  test('classifies in an empty context, from one bundle, with the built-in rules as a module', async () => {
    const directory = projectWith(
      `import { createClassifier, restoreRules } from 'signalbox/classifier';
       import { builtInRules } from 'signalbox/rules';
       const { classify } = createClassifier({ rules: restoreRules(builtInRules) });
       globalThis.answers = ['git status', 'git push', 'ls | wc -l', 'sed -n 1p f', 'sed "1w x" f'].map((command) => classify(command).kind);`,
    );
    const bundle = await build({
      entryPoints: [join(directory, 'main.mjs')],
      bundle: true,
      write: false,
      format: 'iife',
      platform: 'browser',
      // A module of Node's would fail the build; a name of Node's would fail in the context.
      logLevel: 'silent',
    });
    const context = createContext({ structuredClone });
    runInContext(bundle.outputFiles[0]?.text ?? '', context, { timeout: 10_000 });
    expect([...context.answers]).toEqual(['parallel', 'serial', 'serial', 'parallel', 'serial']);
  });
});
