import { describe, expect, test } from 'vitest';
import { callsOf } from '../support/strace.ts';
import { type Allowed, findingsOf, matches } from './findings.ts';

/** What is a finding and what is not, on lines as strace writes them. */

const NOTHING: Allowed = {
  effects: [],
  exceptions: [],
  programs: new Set(['x']),
  home: '/h',
  temporary: '/t',
  traps: '/traps',
};
const allowing = (given: Partial<Allowed>): Allowed => ({ ...NOTHING, ...given });
const found = (lines: readonly string[], allowed: Allowed = NOTHING): readonly string[] =>
  findingsOf(callsOf(lines.map((line) => `7 ${line}`).join('\n')), allowed).map((one) => one.split(':')[0]!);

const WRITERS: Readonly<Record<string, readonly string[]>> = {
  'opens for writing': [
    'openat(AT_FDCWD</p>, "out", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3</p/out>',
    'openat(AT_FDCWD</p>, "out", O_RDWR) = 3</p/out>',
    'openat(AT_FDCWD</p>, "/t", O_RDWR|O_EXCL|O_TMPFILE, 0600) = 4</t/#12>(deleted)',
    'open("out", O_WRONLY|O_APPEND) = -1 EACCES (Permission denied)',
    'openat2(AT_FDCWD</p>, "out", {flags=O_WRONLY, resolve=0}, 24) = 3</p/out>',
  ],
  changes: [
    'creat("out", 0666) = 3',
    'mkdir("d", 0777)                  = 0',
    'mkdirat(AT_FDCWD</p>, "d", 0777) = -1 EEXIST (File exists)',
    'mknodat(AT_FDCWD</p>, "f", S_IFIFO|0666) = 0',
    'rename("a", "b") = 0',
    'renameat2(AT_FDCWD</p>, "a", AT_FDCWD</p>, "b", 0) = 0',
    'unlink("a") = 0',
    'unlinkat(AT_FDCWD</p>, "a", AT_REMOVEDIR) = 0',
    'linkat(AT_FDCWD</p>, "a", AT_FDCWD</p>, "b", 0) = 0',
    'symlink("a", "b") = 0',
    'truncate("a", 0) = 0',
    'ftruncate(3</p/a>, 0) = 0',
    'fallocate(3</p/a>, 0, 0, 1) = 0',
    'chmod("a", 0600) = 0',
    'fchmod(3</p/a>, 0600) = 0',
    'fchownat(AT_FDCWD</p>, "a", 0, 0, 0) = 0',
    'utimensat(AT_FDCWD</p>, "a", NULL, 0) = 0',
    'setxattr("a", "user.x", "", 0, 0) = 0',
    'mount("a", "b", "c", 0, NULL) = -1 EPERM (Operation not permitted)',
    'setuid(0) = 0',
    'ptrace(PTRACE_ATTACH, 1) = 0',
    'sethostname("a", 1) = 0',
    'settimeofday({tv_sec=0, tv_usec=0}, NULL) = 0',
    'io_uring_setup(8, {flags=0}) = 3',
    'sync() = 0',
    'a_call_of_tomorrow(1) = 0',
  ],
  locks: [
    'flock(3</p/a>, LOCK_EX|LOCK_NB) = 0',
    'fcntl(3</p/a>, F_SETLK, {l_type=F_WRLCK, l_whence=SEEK_SET, l_start=0, l_len=0}) = 0',
    'fcntl(3</p/a>, F_OFD_SETLKW, {l_type=F_WRLCK, l_whence=SEEK_SET, l_start=0, l_len=0}) = 0',
    'fcntl(3</p/a>, F_SETLEASE, F_RDLCK) = 0',
  ],
  talks: [
    'socket(AF_INET, SOCK_STREAM, IPPROTO_IP) = 3<socket:[1]>',
    'socket(AF_INET6, SOCK_DGRAM, IPPROTO_IP) = 3<socket:[1]>',
    'socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE) = 3<socket:[1]>',
    'socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL)) = 3<socket:[1]>',
    'connect(3<socket:[1]>, {sa_family=AF_UNIX, sun_path="/run/docker.sock"}, 110) = 0',
    'bind(3<socket:[1]>, {sa_family=AF_UNIX, sun_path="/h/s"}, 110) = 0',
    'sendto(3<socket:[1]>, "x", 1, 0, {sa_family=AF_INET, sin_port=htons(9)}, 16) = 1',
  ],
  'starts stranger': [
    'execve("/usr/bin/stranger", ["stranger"], 0x7 /* 1 var */) = 0',
    'execve("/usr/bin/stranger", ["stranger"], 0x7 /* 1 var */) = -1 ENOENT (No such file or directory)',
  ],
  'signals another process': ['kill(1, SIGTERM) = 0', 'tgkill(1, 1, SIGKILL) = 0', 'kill(-1, SIGTERM) = 0'],
  'changes a device': ['ioctl(3</dev/x>, TIOCSTI, "x") = 0', 'ioctl(3</p/a>, FS_IOC_SETFLAGS, [0]) = 0'],
  'changes the limits of another': ['prlimit64(1, RLIMIT_CPU, {rlim_cur=1, rlim_max=1}, NULL) = 0'],
  'changes the log of the kernel': ['syslog(5 /* SYSLOG_ACTION_CLEAR */) = 0'],
  'shares memory': ['shmget(0x1, 10, IPC_CREAT|0600) = 3', 'shmat(3, NULL, 0) = 0x7'],
  'springs a trap': ['openat(AT_FDCWD</p>, "/traps/x", O_RDONLY) = 3</traps/x>'],
};

