import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRepositoryProbe, type ProbeOptions } from '../src/dispatcher/repository-probe.ts';

/*
 * What a probe costs on a generated repository of 50,000 files in 2,500 directories, beside what it saves or delays: one
 * start of git. `npx tsx bench/probe.ts` prints the table.
 */

const DIRECTORIES = 2_500;
const FILES_EACH = 20;
const ROUNDS = 15;

const LFS = '[filter "lfs"]\n\tclean = git-lfs clean -- %f\n\tprocess = git-lfs filter-process\n\trequired = true\n';

type Row = { readonly what: string; readonly milliseconds: number };

/** The median of several rounds, in milliseconds. @param before what does not count, ahead of each round. */
function median(ask: () => void, before: () => void = () => {}): number {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    before();
    const start = performance.now();
    ask();
    times.push(performance.now() - start);
  }
  return times.sort((one, other) => one - other)[ROUNDS >> 1]!;
}

function generate(home: string): string {
  const top = join(home, 'repo');
  for (let at = 0; at < DIRECTORIES; at++) {
    const directory = join(top, `part-${at % 50}`, `module-${at}`);
    mkdirSync(directory, { recursive: true });
    for (let file = 0; file < FILES_EACH; file++) writeFileSync(join(directory, `file-${file}.ts`), `${at} ${file}\n`);
  }
  const git = (...args: readonly string[]) =>
    execFileSync('git', args, { cwd: top, env: { PATH: process.env.PATH, HOME: home }, stdio: 'ignore' });
  git('init', '--quiet');
  git('add', '.');
  return top;
}

/** Runs the whole bench and prints its table. */
export function benchProbe(): void {
  const home = mkdtempSync(join(tmpdir(), 'signalbox-probe-'));
  try {
    const top = generate(home);
    const index = join(top, '.git/index');
    const options: ProbeOptions = { environment: { HOME: home, PATH: process.env.PATH }, index: false };
    const quick: ProbeOptions = { ...options, programs: false };
    // Ahead, so that what was just generated counts as old enough to be remembered.
    const fresh = () => createRepositoryProbe({ now: () => Date.now() + 60_000 });
    const environment = { PATH: process.env.PATH, HOME: home, GIT_OPTIONAL_LOCKS: '0' };
    const git = (...args: readonly string[]) =>
      execFileSync('git', args, { cwd: top, env: environment, stdio: 'ignore' });

    const rows: Row[] = [];
    const measure = (what: string, ask: () => void, before?: () => void) =>
      rows.push({ what, milliseconds: median(ask, before) });

    measure('git rev-parse --git-dir, for comparison', () => git('rev-parse', '--git-dir'));
    measure('git status, for comparison', () => git('status'));

    let probe = fresh();
    const forget = () => {
      probe = fresh();
    };
    const touchIndex = () => utimesSync(index, new Date(), new Date(Date.now() - Math.floor(Math.random() * 1e6)));
    measure('no driver, first probe', () => probe(top, options), forget);
    measure('no driver, again', () => probe(top, options));
    measure('no driver, after the index changed', () => probe(top, options), touchIndex);
    measure('no driver, a read that starts no programs, again', () => probe(top, quick));

    measure('no driver, with a look for stale times in the index', () => probe(top, { ...options, index: true }));

    appendFileSync(join(home, '.gitconfig'), LFS);
    const { findings } = probe(top, options);
    if (findings.length > 0) throw new Error(`Expected a plain repository, got ${JSON.stringify(findings)}`);
    measure('git-lfs not selected, first probe', () => probe(top, options), forget);
    measure('git-lfs not selected, again', () => probe(top, options));
    measure('git-lfs not selected, after the index changed', () => probe(top, options), touchIndex);
    measure('git-lfs not selected, a read that starts no programs, again', () => probe(top, quick));

    for (const { what, milliseconds } of rows) console.log(`${milliseconds.toFixed(2).padStart(9)} ms  ${what}`);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

if (process.argv[1]?.endsWith('probe.ts')) benchProbe();
