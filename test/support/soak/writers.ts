import { lockFilesOf } from './audit-records.ts';
import type { AskedKey, Expected } from './evidence.ts';
import { floodOf } from './outputs.ts';
import type { Random } from './random.ts';
import type { Deed } from './readers.ts';
import type { Ground, Tree } from './trees.ts';

const NOTHING: Expected = { kind: 'exact', text: '' };

/** What a writer does between its records. */
type Work = {
  readonly text: string;
  readonly stdout?: Expected;
  readonly stderr?: Expected;
  readonly exits?: readonly number[];
  /** It kills itself, so that it writes no end. */
  readonly isDeadly?: true;
  readonly stdin?: string;
  readonly timeoutMs?: number;
  readonly env?: Readonly<Record<string, string>>;
};

/** Bytes above which what a command prints is cut, in the service of a soak. */
export const MAX_OUTPUT_BYTES = 262_144;

type WriterSurroundings = { readonly ground: Ground; readonly tag: string; readonly willEnd: boolean };

/** A deed that writes, or that nobody can know: it keeps records of its own. */
export function writingDeed(
  random: Random,
  name: string,
  tree: Tree,
  { ground, tag, willEnd }: WriterSurroundings,
): Deed {
  if (random.chance(0.1)) return bareDeed(random, name, tree);
  const lockKeys = random.chance(0.15) ? someKeys(random) : [];
  const {
    text,
    stdout = NOTHING,
    stderr = NOTHING,
    exits = [0],
    isDeadly,
    stdin,
    timeoutMs,
    env,
  } = workOf(random, name, tree, willEnd);
  return {
    command: recorded(name, text, tree, lockKeys, tag),
    fields: {
      cwd: tree.path,
      env: { SOAK_JOURNAL: ground.journal, SOAK_HELD: ground.held, ...env },
      ...(lockKeys.length > 0 ? { lockKeys } : {}),
      ...(stdin === undefined ? {} : { stdin }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    },
    verdict: 'serial',
    places: tree.places,
    reads: [],
    exits,
    stdout,
    stderr,
    records: isDeadly === true ? 'begin' : 'both',
  };
}

/** A few names that commands of all batches share. */
export function someKeys(random: Random): readonly AskedKey[] {
  const keys = ['first', 'second', 'third'].filter(() => random.chance(0.5));
  return (keys.length > 0 ? keys : ['first']).map((key) => ({
    key,
    mode: random.chance(0.5) ? 'shared' : 'exclusive',
  }));
}

/**
 * The text with its records around it. Each lock file is taken without waiting, and held by every child until the last
 * is dead: the system itself tells when two meet that must not.
 */
function recorded(name: string, work: string, tree: Tree, lockKeys: readonly AskedKey[], batch: string): string {
  const places = new Map(tree.places.flatMap(lockFilesOf).map(({ place, isShared }) => [place, isShared]));
  for (const place of tree.places) places.set(place, false);
  const files = [
    ...Array.from(places, ([place, isShared]) => ({ file: `place-${place.replaceAll('/', '-')}`, isShared })),
    ...lockKeys.map(({ key, mode }) => ({ file: `key-${key}`, isShared: mode === 'shared' })),
    { file: `batch-${batch}`, isShared: false },
  ];
  const takes = files.map(
    ({ file, isShared }, index) =>
      `exec {h${index}}>>"$SOAK_HELD/${file}"; flock -n${isShared ? 's' : 'x'} $h${index} || echo 'X ${name} ${file}' >>"$SOAK_JOURNAL"`,
  );
  return [
    ...takes,
    `echo 'B ${name}' >>"$SOAK_JOURNAL"; echo 'busy ${name}' >.seat`,
    work,
    `soak=$?; echo 'free ${name}' >.seat; echo 'E ${name}' >>"$SOAK_JOURNAL"; exit $soak`,
  ].join('\n');
}

const KINDS = {
  touch: 8,
  say: 8,
  both: 3,
  fail: 6,
  nap: 4,
  flood: 3,
  floods: 1,
  input: 2,
  variable: 2,
  stale: 1,
  commit: 1,
  child: 1,
  escaped: 0.5,
  stubborn: 0.05,
  kill: 1,
  term: 1,
  late: 3,
  deaf: 0.05,
  long: 0,
};

function workOf(random: Random, name: string, tree: Tree, willEnd: boolean): Work {
  const said = { kind: 'exact', text: `${name}\n` } as const;
  const kind = random.weighted(willEnd ? { ...KINDS, long: 40 } : KINDS);
  switch (kind) {
    case 'touch':
      return { text: `touch out/${name}` };
    case 'say':
      return { text: `echo ${name}`, stdout: said };
    case 'both':
      return { text: `echo ${name}; echo ${name} >&2`, stdout: said, stderr: said };
    case 'fail': {
      const code = random.integer(1, 9);
      return { text: `echo ${name}; sh -c 'exit ${code}'`, stdout: said, exits: [code] };
    }
    case 'nap':
      return { text: `sleep 0.0${random.integer(1, 9)}; echo ${name}`, stdout: said };
    case 'flood':
      return flood(name, random.integer(1_000, random.chance(0.2) ? 3_000_000 : 100_000));
    case 'floods': {
      const { text, stdout } = flood(name, random.integer(1_000, 500_000)) as Required<Work>;
      const other = flood(name, random.integer(1_000, 500_000)) as Required<Work>;
      return { text: `${text}; ${other.text} >&2`, stdout, stderr: other.stdout };
    }
    case 'input': {
      const stdin = floodOf(name, random.integer(1, 20_000));
      return { text: 'cat', stdin, stdout: { kind: 'exact', text: stdin } };
    }
    case 'variable':
      return { text: 'echo "$SOAK_WORD"', env: { SOAK_WORD: name }, stdout: said };
    case 'stale':
      return { text: `touch lines.txt; echo ${name}`, stdout: said };
    case 'commit':
      // One that is killed may leave what makes the next fail; what it leaves is looked for in the end.
      if (!tree.isRepository) return { text: `echo ${name}`, stdout: said };
      return { text: `git commit -q --allow-empty -m ${name}; echo ${name}`, stdout: said };
    case 'child':
      return { text: `sleep 5 & echo ${name}`, stdout: said };
    case 'escaped':
      return { text: `setsid sleep 5 & echo ${name}`, stdout: said };
    case 'stubborn':
      return { text: `(trap '' TERM; sleep 5; :) & echo ${name}`, stdout: said };
    case 'kill':
      return { text: `echo ${name}; kill -9 $$`, stdout: said, exits: [137], isDeadly: true };
    case 'term':
      return { text: `echo ${name}; kill -TERM $$`, stdout: said, exits: [143], isDeadly: true };
    case 'late':
      return { text: `echo ${name}; sleep 20`, stdout: said, exits: [], timeoutMs: random.integer(1, 300) };
    case 'long':
      return { text: `echo ${name}; sleep 3; echo ${name}`, stdout: { kind: 'exact', text: `${name}\n${name}\n` } };
    case 'deaf':
      return {
        text: `trap '' TERM; echo ${name}; sleep 20`,
        stdout: said,
        exits: [],
        timeoutMs: random.integer(100, 300),
      };
  }
}

function flood(name: string, bytes: number): Work {
  return { text: `yes ${name} | head -c ${bytes}`, stdout: { kind: 'flood', line: name, bytes } };
}

/** Without records, as people write them. */
function bareDeed(random: Random, name: string, tree: Tree): Deed {
  const kind = random.weighted({ sleep: 3, touch: 3, missing: 2, quick: 2 });
  const { text, stderr = NOTHING, exits = [0], timeoutMs } = bareWork(kind, name, random);
  return {
    command: text,
    fields: { cwd: tree.path, ...(timeoutMs === undefined ? {} : { timeoutMs }) },
    verdict: 'serial',
    places: tree.places,
    reads: [],
    exits,
    stdout: NOTHING,
    stderr,
    records: 'none',
  };
}

function bareWork(kind: 'sleep' | 'touch' | 'missing' | 'quick', name: string, random: Random): Work {
  switch (kind) {
    case 'sleep':
      return { text: `sleep 0.0${random.integer(1, 5)}` };
    case 'touch':
      return { text: `touch out/${name}` };
    case 'missing':
      return { text: `no-such-${name} x`, exits: [127], stderr: { kind: 'holds', text: `no-such-${name}` } };
    case 'quick':
      return { text: `true >out/${name}`, timeoutMs: random.integer(1, 40) };
  }
}
