import { existsSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { SignalboxError } from '../errors.ts';
import { isCommandName, NAME_SHAPE } from './names.ts';
import { BUILT_IN_DIRECTORY, readNever } from './sources.ts';
import { templateOf } from './template.ts';

/** What to do with a new file, in order. */
export const STEPS: readonly string[] = Object.freeze([
  'Read the manual page with one question: what does it do besides printing? See docs/rules.md for every key.',
  'Put in its options. The key of an option is its line in the manual page: "-n, --lines; -q, --quiet".',
  'Leave out every option that writes, runs, locks, waits or asks; name it under "refuses" with what it does.',
  'Name the operands as the usage line does: ["pattern", "path*"]. What is not listed is serial.',
  'Give examples of both kinds, the traps among them.',
  'Leave "maturity" at "experimental" to try it with --rules FILE; "stable" makes it part of every set.',
]);

/** Where a new rule file goes, and what it may be about. */
export type NewFile = {
  readonly directory: string;
  /** The name is known to be unsafe, or has a built-in rule, and the file says `override` at its top. */
  readonly override?: boolean;
};

/**
 * Writes `NAME.json`, a rule file that fails its check until it is filled in. Never writes over a file. Returns its path.
 *
 * @throws SignalboxError OPTION_INVALID for a name that is none, that is known to be unsafe, that has a rule or a file
 * already; or when the file cannot be written.
 */
export function startFile(name: string, { directory, override = false }: NewFile): string {
  if (!isCommandName(name) || name === '[')
    throw new SignalboxError('OPTION_INVALID', `Expected ${NAME_SHAPE}, got ${JSON.stringify(name)}`);
  const isBuiltIn = resolve(directory) === resolve(BUILT_IN_DIRECTORY);
  const never = readNever(BUILT_IN_DIRECTORY);
  if (Object.hasOwn(never, name) && (isBuiltIn || !override)) {
    const hint = isBuiltIn
      ? 'Take it out of rules/never.json first, if that is wrong.'
      : 'If you know better: --override';
    throw new SignalboxError('OPTION_INVALID', `${name} is known to be unsafe: it ${never[name]}`, { hint });
  }
  const path = join(directory, `${name}.json`);
  const text = `${JSON.stringify(templateOf(name, schemaFrom(directory), override), null, 2)}\n`;
  try {
    writeFileSync(path, text, { flag: 'wx' });
  } catch (cause) {
    const detail = existsSync(path)
      ? `${path} is there already`
      : `Expected to write ${path}: ${(cause as Error).message}`;
    throw new SignalboxError('OPTION_INVALID', detail, { cause });
  }
  return path;
}

/** The JSON Schema as an editor finds it from the new file. */
function schemaFrom(directory: string): string {
  const path = relative(resolve(directory), join(BUILT_IN_DIRECTORY, 'schema', 'rule-file.schema.json'));
  return path.startsWith('.') ? path : `./${path}`;
}
