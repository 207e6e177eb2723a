/**
 * `npm run prove`: runs every parallel example of the rules, the vectors and, when the shared corpus lies beside the
 * project, 500 commands that agents really ran, under strace, with a command more for each option that none of them has,
 * and lists whatever was done besides reading. Then runs what has a profile with and without it, and lists whatever is
 * answered otherwise. At the end 150 compounds, unless it was asked for some commands only.
 *
 *   --rules DIR      proves the rule files of another directory
 *   --only BINARY    proves the commands of one binary
 *   --source SOURCE  proves the commands of one source: example, proposed, vector, corpus or option
 *   --unanswered     lists the commands that ended with 2 or more: they were run, and prove little
 *   --spellings      a command more for each other spelling of an option as well
 *   --no-options     leaves out the commands that are made for options which no other command has
 *   --no-profiles    leaves the comparison out
 *   --jobs N         in so many processes; default: as many as there are processors
 *   --minutes N      begins no command after so many; what was left is told
 *   --write          writes docs/proof.md
 *
 * Exit code 1 when anything was found, 2 when nothing was run. What is not installed is told. Beside what .ci/run installs, these packages of Debian
 * have programs with rules: acl apt binutils bsdextrautils cargo clang cmake gh golang-go iproute2 kmod libcap2-bin lsof
 * man-db net-tools pciutils php-cli plocate psmisc python3-pip rpm ruby rustc shellcheck sysstat systemd usbutils; and of
 * npm: bun deno eslint prettier typescript. The others come from their makers: docker, kubectl, terraform.
 */
import { fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Candidate, CORPUS_DRAWN, type Source } from '../test/proof/commands.ts';
import { type Observer, observe } from '../test/proof/coverage.ts';
import { type Figures, figuresOf, isAnswered, isClean } from '../test/proof/figures.ts';
import { pageOf } from '../test/proof/page.ts';
import { affected, type Comparison, compare, withoutSettings } from '../test/proof/profiles.ts';
import { drawEvenly } from '../test/proof/sample.ts';
import { startServices } from '../test/proof/services.ts';
import {
  groundsFor,
  type ProofSet,
  type Proved,
  parted,
  presenceOf,
  proveAll,
  readProof,
  withEveryOption,
} from '../test/proof/suite.ts';
import { DRAWN, runCompounds } from './prove-compounds.ts';
import './closed-pipe.ts';

const { values } = parseArgs({
  allowNegative: true,
  options: {
    rules: { type: 'string' },
    only: { type: 'string' },
    source: { type: 'string' },
    options: { type: 'boolean', default: true },
    spellings: { type: 'boolean', default: false },
    unanswered: { type: 'boolean' },
    profiles: { type: 'boolean', default: true },
    jobs: { type: 'string' },
    minutes: { type: 'string' },
    // What a process of many runs (`0/4`, the first of four parts), and the file that tells what came of it.
    shard: { type: 'string' },
    into: { type: 'string' },
    write: { type: 'boolean' },
  },
});
/** In this order they are run. */
const SOURCES: readonly Source[] = ['example', 'vector', 'corpus', 'option', 'proposed'];
const PAGE = fileURLToPath(new URL('../docs/proof.md', import.meta.url));
/** Calls shown of one command. */
const SHOWN = 12;

const isWhole = [values.rules, values.only, values.source].every((one) => one === undefined);
if (values.write && !(isWhole && values.options && values.profiles)) {
  console.error(
    'Expected --write without --only, --source, --rules, --no-options and --no-profiles: the page tells of all',
  );
  process.exit(2);
}

const endsAt = values.minutes === undefined ? Infinity : performance.now() + 60_000 * Number(values.minutes);
const isOver = (): boolean => performance.now() > endsAt;

const wanted = ({ binary, source }: Candidate): boolean =>
  (values.only === undefined || values.only === binary) && (values.source === undefined || values.source === source);

const written = readProof(values.rules);
const whole = values.options
  ? withEveryOption(written, { spellings: values.spellings })
  : { ...written, observer: observe(written.rules) };
const proof = { ...whole, candidates: whole.candidates.filter(wanted), observer: narrowed(whole.observer) };
/** What was run under strace, in this process or in another. */
type Run = {
  readonly proved: readonly Proved[];
  /** Commands for which there was no time. */
  readonly left: number;
  readonly changes: readonly string[];
  readonly sprung: readonly string[];
  readonly isUntouched: boolean;
};

