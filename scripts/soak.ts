/**
 * `npm run soak`: the built service as a process of its own, in throw-away directories, under thousands of random
 * commands from several clients that cancel, leave, come back and break off; then everything that was told, and what the
 * commands themselves wrote down, is audited by a checker that shares nothing with the product. Exit code 1 when
 * anything is not as it ought to be. See docs/soak.md.
 *
 * `--commands=50000` how many; `--seed=N` which; `--minutes=N` how long at most; `--first=N` goes on with this batch;
 * `--clients=N` at once; `--keep` leaves the directory for a look.
 */
import { spawnSync } from 'node:child_process';
import { cpus, release } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { childrenOf, openDescriptors, processesOf, residentBytes, strayFiles } from '../test/support/soak/leftovers.ts';
import { startServed } from '../test/support/soak/service.ts';
import { soak } from '../test/support/soak/soak.ts';
import { prepareGround } from '../test/support/soak/trees.ts';
import './closed-pipe.ts';

const PROGRESS_MS = 5_000;
const SAMPLE_MS = 500;
const MIB = 1_048_576;

/** Descriptors that the service may keep besides those it began with: pipes made ready for the next commands (docs/soak.md). */
const READY_DESCRIPTORS = 64;
/** Milliseconds in which closed connections must have given theirs back. */
const CLOSING_MS = 5_000;

const { values } = parseArgs({
  options: {
    commands: { type: 'string', default: '50000' },
    seed: { type: 'string' },
    minutes: { type: 'string' },
    first: { type: 'string', default: '1' },
    clients: { type: 'string', default: '8' },
    keep: { type: 'boolean', default: false },
  },
});

function numberOf(name: 'commands' | 'seed' | 'minutes' | 'first' | 'clients', byDefault: number): number {
  const text = values[name];
  const number = text === undefined ? byDefault : Number(text);
  if (Number.isFinite(number) && number >= 0) return number;
  console.error(`Expected --${name} to be a number, got ${text}`);
  process.exit(2);
}

const commands = numberOf('commands', 50_000);
const seed = numberOf('seed', Date.now() % 1_000_000);
const first = numberOf('first', 1);
const until = performance.now() + numberOf('minutes', 24 * 60) * 60_000;

const project = fileURLToPath(new URL('..', import.meta.url));
const build = spawnSync('npm', ['run', '--silent', 'build'], { cwd: project, stdio: ['ignore', 'inherit', 'inherit'] });
if (build.status !== 0) process.exit(1);

const ground = prepareGround();
const served = await startServed(ground);
let isInterrupted = false;
process.once('SIGINT', () => {
  isInterrupted = true;
  console.error('No new batch is sent; what runs is waited for and audited');
});
process.once('exit', () => {
  served.kill();
  if (!values.keep) ground.remove();
});
console.error(`--seed=${seed} --first=${first}: the service is process ${served.pid} on port ${served.port}`);

let most = 0;
const idleDescriptors = openDescriptors(served.pid);
const idleBytes = residentBytes(served.pid);
const sampling = setInterval(() => {
  most = Math.max(most, residentBytes(served.pid));
}, SAMPLE_MS);

let toldAt = performance.now();
const result = await soak(served.port, ground, {
  seed,
  first,
  commands,
  clients: numberOf('clients', 8),
  until: () => isInterrupted || served.hasEnded() || performance.now() > until,
  onProgress: ({ commands: sent, batch, findings }) => {
    if (performance.now() - toldAt < PROGRESS_MS) return;
    toldAt = performance.now();
    const memory = Math.round(residentBytes(served.pid) / MIB);
    console.error(`${sent.toLocaleString('en')} commands, batch ${batch}, ${findings} findings, ${memory} MiB`);
  },
});
clearInterval(sampling);

const lastBytes = residentBytes(served.pid);
const descriptors = await descriptorsLeft();
const children = childrenOf(served.pid).map(({ pid, name, state }) => `child ${pid} (${name}, ${state})`);
const stopping = performance.now();
const ends = await served.stop();
const stoppedMs = Math.round(performance.now() - stopping);
const rest = [
  ...children,
  ...(descriptors > idleDescriptors + READY_DESCRIPTORS ? [`${descriptors - idleDescriptors} open descriptors`] : []),
  ...strayFiles(ground),
  ...processesOf(ground, []).map(({ pid, name }) => `${pid} (${name})`),
];
const complaints = served.complaints();

/** What is open once the last connections are closed on the other side as well. */
async function descriptorsLeft(): Promise<number> {
  const closedBy = performance.now() + CLOSING_MS;
  for (;;) {
    const open = openDescriptors(served.pid);
    if (open <= idleDescriptors + READY_DESCRIPTORS || performance.now() > closedBy) return open;
    await sleep(50);
  }
}

const mib = (bytes: number): string => `${Math.round(bytes / MIB)} MiB`;
const findings = [
  ...result.findings,
  ...ends,
  ...(complaints === '' ? [] : [{ kind: 'service', batch: '', detail: `it complained: ${complaints.trim()}` }]),
  ...rest.map((detail) => ({ kind: 'left-over', batch: '', detail: `after the end: ${detail}` })),
];
const rate = (result.commands / result.seconds).toFixed(1);
console.log(`commands      ${result.commands.toLocaleString('en')} in ${result.batches.toLocaleString('en')} batches`);
console.log(`time          ${result.seconds.toFixed(0)} s, ${rate} commands a second`);
console.log(
  `states        ${Object.entries(result.states)
    .map(([state, count]) => `${state} ${count}`)
    .join(', ')}`,
);
console.log(`parallel      ${result.parallel} were started on a proof`);
console.log(`connections   ${result.connections} or more`);
console.log(`memory        ${mib(idleBytes)} before, at most ${mib(most)}, ${mib(lastBytes)} at the end`);
console.log(`descriptors   ${idleDescriptors} before, ${descriptors} at the end`);
console.log(`shutdown      ${stoppedMs} ms`);
console.log(`machine       ${cpus().length} × ${cpus()[0]?.model}, node ${process.version}, ${release()}`);
for (const { kind, batch, detail } of findings) console.log(`FINDING ${kind} ${batch}: ${detail}`);
console.log(`findings      ${findings.length}`);
if (result.commands < commands) console.log(`go on with    --seed=${seed} --first=${result.next}`);
process.exitCode = findings.length === 0 ? 0 : 1;
