import { readFileSync } from 'node:fs';
import { type Gate, RIVALS, type Rival } from './lock-rivals.ts';

/*
 * The lock against three others in one run. Each figure is the least processor time of several rounds: on a machine with
 * other work the clock on the wall counts that too.
 */

/** Processor time that one figure of one lock may take before its rounds end, in nanoseconds. */
const ENOUGH_NS = 1_500_000_000;
const ROUNDS = 15;

type Task = {
  readonly name: string;
  /** How many times the thing measured is done in one go. */
  readonly times: number;
  readonly needsAbort?: true;
  /** Does it, and gives the nanoseconds of processor time that it took. */
  run(rival: Rival): Promise<number>;
};

/** Nanoseconds of processor time for one, by lock and task. Undefined where a lock cannot do it. */
type Figures = ReadonlyMap<Task, readonly (number | undefined)[]>;

/** A demand on the figures, met or not. */
type Bar = { readonly what: string; readonly limit: number; readonly got: number };

/**
 * Nanoseconds that this thread has had a processor, brought up to date every few milliseconds: Linux tells, others only
 * for the process with its helping threads.
 */
function threadTime(): number {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ', 1)[0]);
  } catch {
    return processTime();
  }
}

/** The same for all threads, exact. */
function processTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) * 1000;
}

async function costOf(work: () => unknown): Promise<number> {
  const before = threadTime();
  await work();
  return threadTime() - before;
}

/** Joins behind a holder, then lets all through; in so many queues that small ones can be measured too. */
function waiting(waiters: number): Task {
  const queues = 100_000 / waiters;
  return {
    name: `${waiters.toLocaleString('en')} waiters on one key, each`,
    times: waiters * queues,
    run: (rival) =>
      costOf(async () => {
        for (let queue = 0; queue < queues; queue++) {
          const { gate, leave } = held(rival);
          const turns: Promise<unknown>[] = [];
          for (let at = 0; at < waiters; at++) turns.push(gate.enter());
          leave();
          await Promise.all(turns);
        }
      }),
  };
}

/** Each of a thousand in the middle of the queue gives up his place. */
function aborting(waiters: number): Task {
  const aborted = 1_000;
  return {
    name: `abort of one in the middle of ${waiters.toLocaleString('en')}`,
    times: aborted,
    needsAbort: true,
    async run(rival) {
      const { gate, leave } = held(rival);
      const controllers = Array.from({ length: aborted }, () => new AbortController());
      const turns: Promise<unknown>[] = [];
      const first = (waiters - aborted) / 2;
      for (let at = 0; at < waiters; at++) turns.push(gate.enter(controllers[at - first]?.signal).catch(String));
      // Too short for the time of the thread.
      const before = processTime();
      for (const controller of controllers) controller.abort('enough');
      const cost = processTime() - before;
      leave();
      await Promise.all(turns);
      return cost;
    },
  };
}

function held(rival: Rival): { gate: Gate; leave: () => void } {
  const gate = rival.gate();
  let leave = (): void => {};
  void gate.stay(
    new Promise((resolve) => {
      leave = resolve;
    }),
  );
  return { gate, leave };
}

const ONE_KEY: Task = {
  name: 'one free key, acquired and released',
  times: 100_000,
  run: (rival) => costOf(() => rival.gate().pass(100_000)),
};

const FOUR_KEYS: Task = {
  name: 'four free keys, acquired and released',
  times: 50_000,
  run: (rival) => costOf(() => rival.passFour(50_000)),
};

const FEW_WAITERS = waiting(1_000);
const MANY_WAITERS = waiting(50_000);

const TASKS: readonly Task[] = [
  ONE_KEY,
  FOUR_KEYS,
  FEW_WAITERS,
  waiting(10_000),
  MANY_WAITERS,
  aborting(2_000),
  aborting(50_000),
];

/** The least of all rounds of each lock: its first ones only warm the compiler up. */
async function figuresOf(task: Task): Promise<readonly (number | undefined)[]> {
  const figures: (number | undefined)[] = [];
  for (const rival of RIVALS) {
    let best = Number.POSITIVE_INFINITY;
    const isAble = task.needsAbort !== true || rival.isAbortable;
    for (let round = 0, spent = 0; isAble && round < ROUNDS && spent < ENOUGH_NS; round++) {
      const cost = await task.run(rival);
      spent += cost;
      best = Math.min(best, cost / task.times);
    }
    figures.push(isAble ? best : undefined);
  }
  return figures;
}

/** What is promised of these figures. */
function barsOf(figures: Figures): readonly Bar[] {
  const bars: Bar[] = [];
  for (const [{ name }, [ours, mutex]] of figures) {
    if (mutex !== undefined) bars.push({ what: `${name}: of async-mutex`, limit: 1 / 2, got: ours! / mutex });
  }
  const [ours, ...others] = figures.get(MANY_WAITERS)!;
  const fastest = Math.min(...others.map((figure) => figure!));
  bars.push({ what: `${MANY_WAITERS.name}: of the fastest of the others`, limit: 1, got: ours! / fastest });
  const growth = ours! / figures.get(FEW_WAITERS)![0]!;
  bars.push({ what: 'a waiter at 50,000, of what one costs at 1,000', limit: 3, got: growth });
  return bars;
}

/**
 * Measures all four and prints the table, then each bar with what came.
 *
 * @returns whether all bars are met.
 */
export async function compareLocks(): Promise<boolean> {
  const figures = new Map<Task, readonly (number | undefined)[]>();
  for (const task of TASKS) figures.set(task, await figuresOf(task));
  const cell = (text: string): string => text.padStart(12);
  const width = Math.max(...TASKS.map(({ name }) => name.length));
  console.log(`${'nanoseconds of processor time'.padEnd(width)}${RIVALS.map(({ name }) => cell(name)).join('')}`);
  for (const [{ name }, row] of figures) {
    const cells = row.map((figure) => cell(figure === undefined ? '-' : Math.round(figure).toLocaleString('en')));
    console.log(`${name.padEnd(width)}${cells.join('')}`);
  }
  console.log('');
  const bars = barsOf(figures);
  for (const { what, limit, got } of bars) {
    console.log(`${got <= limit ? 'met   ' : 'MISSED'} ${what}: ${got.toFixed(2)}, at most ${limit}`);
  }
  return bars.every(({ limit, got }) => got <= limit);
}