const READERS: readonly string[] = [
  'execve("/usr/bin/x", ["x"], 0x7 /* 1 var */) = 0',
  'openat(AT_FDCWD</p>, "O_RDWR", O_RDONLY|O_CLOEXEC) = 3</p/O_RDWR>',
  'openat(AT_FDCWD</p>, "/dev/null", O_RDWR) = 3</dev/null<char 1:3>>',
  'openat(AT_FDCWD</p>, "/dev/tty", O_RDWR|O_NONBLOCK) = -1 ENXIO (No such device or address)',
  'flock(3</p/a>, LOCK_SH) = 0',
  'flock(3</p/a>, LOCK_UN) = 0',
  'fcntl(3</p/a>, F_SETLKW, {l_type=F_RDLCK, l_whence=SEEK_SET, l_start=0, l_len=0}) = 0',
  'fcntl(3</p/a>, F_SETFD, FD_CLOEXEC) = 0',
  'ioctl(1<pipe:[1]>, TCGETS, 0x7) = -1 ENOTTY (Inappropriate ioctl for device)',
  'socket(AF_UNIX, SOCK_STREAM, 0) = 3<socket:[1]>',
  'connect(3<socket:[1]>, {sa_family=AF_UNIX, sun_path="/var/run/nscd/socket"}, 110) = -1 ENOENT',
  'sendto(3<socket:[1]>, "x", 1, MSG_NOSIGNAL, NULL, 0) = 1',
  'tgkill(7, 7, SIGURG)      = 0',
  'prlimit64(0, RLIMIT_STACK, NULL, {rlim_cur=1, rlim_max=1}) = 0',
  'syslog(3 /* SYSLOG_ACTION_READ_ALL */, "", 10) = 0',
  '+++ exited with 0 +++',
  '???( <detached ...>',
  '???( <unfinished ...>',
];

