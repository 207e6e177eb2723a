import { setTimeout as sleep } from 'node:timers/promises';
import type { FindCarriers } from './marker-search.ts';
import type { ProcessTable } from './process-table.ts';

/** The processes of one command: its group, and whatever carries its marker. */
export type Family = {
  readonly group: number;
  readonly marker: string;
  /** When it was started, by `performance.now`; not later. */
  readonly since: number;
  readonly table: ProcessTable;
  readonly findCarriers: FindCarriers;
};

/** Milliseconds between two looks: short at first, since most processes end at once. */
const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 50;

/** Everyone of the family that lives, without duplicates. Empty also where the system tells no pids. */
export async function living(family: Family): Promise<readonly number[]> {
  const carriers = await family.findCarriers(family);
  return [...new Set([...family.table.members(family.group), ...carriers])];
}

/** True when nobody of the family lives. The group is asked first: it costs one system call. */
export async function isGone(family: Family): Promise<boolean> {
  return !family.table.isGroupAlive(family.group) && (await family.findCarriers(family)).length === 0;
}

/** Waits until the family has ended by itself, at most `forMs`. True when it has. */
export async function waitForEnd(family: Family, forMs: number): Promise<boolean> {
  const until = performance.now() + forMs;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    if (await isGone(family)) return true;
    const left = until - performance.now();
    if (left <= 0) return false;
    await sleep(Math.min(pause, left));
  }
}

/**
 * Ends a family and waits until nobody is left, however long that takes: SIGTERM to the group and to all that left it,
 * `graceMs` to clean up (a killed writer leaves its lock files), then SIGKILL until even the newest child is gone.
 */
export async function endFamily(family: Family, graceMs: number): Promise<void> {
  // A stopped process would keep the request to end for the day when somebody wakes it.
  await signalAll(family, ['SIGTERM', 'SIGCONT']);
  if (await waitForEnd(family, graceMs)) return;
  do await signalAll(family, ['SIGKILL']);
  while (!(await waitForEnd(family, LONGEST_PAUSE_MS)));
}

/** Everyone gets each signal once: what a process starts to clean up after the first SIGTERM must not get another. */
async function signalAll(family: Family, signals: readonly NodeJS.Signals[]): Promise<void> {
  const { group, table, findCarriers } = family;
  const carriers = await findCarriers(family);
  const members = new Set(carriers.length === 0 ? [] : table.members(group));
  for (const signal of signals) {
    table.signalGroup(group, signal);
    for (const pid of carriers) if (!members.has(pid)) table.signal(pid, signal);
  }
}
