import { lstatSync, readFileSync } from 'node:fs';
import type { RepositoryFacts, RepositoryFinding } from '../classifier/judgement.ts';
import { readAttributes } from './attributes-reader.ts';
import { type DirectoryMemory, findAttributesFiles, loadListing } from './attributes-search.ts';
import { type ConfigMemory, collectConfiguration } from './config-files.ts';
import { FileMemory, fileLoader } from './file-memory.ts';
import { readGitConfig } from './git-config-reader.ts';
import { staleEntry } from './index-freshness.ts';
import { readIndex, type TrackedFiles } from './index-reader.ts';
import { below, realOr } from './paths.ts';
import {
  findLayout,
  type Layout,
  layoutAt,
  MAX_POINTER_BYTES,
  type TextMemory,
  textLoader,
  type WorkTree,
} from './repository-layout.ts';
import { readSettings, type Settings } from './repository-settings.ts';
import type { Surroundings } from './repository-surroundings.ts';
import { SharedIndexes } from './shared-index.ts';

/** The facts, and whether they are about the user's configuration alone, because there is no repository. */
export type ProbedRepository = RepositoryFacts & { readonly isOutside: boolean };

const MAX_CONFIG_BYTES = 1_048_576;
const MAX_INDEX_BYTES = 268_435_456;
/** Submodules, also those of submodules, that are looked at. */
const MAX_SUBMODULES = 100;

/** How much is remembered: files of each kind, and directories. */
const FILES = 2_000;
const INDEXES = 64;
const DIRECTORIES = 60_000;

const NOTHING: readonly RepositoryFinding[] = Object.freeze([]);

type WholeList = Extract<TrackedFiles, { readonly kind: 'whole' }>;

/** How much is asked for; see `ProbeOptions`. */
export type Depth = { readonly programs: boolean; readonly index: boolean; readonly readsElsewhere: boolean };

/** Reads what a probe asks for, and remembers it. */
export class RepositoryExaminer {
  readonly #pointers: TextMemory;
  readonly #configs: ConfigMemory;
  readonly #attributes: FileMemory<ReadonlySet<string>>;
  readonly #indexes: ReadonlyMap<number, FileMemory<TrackedFiles>>;
  readonly #directories: DirectoryMemory;
  readonly #sharedIndexes: SharedIndexes;

