/**
 * `npm run prove:compounds`, and the end of `npm run prove`: runs lists and pipelines that the rules call parallel in
 * compound mode under strace, as the dispatcher runs them, and lists whatever was done besides reading. Half of them are
 * what agents sent, where the shared corpus lies beside the project, with their paths mapped onto the fixture; the others
 * are examples.
 *
 *   --most N   so many; default 150
 *   --seed N   others; default 7312
 *
 * Exit code 1 when anything was found.
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { compoundsOf, groundsOf, partedCompounds, proveCompounds } from '../test/proof/compounds.ts';
import { startServices } from '../test/proof/services.ts';
import { type ProofSet, readProof } from '../test/proof/suite.ts';
import './closed-pipe.ts';

/** Compounds of a long run, and what draws them. */
export const DRAWN = { most: 150, seed: 7312 } as const;
/** Calls shown of one command. */
const SHOWN = 12;

/** Prints what was found, and returns how much. */
export async function runCompounds(set: ProofSet, { most, seed }: { most: number; seed: number }): Promise<number> {
  const texts = compoundsOf(set, most, seed);
  const services = await startServices();
  const grounds = groundsOf(set, texts, services);
  const fixtures = Object.values(grounds);
  try {
    const before = fixtures.map((one) => one.fingerprint());
    const { present, missing } = partedCompounds(set, texts);
    const outcomes = await proveCompounds(set, present, grounds, ({ command, findings }) => {
      if (findings.length > 0) console.log(`\n${[command, ...findings.slice(0, SHOWN)].join('\n    ')}`);
    });
    const found = outcomes.filter(({ findings }) => findings.length > 0).length;
    const answered = outcomes.filter(({ result }) => (result.exitCode ?? 255) < 2).length;
    const sprung = fixtures.flatMap((one) => one.traps.sprung());
    const isUntouched = fixtures.every((one, index) => one.fingerprint() === before[index]);
    console.log(
      `\n${outcomes.length} compounds run, ${outcomes.length - found} clean, ${found} found, ${answered} ended with 0 or 1`,
    );
    console.log(`${missing.length} compounds not run, for a program that is not installed`);
    console.log(`changes asked of services: ${services.changes.join(', ') || 'none'}`);
    console.log(`traps sprung: ${sprung.join(', ') || 'none'}`);
    console.log(`the project is ${isUntouched ? 'as it was, to the last time stamp' : 'CHANGED'}`);
    return found + sprung.length + services.changes.length + (isUntouched ? 0 : 1);
  } finally {
    for (const one of fixtures) one.remove();
    services.close();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { most: { type: 'string' }, seed: { type: 'string' } } });
  const drawn = { most: Number(values.most ?? DRAWN.most), seed: Number(values.seed ?? DRAWN.seed) };
  process.exitCode = (await runCompounds(readProof(), drawn)) > 0 ? 1 : 0;
}
