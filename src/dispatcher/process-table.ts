import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** The variable that every command carries in its environment, and its children inherit. */
export const MARKER_VARIABLE = 'SIGNALBOX_COMMAND';

/**
 * What the runner asks the operating system about processes. A seam: tests of ordering bring their own.
 * A pid of our own group stays ours until nobody is left in the group, so signals never reach a stranger.
 */
export interface ProcessTable {
  /** Sends a signal to every process of the group; false when there is none. */
  signalGroup(group: number, signal: NodeJS.Signals): boolean;
  signal(pid: number, signal: NodeJS.Signals): boolean;
  /** True while a process of the group lives. Zombies do not count: nobody may ever reap them. */
  isGroupAlive(group: number): boolean;
  /** The live processes of a group. Empty where the system does not tell (no /proc). */
  members(group: number): readonly number[];
  /** The live processes that carry each of these markers in their environment, by marker. */
  carriers(wanted: readonly MarkerQuery[]): ReadonlyMap<string, readonly number[]>;
}

/** A marker, and since when its command runs. */
export type MarkerQuery = {
  readonly marker: string;
  /** The pid of the command itself. */
  readonly group: number;
  /** Milliseconds since its start. */
  readonly ageMs: number;
};

/**
 * The value of the marker variable: the markers of the commands around this one, then its own, so that an inner
 * Signalbox does not hide its commands from the outer one.
 */
export function markerValue(inherited: string | undefined, marker: string): string {
  return inherited === undefined || inherited === '' ? marker : `${inherited}:${marker}`;
}

/** The operating system's own table: signals by `kill`, the rest from /proc. */
export const systemProcesses: ProcessTable = Object.freeze({
  signalGroup: (group: number, signal: NodeJS.Signals) => send(-group, signal),
  signal: (pid: number, signal: NodeJS.Signals) => send(pid, signal),
  isGroupAlive,
  members,
  carriers,
});

