import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/**
 * What a program did besides reading, as strace tells it. Nothing is assumed about the program: strace is asked for every
 * call but those that change nothing whatever they are given, and what is not known to read is a change.
 */

/** One system call, put together where strace had to split it. */
export type Call = {
  readonly pid: string;
  readonly name: string;
  /** All of it, as strace prints it: `mkdir("a", 0777) = 0`. */
  readonly text: string;
};

/** Whom a proof runs as: root could write where a reader must not, so root steps down to `nobody`. */
export const UNPRIVILEGED: { readonly uid?: number; readonly gid?: number } =
  process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/**
 * Calls that nobody else can notice: on descriptors whose opening was seen, on the caller's own memory, threads, timers
 * and limits, or questions. Not asked for, so that the programs are not slowed down by them.
 */
const UNNOTICEABLE = `
  read readv pread64 preadv preadv2 write writev pwrite64 pwritev pwritev2 sendfile sendfile64 splice tee vmsplice
  copy_file_range close close_range lseek _llseek dup dup2 dup3 pipe pipe2 poll ppoll ppoll_time64 select _newselect
  pselect6 pselect6_time64 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 eventfd eventfd2
  timerfd_create timerfd_settime timerfd_gettime signalfd signalfd4 inotify_init inotify_init1 inotify_add_watch
  inotify_rm_watch fadvise64 readahead getdents getdents64
  stat stat64 lstat lstat64 fstat fstat64 fstatat64 newfstatat statx statfs statfs64 fstatfs fstatfs64 ustat access
  faccessat faccessat2 readlink readlinkat getcwd getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr
  name_to_handle_at chdir fchdir umask
  mmap mmap2 munmap mremap mprotect madvise brk msync mincore mlock mlock2 munlock membarrier pkey_alloc pkey_free
  pkey_mprotect get_mempolicy set_mempolicy mbind memfd_create
  clone clone3 fork vfork exit exit_group wait4 waitid set_tid_address set_robust_list get_robust_list rseq arch_prctl
  prctl seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self futex futex_waitv futex_time64
  sched_yield sched_getaffinity sched_getparam sched_getscheduler sched_getattr sched_get_priority_max
  sched_get_priority_min getpriority ioprio_get getrlimit ugetrlimit setrlimit getrusage
  rt_sigaction rt_sigprocmask rt_sigpending rt_sigtimedwait rt_sigtimedwait_time64 rt_sigsuspend rt_sigreturn sigreturn
  sigaltstack pause alarm getitimer setitimer timer_create timer_settime timer_gettime timer_getoverrun timer_delete
  nanosleep clock_nanosleep clock_nanosleep_time64 clock_gettime clock_gettime64 clock_getres clock_getres_time64
  gettimeofday time times restart_syscall
  getpid getppid gettid getpgid getpgrp getsid getuid geteuid getgid getegid getresuid getresgid getgroups capget capset
  uname sysinfo getrandom getcpu
  getsockname getpeername getsockopt setsockopt recvfrom recvmsg recvmmsg shutdown socketpair
`
  .split(/\s+/)
  .filter((name) => name !== '')
  // Not every architecture has every call.
  .map((name) => `?${name}`);

/** Where strace is; the programs it traces have a PATH of their own. */
export function findStrace(): string {
  for (const directory of (process.env.PATH ?? '').split(':').filter((entry) => entry.startsWith('/'))) {
    const path = join(directory, 'strace');
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {}
  }
  throw new Error('Expected strace on PATH: nothing can be proved without it');
}

/**
 * What stands before the words of a program to have it traced, with all it starts. Paths stand beside descriptors, so
 * that it can be told which file a lock is on.
 */
export function straceWords(log: string): readonly string[] {
  const calls = `trace=!${UNNOTICEABLE.join(',')}`;
  return ['-f', '-q', '-y', '-ttt', '--seccomp-bpf', '-s', '256', '-e', 'signal=none', '-e', calls, '-o', log, '--'];
}

