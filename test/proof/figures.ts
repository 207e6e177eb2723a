import { execFileSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { cpus, release, type } from 'node:os';
import type { RuleException } from '../../src/rules/schema.ts';
import { type Candidate, CORPUS_DRAWN, hasCorpus } from './commands.ts';
import type { Entry, Observer } from './coverage.ts';
import type { Comparison } from './profiles.ts';
import type { ProofSet, Proved } from './suite.ts';

/** What a long run of the proof came to, as data. */
export type Figures = {
  readonly machine: string;
  /** A day: `2026-12-01`. */
  readonly on: string;
  /** Of the rule set that was proved. */
  readonly ruleset: string;
  readonly sources: readonly (Counts & { readonly source: string })[];
  /** Commands for which there was no time. */
  readonly left: number;
  /** Of what was drawn from the corpus: how many stand among the others already, and how many have their paths mapped. */
  readonly corpus: { readonly drawn: number; readonly others: number; readonly mapped: number } | null;
  readonly comparisons: Readonly<Record<Comparison['kind'], number>>;
  readonly entries: readonly EntryFigures[];
  readonly binaries: readonly BinaryFigures[];
  /** Names of rules that are not on the machine. */
  readonly missing: readonly string[];
  /** What no command was run for, though its program is there. */
  readonly notRun: readonly { readonly key: string; readonly why: string }[];
  readonly exceptions: readonly { readonly binary: string; readonly what: string; readonly why: string }[];
};

/** Answered: ended with 0 or 1, which many programs say of finding nothing. */
export type Counts = { readonly run: number; readonly found: number; readonly answered: number };

/** Entries of programs that are there: how many stood in a command that was run, and in one that answered. */
export type EntryFigures = {
  readonly kind: Entry['kind'];
  readonly all: number;
  readonly run: number;
  readonly answered: number;
};

export type BinaryFigures = Counts & {
  readonly binary: string;
  readonly maturity: string;
  readonly version: string;
  readonly options: EntryFigures;
};

const KINDS: readonly Entry['kind'][] = ['option', 'spelling', 'shape', 'alone'];

export type Results = {
  readonly proved: readonly Proved[];
  readonly left: number;
  readonly comparisons: Figures['comparisons'];
  /** Whether a name can be run on this machine. */
  readonly isThere: (name: string) => boolean;
};

export function figuresOf(
  { rules, files, candidates }: ProofSet,
  { entries, entriesOf }: Observer,
  { proved, left, comparisons, isThere }: Results,
): Figures {
  const ran = proved.filter(({ outcome }) => outcome.refused === null);
  const run = new Set(ran.flatMap(({ command }) => entriesOf(command)));
  const answered = new Set(ran.filter(isAnswered).flatMap(({ command }) => entriesOf(command)));
  const planned = new Set(candidates.flatMap(({ command }) => entriesOf(command)));
  const there = entries.filter(({ binary }) => isThere(binary));
  const count = (kind: Entry['kind'], names?: readonly string[]): EntryFigures => {
    const own = there.filter((one) => one.kind === kind && (names?.includes(one.binary) ?? true));
    return {
      kind,
      all: own.length,
      run: own.filter(({ key }) => run.has(key)).length,
      answered: own.filter(({ key }) => answered.has(key)).length,
    };
  };
  const sources = [...new Set(proved.map(({ source }) => source)), 'all'];
  return {
    machine: machine(),
    on: new Date().toISOString().slice(0, 10),
    ruleset: rules.hash,
    sources: sources.map((source) => ({
      source,
      ...countsOf(proved.filter((one) => source === 'all' || one.source === source)),
    })),
    left,
    corpus: corpusOf(candidates),
    comparisons,
    entries: KINDS.map((kind) => count(kind)),
    binaries: files.flatMap(({ binary, also = [], maturity }) => {
      const own = proved.filter((one) => one.binary === binary);
      const options = count('option', [binary, ...also]);
      return own.length === 0 ? [] : [{ binary, maturity, version: versionOf(binary, own), options, ...countsOf(own) }];
    }),
    missing: [...new Set(entries.map(({ binary }) => binary))].filter((name) => !isThere(name)).sort(),
    // Of an option one spelling is enough here; the table tells how many of the others were run.
    notRun: there
      .filter(({ key, kind }) => kind !== 'spelling' && !run.has(key))
      .map(({ key, whyNot }) => ({
        key,
        // What has a command had no time.
        why: planned.has(key) ? 'there was no time' : whyNot,
      })),
    exceptions: exceptionsOf(proved),
  };
}

export function isAnswered({ outcome }: Proved): boolean {
  return (outcome.result.exitCode ?? 255) < 2;
}

export function isClean({ outcome }: Proved): boolean {
  return outcome.findings.length === 0;
}

function countsOf(rows: readonly Proved[]): Counts {
  return {
    run: rows.length,
    found: rows.filter((one) => !isClean(one)).length,
    answered: rows.filter(isAnswered).length,
  };
}

function corpusOf(candidates: readonly Candidate[]): Figures['corpus'] {
  if (!hasCorpus()) return null;
  const kept = candidates.filter(({ source }) => source === 'corpus');
  const mapped = kept.filter(({ original }) => original !== undefined).length;
  return { drawn: CORPUS_DRAWN, others: CORPUS_DRAWN - kept.length, mapped };
}

function exceptionsOf(proved: readonly Proved[]): Figures['exceptions'] {
  const used = new Map<string, { readonly one: RuleException; readonly binary: string }>();
  for (const { binary, outcome } of proved)
    for (const one of outcome.used) used.set(JSON.stringify([binary, one]), { one, binary });
  return [...used.values()].map(({ one, binary }) => ({
    binary,
    what: 'writes' in one ? one.writes : `${one.sockets} socket`,
    why: one.why,
  }));
}

function machine(): string {
  const processors = cpus();
  const model = processors[0]?.model ?? 'unknown processor';
  return `${processors.length} × ${model}, ${type()} ${release().split('-')[0]}, ${distribution()}, Node ${process.version}`;
}

function distribution(): string {
  return told(['sh', '-c', '. /etc/os-release && echo "$PRETTY_NAME"']) ?? 'unknown distribution';
}

/** What it says of itself when it is asked for its version, else what Debian says of its package. */
function versionOf(binary: string, own: readonly Proved[]): string {
  const asked = own.find(
    ({ command, outcome }) =>
      [`${binary} --version`, `${binary} version`, `${binary} -V`, `${binary} -v`].includes(command) &&
      outcome.result.exitCode === 0 &&
      outcome.result.stdout.trim() !== '',
  );
  const said = asked?.outcome.result.stdout.trim().split('\n')[0];
  return (said ?? packageOf(binary) ?? 'not known').slice(0, 60);
}

function packageOf(binary: string): string | null {
  const path = told(['sh', '-c', 'command -v -- "$0"', binary]);
  if (path === null || !path.startsWith('/')) return path === null ? null : 'bash';
  for (const name of new Set([path, realpathSync(path)])) {
    const owner = told(['dpkg-query', '-S', name])?.split(': ')[0];
    if (owner !== undefined) return told(['dpkg-query', '-W', owner])?.replace('\t', ' ') ?? null;
  }
  return null;
}

function told([program = '', ...words]: readonly string[]): string | null {
  try {
    return execFileSync(program, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return null;
  }
}