describe('a call that is not known to read is a finding', () => {
  test.each(Object.entries(WRITERS))('%s', (why, lines) => {
    expect(lines.flatMap((line) => found([line]))).toEqual(lines.map(() => why));
  });

  test('and none of what readers do', () => {
    expect(found(READERS)).toEqual([]);
  });

  test('also where strace splits it in two lines, or the process ends in the middle', () => {
    const log = [
      '7 execve("/usr/bin/x", ["x"], 0x7 /* 1 var */) = 0',
      '7 openat(AT_FDCWD</p>, "out", O_WRONLY|O_CREAT <unfinished ...>',
      '8 openat(AT_FDCWD</p>, "in", O_RDONLY) = 3',
      '7 <... openat resumed>) = 4',
      '8 rename("a", "b" <unfinished ...>',
      '8 +++ killed by SIGKILL +++',
    ];
    expect(findingsOf(callsOf(log.join('\n')), NOTHING)).toEqual([
      'opens for writing: openat(AT_FDCWD</p>, "out", O_WRONLY|O_CREAT) = 4',
      'changes: rename("a", "b"',
    ]);
  });

  test('private shared memory is the run’s own', () => {
    const lines = [
      'shmget(IPC_PRIVATE, 10, IPC_CREAT|0600) = 3',
      'shmat(3, NULL, 0) = 0x7',
      'shmctl(3, IPC_RMID, NULL) = 0',
    ];
    expect(found([...lines, 'shmdt(0x7) = 0'])).toEqual([]);
  });
});

describe('an effect of the verdict lets through what it tells', () => {
  const connection = [
    'socket(AF_INET, SOCK_STREAM, IPPROTO_IP) = 3<socket:[1]>',
    'connect(3<socket:[1]>, {sa_family=AF_INET, sin_port=htons(80)}, 16) = 0',
  ];
  const daemon = ['connect(3<socket:[1]>, {sa_family=AF_UNIX, sun_path="/run/docker.sock"}, 110) = 0'];
  const listener = ['bind(3<socket:[1]>, {sa_family=AF_INET, sin_port=htons(80)}, 16) = 0'];

  test('the network, daemons, and neither a port of its own', () => {
    expect(found(connection, allowing({ effects: ['reads-network'] }))).toEqual([]);
    expect(found(daemon, allowing({ effects: ['reads-network'] }))).toEqual(['talks']);
    expect(found(daemon, allowing({ effects: ['talks-to-daemon'] }))).toEqual([]);
    for (const effect of ['reads-network', 'talks-to-daemon'] as const) {
      expect(found(listener, allowing({ effects: [effect] }))).toEqual(['talks']);
    }
  });
});

