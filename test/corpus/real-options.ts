/**
 * Writes `real-options.json`: the options that tools name in their own help, for the hostile edits to append. Runs only
 * `NAME --help`, and only of tools that are installed and whose rule lists `--help` as a sole argument, in an empty
 * directory, with an empty home, the null device for input and a limit of time. `npx tsx test/corpus/real-options.ts`
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { files } from '../rules/built-in.ts';

const OUTPUT = new URL('real-options.json', import.meta.url);

/** Words of a help text that look like options, where they do not stand within another word. */
function optionsIn(help: string): readonly string[] {
  const found = [...help.matchAll(/(?<=^|[\s,[(|='"`])--?[A-Za-z0-9?][\w-]*/gm)].map(([option]) => option);
  return [...new Set(found)].sort();
}

const directory = mkdtempSync(join(tmpdir(), 'signalbox-help-'));
try {
  const options: Record<string, readonly string[]> = {};
  for (const { binary, alone = {}, builtin } of files) {
    const words = Object.keys(alone).flatMap((key) => key.split(/[;,] /));
    if (builtin || !words.includes('--help')) continue;
    const env = { PATH: '/usr/bin:/bin:/usr/local/bin', HOME: directory, LC_ALL: 'C' };
    const { stdout, status } = spawnSync(binary, ['--help'], { cwd: directory, env, timeout: 5_000, encoding: 'utf8' });
    const found = status === 0 ? optionsIn(stdout) : [];
    if (found.length > 0) options[binary] = found;
  }
  // One line a tool.
  const lines = Object.entries(options).map(
    ([binary, found]) => `  ${JSON.stringify(binary)}: ${JSON.stringify(found)}`,
  );
  writeFileSync(OUTPUT, `{\n${lines.join(',\n')}\n}\n`);
  console.log(`${lines.length} tools, ${Object.values(options).flat().length} options`);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
