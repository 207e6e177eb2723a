import { constants, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isExecutable, isInside } from './paths.ts';
import { scriptLine } from './script-line.ts';

export type Program =
  | { readonly kind: 'found'; readonly path: string }
  /** Bash would find nothing that it can run, and says so in its own words. */
  | { readonly kind: 'missing' }
  /** What bash would run might be anybody's. */
  | { readonly kind: 'untrusted'; readonly why: string };

export type ProgramContext = {
  /** The very PATH that the run gets. */
  readonly path: string | undefined;
  /** Absolute; relative entries start here. */
  readonly cwd: string;
  /** Real directories that the command works in. A program inside one is whatever the last writer made of it. */
  readonly workspaces: readonly string[];
  /** What was found already, for as long as one look at a command takes. */
  readonly found?: Map<string, Program>;
};

/**
 * Looks a program up as bash would: the first executable file of that name along PATH. No entry is ever skipped: when
 * that first hit lies where others may write, the answer is `untrusted`, whatever stands behind it.
 *
 * @param name without a slash.
 */
export function findProgram(name: string, context: ProgramContext): Program {
  const program = context.found?.get(name) ?? lookUp(name, context);
  context.found?.set(name, program);
  return program;
}

function lookUp(name: string, { path, cwd, workspaces }: ProgramContext): Program {
  // Bash has a PATH of its own when it is given none, and some builds put the working directory into it.
  if (path === undefined) return untrusted('PATH is not set');
  for (const entry of path.split(':')) {
    if (entry.startsWith('~')) return untrusted(`the entry ${entry} of PATH depends on who asks`);
    const directory = resolve(cwd, entry);
    const file = `${directory === '/' ? '' : directory}/${name}`;
    if (!isExecutable(file)) continue;
    if (!entry.startsWith('/')) return untrusted(`the first ${name} on PATH comes from the relative entry "${entry}"`);
    const why = distrust(directory, file, workspaces);
    return why === null ? { kind: 'found', path: file } : untrusted(`the first ${name} on PATH, ${file}, ${why}`);
  }
  return { kind: 'missing' };
}

/**
 * Why what a program starts cannot be trusted, or null: the programs that its rule names, and those that the first line
 * of a script names, all looked up as the program itself was. One that is missing starts nothing.
 */
export function distrustedStart(
  program: Program | null,
  starts: readonly string[],
  context: ProgramContext,
): string | null {
  const names = new Set(starts);
  if (program?.kind === 'found') {
    const interpreter = interpreterOf(program.path);
    if (interpreter === null) return `the first line of ${program.path} could not be read`;
    for (const name of interpreter) names.add(name);
  }
  for (const name of names) {
    const found = findProgram(name, context);
    if (found.kind === 'untrusted') return `it starts ${name}, and ${found.why}`;
    if (found.kind === 'missing') continue;
    const inner = interpreterOf(found.path);
    if (inner === null) return `the first line of ${found.path} could not be read`;
    // A set takes what is added on the way, and each name once.
    for (const one of inner) names.add(one);
  }
  return null;
}

/** The names without a slash in the `#!` line of a script (`env node`): whoever interprets it finds them on PATH. */
function interpreterOf(file: string): readonly string[] | null {
  const words = scriptLine(file);
  return words?.filter((word) => !word.includes('/') && !word.startsWith('-') && !word.includes('=')) ?? null;
}

function untrusted(why: string): Program {
  return { kind: 'untrusted', why };
}

/** Both the entry and the place that links lead to must be nobody else's. */
function distrust(directory: string, file: string, workspaces: readonly string[]): string | null {
  try {
    const real = realpathSync.native(file);
    for (const place of [directory, dirname(real), real]) {
      if ((statSync(place).mode & constants.S_IWOTH) !== 0) return `can be replaced by anybody: ${place}`;
    }
    if ([realpathSync.native(directory), real].some((place) => isInside(place, workspaces))) {
      return 'lies in the workspace';
    }
    return null;
  } catch {
    return 'changed while it was looked at';
  }
}
