import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';

/**
 * Runs a program under strace and says what it did besides reading. Nothing is assumed about the program: a call that is
 * not known to be a read is a change, and an attempt that failed counts as if it had not.
 */

/** Where and as whom a program is traced. */
export type Surroundings = {
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** A directory for the log, outside what is watched, which that user may write. */
  readonly scratch: string;
  readonly uid?: number;
  readonly gid?: number;
};

export type Traced = {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Calls that change something, lock, or open a connection, as strace prints them. */
  readonly changes: readonly string[];
  /** The programs that were started, by base name, without the first. */
  readonly started: readonly string[];
};

/** Whom a proof runs as: root could write where a reader must not, so root steps down to `nobody`. */
export const UNPRIVILEGED: { readonly uid?: number; readonly gid?: number } =
  process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** A reader that has not ended after this many milliseconds does not end. */
const LIMIT_MS = 10_000;
/** Characters of a call that a message shows. */
const LONGEST = 300;

/** Everything that names a file, changes one behind a descriptor, starts a process or touches a socket. */
const CALLS =
  '%file,%network,%process,fchmod,fchown,ftruncate,fallocate,flock,fcntl,fsetxattr,fremovexattr,memfd_create';

const READS: ReadonlySet<string> = new Set(
  (
    'access faccessat faccessat2 stat lstat fstat newfstatat statx statfs fstatfs readlink readlinkat getcwd chdir fchdir ' +
    'getxattr lgetxattr listxattr llistxattr execve execveat clone clone3 fork vfork exit exit_group wait4 waitid ' +
    'kill tgkill tkill rt_sigqueueinfo getsockname getpeername getsockopt'
  ).split(' '),
);
const OPENS: ReadonlySet<string> = new Set(['open', 'openat', 'openat2']);
const WRITING = ['O_WRONLY', 'O_RDWR', 'O_CREAT', 'O_TRUNC', 'O_APPEND', 'O_TMPFILE'];
/** Neither keeps anything; bash asks whether there is a terminal when it starts. */
const NOWHERE = ['"/dev/null"', '"/dev/tty"'];
const LOCKS = ['F_SETLK', 'F_OFD_SETLK', 'F_SETLEASE'];
/** glibc asks it for the names of users; it is a cache, and usually not there. */
const NAME_SERVICE = '"/var/run/nscd/socket"';

/** Rejects when the program was killed by a signal or did not end in ten seconds. */
export function trace(argv: readonly string[], { cwd, env, scratch, uid, gid }: Surroundings): Promise<Traced> {
  const log = join(scratch, `trace-${randomUUID()}`);
  const words = ['-f', '-qq', '-s', '256', '-e', 'signal=none', '-e', `trace=${CALLS}`, '-o', log, '--', ...argv];
  const identity = { ...(uid === undefined ? {} : { uid }), ...(gid === undefined ? {} : { gid }) };
  const options = { cwd, env, timeout: LIMIT_MS, maxBuffer: 64 * 1024 * 1024, ...identity };
  return new Promise((resolve, reject) => {
    const child = execFile('strace', words, options, (error, stdout, stderr) => {
      const status = error === null ? 0 : error.code;
      if (typeof status !== 'number') return reject(new Error(`${argv.join(' ')}: ${error?.message} ${stderr}`));
      const { changes, started } = findingsOf(readFileSync(log, 'utf8'));
      rmSync(log);
      resolve({ status, stdout, stderr, changes, started: started.slice(1) });
    });
    child.stdin?.end();
  });
}

/** Reads what `strace -f -o` wrote. The first program that was started is in the list. */
export function findingsOf(log: string): { readonly changes: readonly string[]; readonly started: readonly string[] } {
  const changes: string[] = [];
  const started: string[] = [];
  for (const call of callsOf(log)) {
    if (call.startsWith('execve')) started.push(basename(call.slice(call.indexOf('"') + 1).split('"')[0] ?? ''));
    if (call.startsWith('connect(') && call.includes(NAME_SERVICE)) {
      const socket = changes.findLastIndex((change) => change.startsWith('socket(AF_UNIX,'));
      if (socket >= 0) changes.splice(socket, 1);
    } else if (isChange(call)) changes.push(call.slice(0, LONGEST));
  }
  return { changes, started };
}

/** strace splits a call that another process interrupts in two lines. */
function callsOf(log: string): readonly string[] {
  const unfinished = new Map<string, string>();
  const calls: string[] = [];
  for (const line of log.split('\n')) {
    const pid = line.slice(0, line.indexOf(' '));
    const text = line.slice(pid.length).trimStart();
    if (text.endsWith(' <unfinished ...>')) {
      unfinished.set(pid, text.slice(0, -' <unfinished ...>'.length));
    } else if (text.startsWith('<... ')) {
      calls.push(`${unfinished.get(pid) ?? ''}${text.slice(text.indexOf('resumed>') + 'resumed>'.length)}`);
      unfinished.delete(pid);
    } else if (text !== '' && !text.startsWith('+++')) calls.push(text);
  }
  // A process that ended in the middle of a call still made it.
  return [...calls, ...unfinished.values()];
}

function isChange(call: string): boolean {
  const name = call.slice(0, call.indexOf('('));
  if (OPENS.has(name)) {
    return WRITING.some((flag) => call.includes(flag)) && !NOWHERE.some((path) => call.includes(path));
  }
  if (name === 'fcntl') return LOCKS.some((command) => call.includes(command));
  return !READS.has(name);
}
