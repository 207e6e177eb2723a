import { readFileSync, realpathSync, statSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { delimiter, resolve } from 'node:path';
import type { z } from 'zod';
import { CONFIG_SETTINGS, type Config, configSchema, type Setting, type SettingKind } from './config-schema.ts';
import { SignalboxError } from './errors.ts';
import { faultsOf, show } from './issue-text.ts';

export { CONFIG_SETTINGS, type Config } from './config-schema.ts';

/** Flags by their name without dashes (`token-file`), as the command line read them. */
export type ConfigFlags = Readonly<Record<string, string | number | readonly string[] | undefined>>;

export type ConfigSources = {
  /** The directory the server was started in: default root, and base of relative paths. Default: the process's. */
  readonly cwd?: string;
  /** Default: the process's environment. An empty variable counts as unset. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** A JSON file. Default: `SIGNALBOX_CONFIG`; never looked for by itself, since a checkout must not configure its server. */
  readonly file?: string;
  readonly flags?: ConfigFlags;
};

/**
 * Reads the configuration: flags over environment over file over defaults. Throws CONFIG_INVALID, naming what was
 * expected, what came and where; also for an address that is no loopback address when there is no token file.
 */
export function loadConfig(sources: ConfigSources = {}): Config {
  const cwd = sources.cwd ?? process.cwd();
  const env = sources.env ?? process.env;
  // Without a prototype, a key named __proto__ is a field like any other, and refused as unknown.
  const merged: Record<string, unknown> = Object.create(null);
  const origins = new Map<string, string>();

  const file = sources.file ?? (env.SIGNALBOX_CONFIG || undefined);
  if (file !== undefined) merge(merged, readConfigFile(resolve(cwd, file)), origins, file);
  for (const setting of CONFIG_SETTINGS) {
    const value = env[setting.variable];
    if (value !== undefined && value !== '')
      place(merged, setting, parse(setting.kind, value), origins, setting.variable);
  }
  for (const [name, value] of Object.entries(sources.flags ?? {})) {
    const setting = CONFIG_SETTINGS.find((each) => each.flag === name);
    if (setting === undefined) throw new SignalboxError('OPTION_INVALID', `Expected a known setting, got --${name}`);
    if (value !== undefined)
      place(merged, setting, typeof value === 'string' ? parse(setting.kind, value) : value, origins, `--${name}`);
  }

  const parsed = configSchema.safeParse(merged);
  if (!parsed.success) {
    const faults = faultsOf(parsed.error.issues, merged).map(
      (fault) => `${fault.detail} at ${fault.pointer || '/'}${whence(origins, fault.pointer)}`,
    );
    throw invalid(faults.join('. '));
  }
  return freeze(checked(parsed.data, cwd, origins));
}

/** Whether only this machine can reach the address. A name counts only if it is `localhost`. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}

/** The variables of `env` that commands of the service may see. */
export function commandEnvironment(
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    config.environment.flatMap((name) =>
      Object.hasOwn(env, name) && env[name] !== undefined ? [[name, env[name]]] : [],
    ),
  );
}

function checked(parsed: z.output<typeof configSchema>, cwd: string, origins: ReadonlyMap<string, string>): Config {
  if (parsed.socket === null && !isLoopback(parsed.host) && parsed.tokenFile === null) {
    throw invalid(
      `Expected a token file, since host ${show(parsed.host)}${whence(origins, '/host')} is no loopback address. Give --token-file, or listen on 127.0.0.1`,
    );
  }
  if (parsed.shutdown.graceMs >= parsed.shutdown.deadlineMs) {
    throw invalid(
      `Expected shutdown.graceMs to be less than shutdown.deadlineMs, got ${parsed.shutdown.graceMs} and ${parsed.shutdown.deadlineMs}`,
    );
  }
  const { maxCommands, maxQueuedCommands } = parsed.limits;
  if (maxCommands > maxQueuedCommands) {
    throw invalid(
      `Expected limits.maxCommands to be at most limits.maxQueuedCommands, got ${maxCommands} and ${maxQueuedCommands}`,
    );
  }
  const roots = (parsed.roots ?? [cwd]).map((root, index) =>
    realDirectory(resolve(cwd, root), `/roots/${index}${whence(origins, '/roots')}`),
  );
  const tokenFile = parsed.tokenFile === null ? null : resolve(cwd, parsed.tokenFile);
  return {
    ...parsed,
    roots,
    tokenFile,
    socket: parsed.socket === null ? null : resolve(cwd, parsed.socket),
    rules: parsed.rules.map((path) => resolve(cwd, path)),
    allowedHosts: parsed.allowedHosts.map((name) => name.toLowerCase()),
  };
}

function realDirectory(path: string, where: string): string {
  try {
    const real = realpathSync(path);
    if (statSync(real).isDirectory()) return real;
  } catch (cause) {
    throw invalid(`Expected a directory, got ${show(path)}, which cannot be entered, at ${where}`, cause);
  }
  throw invalid(`Expected a directory, got ${show(path)}, which is none, at ${where}`);
}

function readConfigFile(path: string): Record<string, unknown> {
  let source: string;
  try {
    source = readFileSync(path, 'utf8');
  } catch (cause) {
    throw invalid(`Expected a readable configuration file, got ${show(path)}`, cause);
  }
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch (cause) {
    throw invalid(`Expected JSON in ${show(path)}: ${(cause as Error).message}`, cause);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(`Expected an object in ${show(path)}, got ${show(value)}`);
  return value as Record<string, unknown>;
}

function merge(
  into: Record<string, unknown>,
  from: Record<string, unknown>,
  origins: Map<string, string>,
  origin: string,
): void {
  for (const [key, value] of Object.entries(from)) {
    origins.set(`/${key}`, origin);
    // Groups are copied, so that a variable can set one of their fields.
    into[key] = typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : value;
  }
}

function place(
  into: Record<string, unknown>,
  setting: Setting,
  value: unknown,
  origins: Map<string, string>,
  origin: string,
): void {
  const [first, second] = setting.path as [string, string?];
  origins.set(`/${setting.path.join('/')}`, origin);
  if (second === undefined) into[first] = value;
  else into[first] = { ...(into[first] as object | undefined), [second]: value };
}

function parse(kind: SettingKind, value: string): unknown {
  switch (kind) {
    case 'text':
      return value;
    case 'number':
      return /^-?\d{1,15}$/.test(value) ? Number(value) : value;
    case 'truth':
      return value === 'true' || (value === 'false' ? false : value);
    case 'names':
      return value.split(',').filter((part) => part !== '');
    case 'paths':
      return value.split(delimiter).filter((part) => part !== '');
  }
}

/** Where the value at a pointer, or the nearest value around it, came from. */
function whence(origins: ReadonlyMap<string, string>, pointer = ''): string {
  for (let at = pointer; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
    const origin = origins.get(at);
    if (origin !== undefined) return ` (from ${origin})`;
  }
  return '';
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null)
    for (const inner of Object.values(Object.freeze(value))) freeze(inner);
  return value;
}

function invalid(detail: string, cause?: unknown): SignalboxError {
  return new SignalboxError('CONFIG_INVALID', detail, { cause });
}