/** How a process ended, and a thread that was ended before it was in a call, in one line or in two. */
const NO_CALL = ['+++', '???('];

/** A line of what `strace -f -ttt -o` wrote: `7 1700000000.000000 close(3) = 0`. The time may be missing. */
function partsOf(line: string): { readonly pid: string; readonly seconds: number; readonly text: string } {
  const [pid = '', second = ''] = line.split(' ').filter((word) => word !== '');
  const behind = line.slice(pid.length).trimStart();
  const seconds = Number(second);
  return Number.isNaN(seconds) || second === ''
    ? { pid, seconds: 0, text: behind }
    : { pid, seconds, text: behind.slice(second.length).trimStart() };
}

/** Reads what `strace -f -o` wrote. A call that another process interrupts stands in two lines. */
export function callsOf(log: string): readonly Call[] {
  const unfinished = new Map<string, string>();
  const calls: Call[] = [];
  const add = (pid: string, text: string): void => {
    if (NO_CALL.some((mark) => text.startsWith(mark))) return;
    calls.push({ pid, name: text.slice(0, text.indexOf('(')), text });
  };
  for (const line of log.split('\n')) {
    const { pid, text } = partsOf(line);
    if (text.endsWith(' <unfinished ...>')) {
      unfinished.set(pid, text.slice(0, -' <unfinished ...>'.length));
    } else if (text.startsWith('<... ')) {
      add(pid, `${unfinished.get(pid) ?? ''}${text.slice(text.indexOf('resumed>') + 'resumed>'.length)}`);
      unfinished.delete(pid);
    } else if (text !== '') add(pid, text);
  }
  // A process that ended in the middle of a call still made it.
  for (const [pid, text] of unfinished) add(pid, text);
  return calls;
}

/** A helper that finds nobody reading any more needs a moment to end; the dispatcher gives as much, in seconds. */
const MOMENT_S = 0.2;

/** Whether a process of the run went on when the first one had ended. */
export function leftBehind(log: string): boolean {
  const lines = log
    .split('\n')
    .filter((line) => line !== '')
    .map(partsOf);
  const first = lines[0]?.pid;
  const end = lines.findLast(({ pid, text }) => pid === first && text.startsWith('+++ '));
  const last = lines.at(-1);
  return end === undefined || last === undefined || last.seconds - end.seconds > MOMENT_S;
}

/** What was given to a call: the text between its name and its result, which strace sets apart with blanks. */
export function argumentsOf({ name, text }: Call): string {
  const result = text.lastIndexOf(' = ');
  const given = text.slice(name.length + 1, result < 0 ? text.length : result).trimEnd();
  return given.endsWith(')') ? given.slice(0, -1) : given;
}

/**
 * The files that a call names, made absolute where strace tells what they are relative to: `AT_FDCWD</a>, "b"` is `/a/b`,
 * a descriptor alone is the file behind it. A name that is relative to nothing known stays so.
 */
export function pathsOf(call: Call): readonly string[] {
  const given = argumentsOf(call);
  const paths: string[] = [];
  let directory: string | null = null;
  let at = 0;
  while (at < given.length) {
    const character = given[at];
    if (character === '"') {
      const end = endOfQuoted(given, at);
      const name = given.slice(at + 1, end);
      if (directory !== null) paths.pop();
      paths.push(name.startsWith('/') || directory === null ? name : join(directory, name));
      directory = null;
      at = end + 1;
    } else if (character === '<') {
      const end = given.indexOf('>', at);
      directory = given.slice(at + 1, end < 0 ? given.length : end);
      paths.push(directory);
      at = end < 0 ? given.length : end + 1;
    } else {
      // Only a name right behind a descriptor is relative to it.
      if (character !== ',' && character !== ' ') directory = null;
      at += 1;
    }
  }
  return paths;
}

function endOfQuoted(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at;
  }
  return text.length;
}
