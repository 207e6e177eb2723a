import { resolve } from 'node:path';
import { type ErrorCode, SignalboxError } from '../errors.ts';
import { isShellVariable, isVariableName } from './environment.ts';
import { named } from './named.ts';
import type { Order } from './order.ts';
import { isDirectory } from './paths.ts';
import { MARKER_VARIABLE } from './process-table.ts';
import type { CommandInput, KeyFunction, LockRequest } from './types.ts';

/** Milliseconds of a day, the longest time that can be asked for. */
export const DAY_MS = 86_400_000;

const MAX_ID_CHARS = 128;
const MAX_KEY_CHARS = 1024;
const MAX_LOCK_KEYS = 64;
const NO_KEYS: readonly LockRequest[] = Object.freeze([]);

const FIELDS = new Set(['id', 'command', 'cwd', 'env', 'timeoutMs', 'stdin', 'lockKeys', 'approval', 'assume']);

/** A checked command. */
export type Checked = {
  readonly id: string;
  readonly order: Order;
  readonly timeoutMs: number;
  readonly stdin: string | null;
  /** Tells its keys; null where they stand in the order. */
  readonly keysOf: KeyFunction | null;
  /** It runs only when somebody has approved it. */
  readonly asks: boolean;
};

export type InputContext = {
  /** How many commands the batch has already. */
  readonly before: number;
  /** Ids that are taken. */
  readonly ids: ReadonlySet<string>;
  /** The batch's directory, absolute. */
  readonly cwd: string;
  readonly limits: { readonly timeoutMs: number; readonly maxCommands: number };
};

/**
 * Checks commands and completes them: all, or it throws for the first fault. Copies what it keeps, so that nothing of
 * the caller's is read again later.
 *
 * @param pointerOf what stands before the field in a pointer, by place in the list: `/commands/3`, or nothing.
 * @throws SignalboxError COMMANDS_TOO_MANY, REQUEST_INVALID, COMMAND_ID_DUPLICATE, COMMAND_HAS_NUL,
 * TEXT_UNREPRESENTABLE, DIRECTORY_MISSING, with a pointer to the field.
 */
export function checkInputs(
  commands: readonly (string | CommandInput)[],
  { before, ids, cwd, limits }: InputContext,
  pointerOf: (index: number) => string,
): readonly Checked[] {
  const count = before + commands.length;
  if (count > limits.maxCommands) {
    const detail = `Expected at most ${limits.maxCommands} commands in a batch, got ${count}`;
    fail('COMMANDS_TOO_MANY', detail, '/commands');
  }
  const taken = new Set(ids);
  const directories = new Map<unknown, string>();
  return Array.from(commands, (command, index) => {
    const context = { index: before + index, ids: taken, cwd, timeoutMs: limits.timeoutMs, directories };
    const checked = checkInput(command, { ...context, pointer: pointerOf(index) });
    taken.add(checked.id);
    return checked;
  });
}

type Context = {
  /** The place in the batch, from 0. */
  readonly index: number;
  readonly ids: ReadonlySet<string>;
  readonly cwd: string;
  readonly timeoutMs: number;
  readonly pointer: string;
  /** Those that were looked at, by the way they were named. */
  readonly directories: Map<unknown, string>;
};

function checkInput(given: string | CommandInput, context: Context): Checked {
  const { pointer } = context;
  const input: CommandInput = typeof given === 'string' ? { command: given } : given;
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    fail('REQUEST_INVALID', `Expected a command as text or as an object, got ${named(input)}`, pointer);
  }
  const unknown = Object.keys(input).find((field) => !FIELDS.has(field));
  if (unknown !== undefined) {
    fail('REQUEST_INVALID', `Expected no field named ${named(unknown)}`, `${pointer}/${unknown}`);
  }
  const { timeoutMs = context.timeoutMs, stdin, env = {}, lockKeys = [], approval, assume } = input;
  // A lone text is its own field.
  const command = checkText(input.command, 'command', typeof given === 'string' ? pointer : `${pointer}/command`);
  if (!isDuration(timeoutMs)) {
    const expected = `Expected timeoutMs to be an integer from 1 to ${DAY_MS}`;
    fail('REQUEST_INVALID', `${expected}, got ${named(timeoutMs)}`, `${pointer}/timeoutMs`);
  }
  if (approval !== undefined && approval !== 'required') {
    fail('REQUEST_INVALID', `Expected approval to be "required", got ${named(approval)}`, `${pointer}/approval`);
  }
  if (assume !== undefined && assume !== 'parallel') {
    fail('REQUEST_INVALID', `Expected assume to be "parallel", got ${named(assume)}`, `${pointer}/assume`);
  }
  const vouched = assume === 'parallel';
  const keysOf = typeof lockKeys === 'function' ? lockKeys : null;
  const keys = keysOf === null ? checkKeys(lockKeys, `${pointer}/lockKeys`) : NO_KEYS;
  if (vouched && keysOf === null) checkVouching(keys, `${pointer}/lockKeys`);
  return {
    id: checkId(input.id, context),
    order: {
      command,
      cwd: cwdOf(input.cwd, context),
      env: checkVariables(env, `${pointer}/env`),
      lockKeys: keys,
      ...(vouched ? { vouched } : {}),
    },
    timeoutMs,
    keysOf,
    asks: approval === 'required',
    stdin: stdin === undefined ? null : checkText(stdin, 'stdin', `${pointer}/stdin`, true),
  };
}

