/**
 * The last step of `npm run build`: takes away what an earlier build left in `dist`, makes the command line executable,
 * writes the built-in rules as a module that needs no files, and checks that classifier and client need nothing of Node.
 */
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { exportRules } from '../src/classifier/rule-set.ts';
import { loadRules } from '../src/rules/load.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');

/** Written here, so it has no source file. */
const RULES_MODULE = 'built-in-rules';

function filesIn(directory: string): string[] {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** A source file that was renamed leaves its old output behind, and the package would hold it. */
function removeStale(): void {
  for (const path of filesIn(dist)) {
    const name = path.slice(dist.length + 1).replace(/(?:\.d\.ts|\.js|\.json)$/, '');
    if (name !== RULES_MODULE && !existsSync(join(root, 'src', `${name}.ts`))) rmSync(path);
  }
}

function writeRules(): void {
  const data = JSON.stringify(exportRules(loadRules()));
  // For Node, which can read a file at once; the module is for places without files.
  writeFileSync(join(dist, `${RULES_MODULE}.json`), data);
  writeFileSync(
    join(dist, `${RULES_MODULE}.js`),
    `/** The built-in rules as plain data, for \`restoreRules\`: made from rules/*.json by the build. */\n` +
      `export const builtInRules = JSON.parse(${JSON.stringify(data)});\n`,
  );
  writeFileSync(
    join(dist, `${RULES_MODULE}.d.ts`),
    `import type { RuleSetData } from './classifier/rule-set.js';\n` +
      `/** The built-in rules as plain data, for \`restoreRules\`: made from rules/*.json by the build. */\n` +
      `export declare const builtInRules: RuleSetData;\n`,
  );
}

/** They run unchanged in a browser, so no built file of them may import anything of Node's. */
function checkForBrowsers(): void {
  const guilty = ['classifier', 'client']
    .flatMap((name) => filesIn(join(dist, name)))
    .filter((path) => path.endsWith('.js'))
    .flatMap((path) => {
      const { importedFiles } = ts.preProcessFile(readFileSync(path, 'utf8'), true, true);
      return importedFiles
        .filter(({ fileName }) => fileName.startsWith('node:'))
        .map(({ fileName }) => `${path}: ${fileName}`);
    });
  if (guilty.length > 0)
    throw new Error(`Classifier and client must not import from Node, but do:\n${guilty.join('\n')}`);
}

removeStale();
writeRules();
checkForBrowsers();
chmodSync(join(dist, 'cli', 'main.js'), 0o755);
