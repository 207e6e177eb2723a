import type { RepositoryFinding } from '../classifier/judgement.ts';
import { type LocatedEntry, resolvePath } from './config-files.ts';
import { realOr } from './paths.ts';
import type { WorkTree } from './repository-layout.ts';

/** What a configuration says, as far as a read may start a program or look elsewhere because of it. */
export type Settings = {
  readonly findings: readonly RepositoryFinding[];
  /** `diff=NAME` and `filter=NAME` for every driver and filter that may start a program: these select it. */
  readonly drivers: ReadonlySet<string>;
  /** Attributes files that it names. */
  readonly attributesFiles: readonly string[];
  /** Reads go into submodules without being asked to. */
  readonly recurses: boolean;
  /** Bytes of an object's name. */
  readonly hashBytes: number;
};

/** What a driver or filter may say without a program in it. Everything else counts, also what later versions add. */
const HARMLESS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['diff.', new Set(['xfuncname', 'funcname', 'wordregex', 'binary', 'algorithm'])],
  ['filter.', new Set(['required'])],
]);

/** Programs and places that even a plain read comes to. The middle part of a name, where there may be one, is `*`. */
const EVERY_READ: ReadonlyMap<string, RepositoryFinding['code']> = new Map([
  ['extensions.partialclone', 'REPOSITORY_PARTIAL'],
  ['remote.*.promisor', 'REPOSITORY_PARTIAL'],
  ['remote.*.partialclonefilter', 'REPOSITORY_PARTIAL'],
  // Of Microsoft's git: programs that are asked for the list of files, or for objects.
  ['core.virtualfilesystem', 'REPOSITORY_CONFIGURED'],
  ['core.gvfs', 'REPOSITORY_CONFIGURED'],
  ['core.usegvfshelper', 'REPOSITORY_CONFIGURED'],
]);

/** Keys that order rows by a field, one of which is whether a signature is good. */
const SORTS: ReadonlySet<string> = new Set(['branch.sort', 'tag.sort']);

const FALSE: ReadonlySet<string> = new Set(['false', 'no', 'off', '0', '']);

/** @param tree null outside any. @param home for `~/` in a path. */
export function readSettings(entries: readonly LocatedEntry[], tree: WorkTree | null, home: string | null): Settings {
  const findings: RepositoryFinding[] = [];
  const drivers = new Set<string>();
  const attributesFiles: string[] = [];
  let recurses = false;
  let hashBytes = 20;
  // A linked work tree has its own answer to these two, unless it is asked to look into its own configuration.
  const hasPlaces = tree !== null && (!tree.isLinked || entries.some(isOn('extensions.worktreeconfig')));

  const find = (code: RepositoryFinding['code'], affects: RepositoryFinding['affects'], entry: LocatedEntry): void => {
    findings.push({ code, affects, detail: `${entry.name} in ${entry.file}` });
  };

  for (const entry of entries) {
    const { name, value } = entry;
    const driver = driverOf(name);
    if (driver !== null) drivers.add(driver);
    const generic = withoutMiddle(name);
    const code = EVERY_READ.get(generic);
    if (code !== undefined) find(code, 'every-read', entry);
    else if (SORTS.has(name) && value?.includes('signature')) find('REPOSITORY_CONFIGURED', 'every-read', entry);
    else if (name === 'diff.external') find('REPOSITORY_CONFIGURED', 'configured-programs', entry);
    // Whatever no attribute is given for goes by this name.
    else if (driver === 'diff=default') find('REPOSITORY_CONFIGURED', 'configured-programs', entry);
    // From 2.52 on an alias comes before a command that is deprecated.
    else if (`${name}.`.startsWith('alias.whatchanged.')) find('REPOSITORY_CONFIGURED', 'configured-programs', entry);
    // Attributes would come from a commit instead of from files.
    else if (name === 'attr.tree') find('REPOSITORY_CONFIGURED', 'configured-programs', entry);
    else if (name === 'status.submodulesummary') {
      if (!isOff(value)) find('REPOSITORY_CONFIGURED', 'configured-programs', entry);
    } else if (name === 'diff.submodule') {
      // Both other values open submodules, also those that only older commits know: there, another git shows what changed.
      if (value !== 'short') find('REPOSITORY_CONFIGURED', 'configured-programs', entry);
    } else if (name === 'format.pretty' || name.startsWith('pretty.')) {
      if (asksPrograms(value)) find('REPOSITORY_CONFIGURED', 'configured-programs', entry);
    } else if (name === 'grep.fallbacktonoindex') {
      // git grep would search whatever lies below a directory that is in no work tree.
      if (tree === null && !isOff(value)) find('REPOSITORY_CONFIGURED', 'every-read', entry);
    } else if (name === 'core.attributesfile') {
      // Of a relative path it cannot be told where it starts.
      const path = resolvePath(entry, '', home);
      if (path === null || !(value?.startsWith('/') || value?.startsWith('~'))) {
        find('REPOSITORY_UNREADABLE', 'configured-programs', entry);
      } else attributesFiles.push(path);
    } else if (name === 'core.bare') {
      if (hasPlaces && !isOff(value)) find('REPOSITORY_LAYOUT', 'every-read', entry);
    } else if (name === 'core.worktree') {
      if (hasPlaces && !isPlace(entry, tree)) find('REPOSITORY_LAYOUT', 'every-read', entry);
    } else if (name === 'submodule.recurse') recurses ||= !isOff(value);
    else if (name === 'extensions.objectformat') hashBytes = value?.toLowerCase() === 'sha256' ? 32 : 20;
  }
  return { findings, drivers, attributesFiles, recurses, hashBytes };
}

/** `diff=NAME` for `diff.NAME.textconv`; null for what defines no program. */
function driverOf(name: string): string | null {
  for (const [lead, harmless] of HARMLESS) {
    const last = name.lastIndexOf('.');
    if (name.startsWith(lead) && last >= lead.length && !harmless.has(name.slice(last + 1)))
      return `${lead.slice(0, -1)}=${name.slice(lead.length, last)}`;
  }
  return null;
}

function withoutMiddle(name: string): string {
  const first = name.indexOf('.');
  const last = name.lastIndexOf('.');
  return first === last ? name : `${name.slice(0, first)}.*${name.slice(last)}`;
}

/** `%G`, in which git asks gpg, and `%(describe)`, in which it asks another git; both with a sign between. */
function asksPrograms(value: string | null): boolean {
  return value !== null && /%[-+ ]?(?:G|\(describe)/.test(value);
}

function isPlace(entry: LocatedEntry, { top, gitDirectory }: WorkTree): boolean {
  const path = resolvePath(entry, gitDirectory, null);
  return path !== null && realOr(path) === top;
}

function isOn(name: string): (entry: LocatedEntry) => boolean {
  return (entry) => entry.name === name && !isOff(entry.value);
}

/** A name without a value is on. */
function isOff(value: string | null): boolean {
  return value !== null && FALSE.has(value.toLowerCase());
}