  constructor(now: () => number) {
    this.#pointers = new FileMemory(FILES, textLoader(MAX_POINTER_BYTES), now);
    const config = fileLoader(MAX_CONFIG_BYTES, (bytes) => readGitConfig(bytes.toString('latin1')));
    this.#configs = new FileMemory(FILES, config, now);
    const attributes = fileLoader(MAX_CONFIG_BYTES, (bytes) => readAttributes(bytes.toString('latin1')));
    this.#attributes = new FileMemory(FILES, attributes, now);
    this.#indexes = new Map(
      [20, 32].map((hashBytes) => {
        const index = fileLoader(MAX_INDEX_BYTES, (bytes) => readIndex(bytes, hashBytes));
        return [hashBytes, new FileMemory(INDEXES, index, now)];
      }),
    );
    this.#directories = new FileMemory(DIRECTORIES, loadListing, now);
    this.#sharedIndexes = new SharedIndexes(now);
  }

  ask(directory: string, surroundings: Surroundings, depth: Depth): ProbedRepository {
    const layout = findLayout(directory, this.#pointers);
    const findings = this.#findings(layout, surroundings, depth, { submodules: MAX_SUBMODULES });
    return Object.freeze({ findings: Object.freeze(findings), isOutside: layout.kind === 'none' });
  }

  #findings(
    layout: Layout,
    surroundings: Surroundings,
    depth: Depth,
    left: { submodules: number },
  ): readonly RepositoryFinding[] {
    if (layout.kind === 'doubtful') return [layout.finding];
    if (surroundings.doubt !== null) {
      return [{ code: 'REPOSITORY_UNREADABLE', affects: 'every-read', detail: surroundings.doubt }];
    }
    const tree = layout.kind === 'work-tree' ? layout.tree : null;
    const files = [...surroundings.configFiles, ...(tree === null ? [] : configFilesOf(tree))];
    const configuration = collectConfiguration(files, surroundings.home, this.#configs);
    if (configuration.unreadable !== null) {
      return [{ code: 'REPOSITORY_UNREADABLE', affects: 'every-read', detail: configuration.unreadable }];
    }
    const settings = readSettings(configuration.entries, tree, surroundings.home);
    // One finding is enough for the verdict, so what costs more is not looked for; but it must concern every read.
    if (settings.findings.some(({ affects }) => affects === 'every-read')) return settings.findings;
    if (tree === null) {
      if (!depth.programs || settings.findings.length > 0) return settings.findings;
      return this.#selected(null, NO_FILES, settings, surroundings, depth);
    }
    if (settings.recurses && this.#mayRecurse(tree, settings)) return [RECURSES];
    if (this.#sharedIndexes.of(tree).some((index) => this.#isSplit(index, settings))) return [SPLIT];
    const stale = depth.index ? staleIn(tree, settings) : NOTHING;
    if (!depth.programs) return [...settings.findings, ...stale];
    const tracked = this.#trackedFiles(below(tree.gitDirectory, 'index'), settings);
    if (tracked === null) return [...settings.findings, unreadable('the index cannot be read or understood')];
    if (tracked.kind === 'partial') return [...settings.findings, unreadable(PARTIAL), ...stale];
    const selected =
      settings.findings.length > 0 ? NOTHING : this.#selected(tree, tracked, settings, surroundings, depth);
    return [...settings.findings, ...selected, ...this.#submodules(tree, tracked, surroundings, left), ...stale];
  }

  /** Whether a search may go into another repository: also one that is recorded only in older commits, or not checked out. */
  #mayRecurse(tree: WorkTree, settings: Settings): boolean {
    const places = [
      below(tree.top, '.gitmodules'),
      below(tree.gitDirectory, 'modules'),
      below(tree.commonDirectory, 'modules'),
    ];
    const tracked = this.#trackedFiles(below(tree.gitDirectory, 'index'), settings);
    return places.some(mayBeThere) || tracked?.kind !== 'whole' || tracked.submodules.length > 0;
  }

  #isSplit(index: string, settings: Settings): boolean {
    const tracked = this.#trackedFiles(index, settings);
    return tracked === null || (tracked.kind === 'partial' && tracked.isSplit);
  }

  /** Null when there is a list that is not understood. */
  #trackedFiles(index: string, { hashBytes }: Settings): TrackedFiles | null {
    const look = this.#indexes.get(hashBytes)?.look(index);
    if (look === undefined || look.kind === 'unreadable') return null;
    return look.kind === 'absent' ? NO_FILES : look.value;
  }

  /** A driver or filter that some attributes file selects, or that some file may select which cannot be read. */
  #selected(
    tree: WorkTree | null,
    tracked: WholeList,
    { drivers, attributesFiles }: Settings,
    surroundings: Surroundings,
    { readsElsewhere }: Depth,
  ): readonly RepositoryFinding[] {
    if (drivers.size === 0) return NOTHING;
    if (tree === null || readsElsewhere) {
      const [driver = ''] = drivers;
      return [configured(`${driver} may be selected by an attributes file outside any work tree`)];
    }
    const { gitDirectory, commonDirectory, top } = tree;
    const outside = [
      ...surroundings.attributesFiles,
      ...attributesFiles,
      ...new Set([below(gitDirectory, 'info/attributes'), below(commonDirectory, 'info/attributes')]),
    ];
    for (const file of outside) {
      if (file === '/dev/null') continue;
      const finding = this.#selectedIn(file, drivers);
      if (finding !== null) return [finding];
    }
    const search = findAttributesFiles(top, this.#directories);
    if (search.doubt !== null) return [unreadable(`not every attributes file was found: ${search.doubt}`)];
    for (const file of search.files) {
      const finding = this.#selectedIn(file, drivers);
      if (finding !== null) return [finding];
    }
    // Git takes one that is missing from the index.
    const found = new Set(search.files);
    const missing = tracked.attributes.find((path) => !found.has(below(top, path)) || !isThere(below(top, path)));
    return missing === undefined ? NOTHING : [unreadable(`${missing} is in the index and not in the work tree`)];
  }

  #selectedIn(file: string, drivers: ReadonlySet<string>): RepositoryFinding | null {
    const look = this.#attributes.look(file);
    if (look.kind === 'absent') return null;
    if (look.kind === 'unreadable') return unreadable(`${file} cannot be read`);
    for (const driver of drivers) if (look.value.has(driver)) return configured(`${driver} in ${file}`);
    return null;
  }

  /** Reads start another git in each submodule that is checked out. */
  #submodules(
    { top }: WorkTree,
    { submodules }: WholeList,
    surroundings: Surroundings,
    left: { submodules: number },
  ): readonly RepositoryFinding[] {
    for (const path of submodules) {
      const inner = realOr(below(top, path));
      if (!mayBeThere(below(inner, '.git'))) continue;
      if (left.submodules-- <= 0) return [unreadable(`there are more than ${MAX_SUBMODULES} submodules`)];
      const layout = layoutAt(inner, this.#pointers);
      const findings = this.#findings(
        layout,
        surroundings,
        { programs: true, index: false, readsElsewhere: false },
        left,
      );
      const [finding] = findings;
      if (finding === undefined) continue;
      // Only those that start programs look into submodules.
      const detail = `${finding.detail}, of the submodule ${path}`;
      return [{ ...finding, affects: 'configured-programs', detail }];
    }
    return NOTHING;
  }
}

