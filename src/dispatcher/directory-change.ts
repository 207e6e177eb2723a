import { resolve } from 'node:path';
import type { DirectoryChange } from '../classifier/judgement.ts';
import { isInside, isPseudo, realDirectory } from './paths.ts';

/** Where the change leads, or why that cannot be told or must not be. */
export type Landing =
  | { readonly kind: 'found'; readonly real: string }
  | {
      readonly kind: 'refused';
      readonly code: 'CD_UNCERTAIN' | 'CD_OUTSIDE_ROOTS' | 'DIRECTORY_DEVICE';
      readonly why: string;
    };

export type LandingContext = {
  /** Absolute: where the command starts. */
  readonly cwd: string;
  readonly roots: readonly string[] | null;
  readonly mayRunIn: ((directory: string) => boolean) | null;
  /** Where it led when the command was first judged; null: not asked yet. */
  readonly earlier: string | null;
};

/** The target of a change as bash composes it first: from the name of the working directory, not from where that lies. */
export function namedTarget(cwd: string, { text }: DirectoryChange): string {
  return resolve(cwd, text);
}

/**
 * Follows a leading change of directory. It must lead to one existing directory however links on the way are read (bash
 * takes `..` away as text, and asks the system when that fails), inside the roots, and where it led before.
 */
export function landingOf(change: DirectoryChange, { cwd, roots, mayRunIn, earlier }: LandingContext): Landing {
  const named = namedTarget(cwd, change);
  const real = realDirectory(named);
  if (real === null) return refused('CD_UNCERTAIN', `${named} is no directory`);
  // Not joined by node:path, which would take `link/..` away as text.
  const asked = change.text.startsWith('/') ? change.text : `${cwd}/${change.text}`;
  if (realDirectory(asked) !== real)
    return refused('CD_UNCERTAIN', `links on the way to ${change.text} lead elsewhere`);
  if (earlier !== null && earlier !== real) return refused('CD_UNCERTAIN', `${named} has become another directory`);
  if (isPseudo(real)) return refused('DIRECTORY_DEVICE', `${named} leads into one of the kernel's file systems`);
  const isConfined = (roots === null || isInside(real, roots)) && isAllowed(real, mayRunIn);
  if (!isConfined) return refused('CD_OUTSIDE_ROOTS', `${named} lies where no command may start`);
  return { kind: 'found', real };
}

function refused(code: Extract<Landing, { kind: 'refused' }>['code'], why: string): Landing {
  return { kind: 'refused', code, why };
}

function isAllowed(real: string, mayRunIn: LandingContext['mayRunIn']): boolean {
  try {
    return mayRunIn === null || mayRunIn(real) === true;
  } catch {
    return false;
  }
}
