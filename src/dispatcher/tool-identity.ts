import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { exportRules, type RuleSet } from '../classifier/rule-set.ts';
import { realOr } from './paths.ts';
import { findProgram, type ProgramContext } from './program.ts';
import { scriptLine } from './script-line.ts';

/**
 * Whether a program is the one that its rule was proved with, and not another of the same name: busybox, a BSD userland, a
 * rewrite, a shim. Nothing is started to find out; files are read.
 */
export type ToolIdentity = {
  /** Why the file is another program than the one that was proved under this name, as a sentence; null when it is that one. */
  readonly doubt: (name: string, file: string) => string | null;
};

/** What rules say of the files of programs. */
export type KnownTools = {
  /** The rule file of each name. */
  readonly binaryOf: ReadonlyMap<string, string>;
  /** For each name, the texts of which its file holds one; none where any program of that name will do. */
  readonly texts: ReadonlyMap<string, readonly string[]>;
  /** Programs that are never proved, with what each does: what is a link to one is that program. */
  readonly never: ReadonlyMap<string, string>;
};

/** One file with names from so many rule files is no longer a program with a few spellings, but a whole userland or a shim. */
const MANY_RULES = 4;

/** Bytes of a file that are searched. Those that are known by a text are a tenth of it. */
const MOST_BYTES = 16_777_216;

/** What the files of a rule set say of their programs. */
export function knownTools(rules: RuleSet): KnownTools {
  const { files, never } = exportRules(rules);
  const named = files.flatMap(({ file }) => [file.binary, ...(file.also ?? [])].map((name) => ({ name, file })));
  return {
    binaryOf: new Map(named.map(({ name, file }) => [name, file.binary])),
    texts: new Map(named.map(({ name, file }) => [name, file.identity ?? []])),
    never: new Map(Object.entries(never)),
  };
}

/** No tool is known, and none is doubted. */
export const ANY_TOOL: ToolIdentity = Object.freeze({ doubt: () => null });

/**
 * Looks along PATH once for files that answer to many names; what is in a file is looked at when it is first asked for,
 * and again when size or time of the file have changed.
 *
 * @param path the PATH on which programs are found.
 */
export function createToolIdentity(tools: KnownTools, path: string | undefined): ToolIdentity {
  const crowds = crowdsOn(path, tools);
  const searched = new Map<string, { readonly state: string; readonly isIt: boolean }>();
  const holds = (name: string, file: string, texts: readonly string[]): boolean => {
    const key = `${name}\0${file}`;
    const state = stateOf(file);
    const known = searched.get(key);
    if (known?.state === state) return known.isIt;
    const isIt = holdsOne(file, texts);
    searched.set(key, { state, isIt });
    return isIt;
  };
  return Object.freeze({
    doubt: (name: string, file: string): string | null => {
      // Of a program without a rule (the shell that another one starts) nothing was proved that could be untrue.
      const texts = tools.texts.get(name);
      if (texts === undefined) return null;
      const real = realOr(file);
      const what = real === file ? file : `${file}, which is ${real},`;
      // A shell is one whatever it is called: nobody proved it to be harmless under that name.
      const leads = basename(real) === name || tools.never.has(name) ? undefined : tools.never.get(basename(real));
      if (leads !== undefined) return `${what} is not the ${name} that was proved: ${basename(real)} ${leads}`;
      if (texts.length > 0) {
        const expected = texts.map((text) => JSON.stringify(text)).join(' or ');
        return holds(name, file, texts)
          ? null
          : `${what} does not hold ${expected}, so it is not the ${name} that was proved`;
      }
      const shell = readersOf(file).find((word) => tools.never.has(word));
      if (shell !== undefined) {
        return `${what} is a script of ${shell} without a text that its rule knows, so it may start anything, and is not the ${name} that was proved`;
      }
      const names = crowds.get(identityOf(file)) ?? [];
      return names.length === 0
        ? null
        : `${what} answers to ${names.length} names (${names.slice(0, 3).join(', ')} …), so it is not the ${name} that was proved`;
    },
  });
}

/**
 * The first of some programs that is not the one that was proved, in words; null when each is. A name that finds nothing
 * runs nothing.
 */
export function strangerAmong(
  { doubt }: ToolIdentity,
  names: Iterable<string>,
  context: ProgramContext,
): string | null {
  for (const name of new Set(names)) {
    const found = findProgram(name, context);
    const why = found.kind === 'found' ? doubt(name, found.path) : null;
    if (why !== null) return why;
  }
  return null;
}

/** The files that answer to names of many rules, each with those names. */
function crowdsOn(path: string | undefined, { binaryOf }: KnownTools): ReadonlyMap<string, readonly string[]> {
  const directories = (path ?? '').split(':').filter((entry) => entry.startsWith('/'));
  const namesOf = new Map<string, string[]>();
  for (const name of binaryOf.keys()) {
    const file = directories.map((directory) => `${directory}/${name}`).find(isFile);
    if (file === undefined) continue;
    const identity = identityOf(file);
    namesOf.set(identity, [...(namesOf.get(identity) ?? []), name]);
  }
  const isCrowd = (names: readonly string[]): boolean =>
    new Set(names.map((name) => binaryOf.get(name))).size >= MANY_RULES;
  return new Map([...namesOf].filter(([, names]) => isCrowd(names)));
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch {
    return false;
  }
}

/** The same for links and hard links to one file. */
function identityOf(file: string): string {
  try {
    const { dev, ino } = statSync(file);
    return `${dev}:${ino}`;
  } catch {
    return file;
  }
}

function stateOf(file: string): string {
  try {
    const { dev, ino, size, mtimeMs, ctimeMs } = statSync(file);
    return `${dev}:${ino}:${size}:${mtimeMs}:${ctimeMs}`;
  } catch {
    return file;
  }
}

/**
 * The names in the line of a script that says what reads it (`#!/usr/bin/env bash`): what managers of versions put in place
 * of a program is such a script. None of a file that cannot be read, which cannot run as one either.
 */
function readersOf(file: string): readonly string[] {
  return scriptLine(file)?.map((word) => basename(word)) ?? [];
}

/** A file that cannot be read, or is too large, holds nothing that could be known. */
function holdsOne(file: string, texts: readonly string[]): boolean {
  try {
    const status = statSync(file);
    if (!status.isFile() || status.size > MOST_BYTES) return false;
    const content = readFileSync(file);
    return texts.some((text) => content.includes(text));
  } catch {
    return false;
  }
}