const NO_FILES: WholeList = Object.freeze({ kind: 'whole', submodules: [], attributes: [] });

const PARTIAL = 'the index names directories instead of files';

/** Git marks the other part as used, by its time, whatever it is asked (2.39.5, strace: `utimensat`). */
const SPLIT: RepositoryFinding = Object.freeze({
  code: 'REPOSITORY_UNREADABLE',
  affects: 'every-read',
  detail: 'the index is split over two files, and every read marks one of them as used',
});

const RECURSES: RepositoryFinding = Object.freeze({
  code: 'REPOSITORY_CONFIGURED',
  affects: 'every-read',
  detail: 'submodule.recurse sends a search into submodules, also those that no longer are',
});

/** Read anew each time: the files of the work tree have to be looked at in any case. */
function staleIn({ gitDirectory, top }: WorkTree, { hashBytes }: Settings): readonly RepositoryFinding[] {
  const stale = (detail: string): readonly RepositoryFinding[] => [
    { code: 'REPOSITORY_STALE', affects: 'index-reads', detail },
  ];
  try {
    const file = below(gitDirectory, 'index');
    if (!isThere(file)) return NOTHING;
    const entry = staleEntry(readFileSync(file), hashBytes, top);
    return entry === null ? NOTHING : stale(entry);
  } catch {
    return stale('the index cannot be read');
  }
}

/** In the order that git reads them. The last is read only if an extension says so; here it always counts. */
function configFilesOf({ gitDirectory, commonDirectory }: WorkTree): readonly string[] {
  return [below(commonDirectory, 'config'), below(gitDirectory, 'config.worktree')];
}

function configured(detail: string): RepositoryFinding {
  return { code: 'REPOSITORY_CONFIGURED', affects: 'configured-programs', detail };
}

function unreadable(detail: string): RepositoryFinding {
  return { code: 'REPOSITORY_UNREADABLE', affects: 'configured-programs', detail };
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch {
    return false;
  }
}

function mayBeThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}
