import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { IDENTITY, type Throwaway } from './git-repository.ts';

/** What one run did besides reading, and how it ended. */
export type Traced = {
  readonly status: number;
  readonly stderr: string;
  /** Calls that change something, lock, or open a connection, as strace prints them. Attempts that failed count too. */
  readonly changes: readonly string[];
  /** The programs that were started, by base name, without the first. */
  readonly started: readonly string[];
};

/** Everything that names a file, changes one behind a descriptor, starts a process or touches a socket. */
const CALLS =
  '%file,%network,%process,fchmod,fchown,ftruncate,fallocate,flock,fcntl,fsetxattr,fremovexattr,memfd_create';

/** Calls that never change anything, as long as the flags of `open` say so. Any other call is a change. */
const READS: ReadonlySet<string> = new Set([
  'access',
  'faccessat',
  'faccessat2',
  'stat',
  'lstat',
  'fstat',
  'newfstatat',
  'statx',
  'statfs',
  'fstatfs',
  'oldstat',
  'readlink',
  'readlinkat',
  'getcwd',
  'chdir',
  'fchdir',
  'getxattr',
  'lgetxattr',
  'listxattr',
  'llistxattr',
  'execve',
  'execveat',
  'clone',
  'clone3',
  'fork',
  'vfork',
  'exit',
  'exit_group',
  'wait4',
  'waitid',
  'rt_sigqueueinfo',
]);
const OPENS: ReadonlySet<string> = new Set(['open', 'openat', 'openat2']);
const WRITING = ['O_WRONLY', 'O_RDWR', 'O_CREAT', 'O_TRUNC', 'O_APPEND', 'O_TMPFILE'];

/** Runs a program under strace in the repository, with nothing in its environment but what is given. */
export function trace(
  argv: readonly string[],
  repository: Throwaway,
  env: Readonly<Record<string, string>>,
): Promise<Traced> {
  const log = join(repository.env.TMPDIR, `trace-${randomUUID()}`);
  const words = ['-f', '-qq', '-s', '256', '-e', 'signal=none', '-e', `trace=${CALLS}`, '-o', log, '--', ...argv];
  const options = { cwd: repository.path, env: { ...repository.env, ...env }, timeout: 30_000, ...IDENTITY };
  return new Promise((resolve, reject) => {
    const child = execFile('strace', words, options, (error, _stdout, stderr) => {
      const status = error === null ? 0 : error.code;
      if (typeof status !== 'number') return reject(new Error(`${argv.join(' ')}: ${error?.message} ${stderr}`));
      const calls = joined(readFileSync(log, 'utf8').split('\n'));
      rmSync(log);
      const programs = calls.flatMap(programOf);
      resolve({ status, stderr, changes: calls.filter(isChange), started: programs.slice(1) });
    });
    child.stdin?.end();
  });
}

/** strace splits a call that another process interrupts in two lines; the arguments are all in the first or the second. */
function joined(lines: readonly string[]): readonly string[] {
  const unfinished = new Map<string, string>();
  const calls: string[] = [];
  for (const line of lines) {
    const pid = line.slice(0, line.indexOf(' '));
    const text = line.slice(pid.length).trimStart();
    if (text.endsWith(' <unfinished ...>')) {
      unfinished.set(pid, text.slice(0, -' <unfinished ...>'.length));
    } else if (text.startsWith('<... ')) {
      calls.push(`${unfinished.get(pid) ?? ''}${text.slice(text.indexOf('resumed>') + 'resumed>'.length)}`);
      unfinished.delete(pid);
    } else if (text !== '') calls.push(text);
  }
  // A process that ended in the middle of a call still made it.
  return [...calls, ...unfinished.values()];
}

function isChange(call: string): boolean {
  const name = call.slice(0, call.indexOf('('));
  if (OPENS.has(name)) return WRITING.some((flag) => call.includes(flag)) && !call.includes('"/dev/null"');
  if (name === 'fcntl') return ['F_SETLK', 'F_OFD_SETLK', 'F_SETLEASE'].some((command) => call.includes(command));
  return !READS.has(name) && !call.startsWith('+++');
}

function programOf(call: string): readonly string[] {
  if (!call.startsWith('execve(')) return [];
  const path = call.slice(call.indexOf('"') + 1);
  return [basename(path.slice(0, path.indexOf('"')))];
}
