import { SignalboxError } from '../errors.ts';
import { checkAllowance } from './allowance.ts';
import type { Proof, Rules } from './compiled.ts';
import type { ClassifyOptions, Limits, RepositoryFacts } from './judgement.ts';
import { checkNames, namesOf } from './option-names.ts';
import { isUnderDevices, normalise } from './paths.ts';
import { REASON_CODES } from './verdict.ts';
import { quoted } from './visible-text.ts';

const REPOSITORY_CODES: ReadonlySet<string> = new Set(REASON_CODES.filter((code) => code.startsWith('REPOSITORY_')));

const NAMES = namesOf<ClassifyOptions>({
  rules: true,
  mode: true,
  cwd: true,
  env: true,
  repository: true,
  homeDirectory: true,
  roots: true,
  allow: true,
  secondReading: true,
  limits: true,
});

export const LIMIT_NAMES = namesOf<Limits>({ maxChars: true, maxWords: true, maxParts: true });

/** Checks the options of one call: misuse throws, whatever the command is. */
export function checkOptions(options: Omit<ClassifyOptions, 'rules'>): void {
  checkNames(options, NAMES, 'the classifier');
  const { mode, env, limits, repository, allow, roots, homeDirectory } = options;
  if (mode !== undefined && mode !== 'simple' && mode !== 'compound') {
    throw new SignalboxError('OPTION_INVALID', `Expected mode to be simple or compound, got ${shown(mode)}`);
  }
  if (env !== undefined && Object.prototype.toString.call(env) !== '[object Object]') {
    throw new SignalboxError('OPTION_INVALID', 'Expected env to be an object of names and values');
  }
  if (repository !== undefined && !isProbed(repository)) {
    throw new SignalboxError('OPTION_INVALID', 'Expected repository to be what a probe answered');
  }
  if (homeDirectory !== undefined && !isAbsolute(homeDirectory)) {
    throw new SignalboxError('OPTION_INVALID', 'Expected homeDirectory to be an absolute path');
  }
  if (roots !== undefined && !(Array.isArray(roots) && roots.every(isAbsolute))) {
    throw new SignalboxError('OPTION_INVALID', 'Expected roots to be a list of absolute paths');
  }
  checkAllowance(allow);
  if (limits === undefined) return;
  checkNames(limits, LIMIT_NAMES, 'limits');
  for (const name of LIMIT_NAMES) {
    const value: unknown = limits[name as keyof Limits];
    if (value !== undefined && !(Number.isInteger(value) && (value as number) > 0)) {
      throw new SignalboxError(
        'OPTION_INVALID',
        `Expected limits.${name} to be a positive integer, got ${shown(value)}`,
      );
    }
  }
}

/**
 * The directory the command starts in, normalised; `''` when nobody told.
 *
 * @throws SignalboxError OPTION_INVALID when it is not absolute.
 */
export function homeOf(cwd: string | undefined): string {
  if (cwd === undefined) return '';
  if (!isAbsolute(cwd)) {
    throw new SignalboxError('OPTION_INVALID', `Expected cwd to be an absolute path, got ${shown(cwd)}`);
  }
  return isNormal(cwd) ? cwd : normalise(cwd);
}

/** Whether the directory makes every command serial: what is read there can block or act. */
export function isHostileDirectory(home: string): boolean {
  return isUnderDevices(home);
}

/**
 * The first variable of the caller that the proof does not know, or null. Known is what the profile sets to the same
 * value, and the values that may stand before a command. That the profile hands a name over is not enough: a proof holds
 * for the surroundings, not for any value (`TZ` can name a FIFO, `DOCKER_CONFIG` a directory of programs). Inherited ones
 * count: who starts a program hands them over.
 */
export function unknownVariable(
  env: Readonly<Record<string, string>>,
  { profile }: Proof,
  { assignments }: Rules,
): string | null {
  for (const name in env) {
    const value = env[name]!;
    const same = Object.hasOwn(profile.set, name) && profile.set[name] === value;
    if (!same && !assignments.get(name)?.has(value)) return name;
  }
  return null;
}

function isAbsolute(path: unknown): path is string {
  return typeof path === 'string' && path.startsWith('/');
}

function isProbed(repository: RepositoryFacts | null): boolean {
  const findings: unknown = repository?.findings;
  if (!Array.isArray(findings)) return false;
  return findings.every((one) => REPOSITORY_CODES.has(one?.code) && typeof one.detail === 'string');
}

/** The common case, told without taking the path apart. */
function isNormal(path: string): boolean {
  return !path.includes('/.') && !path.includes('//') && !path.endsWith('/');
}

function shown(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  return typeof value === 'number' ? String(value) : `a value of type ${typeof value}`;
}
