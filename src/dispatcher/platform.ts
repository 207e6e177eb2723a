import { spawnSync } from 'node:child_process';
import { text } from './option-checks.ts';
import { isExecutable } from './paths.ts';

/** What a parallel run rests on besides the rules. */
export type Platform = {
  /** Why nothing is proved here, or null where it is. */
  readonly unproven: string | null;
  /** The bash that runs serial commands and texts, absolute; null when there is none. */
  readonly bash: string | null;
  /** What that bash answers itself, whatever lies on PATH. */
  readonly builtins: ReadonlySet<string>;
};

/** The first that is there: where every distribution has it, then along the absolute entries of PATH. */
const USUAL_PLACES = ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash'];

/** Earlier ones read some texts differently and take functions from variables of other names. */
const LEAST_VERSION = 5;

const known = new Map<string, Platform>();

/**
 * Looks at the platform, once in a process for each bash: Linux is what is proved, with a bash of version 5 or later
 * that knows the C.UTF-8 locale.
 *
 * @param bash absolute path; default: the first that is found. @throws SignalboxError OPTION_INVALID.
 */
export function probePlatform(bash: string | null = findBash()): Platform {
  if (bash !== null) text('the path of bash', bash);
  if (bash === null) return Object.freeze({ unproven: 'No bash was found', bash, builtins: new Set<string>() });
  let platform = known.get(bash);
  if (platform === undefined) {
    platform = Object.freeze(probe(bash));
    known.set(bash, platform);
  }
  return platform;
}

function probe(bash: string): Platform {
  const script = `printf '%s\\n' "\${BASH_VERSINFO[0]}"; compgen -b`;
  const { status, stdout, stderr } = spawnSync(bash, ['--noprofile', '--norc', '-c', script], {
    encoding: 'utf8',
    env: { LC_CTYPE: 'C.UTF-8', PATH: '' },
    timeout: 10_000,
  });
  const [version, ...builtins] = (stdout ?? '').split('\n').filter((line) => line !== '');
  const platform = (unproven: string | null): Platform => ({ unproven, bash, builtins: new Set(builtins) });
  if (status !== 0) return platform(`${bash} could not be asked for its version`);
  if (process.platform !== 'linux') return platform(`Nothing is proved on ${process.platform}, only on Linux`);
  if (!(Number(version) >= LEAST_VERSION))
    return platform(`${bash} is of version ${version}, older than ${LEAST_VERSION}`);
  if (stderr !== '') return platform(`${bash} does not know the locale C.UTF-8`);
  return platform(null);
}

function findBash(): string | null {
  const onPath = (process.env.PATH ?? '').split(':').filter((entry) => entry.startsWith('/'));
  const places = [...USUAL_PLACES, ...onPath.map((entry) => `${entry}/bash`)];
  return places.find(isExecutable) ?? null;
}
