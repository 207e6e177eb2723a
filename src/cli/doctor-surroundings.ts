import { spawnSync } from 'node:child_process';
import { readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { arch, release, tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { exportRules, type RuleSet } from '../classifier/rule-set.ts';
import { isShellVariable, mindedVariable } from '../dispatcher/environment.ts';
import { workspaceKeys } from '../dispatcher/lock-keys.ts';
import { isInside } from '../dispatcher/paths.ts';
import type { Platform } from '../dispatcher/platform.ts';
import { profilesOf } from '../dispatcher/profiles.ts';
import { probeRepository } from '../dispatcher/repository-probe.ts';
import type { Fact, Finding, PathEntry, VariableState } from './doctor-diagnosis.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Each entry of PATH, and why nothing that is found there is proved. */
export function pathEntries(path: string | undefined, cwd: string): readonly PathEntry[] {
  if (path === undefined) return [];
  const { workspace } = workspaceKeys(cwd);
  return path.split(':').map((entry) => {
    const directory = resolve(cwd, entry);
    const status = statSync(directory, { throwIfNoEntry: false });
    return { entry, isThere: status?.isDirectory() ?? false, surprise: surpriseOf(entry, directory, workspace) };
  });
}

function surpriseOf(entry: string, directory: string, workspace: string): string | null {
  if (entry === '') return 'is empty, which means the working directory';
  if (entry.startsWith('~')) return 'depends on who asks';
  if (!entry.startsWith('/')) return 'is relative to the working directory';
  try {
    if ((statSync(directory).mode & 0o002) !== 0) return 'can be written by anybody';
    return isInside(realpathSync.native(directory), [workspace]) ? 'lies in the workspace' : null;
  } catch {
    return null;
  }
}

/** The variables that the profiles mind, each with the profiles; those that are set make their commands serial. */
export function mindedVariables(rules: RuleSet, environment: Environment): readonly VariableState[] {
  const minding = new Map<string, string[]>();
  const names = Object.keys(environment).filter((name) => environment[name] !== undefined);
  for (const [profile, { minds = [] }] of profilesOf(rules)) {
    for (const pattern of minds) minding.set(pattern, [...(minding.get(pattern) ?? []), profile]);
  }
  return [...minding].map(([name, profiles]) => ({
    name,
    profiles,
    set: names.filter((one) => mindedVariable({ [one]: '' }, [name]) !== null),
  }));
}

/** What bash would have run or switched on; no command is handed it, serial or not. */
export function takenAway(environment: Environment): readonly string[] {
  return Object.keys(environment).filter(isShellVariable);
}

/** What of the repository around a directory, and of the user's own configuration, makes reads serial. */
export function repositoryFindings(cwd: string, environment: Environment, rules: RuleSet): readonly Finding[] {
  const here = probeRepository(cwd, { environment, index: true });
  const anywhere = probeRepository(realpathSync.native(tmpdir()), { environment, index: false });
  const general = new Set(anywhere.findings.map(({ detail }) => detail));
  const readers = readersOf(rules);
  return [...new Map([...anywhere.findings, ...here.findings].map((one) => [one.detail, one])).values()].map(
    ({ code, affects, detail }) => ({
      code,
      found: `${detail}${general.has(detail) ? '' : `, of the repository around ${cwd}`}`,
      serial: {
        'every-read': `every read of ${general.has(detail) ? 'any repository' : 'this repository'} (${readers.join(', ')})`,
        'configured-programs': 'reads that may start configured programs, where their attributes select them',
        'index-reads': 'the reads that would refresh the index, until one has run alone',
      }[affects],
    }),
  );
}

/** The binaries some command of which looks at a repository. */
function readersOf(rules: RuleSet): readonly string[] {
  const looks = (value: unknown): boolean =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(value).some(
      ([key, inner]) =>
        (key === 'observes' && Array.isArray(inner) && (inner.includes('repository') || inner.includes('index'))) ||
        looks(inner),
    );
  return exportRules(rules)
    .files.filter(({ file }) => file.maturity === 'stable' && looks(file.command))
    .map(({ file }) => file.binary);
}

/** Versions, limits and what the kernel offers. They make nothing serial by themselves. */
export function factsOf({ bash, unproven }: Platform, environment: Environment): readonly Fact[] {
  const files = limitOf('Max open files');
  return [
    { name: 'system', value: `${process.platform} ${release()} ${arch()}`, note: unproven },
    { name: 'bash', value: bash === null ? 'missing' : `${bashVersion(bash)} at ${bash}`, note: null },
    { name: 'Node', value: `${process.version} at ${process.execPath}`, note: null },
    { name: 'open files', value: files ?? 'unknown', note: fewNote(files, 1024, 'fewer commands can run at once') },
    { name: 'processes', value: limitOf('Max processes') ?? 'unknown', note: null },
    { name: 'processes of the control group', value: groupLimit() ?? 'no limit known', note: null },
    procfs(),
    { name: 'language', value: environment.LC_ALL || environment.LC_CTYPE || environment.LANG || 'none', note: null },
  ];
}

function bashVersion(bash: string): string {
  const script = 'printf %s "$BASH_VERSION"';
  const options = { encoding: 'utf8', env: { PATH: '' }, timeout: 10_000 } as const;
  return spawnSync(bash, ['--noprofile', '--norc', '-c', script], options).stdout || 'unknown version';
}

/** The soft limit of the process, as the kernel tells it. */
function limitOf(title: string): string | null {
  const line = textOf('/proc/self/limits')
    ?.split('\n')
    .find((one) => one.startsWith(title));
  return line?.slice(title.length).trim().split(/ +/)[0] ?? null;
}

function groupLimit(): string | null {
  const groups = (textOf('/proc/self/cgroup') ?? '').split('\n').map((line) => line.split(':'));
  for (const [, controllers, path = '/'] of groups) {
    const root = controllers === '' ? '/sys/fs/cgroup' : controllers === 'pids' ? '/sys/fs/cgroup/pids' : null;
    const text = root === null ? null : (textOf(`${root}${path}/pids.max`) ?? textOf(`${root}/pids.max`));
    if (text !== null) return text.trim();
  }
  return null;
}

function fewNote(value: string | null, least: number, note: string): string | null {
  return value !== null && Number(value) < least ? note : null;
}

/** What a command leaves behind is found by its environment in procfs. */
function procfs(): Fact {
  const name = 'procfs';
  try {
    const isOurs = readlinkSync('/proc/self') === String(process.pid);
    readFileSync('/proc/self/environ');
    if (isOurs) return { name, value: 'shows processes and their environments', note: null };
    return { name, value: 'of another namespace', note: 'what a command leaves behind may not be found when it ends' };
  } catch {
    return { name, value: 'missing', note: 'what a command leaves behind is not found when it ends' };
  }
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
