import { lstatSync, readlinkSync, realpathSync, type Stats, statSync } from 'node:fs';
import type { RepositoryFinding } from '../classifier/judgement.ts';
import { type FileMemory, fileLoader } from './file-memory.ts';
import { below, pathFrom } from './paths.ts';

/** Bytes read of a `.git`, `commondir` or `HEAD` file: a path and a short prefix. */
export const MAX_POINTER_BYTES = 65_536;

/** A work tree and the directories of its repository, all absolute. */
export type WorkTree = {
  readonly top: string;
  readonly gitDirectory: string;
  /** The same, unless this is a linked work tree. */
  readonly commonDirectory: string;
  readonly isLinked: boolean;
};

export type Layout =
  | { readonly kind: 'none' }
  | { readonly kind: 'work-tree'; readonly tree: WorkTree }
  /** There is a repository, and it is not told what git would make of it. */
  | { readonly kind: 'doubtful'; readonly finding: RepositoryFinding };

const NONE: Layout = Object.freeze({ kind: 'none' });

/** Reads short files; shared with the other readers of a probe. */
export type TextMemory = FileMemory<string>;

/** A loader of texts, a character a byte. */
export function textLoader(maxBytes: number) {
  return fileLoader(maxBytes, (bytes) => bytes.toString('latin1'));
}

/**
 * The repository of a directory, looked for as git does from its real path upwards. Where git would go on upwards because
 * something is no repository after all, and that cannot be told for sure, the answer is doubtful. Never throws.
 */
export function findLayout(directory: string, pointers: TextMemory): Layout {
  let at: string;
  try {
    at = realpathSync.native(directory);
    if (!statSync(at).isDirectory()) return doubtful('REPOSITORY_UNREADABLE', `${directory} is no directory`);
  } catch {
    return doubtful('REPOSITORY_UNREADABLE', `${directory} cannot be looked at`);
  }
  for (;;) {
    const found = layoutAt(at, pointers);
    if (found.kind !== 'none' || at === '/') return found;
    at = at.slice(0, at.lastIndexOf('/')) || '/';
  }
}

/** The repository whose top is exactly here. @param top absolute. */
export function layoutAt(top: string, pointers: TextMemory): Layout {
  const dotGit = below(top, '.git');
  try {
    const status = look(dotGit);
    if (status?.isDirectory()) {
      const layout = treeOf(top, dotGit, pointers);
      if (layout.kind !== 'none') return layout;
    } else if (status !== undefined) {
      const text = pointer(dotGit, pointers);
      const target = text?.startsWith('gitdir: ') ? pathIn(text.slice('gitdir: '.length), top) : null;
      if (target === null) return doubtful('REPOSITORY_UNREADABLE', `${dotGit} names no directory`);
      const layout = treeOf(top, target, pointers);
      return layout.kind === 'none' ? doubtful('REPOSITORY_UNREADABLE', `${dotGit} leads to no repository`) : layout;
    } else if (look(dotGit, lstatSync) !== undefined) {
      return doubtful('REPOSITORY_UNREADABLE', `${dotGit} leads nowhere`);
    }
    if (isGitDirectory(top)) return doubtful('REPOSITORY_LAYOUT', `${top} is itself a repository's directory`);
  } catch {
    return doubtful('REPOSITORY_UNREADABLE', `${dotGit} cannot be looked at`);
  }
  return NONE;
}

function treeOf(top: string, gitDirectory: string, pointers: TextMemory): Layout {
  const head = below(gitDirectory, 'HEAD');
  const shared = below(gitDirectory, 'commondir');
  const isLinked = look(shared, lstatSync) !== undefined;
  if (!isLinked && look(head, lstatSync) === undefined) {
    // With any part of a repository and without a HEAD it is half of one, or one that is being made.
    const isPart = ['objects', 'refs'].some((name) => look(below(gitDirectory, name), lstatSync) !== undefined);
    return isPart ? doubtful('REPOSITORY_UNREADABLE', `${gitDirectory} has no HEAD`) : NONE;
  }
  let commonDirectory = gitDirectory;
  if (isLinked) {
    const target = pathIn(pointer(shared, pointers) ?? '', gitDirectory);
    if (target === null) return doubtful('REPOSITORY_UNREADABLE', `${shared} names no directory`);
    commonDirectory = target;
  }
  const isWhole = ['objects', 'refs'].every((name) => look(below(commonDirectory, name))?.isDirectory());
  if (!isWhole || !isHead(head, pointers))
    return doubtful('REPOSITORY_UNREADABLE', `${gitDirectory} is no whole repository`);
  return { kind: 'work-tree', tree: Object.freeze({ top, gitDirectory, commonDirectory, isLinked }) };
}

/** Strict towards the finding: whatever git might take for a bare repository, or for the inside of one. */
function isGitDirectory(directory: string): boolean {
  if (look(below(directory, 'HEAD'), lstatSync) === undefined) return false;
  if (look(below(directory, 'commondir'), lstatSync) !== undefined) return true;
  return ['objects', 'refs'].every((name) => look(below(directory, name)) !== undefined);
}

/** Whether git would take this for a HEAD: a link or a reference into `refs/`, or the name of an object. */
function isHead(path: string, pointers: TextMemory): boolean {
  if (look(path, lstatSync)?.isSymbolicLink()) return readlinkSync(path).startsWith('refs/');
  const text = pointer(path, pointers);
  if (text === null) return false;
  if (text.startsWith('ref:')) return text.slice(4).trimStart().startsWith('refs/');
  return /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(text);
}

/** The one line of a file; null when there is none that can be read. */
function pointer(path: string, pointers: TextMemory): string | null {
  const read = pointers.look(path);
  if (read.kind !== 'read') return null;
  let end = read.value.length;
  while (end > 0 && (read.value[end - 1] === '\n' || read.value[end - 1] === '\r')) end--;
  return read.value.slice(0, end);
}

/** A path out of a file of bytes; null for what is no name that we could open. */
export function pathIn(bytes: string, base: string): string | null {
  const path = Buffer.from(bytes, 'latin1').toString();
  if (path === '' || path.includes('\0') || path.includes('\ufffd')) return null;
  return pathFrom(base, path);
}

function doubtful(code: RepositoryFinding['code'], detail: string): Layout {
  return { kind: 'doubtful', finding: { code, affects: 'every-read', detail } };
}

/** Undefined when nothing is there; throws when that cannot be told. */
function look(path: string, ask: typeof statSync | typeof lstatSync = statSync): Stats | undefined {
  return ask(path, { throwIfNoEntry: false });
}
