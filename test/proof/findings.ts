import { basename } from 'node:path';
import type { Effect } from '../../src/classifier/verdict.ts';
import type { RuleException } from '../../src/rules/schema.ts';
import { argumentsOf, type Call, pathsOf } from '../support/strace.ts';

/** What a run was allowed to do: its rule said so before it ran. */
export type Allowed = {
  /** Of the verdict. */
  readonly effects: readonly Effect[];
  readonly exceptions: readonly RuleException[];
  /** The programs that may be started, by base name. */
  readonly programs: ReadonlySet<string>;
  /** What `$HOME` and `$TMPDIR` stand for in an exception. */
  readonly home: string;
  readonly temporary: string;
  /** Whoever names a file in it has been misled by the environment or the configuration. */
  readonly traps: string;
};

/** What any program does when it starts or looks a name up, and what nobody can notice. */
const EVERYWHERE: readonly { readonly path: string; readonly why: string }[] = [
  { path: '/dev/null', why: 'keeps nothing' },
  { path: '/dev/tty', why: 'bash asks whether there is a terminal; a run has none' },
  { path: '/var/run/nscd/socket', why: 'glibc asks this cache for the names of users and hosts' },
  { path: '/run/systemd/userdb/*', why: 'glibc asks for the names of users of services' },
];

const OPENS: ReadonlySet<string> = new Set(['open', 'openat', 'openat2']);
const WRITING = ['O_WRONLY', 'O_RDWR', 'O_CREAT', 'O_TRUNC', 'O_APPEND', 'O_TMPFILE', '__O_TMPFILE'];
const STARTS: ReadonlySet<string> = new Set(['execve', 'execveat']);
const SIGNALS: ReadonlySet<string> = new Set(['kill', 'tkill', 'tgkill', 'pidfd_send_signal', 'rt_sigqueueinfo']);
const MAKES: ReadonlySet<string> = new Set(['mkdir', 'mkdirat']);
const SEGMENTS: ReadonlySet<string> = new Set(['shmget', 'shmat', 'shmdt', 'shmctl']);
const TALKS: ReadonlySet<string> = new Set(['socket', 'connect', 'bind', 'sendto', 'sendmsg', 'sendmmsg']);

/** Questions among the requests of `ioctl`; any other is a change. */
const ASKING_REQUESTS = [
  'TCGETS',
  'TIOCGWINSZ',
  'TIOCGPGRP',
  'TIOCGSID',
  'FIONREAD',
  'FIONBIO',
  'FIOCLEX',
  'FS_IOC_GETFLAGS',
  'FS_IOC_GETVERSION',
  'FS_IOC_FSGETXATTR',
  'FS_IOC_FIEMAP',
  'SIOCGIF',
];

/** What a run did besides reading that its rule does not name, each in the words of strace. Nothing: a reader. */
export function findingsOf(calls: readonly Call[], allowed: Allowed): readonly string[] {
  const own: Own = { family: new Set(calls.map(({ pid }) => pid)), segments: privateSegments(calls) };
  const findings = calls.flatMap((call) => {
    const why = faultOf(call, allowed, own);
    return why === null ? [] : [`${why}: ${call.text.slice(0, 300)}`];
  });
  return [...new Set(findings)];
}

/** What belongs to the run itself. */
type Own = { readonly family: ReadonlySet<string>; readonly segments: ReadonlySet<string> };

function faultOf(call: Call, allowed: Allowed, own: Own): string | null {
  const { name } = call;
  const paths = pathsOf(call);
  if (paths.some((path) => isBelow(path, allowed.traps))) return 'springs a trap';
  if (STARTS.has(name)) {
    const program = basename(paths[0] ?? '');
    return allowed.programs.has(program) ? null : `starts ${program}`;
  }
  if (OPENS.has(name)) return isWriting(call) && !mayKeep(filesOf(call, paths), allowed) ? 'opens for writing' : null;
  if (name === 'flock') return /, LOCK_(?:SH|UN)/.test(argumentsOf(call)) ? null : 'locks';
  if (name === 'fcntl') return isLocking(call) ? 'locks' : null;
  if (name === 'ioctl') return isAsking(call) ? null : 'changes a device';
  if (name === 'prlimit64') return argumentsOf(call).startsWith('0, ') ? null : 'changes the limits of another';
  if (name === 'syslog') return isReadingLog(call) ? null : 'changes the log of the kernel';
  if (SIGNALS.has(name)) return own.family.has(firstOf(call)) ? null : 'signals another process';
  if (SEGMENTS.has(name)) return isPrivate(call, own) ? null : 'shares memory';
  if (TALKS.has(name)) return mayTalk(call, paths, allowed) ? null : 'talks';
  if (MAKES.has(name) && isOnTheWay(paths[0] ?? '', allowed)) return null;
  return mayKeep(paths, allowed) ? null : 'changes';
}

function isWriting(call: Call): boolean {
  return WRITING.some((flag) => flagsOf(call).includes(flag));
}

/** Flags stand behind the name, which might hold their names. */
function flagsOf(call: Call): readonly string[] {
  const given = argumentsOf(call);
  return given.slice(given.lastIndexOf('"') + 1).split(/[^A-Za-z_]+/);
}

/**
 * A file without a name is somewhere in the directory that is named. Nobody can open a directory itself for writing, and
 * some versions of strace know of the flag only the half that says so.
 */
function filesOf(call: Call, paths: readonly string[]): readonly string[] {
  const isNameless = ['O_TMPFILE', '__O_TMPFILE', 'O_DIRECTORY'].some((flag) => flagsOf(call).includes(flag));
  return isNameless ? paths.map((path) => `${path}/unnamed`) : paths;
}

