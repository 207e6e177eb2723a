import { checkNames, namesOf } from '../classifier/option-names.ts';
import { SignalboxError } from '../errors.ts';
import { hook, object, text } from './option-checks.ts';
import { type ProbedRepository, RepositoryExaminer } from './repository-examiner.ts';
import { surroundingsOf } from './repository-surroundings.ts';

export type { ProbedRepository } from './repository-examiner.ts';

/** What a probe is told besides the directory. */
export type ProbeOptions = {
  /** What the read will be started with: HOME, XDG_CONFIG_HOME and PATH tell where configuration lies. Default: the process's. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** False leaves out what matters only to reads that may start configured programs; far cheaper. Default true. */
  readonly programs?: boolean;
  /** False leaves out whether the index is stale, which matters only to reads that would refresh it. Default true. */
  readonly index?: boolean;
  /** The read is given files that lie outside the work tree, where other attributes may hold. Default false. */
  readonly readsElsewhere?: boolean;
};

export type RepositoryProbe = (directory: string, options?: ProbeOptions) => ProbedRepository;

const MAKE_NAMES = namesOf<{ readonly now?: () => number }>({ now: true });
const ASK_NAMES = namesOf<ProbeOptions>({ environment: true, programs: true, index: true, readsElsewhere: true });

/** A probe with a memory of its own. @param options.now milliseconds of the epoch. @throws SignalboxError OPTION_INVALID. */
export function createRepositoryProbe(options: { readonly now?: () => number } = {}): RepositoryProbe {
  checkNames(options, MAKE_NAMES, 'createRepositoryProbe');
  const examiner = new RepositoryExaminer(hook('now', options.now, null) ?? Date.now);
  return (directory, asked = {}) => {
    checkNames(asked, ASK_NAMES, 'a probe');
    const { environment = process.env, programs = true, index = true, readsElsewhere = false } = asked;
    object('environment', environment);
    if (!text('the directory', directory).startsWith('/') || directory.includes('\0')) {
      throw new SignalboxError('OPTION_INVALID', `Expected an absolute directory, got ${JSON.stringify(directory)}`);
    }
    return examiner.ask(directory, surroundingsOf(environment), { programs, index, readsElsewhere });
  };
}

/**
 * What of a repository and of the user's configuration could make a read start a program, fetch, or look at another
 * place than its directory: found by reading the files that git would read, without starting git. Nothing is written, and
 * no state of the file system makes it throw: what cannot be read or understood is a finding.
 *
 * What was read is remembered for as long as size, inode and times (in nanoseconds) are the same. The limits are in
 * `docs/decisions/0004-repository-probe.md`.
 *
 * @param directory absolute. @throws SignalboxError OPTION_INVALID when it is not.
 *
 * @example
 * const repository = probeRepository('/repo');
 * classify('git diff', { rules, cwd: '/repo', repository });
 */
export const probeRepository: RepositoryProbe = createRepositoryProbe();