describe('an exception lets through what it names, for the runs whose verdict tells its effect', () => {
  const exceptions = [{ why: 'made up', writes: '$HOME/.x/logs/*.log', effect: 'own-log' }] as const;
  const log = 'openat(AT_FDCWD</p>, "/h/.x/logs/1.log", O_WRONLY|O_CREAT, 0666) = 3</h/.x/logs/1.log>';
  const allowed = allowing({ exceptions, effects: ['own-log'] });

  test('the files, and the directories on the way', () => {
    const lines = [log, 'mkdir("/h/.x", 0777) = 0', 'mkdir("/h/.x/logs", 0777) = 0', 'unlink("/h/.x/logs/0.log") = 0'];
    expect(found(lines, allowed)).toEqual([]);
    expect(found(lines, allowing({ exceptions })).length).toBe(4);
    expect(found(lines, allowing({ effects: ['own-log'] })).length).toBe(4);
  });

  test('a file without a name in its directory, however strace spells that, and no file of that name', () => {
    const temporary = allowing({
      exceptions: [{ why: 'made up', writes: '$TMPDIR/*', effect: 'temporary-files' }],
      effects: ['temporary-files'],
    });
    const nameless = (flags: string) => `openat(AT_FDCWD</p>, "/t", ${flags}, 0600) = 4</t/#12>(deleted)`;
    const spelled = [
      'O_RDWR|O_EXCL|O_CLOEXEC|O_TMPFILE',
      'O_RDWR|__O_TMPFILE|O_DIRECTORY',
      'O_WRONLY|O_DIRECTORY|0x400000',
    ];
    expect(found(spelled.map(nameless), temporary)).toEqual([]);
    expect(found(spelled.map(nameless))).toEqual(spelled.map(() => 'opens for writing'));
    const named = 'openat(AT_FDCWD</p>, "/O_TMPFILE", O_RDWR|O_CREAT, 0600) = 4</O_TMPFILE>';
    expect(found([named], temporary)).toEqual(['opens for writing']);
  });

  test('and nothing beside them', () => {
    const others = [
      'openat(AT_FDCWD</p>, "/h/.x/logs/1.txt", O_WRONLY|O_CREAT, 0666) = 3',
      'openat(AT_FDCWD</p>, "/h/.x/logs/a/1.log", O_WRONLY|O_CREAT, 0666) = 3',
      'openat(AT_FDCWD</h/.x/logs>, "../1.log", O_WRONLY|O_CREAT, 0666) = 3',
      'rename("/h/.x/logs/1.log", "/p/1.log") = 0',
      'mkdir("/h", 0777) = 0',
      'mkdir("/h/.y", 0777) = 0',
      'rmdir("/h/.x") = 0',
    ];
    expect(found(others, allowed)).toEqual([
      'opens for writing',
      'opens for writing',
      'opens for writing',
      ...Array(4).fill('changes'),
    ]);
  });

  test('sockets that ask the kernel, and none that changes it or reaches further', () => {
    const netlink = allowing({ exceptions: [{ why: 'made up', sockets: 'netlink' }] });
    const message = (type: string) =>
      `sendto(3<socket:[1]>, [{nlmsg_len=20, nlmsg_type=${type}, nlmsg_flags=NLM_F_REQUEST}, {ifi_family=AF_UNIX}], 20, 0, NULL, 0) = 20`;
    expect(found(['socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE) = 3<socket:[1]>'], netlink)).toEqual([]);
    expect(found([message('RTM_GETLINK')], netlink)).toEqual([]);
    for (const type of ['RTM_NEWLINK', 'RTM_DELROUTE', 'SOCK_DESTROY']) {
      expect(found([message(type)], netlink), type).toEqual(['talks']);
    }
    const inet = allowing({ exceptions: [{ why: 'made up', sockets: 'inet' }] });
    expect(found(['socket(AF_INET, SOCK_DGRAM, IPPROTO_IP) = 3<socket:[1]>'], inet)).toEqual([]);
    expect(found(['connect(3<socket:[1]>, {sa_family=AF_INET, sin_port=htons(80)}, 16) = 0'], inet)).toEqual(['talks']);
  });

  test('a free port of the machine itself, and no other', () => {
    const loopback = allowing({ exceptions: [{ why: 'made up', sockets: 'loopback' }] });
    const bind = (port: number, address: string) =>
      `bind(3<socket:[1]>, {sa_family=AF_INET, sin_port=htons(${port}), sin_addr=inet_addr("${address}")}, 16) = 0`;
    expect(found([bind(0, '127.0.0.1')], loopback)).toEqual([]);
    expect(found([bind(80, '127.0.0.1')], loopback)).toEqual(['talks']);
    expect(found([bind(0, '0.0.0.0')], loopback)).toEqual(['talks']);
  });
});

describe('a place of an exception', () => {
  test.each([
    ['/a/*', '/a/b', true],
    ['/a/*', '/a', false],
    ['/a/*', '/a/b/c', false],
    ['/a/x*y*z', '/a/x1y2z', true],
    ['/a/x*y*z', '/a/xz', false],
    ['/a/xy*yx', '/a/xyx', false],
    ['/a/**', '/a/b/c', true],
    ['/a/**', '/a', false],
    ['/a/**', '/a/b/../../c', false],
    ['/a/b', '/a/b', true],
    ['/a/b', '/a/bc', false],
  ])('%s and %s: %s', (place, path, expected) => {
    expect(matches(place, path)).toBe(expected);
  });
});
