import { type BigIntStats, closeSync, constants, fstatSync, openSync, readFileSync, statSync } from 'node:fs';

/** What is at a path: nothing, something that could not be read or understood, or what `load` made of it. */
export type Look<Value> =
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreadable' }
  | { readonly kind: 'read'; readonly value: Value };

/** What came of reading, and the state that this was read in. Null: not to be read, or not understood. */
export type Loaded<Value> = { readonly value: Value; readonly status: BigIntStats } | null;

/** A file changed in the same tick of its clock, after it was read, looks the same: some file systems count seconds. */
const SETTLED_MS = 2000;

const ABSENT = Object.freeze({ kind: 'absent' } as const);
const UNREADABLE = Object.freeze({ kind: 'unreadable' } as const);

/**
 * Remembers what was read from paths for as long as device, inode, size and the times of change (in nanoseconds) are
 * the same, and asks for those every time. What changed within the last two seconds is not remembered. Bounded: the
 * path that was not asked for the longest is forgotten first.
 */
export class FileMemory<Value> {
  readonly #most: number;
  readonly #load: (path: string, status: BigIntStats) => Loaded<Value>;
  readonly #now: () => number;
  readonly #known = new Map<string, { readonly status: BigIntStats; readonly look: Look<Value> }>();

  /**
   * @param most paths that are remembered. @param load must not change anything; may throw.
   * @param now milliseconds of the epoch.
   */
  constructor(most: number, load: (path: string, status: BigIntStats) => Loaded<Value>, now: () => number) {
    this.#most = most;
    this.#load = load;
    this.#now = now;
  }

  /** How many paths are remembered. */
  get size(): number {
    return this.#known.size;
  }

  /** Never throws. */
  look(path: string): Look<Value> {
    const known = this.#known.get(path);
    try {
      const status = statSync(path, { bigint: true, throwIfNoEntry: false });
      if (known !== undefined) {
        this.#known.delete(path);
        if (status !== undefined && isSame(status, known.status)) {
          this.#known.set(path, known);
          return known.look;
        }
      }
      return status === undefined ? ABSENT : this.#read(path, status);
    } catch {
      return UNREADABLE;
    }
  }

  #read(path: string, status: BigIntStats): Look<Value> {
    const start = this.#now();
    const loaded = this.#load(path, status);
    if (loaded === null) return UNREADABLE;
    const look = Object.freeze({ kind: 'read', value: loaded.value } as const);
    const { mtimeMs, ctimeMs } = loaded.status;
    const changed = Math.max(Number(mtimeMs), Number(ctimeMs));
    if (changed + SETTLED_MS < start) {
      this.#known.set(path, { status: loaded.status, look });
      for (const oldest of this.#known.keys()) {
        if (this.#known.size <= this.#most) break;
        this.#known.delete(oldest);
      }
    }
    return look;
  }
}

/** A loader of whole regular files. `parse` gives null for what it does not understand. */
export function fileLoader<Value>(
  maxBytes: number,
  parse: (bytes: Buffer) => Value | null,
): (path: string) => Loaded<Value> {
  return (path) => {
    // Without O_NONBLOCK a FIFO of this name would hold up the whole process.
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const status = fstatSync(descriptor, { bigint: true });
      if (!status.isFile() || status.size > maxBytes) return null;
      const value = parse(readFileSync(descriptor));
      return value === null ? null : { value, status };
    } finally {
      closeSync(descriptor);
    }
  };
}

function isSame(one: BigIntStats, other: BigIntStats): boolean {
  return (
    one.ino === other.ino &&
    one.mtimeNs === other.mtimeNs &&
    one.ctimeNs === other.ctimeNs &&
    one.size === other.size &&
    one.dev === other.dev
  );
}
