import { type BigIntStats, readdirSync } from 'node:fs';
import { FileMemory, type Loaded } from './file-memory.ts';
import { below } from './paths.ts';
import type { WorkTree } from './repository-layout.ts';

/** How the file begins that holds most of a split index, beside the index. */
const SHARED_INDEX = 'sharedindex.';
/** Directories that are remembered. */
const DIRECTORIES = 2_000;

/**
 * Finds the places where a split index may be, without reading any index: git cannot read a split one whose shared file is
 * not beside it. Most repositories never had one, and cost a question for each work tree.
 */
export class SharedIndexes {
  readonly #shared: FileMemory<boolean>;
  readonly #linked: FileMemory<readonly string[]>;

  constructor(now: () => number) {
    this.#shared = new FileMemory(DIRECTORIES, holdsSharedIndex, now);
    this.#linked = new FileMemory(DIRECTORIES, listNames, now);
  }

  /**
   * The indexes of a repository beside which there is a shared one, where it stays for weeks after the index was joined
   * again: of every work tree, since `git fsck` reads them all from 2.40 on. A directory that cannot be listed may hold one.
   */
  of({ gitDirectory, commonDirectory }: WorkTree): readonly string[] {
    const worktrees = below(commonDirectory, 'worktrees');
    const linked = this.#linked.look(worktrees);
    const names = linked.kind === 'read' ? linked.value : [];
    const places = new Set([gitDirectory, commonDirectory, ...names.map((name) => below(worktrees, name))]);
    return [...places].filter((place) => this.#mayShare(place)).map((place) => below(place, 'index'));
  }

  #mayShare(directory: string): boolean {
    const look = this.#shared.look(directory);
    return look.kind === 'unreadable' || (look.kind === 'read' && look.value);
  }
}

function holdsSharedIndex(path: string, status: BigIntStats): Loaded<boolean> {
  return { value: readdirSync(path).some((name) => name.startsWith(SHARED_INDEX)), status };
}

function listNames(path: string, status: BigIntStats): Loaded<readonly string[]> {
  return { value: readdirSync(path), status };
}
