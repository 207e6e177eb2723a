import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Ground } from './trees.ts';

/** A process as the system's own table tells of it. */
export type Process = {
  readonly pid: number;
  readonly parent: number;
  /** `Z` is a zombie. */
  readonly state: string;
  readonly name: string;
};

function pids(): readonly number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid));
}

function processOf(pid: number): Process | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const end = stat.lastIndexOf(')');
    const [state = '', parent = '0'] = stat.slice(end + 2).split(' ');
    return { pid, parent: Number(parent), state, name: stat.slice(stat.indexOf('(') + 1, end) };
  } catch {
    return null;
  }
}

/** Children of a process, zombies among them. */
export function childrenOf(parent: number): readonly Process[] {
  return pids()
    .flatMap((pid) => processOf(pid) ?? [])
    .filter((process) => process.parent === parent);
}

/** Every process that works below the ground, or was started with a variable that leads there; but for those. */
export function processesOf({ root }: Pick<Ground, 'root'>, but: readonly number[]): readonly Process[] {
  return pids()
    .filter((pid) => !but.includes(pid) && pid !== process.pid)
    .filter((pid) => {
      const isThere = (path: string): boolean => path === root || path.startsWith(`${root}/`);
      try {
        if (isThere(readlinkSync(`/proc/${pid}/cwd`))) return true;
        const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
        return variables.some((variable) => isThere(variable.slice(variable.indexOf('=') + 1)));
      } catch {
        return false;
      }
    })
    .flatMap((pid) => processOf(pid) ?? []);
}

/** Bytes of memory that a process has resident. */
export function residentBytes(pid: number): number {
  try {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
    return pages * 4096;
  } catch {
    return 0;
  }
}

export function openDescriptors(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0;
  }
}

/** Lock files of the system that somebody still holds. */
export function heldFiles({ held }: Pick<Ground, 'held'>): readonly string[] {
  return readdirSync(held).filter((name) => spawnSync('flock', ['-nx', join(held, name), 'true']).status !== 0);
}

/** Files that nobody should have left: temporary ones of the service, and locks of git. */
export function strayFiles({ temporary, root }: Pick<Ground, 'temporary' | 'root'>): readonly string[] {
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' });
  return [
    ...readdirSync(temporary, { recursive: true, encoding: 'utf8' }).map((name) => `tmp/${name}`),
    ...names.filter((name) => name.endsWith('.lock')),
  ];
}
