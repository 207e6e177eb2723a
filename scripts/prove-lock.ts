/**
 * `npm run prove:lock`: the lock in all interleavings of up to four calls on three keys, nested, aborted and restated, each
 * event held against a model without queues; then 50,000 runs of its model-based tests. Takes about an hour on one
 * processor; the tests run the same in small. Exit code 1 when anything is not as it ought to be.
 * `npm run prove:lock -- --set=2`: this set only (1 to 5; 6: the model-based tests).
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  ALL_KINDS,
  countOf,
  FEW_KINDS,
  inRows,
  type RowSet,
  TELLING_KINDS,
  THREE_KINDS,
} from '../test/property/interleaving-sets.ts';
import { runAll, type Tally } from '../test/property/interleavings.ts';
import './closed-pipe.ts';

const PROGRESS_MS = 10_000;
const MODEL_RUNS = 50_000;

const SETS: readonly (RowSet & { readonly title: string })[] = [
  { title: 'two calls of any kinds, one restated for any kind', calls: 2, kinds: ALL_KINDS, restates: 1 },
  { title: 'three calls of any kinds', calls: 3, kinds: ALL_KINDS, restates: 0 },
  {
    title: 'three calls of the telling kinds, one restated',
    calls: 3,
    kinds: TELLING_KINDS,
    restates: 1,
    others: FEW_KINDS,
  },
  { title: 'four calls of the telling kinds', calls: 4, kinds: TELLING_KINDS, restates: 0 },
  { title: 'four calls of three kinds, one restated', calls: 4, kinds: THREE_KINDS, restates: 1 },
];

async function prove(set: (typeof SETS)[number]): Promise<boolean> {
  const tally: Tally = { runs: 0, faults: [] };
  const total = countOf(set);
  const start = Date.now();
  let [rows, told] = [0, start];
  console.log(`${set.title}: ${total.toLocaleString('en')} rows of calls`);
  for (const row of inRows(set)) {
    await runAll(row, tally);
    rows += 1;
    if (tally.faults.length >= 10) break;
    if (Date.now() - told < PROGRESS_MS) continue;
    told = Date.now();
    console.log(`  ${((rows / total) * 100).toFixed(1)} %, ${tally.runs.toLocaleString('en')} interleavings`);
  }
  const seconds = Math.round((Date.now() - start) / 1000);
  console.log(`  ${tally.runs.toLocaleString('en')} interleavings in ${seconds} s, ${tally.faults.length} faults`);
  for (const fault of tally.faults) console.log(`  FAULT ${fault}`);
  return tally.faults.length === 0;
}

/** The model-based tests, with more runs than in the suite. */
function runModels(): boolean {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const args = ['run', '--project', 'property', 'test/property/lock'];
  const env = { ...process.env, SIGNALBOX_LOCK_RUNS: `${MODEL_RUNS}` };
  return spawnSync(`${root}node_modules/.bin/vitest`, args, { cwd: root, env, stdio: 'inherit' }).status === 0;
}

const { values } = parseArgs({ options: { set: { type: 'string' } } });
const isWanted = (number: number): boolean => values.set === undefined || values.set === `${number}`;
const ends: boolean[] = [];
for (const [at, set] of SETS.entries()) if (isWanted(at + 1)) ends.push(await prove(set));
if (isWanted(SETS.length + 1)) ends.push(runModels());
if (ends.length === 0) console.error(`There is no set ${values.set}; there are 1 to ${SETS.length + 1}`);
process.exitCode = ends.length > 0 && ends.every((end) => end) ? 0 : 1;
