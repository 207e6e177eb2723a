import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { Pipes } from './drain.ts';
import { endFamily, type Family, isGone, living, waitForEnd } from './ending.ts';
import type { FindCarriers } from './marker-search.ts';
import type { Stream } from './output.ts';
import type { PipeSource } from './pipe-source.ts';
import type { ProcessTable } from './process-table.ts';
import { prepareStdio, type StdioOption, type Streams } from './stdio.ts';

/** The part of node's child process that is used. */
export interface SpawnedProcess {
  /** Undefined when it could not be started; an `error` event follows. */
  readonly pid?: number | undefined;
  readonly stdin: Writable | null;
  readonly stdout: Readable | null;
  readonly stderr: Readable | null;
  once(event: 'exit', listener: (code: number | null, signal: NodeJS.Signals | null) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

export type SpawnOptions = {
  readonly argv0: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Its own session and process group, so that a signal reaches all of it and nothing else. */
  readonly detached: true;
  readonly stdio: readonly [StdioOption, StdioOption, StdioOption];
};

/** Starts a program. `node:child_process`'s `spawn`, or a stand-in for tests of ordering. */
export type Spawn = (file: string, args: readonly string[], options: SpawnOptions) => SpawnedProcess;

/** What happens to processes that a command leaves behind: ended after a short while, or left alone and named. */
export type OrphanPolicy = 'kill' | 'keep';

export type RunSpec = {
  readonly file: string;
  /** The name that the program is started under, then its arguments. */
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Null: the null device. */
  readonly stdin: string | null;
  /** Stands in `env`; children are recognised by it. */
  readonly marker: string;
  /** Milliseconds between the request to end and SIGKILL. */
  readonly graceMs: number;
  /** Milliseconds of silence after which an open pipe is given up, and that a left process gets to end by itself. */
  readonly drainMs: number;
  readonly orphans: OrphanPolicy;
  readonly onOutput: (stream: Stream, chunk: Buffer) => void;
};

export type RunnerDeps = {
  readonly spawn: Spawn;
  /** Null: what `spawn` makes of `pipe`. */
  readonly pipes: PipeSource | null;
  readonly table: ProcessTable;
  readonly findCarriers: FindCarriers;
  readonly now: () => number;
};

/** How a run ended. `at` is when, by the injected clock. */
export type Ended =
  | {
      readonly kind: 'exited';
      readonly at: number;
      readonly exitCode: number;
      readonly signal: string | null;
      /** Who was left alone, by pid. */
      readonly orphans: readonly number[];
      /** What is to be said about processes that it left behind. */
      readonly note: string | null;
      /** Nobody is left, or is to be waited for: `gone` settles at once. */
      readonly isGone: boolean;
    }
  /** `end` was called before it had ended by itself. Told at once; what it still prints is not read. */
  | { readonly kind: 'stopped'; readonly at: number };

export type Running = {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  /** Settles when its whole process group, and every process with its marker, is gone; or when they are to be kept. */
  readonly gone: Promise<void>;
  /** Asks it to end, and makes it after `graceMs`. Idempotent; nothing happens when it has ended by itself. */
  end(): void;
};

/** Whether it runs is known at once; why it does not, a moment later. */
export type Start = { readonly running: Running } | { readonly failure: Promise<Error> };

/** Starts a program in its own process group. When it fails, nothing has run. */
export function startRun(spec: RunSpec, deps: RunnerDeps): Start {
  const [name = spec.file, ...args] = spec.argv;
  const since = performance.now();
  const stdio = prepareStdio(deps.pipes, spec.stdin !== null);
  let child: SpawnedProcess;
  try {
    child = deps.spawn(spec.file, args, {
      argv0: name,
      cwd: spec.cwd,
      env: spec.env,
      detached: true,
      stdio: stdio.option,
    });
  } catch (error) {
    stdio.abandon();
    // Node throws some of the system's errors (too long an argument list) and tells the others in an event.
    return { failure: Promise.resolve(error as Error) };
  }
  const failure = new Promise<Error>((resolve) => {
    // Also for later: without a listener, an error would end this process.
    child.on('error', resolve);
  });
  const { pid } = child;
  const streams = pid === undefined ? null : stdio.attach(child);
  if (pid === undefined || streams === null) {
    stdio.abandon();
    return { failure };
  }
  feed(streams.stdin, spec.stdin);
  const family: Family = { ...deps, group: pid, marker: spec.marker, since };
  return { running: supervise(child, family, streams, spec, deps.now) };
}

/** A command that ends, or closes its input, without reading all of it breaks the pipe: that is its own affair. */
function feed(stdin: Writable | null, text: string | null): void {
  if (stdin === null || text === null) return;
  stdin.on('error', () => {});
  stdin.end(text);
}

function supervise(
  child: SpawnedProcess,
  family: Family,
  { stdin, stdout, stderr }: Streams,
  spec: RunSpec,
  now: () => number,
): Running {
  const pipes = new Pipes([stdout, stderr], (index, chunk) => spec.onOutput(index === 0 ? 'stdout' : 'stderr', chunk));
  let hasExited = false;
  let stopping: Promise<void> | null = null;
  let tell: (ended: Ended) => void = () => {};
  const ended = new Promise<Ended>((resolve) => {
    tell = resolve;
  });
  const exited = new Promise<{ exitCode: number; signal: string | null; at: number }>((resolve) => {
    child.once('exit', (code, signal) => {
      hasExited = true;
      resolve({ exitCode: code ?? 128 + numberOf(signal), signal, at: now() });
    });
  });

  async function follow(): Promise<void> {
    const exit = { kind: 'exited', ...(await exited), orphans: [], note: null, isGone: true } as const;
    if (stopping !== null) return stopping;
    await pipes.drain(spec.drainMs);
    if (await isGone(family)) {
      tell({ ...exit, note: pipes.isOpen ? 'A process that could not be found held its output open' : null });
      return;
    }
    if (spec.orphans === 'keep') {
      pipes.detach();
      tell({ ...exit, orphans: await living(family), note: 'It left processes running' });
      return;
    }
    // An open pipe has been silent for that long already.
    if (!pipes.isOpen && (await waitForEnd(family, spec.drainMs))) {
      tell(exit);
      return;
    }
    const left = (await living(family)).length;
    tell({
      ...exit,
      note: `It left ${left === 1 ? 'a process' : `${left} processes`} running, which was ended`,
      isGone: false,
    });
    await endFamily(family, spec.graceMs);
  }

  const gone = follow().finally(() => {
    stdin?.destroy();
    if (spec.orphans === 'kill' || stopping !== null) pipes.destroy();
  });

  function end(): void {
    if (hasExited || stopping !== null) return;
    stopping = endFamily(family, spec.graceMs);
    tell({ kind: 'stopped', at: now() });
  }

  return { pid: family.group, ended, gone, end };
}

function numberOf(signal: NodeJS.Signals | null): number {
  return signal === null ? 0 : constants.signals[signal];
}
