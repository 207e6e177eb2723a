/**
 * `npm run prove`: runs every parallel example of the rules, the vectors and, when the shared corpus lies beside the
 * project, 500 commands that agents really ran, under strace, and lists whatever was done besides reading. Then runs what
 * has a profile with and without it, and lists whatever is answered otherwise.
 *
 *   --rules DIR      proves the rule files of another directory
 *   --only BINARY    proves the commands of one binary
 *   --unanswered     lists the commands that ended with 2 or more: they were run, and prove little
 *   --no-profiles    leaves the comparison out
 *
 * Exit code 1 when anything was found.
 */
import { parseArgs } from 'node:util';
import { type Candidate, CORPUS_DRAWN, hasCorpus, type Source } from '../test/proof/commands.ts';
import { affected, type Comparison, compare, withoutSettings } from '../test/proof/profiles.ts';
import { startServices } from '../test/proof/services.ts';
import { groundsFor, type ProofSet, type Proved, parted, proveAll, readProof } from '../test/proof/suite.ts';
import './closed-pipe.ts';

const { values } = parseArgs({
  allowNegative: true,
  options: {
    rules: { type: 'string' },
    only: { type: 'string' },
    unanswered: { type: 'boolean' },
    profiles: { type: 'boolean', default: true },
  },
});
const SOURCES: readonly Source[] = ['example', 'proposed', 'vector', 'corpus'];
/** Calls shown of one command. */
const SHOWN = 12;

const wanted = ({ binary }: Candidate): boolean => values.only === undefined || binary === values.only;
const isAnswered = ({ outcome }: Proved): boolean => (outcome.result.exitCode ?? 255) < 2;
const isClean = ({ outcome }: Proved): boolean => outcome.findings.length === 0;

const proof = readProof(values.rules);
const services = await startServices();
try {
  const faults = (await runUnderStrace(proof)) + (values.profiles ? await runBothWays(proof) : 0);
  console.log(`\n${faults === 0 ? 'nothing was found' : `${faults} found`} in ${performance.now().toFixed(0)} ms`);
  process.exitCode = faults > 0 ? 1 : 0;
} finally {
  services.close();
}

/** Returns how much was found. */
async function runUnderStrace(set: ProofSet): Promise<number> {
  const grounds = groundsFor(set, services, true);
  const fixtures = [grounds.stale, grounds.fresh];
  try {
    const { present, missing } = parted(set, grounds);
    const chosen = present.filter(wanted);
    const before = fixtures.map((one) => one.fingerprint());
    const tell = teller(chosen.length);
    const proved = await proveAll(set, chosen, grounds, ({ command, outcome: { findings } }) => {
      tell();
      if (findings.length > 0) console.log(`\n${[command, ...findings.slice(0, SHOWN)].join('\n    ')}`);
    });
    if (values.unanswered) drawUnanswered(proved.filter((one) => !isAnswered(one)));
    drawTable(proved);
    drawCorpus(set);
    drawMissing(missing.filter(wanted));
    drawExceptions(set, proved);
    const sprung = fixtures.flatMap((one) => one.traps.sprung());
    const isUntouched = fixtures.every((one, index) => one.fingerprint() === before[index]);
    console.log(`changes asked of services: ${listed(services.changes)}`);
    console.log(`traps sprung: ${listed(sprung)}`);
    console.log(`the project is ${isUntouched ? 'as it was, to the last time stamp' : 'CHANGED'}`);
    const others = services.changes.length + sprung.length + (isUntouched ? 0 : 1);
    return proved.filter((one) => !isClean(one)).length + others;
  } finally {
    for (const one of Object.values(grounds)) one.remove();
  }
}

/** Returns how many answers differ. */
async function runBothWays(set: ProofSet): Promise<number> {
  const grounds = groundsFor(set, services, false);
  try {
    const chosen = affected(parted(set, grounds).present.filter(wanted), set.rules);
    const without = withoutSettings(set.rules);
    const counts: Record<Comparison['kind'], number> = { same: 0, unsteady: 0, differs: 0 };
    const tell = teller(chosen.length);
    // One after the other: without its profile git writes the index.
    for (const { command } of chosen) {
      const comparison = await compare(command, grounds, set.rules, without);
      counts[comparison.kind] += 1;
      tell();
      if (comparison.kind === 'unsteady') console.log(`\n${command}\n    answers otherwise each time`);
      if (comparison.kind !== 'differs') continue;
      const [one, other] = [comparison.with, comparison.without].map((answer) => JSON.stringify(answer).slice(0, 400));
      console.log(`\n${command}\n    with its profile ${one}\n    without          ${other}`);
    }
    console.log(
      `\nwith and without profile: ${counts.same} same, ${counts.differs} differ, ${counts.unsteady} unsteady`,
    );
    return counts.differs;
  } finally {
    for (const one of Object.values(grounds)) one.remove();
  }
}

function drawTable(proved: readonly Proved[]): void {
  const draw = (title: string, cells: readonly (number | string)[]): void =>
    console.log(`${title.padEnd(10)}${cells.map((cell) => String(cell).padStart(8)).join('')}`);
  console.log();
  draw('source', ['run', 'clean', 'found', 'exit 0-1']);
  for (const source of [...SOURCES, 'all'] as const) {
    const rows = proved.filter((one) => source === 'all' || one.source === source);
    const clean = rows.filter(isClean).length;
    draw(source, [rows.length, clean, rows.length - clean, rows.filter(isAnswered).length]);
  }
}

function drawCorpus({ candidates }: ProofSet): void {
  if (!hasCorpus()) {
    console.log(`no ../shared/corpus here: its ${CORPUS_DRAWN} commands are left out`);
    return;
  }
  const kept = candidates.filter(({ source }) => source === 'corpus');
  const mapped = kept.filter(({ original }) => original !== undefined).length;
  const others = CORPUS_DRAWN - kept.length;
  console.log(`corpus: ${CORPUS_DRAWN} drawn, ${others} of them among the others already, ${mapped} with paths mapped`);
}

function drawUnanswered(rows: readonly Proved[]): void {
  console.log('\nended with 2 or more');
  for (const { command, outcome } of rows) {
    console.log(`  ${outcome.result.exitCode}  ${command}\n       ${outcome.result.stderr.split('\n')[0]}`);
  }
}

function drawMissing(missing: readonly Candidate[]): void {
  const names = [...new Set(missing.map(({ binary }) => binary))].sort();
  console.log(`not installed: ${names.length} binaries, ${missing.length} commands not run: ${listed(names)}`);
}

/** An exception that no run needs is a door that nobody uses. */
function drawExceptions({ files }: ProofSet, proved: readonly Proved[]): void {
  const used = new Set(proved.flatMap(({ outcome }) => outcome.used));
  const ran = new Set(proved.map(({ binary }) => binary));
  const unused = files
    .filter(({ binary }) => ran.has(binary))
    .flatMap(({ binary, exceptions = [] }) =>
      exceptions
        .filter((one) => !used.has(one))
        .map((one) => `${binary} ${'writes' in one ? one.writes : one.sockets}`),
    );
  console.log(`exceptions that no run needed: ${listed(unused)}`);
}

function listed(texts: readonly string[]): string {
  return texts.length === 0 ? 'none' : texts.join(', ');
}

/** Counts on a terminal. */
function teller(total: number): () => void {
  let done = 0;
  return () => {
    done += 1;
    if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${total} `);
  };
}
