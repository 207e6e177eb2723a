/**
 * `npm run snapshot`: writes what the rules say of every vector, and of every command of the shared corpus when it lies
 * beside the project, into `test/corpus/snapshot/`. Refuses, and writes nothing, when a line would go from serial to
 * parallel without an entry in `test/corpus/loosened.md`; see there. Another directory may be named, for the snapshots that it holds.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { loadRules } from '../src/rules/load.ts';
import './closed-pipe.ts';
import {
  entryFor,
  hashOf,
  type Loosening,
  looseningsOf,
  readEntries,
  readLines,
  writeLines,
} from './snapshot-lines.ts';
import { CORPUS_RECORDS, loosenedPath, SNAPSHOT_NAMES, snapshotPath, snapshots } from './snapshot-rows.ts';

const rules = loadRules();
const directory = process.argv[2] ?? CORPUS_RECORDS;
const page = readFileSync(loosenedPath(directory), 'utf8');
const entries = readEntries(page);

const here = (name: string): boolean => existsSync(snapshotPath(directory, name));
const names = directory === CORPUS_RECORDS ? SNAPSHOT_NAMES : SNAPSHOT_NAMES.filter(here);
const taken = snapshots(rules, names).map(({ name, lines }) => {
  const path = snapshotPath(directory, name);
  const before = existsSync(path) ? readLines(readFileSync(path, 'utf8')) : [];
  return { name, path, before, lines, loosened: looseningsOf(before, lines) };
});
const loosened = taken.flatMap((snapshot) => snapshot.loosened);
const refused = loosened.filter((loosening) => entryFor(loosening, entries) === undefined);

function listed({ key, mode, was, is }: Loosening): string {
  return `  ${hashOf(key)}  ${hashOf(key) === key ? '' : `${key}  `}${mode}: ${was} -> ${is}`;
}

/** The page with a note under each entry that was used now. */
function withUses(): string {
  const uses = new Map<string, number>();
  for (const loosening of loosened) {
    const { title } = entryFor(loosening, entries)!;
    uses.set(title, (uses.get(title) ?? 0) + 1);
  }
  let text = page;
  for (const [title, count] of uses) {
    const heading = `\n## ${title}\n`;
    const note = `- applied: ${count} ${count === 1 ? 'verdict' : 'verdicts'}, with the rules ${rules.hash.slice(0, 19)}\n`;
    text = text.replace(heading, () => `${heading}${note}`);
  }
  return text;
}

if (refused.length > 0) {
  console.error(`${refused.length} verdicts went from serial to parallel without an entry in test/corpus/loosened.md:`);
  console.error(refused.map(listed).join('\n'));
  process.exitCode = 1;
} else {
  for (const { name, path, before, lines } of taken) {
    const text = writeLines(lines);
    const same = text === writeLines(before);
    if (!same) writeFileSync(path, text);
    console.log(`${name}: ${lines.length} verdicts, ${same ? 'as before' : 'written'}`);
  }
  if (loosened.length > 0) {
    writeFileSync(loosenedPath(directory), withUses());
    console.log(`${loosened.length} verdicts loosened, as test/corpus/loosened.md says`);
  }
}