/** An absolute directory that exists, from one that was named absolutely or relative to `base`. */
export function checkDirectory(given: unknown, base: string, pointer: string): string {
  if (given === undefined) return base;
  if (typeof given !== 'string' || given === '' || given.includes('\0')) {
    fail('REQUEST_INVALID', `Expected cwd to be a path, got ${named(given)}`, pointer);
  }
  const directory = resolve(base, given);
  if (!isDirectory(directory)) {
    fail('DIRECTORY_MISSING', `Expected cwd to be a directory, got ${directory}`, pointer);
  }
  return directory;
}

export function isDuration(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= DAY_MS;
}

/** Half of a surrogate pair has no UTF-8: the process would be given another character in its place. */
const HALF_PAIR = /\p{Surrogate}/u;

function checkText(value: unknown, field: string, pointer: string, mayHoldNul = false): string {
  if (typeof value !== 'string') fail('REQUEST_INVALID', `Expected ${field} to be text, got ${named(value)}`, pointer);
  if (!mayHoldNul && value.includes('\0')) {
    fail('COMMAND_HAS_NUL', `Expected ${field} to hold no NUL, got one at ${value.indexOf('\0')}`, pointer);
  }
  if (HALF_PAIR.test(value)) {
    fail('TEXT_UNREPRESENTABLE', `Expected ${field} to be well-formed, got half of a surrogate pair`, pointer);
  }
  return value;
}

function cwdOf(given: unknown, { cwd, directories, pointer }: Context): string {
  const known = directories.get(given) ?? checkDirectory(given, cwd, `${pointer}/cwd`);
  directories.set(given, known);
  return known;
}

function checkId(id: unknown, { index, ids, pointer }: Context): string {
  const chosen = id === undefined ? `c${index + 1}` : id;
  if (typeof chosen !== 'string' || chosen === '' || chosen.length > MAX_ID_CHARS || HALF_PAIR.test(chosen)) {
    fail('REQUEST_INVALID', `Expected id to be 1 to ${MAX_ID_CHARS} characters, got ${named(id)}`, `${pointer}/id`);
  }
  if (ids.has(chosen)) {
    fail('COMMAND_ID_DUPLICATE', `Expected ids to be unique in the batch, got ${named(chosen)} twice`, `${pointer}/id`);
  }
  return chosen;
}

function checkVariables(env: unknown, pointer: string): Readonly<Record<string, string>> {
  if (typeof env !== 'object' || env === null || Array.isArray(env)) {
    fail('REQUEST_INVALID', `Expected env to be an object, got ${named(env)}`, pointer);
  }
  const entries = Object.entries(env as Record<string, unknown>);
  for (const [name, value] of entries) {
    const at = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (!isVariableName(name)) fail('REQUEST_INVALID', `Expected the name of a variable, got ${named(name)}`, at);
    if (typeof value !== 'string' || value.includes('\0')) {
      fail('REQUEST_INVALID', `Expected ${name} to be text without NUL, got ${named(value)}`, at);
    }
    if (HALF_PAIR.test(name) || HALF_PAIR.test(value)) {
      fail('TEXT_UNREPRESENTABLE', `Expected ${name} to be well-formed, got half of a surrogate pair`, at);
    }
    if (isShellVariable(name) || name === MARKER_VARIABLE) {
      fail('REQUEST_INVALID', `Expected env not to set ${name}, which is never handed over`, at);
    }
  }
  return Object.freeze(Object.fromEntries(entries) as Record<string, string>);
}

/** A copy of a list of keys. @throws SignalboxError REQUEST_INVALID. */
export function checkKeys(keys: unknown, pointer: string): readonly LockRequest[] {
  if (!Array.isArray(keys) || keys.length > MAX_LOCK_KEYS) {
    fail('REQUEST_INVALID', `Expected lockKeys to be a list of at most ${MAX_LOCK_KEYS}, got ${named(keys)}`, pointer);
  }
  return Object.freeze(keys.map((request: unknown, index) => checkKey(request, `${pointer}/${index}`)));
}

/** A command that nothing proves, and that has nothing to itself, would be kept apart from nobody. @throws SignalboxError VOUCH_WITHOUT_KEYS. */
export function checkVouching(keys: readonly LockRequest[], pointer: string): void {
  if (keys.some(isExclusive)) return;
  const detail = 'Expected lockKeys to name at least one exclusive key where parallel is assumed, got none';
  fail('VOUCH_WITHOUT_KEYS', detail, pointer);
}

/** Whether a request has its key to itself. */
function isExclusive(request: LockRequest): boolean {
  return typeof request === 'string' || (request.mode ?? 'exclusive') === 'exclusive';
}

function checkKey(request: unknown, pointer: string): LockRequest {
  const { key, mode } =
    typeof request === 'object' && request !== null
      ? (request as { key?: unknown; mode?: unknown })
      : { key: request, mode: undefined };
  if (typeof key !== 'string' || key === '' || key.length > MAX_KEY_CHARS) {
    fail('REQUEST_INVALID', `Expected a key of 1 to ${MAX_KEY_CHARS} characters, got ${named(key)}`, pointer);
  }
  if (mode !== undefined && mode !== 'shared' && mode !== 'exclusive') {
    fail('REQUEST_INVALID', `Expected mode to be "shared" or "exclusive", got ${named(mode)}`, `${pointer}/mode`);
  }
  return Object.freeze({ key, mode: mode ?? 'exclusive' });
}

function fail(code: ErrorCode, detail: string, pointer: string): never {
  throw new SignalboxError(code, detail, { pointer });
}