/** Only a lock that others can hold at the same time is none. */
function isLocking(call: Call): boolean {
  const given = argumentsOf(call);
  if (given.includes('F_SETLEASE') || given.includes('F_NOTIFY')) return true;
  return /F_(?:OFD_)?SETLK/.test(given) && !/l_type=F_(?:RDLCK|UNLCK)/.test(given);
}

function isAsking(call: Call): boolean {
  const request = argumentsOf(call).split(', ')[1] ?? '';
  return ASKING_REQUESTS.some((one) => request.startsWith(one));
}

function isReadingLog(call: Call): boolean {
  return /SYSLOG_ACTION_(?:READ_ALL|SIZE_BUFFER)\b/.test(argumentsOf(call));
}

/** The memory that nobody else was told of, by its number. */
function privateSegments(calls: readonly Call[]): ReadonlySet<string> {
  const made = calls.filter((call) => call.name === 'shmget' && firstOf(call) === 'IPC_PRIVATE');
  return new Set(made.map(({ text }) => text.slice(text.lastIndexOf(' ') + 1)));
}

function isPrivate(call: Call, { segments }: Own): boolean {
  if (call.name === 'shmdt') return true;
  return call.name === 'shmget' ? firstOf(call) === 'IPC_PRIVATE' : segments.has(firstOf(call));
}

function firstOf(call: Call): string {
  return argumentsOf(call).split(', ')[0] ?? '';
}

function mayTalk(call: Call, paths: readonly string[], { effects, exceptions }: Allowed): boolean {
  const given = argumentsOf(call);
  const isSent = call.name.startsWith('send');
  // Without an address it goes where a connection goes, and that was judged.
  if (isSent && !given.includes('sa_family=') && !given.includes('nlmsg_type=')) return true;
  const isFar = effects.includes('reads-network') || effects.includes('talks-to-daemon');
  const has = (family: string): boolean => exceptions.some((one) => 'sockets' in one && one.sockets === family);
  if (/\bAF_NETLINK\b/.test(given) || given.includes('nlmsg_type=')) {
    // Whoever looks a host up asks the kernel for its addresses; routes and devices can be changed this way too.
    const isQuestion = !given.includes('nlmsg_type=') || isAskingKernel(given);
    return isQuestion && (isFar || has('netlink'));
  }
  const name = paths.find((path) => !path.startsWith('socket:'));
  if (/\bAF_(?:UNIX|LOCAL)\b/.test(given)) {
    if (call.name === 'socket') return true;
    const isKnown = name !== undefined && EVERYWHERE.some(({ path }) => matches(path, name));
    return call.name !== 'bind' && (isKnown || effects.includes('talks-to-daemon'));
  }
  if (call.name === 'bind') return has('loopback') && isFreePort(given);
  if (isFar) return true;
  if (call.name !== 'socket') return false;
  return /^AF_INET,/.test(given) ? has('inet') : /^AF_INET6,/.test(given) && has('inet6');
}

/** The kernel chooses one that nobody has. */
function isFreePort(given: string): boolean {
  return /port=htons\(0\)/.test(given) && /"(?:127\.0\.0\.1|::1)"/.test(given);
}

function isAskingKernel(given: string): boolean {
  if (/nlmsg_type=(?:RTM_GET|SOCK_DIAG_BY_FAMILY|[A-Z]+DIAG_GETSOCK)/.test(given)) return true;
  // Without an attribute and without an index it names no device: iproute2 asks so whether the kernel knows the message.
  return /nlmsg_len=32, nlmsg_type=RTM_NEWLINK, nlmsg_flags=NLM_F_REQUEST\|NLM_F_ACK,.* ifi_index=0,/.test(given);
}

/** Whether all of these files may be kept by this run. A call that names none may not. */
function mayKeep(paths: readonly string[], allowed: Allowed): boolean {
  const all = [...placesOf(allowed), ...EVERYWHERE.map(({ path }) => path)];
  return paths.length > 0 && paths.every((path) => all.some((place) => matches(place, path)));
}

/** Where something may be kept, somebody has to make the directory first. */
function isOnTheWay(path: string, allowed: Allowed): boolean {
  const isOutside = [allowed.home, allowed.temporary].some((root) => isBelow(root, path));
  return !isOutside && placesOf(allowed).some((place) => leadsTo(place, path));
}

function placesOf({ effects, exceptions, home, temporary }: Allowed): readonly string[] {
  return exceptions.flatMap((one) =>
    'writes' in one && effects.includes(one.effect)
      ? [one.writes.replace('$HOME/', `${home}/`).replace('$TMPDIR/', `${temporary}/`)]
      : [],
  );
}

/** Whether a path is one of the places of an exception. */
export function matches(place: string, path: string): boolean {
  const depth = path.split('/').length;
  const isDeep = place.endsWith('/**');
  return leadsTo(place, path) && (isDeep ? depth >= place.split('/').length : depth === place.split('/').length);
}

/** Whether a path is one of the places of an exception, or a directory above one. */
function leadsTo(place: string, path: string): boolean {
  const [parts, names] = [place.split('/'), path.split('/')];
  for (const [index, name] of names.entries()) {
    const part = parts[index];
    if (name === '.' || name === '..' || part === undefined) return false;
    if (part === '**') return !names.slice(index).some((later) => later === '.' || later === '..');
    if (!fits(part, name)) return false;
  }
  return true;
}

/** An asterisk stands for any text. */
function fits(part: string, name: string): boolean {
  const [first = '', ...others] = part.split('*');
  if (others.length === 0) return part === name;
  const last = others.pop() ?? '';
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false;
  let at = first.length;
  for (const piece of others) {
    const found = name.slice(0, name.length - last.length).indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return true;
}

function isBelow(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory}/`);
}