if (values.shard === undefined || values.into === undefined) await main();
else writeFileSync(values.into, JSON.stringify(await runShard(values.shard)));

async function main(): Promise<void> {
  const jobs = values.jobs === undefined ? availableParallelism() : Number(values.jobs);
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-parts-'));
  const [runs, comparisons] = await Promise.all([
    Promise.all([...Array(jobs).keys()].map((index) => runInProcess(`${index}/${jobs}`, directory))),
    values.profiles ? runBothWays(proof) : { same: 0, unsteady: 0, differs: 0 },
  ]).finally(() => rmSync(directory, { recursive: true, force: true }));
  const proved = runs.flatMap((one) => one.proved);
  const left = runs.reduce((sum, one) => sum + one.left, 0);
  const isThere = presenceOf(proof);
  const figures = figuresOf(proof, proof.observer, { proved, left, comparisons, isThere });
  if (values.unanswered) drawUnanswered(proved.filter((one) => !isAnswered(one)));
  drawTable(proved);
  drawCorpus(figures);
  drawMissing(parted(proof).missing);
  drawExceptions(proof, proved);
  drawEntries(figures);
  if (left > 0) console.log(`time was over: ${left} commands were not begun`);
  const changes = runs.flatMap((one) => one.changes);
  const sprung = runs.flatMap((one) => one.sprung);
  const touched = runs.filter(({ isUntouched }) => !isUntouched).length;
  console.log(`changes asked of services: ${listed(changes)}`);
  console.log(`traps sprung: ${listed(sprung)}`);
  console.log(`the project is ${touched === 0 ? 'as it was, to the last time stamp' : 'CHANGED'}`);
  if (values.write) writeFileSync(PAGE, pageOf(figures));
  const compounds = isWhole && !isOver() ? await runCompounds(written, DRAWN) : 0;
  const simple = proved.filter((one) => !isClean(one)).length + comparisons.differs;
  if (proved.length + left === 0) {
    // A run of nothing has proved nothing.
    console.error('\nnothing was run: what stands only behind a pipe is proved by npm run prove:compounds');
    process.exitCode = 2;
    return;
  }
  const faults = simple + changes.length + sprung.length + touched + compounds;
  console.log(`\n${faults === 0 ? 'nothing was found' : `${faults} found`} in ${performance.now().toFixed(0)} ms`);
  process.exitCode = faults > 0 ? 1 : 0;
}

/** Starting programs costs a process more, the more memory it has: several small ones are faster than a large one. */
function runInProcess(shard: string, directory: string): Promise<Run> {
  const into = join(directory, shard.replace('/', '-'));
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(import.meta.url), [...process.argv.slice(2), '--shard', shard, '--into', into]);
    child.once('error', reject);
    child.once('exit', (code) => {
      if (code === 0) resolve(JSON.parse(readFileSync(into, 'utf8')));
      else reject(new Error(`Expected part ${shard} to end with 0, got ${code}`));
    });
  });
}

/** The entries of the binary that was asked for. */
function narrowed(observer: Observer): Observer {
  const file = written.files.find(({ binary }) => binary === values.only);
  if (file === undefined) return observer;
  const names = [file.binary, ...(file.also ?? [])];
  return { ...observer, entries: observer.entries.filter(({ binary }) => names.includes(binary)) };
}

async function runShard(shard: string): Promise<Run> {
  const [index = 0, count = 1] = shard.split('/').map(Number);
  // In rounds over the binaries, so that each has been run when there is no time for all.
  const inOrder = SOURCES.flatMap((source) => {
    const own = proof.candidates.filter((one) => one.source === source);
    return drawEvenly(own, ({ binary }) => binary, own.length, 0);
  });
  const set = { ...proof, candidates: inOrder.filter((_, at) => at % count === index) };
  const services = await startServices();
  const grounds = groundsFor(set, services, true);
  const fixtures = [grounds.stale, grounds.fresh];
  try {
    const { present } = parted(set);
    const before = fixtures.map((one) => one.fingerprint());
    const tell = teller(`part ${shard}`, present.length);
    const onEach = ({ command, outcome: { findings } }: Proved): void => {
      tell();
      if (findings.length > 0) console.log(`\n${[command, ...findings.slice(0, SHOWN)].join('\n    ')}`);
    };
    const proved = await proveAll(set, present, grounds, { onEach, isOver, jobs: 2 });
    return {
      proved: proved.map(shortened),
      left: present.length - proved.length,
      changes: services.changes,
      sprung: fixtures.flatMap((one) => one.traps.sprung()),
      isUntouched: fixtures.every((one, at) => one.fingerprint() === before[at]),
    };
  } finally {
    for (const one of fixtures) one.remove();
    services.close();
  }
}

