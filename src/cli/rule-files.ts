import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { exportRules } from '../classifier/rule-set.ts';
import { SignalboxError } from '../errors.ts';
import { checkLines, resultLine } from '../rules/check-lines.ts';
import { surroundingsOf } from '../rules/file-check.ts';
import { STEPS, startFile } from '../rules/file-start.ts';
import { readPlaced } from '../rules/load.ts';
import { pageOf } from '../rules/page.ts';
import { INDEX, pagesOf } from '../rules/page-index.ts';
import { BUILT_IN_DIRECTORY, rulePathsOf } from '../rules/sources.ts';
import { type Summary, summaryOf } from '../rules/summary.ts';
import { EXIT } from './complaint.ts';
import { visible, visibleLines } from './display-text.ts';
import type { Io } from './io.ts';
import { roomOf } from './live-screen.ts';
import { choosePaint } from './paint.ts';
import { rulesWith } from './rules.ts';
import { type Cell, drawTable } from './table.ts';

export type ListFlags = { readonly format: 'text' | 'json'; readonly rules?: readonly string[] };
export type NewFlags = { readonly out?: string; readonly override?: boolean };
export type DocsFlags = { readonly out?: string; readonly rules?: readonly string[] };

/** What has a rule, by name. Throws RULES_INVALID. */
export async function listRules(io: Io, { format, rules: paths }: ListFlags): Promise<void> {
  const { files, profiles, experimental, hash } = exportRules(await rulesWith(paths, io.cwd));
  const rows = files
    .map((one) => ({ ...summaryOf(one, profiles), inForce: isInForce(one.file, experimental) }))
    .sort((one, other) => (one.binary < other.binary ? -1 : 1));
  if (format === 'json') return io.stdout.write(`${JSON.stringify({ ruleset: hash, rules: rows }, null, 2)}\n`);
  const head = ['binary', 'state', 'origin', 'profile', 'effects', 'other names'];
  const lines = drawTable(head, rows.map(cellsOf), choosePaint(io.terminal, io.env), roomOf(io.terminal));
  const names = rows.reduce((sum, { names: all }) => sum + all.length, 0);
  return io.stdout.write(`${lines.join('\n')}\n${rows.length} rules, ${names} names\n`);
}

/** An experimental rule is proved only when somebody asks for it, and a user's file is asked for by being named. */
function isInForce(
  { binary, maturity }: { binary: string; maturity: string },
  experimental: readonly string[],
): boolean {
  return maturity === 'stable' || (maturity === 'experimental' && experimental.includes(binary));
}

function cellsOf(row: Summary & { readonly inForce: boolean }): readonly Cell[] {
  const origin = row.overrides.length > 0 ? `${row.origin}, overrides` : row.origin;
  return [
    { text: row.binary, style: 'cyan' },
    row.inForce && row.state === 'stable' ? row.state : { text: row.state, style: row.inForce ? 'yellow' : 'dim' },
    row.origin === 'built-in' ? origin : { text: origin, style: 'magenta' },
    row.profiles.join(', '),
    row.effects.join(', '),
    row.names.slice(1).join(', '),
  ];
}

/** Checks the files that are named, or the built-in ones; tells `io` what to end with. */
export async function checkRules(io: Io, given: readonly string[]): Promise<void> {
  const paths = given.length === 0 ? rulePathsOf(BUILT_IN_DIRECTORY) : given.flatMap((path) => filesAt(path, io.cwd));
  if (paths.length === 0) throw new SignalboxError('OPTION_INVALID', `Expected a rule file in ${given.join(', ')}`);
  const surroundings = surroundingsOf();
  let wrong = 0;
  for (const path of paths) {
    const { lines, isFine } = checkLines(path, surroundings, given.length > 0);
    if (!isFine) wrong += 1;
    await io.stdout.write(`${lines.flatMap(visibleLines).join('\n')}\n`);
    if (io.stdout.closed.aborted) return;
  }
  await io.stdout.write(`${resultLine(paths.length, wrong)}\n`);
  io.exitWith(wrong === 0 ? EXIT.ok : EXIT.failed);
}

/** Relative paths stay as they were typed: the messages begin with them. */
function filesAt(path: string, cwd: string): readonly string[] {
  const full = resolve(cwd, path);
  const isDirectory = statSync(full, { throwIfNoEntry: false })?.isDirectory() ?? false;
  return isDirectory ? rulePathsOf(full) : [full];
}

/** Starts a rule file. Throws OPTION_INVALID. */
export async function startRules(io: Io, name: string, { out = '.', override = false }: NewFlags): Promise<void> {
  const directory = resolve(io.cwd, out);
  if (!existsSync(directory)) throw new SignalboxError('OPTION_INVALID', `Expected a directory, got ${out}`);
  const hasRule = rulePathsOf(BUILT_IN_DIRECTORY).includes(join(BUILT_IN_DIRECTORY, `${name}.json`));
  const path = startFile(name, { directory, override });
  const steps = STEPS.map((step, index) => `${index + 1}. ${step}`);
  const lines = [
    `Wrote ${path}.`,
    ...(hasRule
      ? [
          `There is a built-in rule for ${name}: your file takes its place, and may only say less unless it says "override".`,
        ]
      : []),
    '',
    ...steps,
    '',
    `Then: signalbox rules check ${join(out, `${name}.json`)}`,
    `And:  signalbox classify --rules ${join(out, `${name}.json`)} '${name} …'`,
  ];
  return io.stdout.write(`${lines.map(visible).join('\n')}\n`);
}

/** Prints the page of a rule, or writes pages. Throws OPTION_INVALID for a name without a rule, and RULES_INVALID. */
export async function printDocs(
  io: Io,
  name: string | undefined,
  { out, rules: paths = [] }: DocsFlags,
): Promise<void> {
  const placed = readPlaced({ extra: paths.map((path) => resolve(io.cwd, path)) });
  const pages = name === undefined ? pagesOf(placed) : pagesNamed(name, placed);
  if (out === undefined) {
    const [only] = name === undefined ? [pages.get(INDEX)] : [...pages.values()];
    return io.stdout.write(only ?? '');
  }
  const directory = resolve(io.cwd, out);
  try {
    mkdirSync(directory, { recursive: true });
    for (const [file, text] of pages) writeFileSync(join(directory, file), text);
  } catch (cause) {
    throw new SignalboxError('OPTION_INVALID', `Expected to write to ${directory}: ${(cause as Error).message}`, {
      cause,
    });
  }
  return io.stdout.write(`Wrote ${pages.size === 1 ? '1 page' : `${pages.size} pages`} to ${directory}.\n`);
}

function pagesNamed(
  name: string,
  { placed, profiles, never }: ReturnType<typeof readPlaced>,
): ReadonlyMap<string, string> {
  const found = placed.find(({ file }) => file.binary === name || file.also?.includes(name));
  if (found !== undefined) return new Map([[`${found.file.binary}.md`, pageOf(found, profiles)]]);
  const known = Object.hasOwn(never, name) ? `${name} has none: it ${never[name]}` : `got ${JSON.stringify(name)}`;
  throw new SignalboxError('OPTION_INVALID', `Expected a name that has a rule, ${known}`, {
    hint: 'signalbox rules list tells which have one.',
  });
}
