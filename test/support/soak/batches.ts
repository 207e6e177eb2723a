import type { Asked, BatchEvidence } from './evidence.ts';
import { type Random, randomOf } from './random.ts';
import { type Deed, readingDeed } from './readers.ts';
import { type Ground, TREES, type Tree } from './trees.ts';
import { someKeys, writingDeed } from './writers.ts';

/** How a client goes about a batch. */
export type Manner = {
  /**
   * `json`: one request, then its events. `wait`: one request that waits for the end. `lost`: one request, and the client
   * leaves before it is answered. `lines`: an upload. `grown`: an open batch that is added to.
   */
  readonly way: 'json' | 'wait' | 'lost' | 'lines' | 'grown';
  readonly framing: 'text/event-stream' | 'application/x-ndjson';
  /** Connections for events that are dropped after so many of them. */
  readonly drops: readonly number[];
  /** Milliseconds after which it is cancelled; null: never. */
  readonly cancelAfterMs: number | null;
  /** Whether the batch ends with the client, for those who leave. */
  readonly onDisconnect: 'continue' | 'cancel';
  /** An upload breaks off behind so many lines, in the middle of the next. */
  readonly breaksAt: number | null;
};

export type Errand = {
  readonly tag: string;
  readonly manner: Manner;
  readonly options: {
    readonly mode: 'simple' | 'compound';
    readonly maxParallel: number;
    readonly onFailure: BatchEvidence['onFailure'];
    readonly deadlineMs: number | null;
  };
  readonly asked: readonly Asked[];
  readonly random: Random;
};

/** Commands of the largest batches. */
const MANY = 60;

/** The batch of this number: the same for the same seed, whatever was run before it. */
export function errandOf(seed: number, number: number, ground: Ground): Errand {
  const random = randomOf(seed, number);
  const tag = `b${number}`;
  const size = random.chance(0.1) ? random.integer(20, MANY) : random.integer(1, 14);
  const home = random.pick(TREES);
  const isMixed = random.chance(0.3);
  const writes = random.pick([0.1, 0.3, 0.3, 0.6]);
  const mode = random.chance(0.3) ? 'compound' : 'simple';
  const manner = mannerOf(random, size);
  const deadlineMs = random.chance(0.06) ? random.integer(20, 1_500) : null;
  const willEnd = deadlineMs !== null || (manner.cancelAfterMs !== null && manner.way !== 'wait');
  const asked = Array.from({ length: size }, (_, index): Asked => {
    const name = `${tag}n${index + 1}`;
    const tree = isMixed ? random.pick(TREES) : home;
    return {
      name,
      id: name,
      ...deedOf(random, name, tree, {
        writes: willEnd && index === 0 ? 0.8 : writes,
        ...{ mode, ground, tag, willEnd },
      }),
    };
  });
  // Without ids of the clients' own they are named by place.
  const isUnnamed = random.chance(0.15);
  return {
    tag,
    manner,
    options: {
      mode,
      maxParallel: random.pick([1, 2, 4, 10, 10, 10]),
      onFailure: random.weighted({ continue: 8, stop: 1, 'cancel-siblings': 2 }),
      deadlineMs,
    },
    asked: isUnnamed ? asked.map((one, index) => ({ ...one, id: `c${index + 1}` })) : asked,
    random,
  };
}

type Surroundings = {
  readonly writes: number;
  readonly mode: 'simple' | 'compound';
  readonly ground: Ground;
  readonly tag: string;
  /** Something will end it before its commands do. */
  readonly willEnd: boolean;
};

const ROOT: Tree = { path: '.', isRepository: false, name: 'root', places: ['.'] };

function deedOf(random: Random, name: string, tree: Tree, { writes, mode, ground, tag, willEnd }: Surroundings): Deed {
  if (random.chance(0.004)) return { ...writingInRoot(name) };
  if (random.chance(writes)) return writingDeed(random, name, tree, { ground, tag, willEnd });
  const deed = readingDeed(random, name, tree, mode === 'compound');
  return random.chance(0.05) ? { ...deed, fields: { ...deed.fields, lockKeys: someKeys(random) } } : deed;
}

/** The root holds all trees, so that this one is alone among all batches. */
function writingInRoot(name: string): Deed {
  const nothing = { kind: 'exact', text: '' } as const;
  return {
    command: `sleep 0.02; echo ${name}`,
    fields: { cwd: ROOT.path },
    verdict: 'serial',
    places: ROOT.places,
    reads: [],
    exits: [0],
    stdout: { kind: 'exact', text: `${name}\n` },
    stderr: nothing,
    records: 'none',
  };
}

function mannerOf(random: Random, size: number): Manner {
  const way = random.weighted({ json: 10, wait: 5, lost: 0.4, lines: 5, grown: 2 });
  return {
    way,
    framing: random.chance(0.5) ? 'text/event-stream' : 'application/x-ndjson',
    drops: random.chance(0.3) ? Array.from({ length: random.integer(1, 3) }, () => random.integer(0, size * 3)) : [],
    cancelAfterMs: random.chance(0.2) ? random.integer(0, random.pick([50, 400, 1_500])) : null,
    onDisconnect: random.chance(0.5) ? 'cancel' : 'continue',
    breaksAt: way === 'lines' && random.chance(0.15) ? random.integer(0, size - 1) : null,
  };
}
