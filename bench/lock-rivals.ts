import AsyncLock from 'async-lock';
import { Mutex } from 'async-mutex';
import PQueue from 'p-queue';
import { KeyedLock } from '../src/dispatcher/keyed-lock.ts';

type Turn = Promise<unknown>;

/** One key of a lock. */
export type Gate = {
  /** Enters and leaves so many times, one after the other. */
  pass(times: number): Turn;
  /** Enters as soon as it may, and leaves at once. The signal gives the place up where the lock knows of such. */
  enter(signal?: AbortSignal): Turn;
  /** Enters, and leaves when the promise settles. */
  stay(until: Promise<void>): Turn;
};

/** A lock as the comparison uses it: each in the way that its own documentation shows. */
export type Rival = {
  readonly name: string;
  /** False where who waits cannot give up his own place alone. */
  readonly isAbortable: boolean;
  gate(): Gate;
  /** Has four keys together and gives them back, so many times, one after the other. */
  passFour(times: number): Turn;
};

const FOUR = ['a', 'b', 'c', 'd'] as const;

const NOTHING = (): void => {};

const KEYED_LOCK: Rival = {
  name: 'KeyedLock',
  isAbortable: true,
  gate() {
    const lock = new KeyedLock();
    return {
      async pass(times) {
        for (let at = 0; at < times; at++) {
          const release = await lock.acquire('key');
          release();
        }
      },
      enter: (signal) => lock.acquire('key', signal).then((release) => release()),
      stay: (until) => lock.run('key', () => until),
    };
  },
  async passFour(times) {
    const lock = new KeyedLock();
    for (let at = 0; at < times; at++) {
      const release = await lock.acquire(FOUR);
      release();
    }
  },
};

const ASYNC_MUTEX: Rival = {
  name: 'async-mutex',
  isAbortable: false,
  gate() {
    const mutex = new Mutex();
    return {
      async pass(times) {
        for (let at = 0; at < times; at++) {
          const release = await mutex.acquire();
          release();
        }
      },
      enter: () => mutex.acquire().then((release) => release()),
      stay: (until) => mutex.runExclusive(() => until),
    };
  },
  async passFour(times) {
    const mutexes = FOUR.map(() => new Mutex());
    for (let at = 0; at < times; at++) {
      const releases: (() => void)[] = [];
      for (const mutex of mutexes) releases.push(await mutex.acquire());
      for (const release of releases) release();
    }
  },
};

const ASYNC_LOCK: Rival = {
  name: 'async-lock',
  isAbortable: false,
  gate() {
    const lock = new AsyncLock({ maxPending: Number.POSITIVE_INFINITY });
    return {
      async pass(times) {
        for (let at = 0; at < times; at++) await lock.acquire('key', NOTHING);
      },
      enter: () => lock.acquire('key', NOTHING),
      stay: (until) => lock.acquire('key', () => until),
    };
  },
  async passFour(times) {
    const lock = new AsyncLock();
    for (let at = 0; at < times; at++) await lock.acquire([...FOUR], NOTHING);
  },
};

const P_QUEUE: Rival = {
  name: 'p-queue',
  isAbortable: true,
  gate() {
    const queue = new PQueue({ concurrency: 1 });
    return {
      async pass(times) {
        for (let at = 0; at < times; at++) await queue.add(NOTHING);
      },
      enter: (signal) => queue.add(NOTHING, { signal }),
      stay: (until) => queue.add(() => until),
    };
  },
  async passFour(times) {
    const [one, two, three, four] = FOUR.map(() => new PQueue({ concurrency: 1 })) as [PQueue, PQueue, PQueue, PQueue];
    for (let at = 0; at < times; at++) {
      await one.add(() => two.add(() => three.add(() => four.add(NOTHING))));
    }
  },
};

/** Ours first. */
export const RIVALS: readonly Rival[] = [KEYED_LOCK, ASYNC_MUTEX, ASYNC_LOCK, P_QUEUE];
