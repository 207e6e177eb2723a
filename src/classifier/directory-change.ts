import type { DirectoryChange } from './judgement.ts';
import type { ListedCommand } from './lexer.ts';
import { normalise, reachesDevices, resolve } from './paths.ts';
import { type Refusal, refuseText } from './reading.ts';
import type { ReasonCode } from './verdict.ts';
import type { Word } from './word.ts';

/** What bash itself does with this name: no program could change the directory of what follows. */
const CHANGE = 'cd';

/** Whether a part changes the directory of those after it. */
export function changesDirectory({ words }: Pick<ListedCommand, 'words'>): boolean {
  return words[0]?.raw === CHANGE;
}

/** The leading change of directory that is followed, as a judgement tells it; null where there is none. */
export function leadingChange(commands: readonly ListedCommand[], isWhole: boolean): DirectoryChange | null {
  const [first, second] = commands;
  if (first === undefined || second === undefined) return null;
  if (!changesDirectory(first) || refuseForm(first, second) !== null) return null;
  const rest = commands.slice(2);
  const alsoHere = !isWhole || rest.some(({ joint }) => joint?.text === ';' || joint?.text === '||');
  return { text: first.words[1]!.text, alsoHere };
}

/**
 * Why a text that begins with a change of directory is not read from there; null when it is.
 *
 * @param home where the text starts; `''` when nobody told.
 * @param roots absolute directories that the target has to lie in, if given.
 */
export function refuseChange(
  commands: readonly ListedCommand[],
  home: string,
  roots: readonly string[] | undefined,
): Refusal | null {
  const [first, second] = commands as readonly [ListedCommand, ListedCommand?];
  const refusal = refuseForm(first, second);
  if (refusal !== null) return refusal;
  const target = first.words[1]!;
  if (reachesDevices(target.text, home, false)) return refuseTarget(target, 'PATH_DEVICE');
  if (roots !== undefined && !isInside(resolve(home, target.text), roots)) {
    return refuseText('environment', 'CD_OUTSIDE_ROOTS', target.start, target.end);
  }
  return null;
}

function refuseForm(first: ListedCommand, second: ListedCommand | undefined): Refusal | null {
  const { words, assignments, redirections, start, end } = first;
  if (second?.joint?.text !== '&&' || assignments.length > 0 || redirections.length > 0) {
    return refuseText('leading-token', 'CD_NOT_LEADING', start, end);
  }
  const [name, target, ...more] = words as readonly [Word, Word?, ...Word[]];
  if (target === undefined) return refuseTarget(name, 'CD_TARGET');
  const odd = more[0] ?? (isPlain(target) ? null : target);
  return odd === null ? null : refuseTarget(odd, 'CD_TARGET');
}

function refuseTarget({ start, end }: Word, code: ReasonCode): Refusal {
  return refuseText(code === 'PATH_DEVICE' ? 'subcommand' : 'leading-token', code, start, end);
}

/** A place that bash and we find by its text alone: behind a name, `..` would depend on where that name leads. */
function isPlain({ text, glob }: Word): boolean {
  if (glob || text === '' || '-~+'.includes(text.charAt(0))) return false;
  let isNamed = false;
  for (const part of text.split('/')) {
    if (part === '..' && isNamed) return false;
    isNamed ||= part !== '' && part !== '.' && part !== '..';
  }
  return true;
}

/** A relative path from nowhere lies in no root. */
function isInside(path: string, roots: readonly string[]): boolean {
  return roots.some((root) => {
    const top = normalise(root);
    return path === top || path.startsWith(top === '/' ? top : `${top}/`);
  });
}