/** Nobody asks for more of what was printed. */
function shortened(one: Proved): Proved {
  const { result } = one.outcome;
  const [stdout, stderr] = [result.stdout, result.stderr].map((text) => text.slice(0, 200)) as [string, string];
  return { ...one, outcome: { ...one.outcome, result: { ...result, stdout, stderr } } };
}

async function runBothWays(set: ProofSet): Promise<Record<Comparison['kind'], number>> {
  const services = await startServices();
  const grounds = groundsFor(set, services, false);
  try {
    // Those that are made for options are many, and each is an example with one word more.
    const present = parted(set).present.filter(({ source }) => source !== 'option');
    const chosen = affected(present, set.rules);
    const without = withoutSettings(set.rules);
    const counts: Record<Comparison['kind'], number> = { same: 0, unsteady: 0, differs: 0 };
    const tell = teller('with and without profile', chosen.length);
    // One after the other: without its profile git writes the index.
    for (const { command } of chosen) {
      if (isOver()) break;
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
    return counts;
  } finally {
    for (const one of Object.values(grounds)) one.remove();
    services.close();
  }
}

function drawRow(title: string, cells: readonly (number | string)[]): void {
  console.log(`${title.padEnd(10)}${cells.map((cell) => String(cell).padStart(9)).join('')}`);
}

function drawTable(proved: readonly Proved[]): void {
  console.log();
  drawRow('source', ['run', 'clean', 'found', 'exit 0-1']);
  for (const source of [...SOURCES, 'all'] as const) {
    const rows = proved.filter((one) => source === 'all' || one.source === source);
    const clean = rows.filter(isClean).length;
    drawRow(source, [rows.length, clean, rows.length - clean, rows.filter(isAnswered).length]);
  }
}

function drawEntries({ entries, notRun }: Figures): void {
  console.log();
  drawRow('entries', ['in all', 'run', 'exit 0-1']);
  for (const { kind, all, run, answered } of entries) drawRow(kind, [all, run, answered]);
  if (values.only !== undefined) console.log(`not run: ${listed(notRun.map(({ key }) => key))}`);
}

function drawCorpus({ corpus }: Figures): void {
  if (corpus === null) console.log(`no ../shared/corpus here: its ${CORPUS_DRAWN} commands are left out`);
  else if (isWhole) {
    const { drawn, others, mapped } = corpus;
    console.log(`corpus: ${drawn} drawn, ${others} of them among the others already, ${mapped} with paths mapped`);
  }
}

function drawUnanswered(rows: readonly Proved[]): void {
  console.log('\nended with 2 or more');
  for (const { command, outcome } of rows) {
    console.log(`  ${outcome.result.exitCode}  ${command}\n       ${outcome.result.stderr.split('\n')[0]}`);
  }
}

function drawMissing(missing: readonly Candidate[]): void {
  const names = [...new Set(missing.map(({ command }) => command.split(' ')[0] ?? ''))].sort();
  console.log(`not installed: ${names.length} names, ${missing.length} commands not run: ${listed(names)}`);
}

/** An exception that no run needs is a door that nobody uses. */
function drawExceptions({ files }: ProofSet, proved: readonly Proved[]): void {
  const used = new Set(proved.flatMap(({ outcome }) => outcome.used.map((one) => JSON.stringify(one))));
  const ran = new Set(proved.map(({ binary }) => binary));
  const unused = files
    .filter(({ binary }) => ran.has(binary))
    .flatMap(({ binary, exceptions = [] }) =>
      exceptions
        .filter((one) => !used.has(JSON.stringify(one)))
        .map((one) => `${binary} ${'writes' in one ? one.writes : one.sockets}`),
    );
  console.log(`exceptions that no run needed: ${listed(unused)}`);
}

function listed(texts: readonly string[]): string {
  return texts.length === 0 ? 'none' : texts.join(', ');
}

/** Counts on a terminal, and now and then in a file. */
function teller(what: string, total: number): () => void {
  let done = 0;
  return () => {
    done += 1;
    if (process.stderr.isTTY) process.stderr.write(`\r${what}: ${done} of ${total} `);
    else if (done % 250 === 0) console.log(`${what}: ${done} of ${total}`);
  };
}