function send(target: number, signal: NodeJS.Signals | 0): boolean {
  // Zero and one would be our own group and everything there is.
  if (!Number.isInteger(target) || Math.abs(target) < 2) return false;
  try {
    process.kill(target, signal);
    return true;
  } catch (error) {
    // EPERM: somebody is there whom we may not signal (a set-user-id program). Alive is the strict answer.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function isGroupAlive(group: number): boolean {
  if (!send(-group, 0)) return false;
  try {
    // kill(2) also finds zombies; where node is process 1 of a container, an orphan is never reaped.
    return pids().length === 0 || listed(group).length > 0;
  } catch {
    return true;
  }
}

/** As far as they can be read: whoever asks signals the whole group as well. */
function members(group: number): readonly number[] {
  try {
    return listed(group);
  } catch {
    return [];
  }
}

function listed(group: number): readonly number[] {
  return pids().filter((pid) => {
    const status = groupAndState(pid);
    return status !== null && status.group === group && status.state !== 'Z' && status.state !== 'X';
  });
}

/** Where a name may hold blanks and parentheses, the fields count from the last `)`: state, parent, group. */
function groupAndState(pid: number): { state: string; group: number } | null {
  const text = read(`/proc/${pid}/stat`)?.toString('latin1');
  if (text === undefined) return null;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', group: Number(fields[2]) };
}

/** More rounds than one while processes vanish under the reader: one that forks and ends could hide its child. */
const MAX_ROUNDS = 5;

/**
 * More rounds, too, while one is in the midst of starting another program: for that moment its environment reads as
 * empty. The kernel needs microseconds for it, but on a busy machine the process may have to wait for its turn first.
 */
const MAX_SETTLING_ROUNDS = 250;

/** Milliseconds between two such rounds. */
const SETTLING_MS = 1;
const CLOCK = new Int32Array(new SharedArrayBuffer(4));

/** Which of the fields behind the name says where the environment begins in memory; the next, where it ends (proc(5)). */
const ENVIRONMENT = 47;

/** The flag of the kernel's own threads, which have no environment at all. */
const KERNEL_THREAD = 0x0020_0000;

/**
 * Below this age not all pids can have been used up, even at 300,000 forks a second: what the command has started has a
 * later pid than the command's own, counting on from the lowest after the highest.
 */
const MAX_AGE_OF_ORDER_MS = 100;

function carriers(wanted: readonly MarkerQuery[]): ReadonlyMap<string, readonly number[]> {
  const markers = new Set(wanted.map(({ marker }) => marker));
  const mayCarry = candidates(wanted);
  const found = new Map<string, number[]>();
  let [vanishing, settling] = [0, 0];
  for (;;) {
    found.clear();
    let hasVanished = false;
    let isSettling = false;
    for (const pid of pids()) {
      if (!mayCarry(pid)) continue;
      const environment = read(`/proc/${pid}/environ`);
      if (environment === undefined) hasVanished = true;
      else if (environment === null) continue;
      else if (environment.length === 0) isSettling ||= mayBeStarting(pid);
      else for (const marker of carried(environment, markers)) found.set(marker, [...(found.get(marker) ?? []), pid]);
    }
    if (isSettling && ++settling <= MAX_SETTLING_ROUNDS) Atomics.wait(CLOCK, 0, 0, SETTLING_MS);
    else if (!hasVanished || ++vanishing >= MAX_ROUNDS) return found;
  }
}

/** Which processes need be read: to read one costs 10 µs, and there may be thousands. */
function candidates(wanted: readonly MarkerQuery[]): (pid: number) => boolean {
  const last = lastPid();
  if (last === null || wanted.some(({ ageMs }) => !(ageMs < MAX_AGE_OF_ORDER_MS))) return () => true;
  return (pid) => wanted.some(({ group }) => pid > group || (last < group && pid <= last));
}

/** The pid that was given last; null where /proc does not show our own processes. */
function lastPid(): number | null {
  try {
    if (readlinkSync('/proc/self') !== String(process.pid)) return null;
    const last = Number(readFileSync('/proc/loadavg', 'latin1').split(' ').at(-1));
    return Number.isInteger(last) && last > 0 ? last : null;
  } catch {
    return null;
  }
}

const PREFIX = Buffer.from(`${MARKER_VARIABLE}=`);

function carried(environment: Buffer, markers: ReadonlySet<string>): readonly string[] {
  let at = environment.indexOf(PREFIX);
  while (at > 0 && environment[at - 1] !== 0) at = environment.indexOf(PREFIX, at + 1);
  if (at < 0) return [];
  const end = environment.indexOf(0, at);
  const value = environment.toString('latin1', at + PREFIX.length, end < 0 ? environment.length : end);
  return value.split(':').filter((marker) => markers.has(marker));
}

function pids(): number[] {
  try {
    return readdirSync('/proc').flatMap((name) => (/^[0-9]+$/.test(name) ? [Number(name)] : []));
  } catch (error) {
    throwIfShort(error);
    return [];
  }
}

/** Short of descriptors or memory nobody can be seen, and that nobody is there must not be concluded from it. */
function throwIfShort(error: unknown): void {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EMFILE' || code === 'ENFILE' || code === 'ENOMEM') throw error;
}

/**
 * Whether what read as an empty environment is that of a live process which is just starting another program: where its
 * environment lies is told only once it has one, and by then one that was opened before may have read as empty, too. Only
 * a program that was started without any has one that ends where it begins.
 */
function mayBeStarting(pid: number): boolean {
  const text = read(`/proc/${pid}/stat`)?.toString('latin1');
  if (text === undefined) return false;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const isKernelThread = (Number(fields[6]) & KERNEL_THREAD) !== 0;
  const [start, end] = fields.slice(ENVIRONMENT, ENVIRONMENT + 2);
  const isWithout = start === end && end !== '0';
  return fields[0] !== 'Z' && fields[0] !== 'X' && !isKernelThread && !isWithout;
}

/** Undefined when the process has gone; null when it is somebody else's and may not be read. */
function read(path: string): Buffer | null | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    throwIfShort(error);
    const code = (error as NodeJS.ErrnoException).code;
    return code === 'ENOENT' || code === 'ESRCH' ? undefined : null;
  }
}
