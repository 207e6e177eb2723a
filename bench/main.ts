/**
 * `npm run bench`: every figure that the documentation names and that a machine decides, in one go, with the machine.
 * Name one or more of `lexer`, `classify`, `compound`, `lock`, `probe`, `journal` to run only those. Figures, not tests; only `lock` holds its own
 * to bars, and ends with 1 when one is missed.
 */
import { cpus, release, type } from 'node:os';
import '../scripts/closed-pipe.ts';
import { benchClassify } from './classify.ts';
import { benchCompound } from './compound.ts';
import { benchJournal } from './journal.ts';
import { benchLexer } from './lexer.ts';
import { benchLock } from './lock.ts';
import { benchProbe } from './probe.ts';

const BENCHES: ReadonlyMap<string, () => void | Promise<void>> = new Map([
  ['lexer', benchLexer],
  ['classify', benchClassify],
  ['compound', benchCompound],
  ['lock', benchLock],
  ['probe', benchProbe],
  ['journal', benchJournal],
]);

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !BENCHES.has(name));
if (unknown.length > 0) {
  console.error(`Expected ${[...BENCHES.keys()].join(', ')}; got ${unknown.join(', ')}`);
  process.exit(2);
}

const processors = cpus();
console.log(
  `${processors.length} × ${processors[0]?.model ?? 'unknown processor'}, ${type()} ${release()}, Node ${process.version}`,
);
for (const [name, bench] of BENCHES) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  console.log(`\n## ${name}\n`);
  await bench();
}
