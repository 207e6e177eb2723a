import type { z } from 'zod';
import type { BatchOptions, CommandInput } from '../dispatcher/types.ts';
import { type ErrorCode, SignalboxError } from '../errors.ts';
import type { Directories } from './directories.ts';
import type { batchRequest } from './schemas.ts';

type BatchRequest = z.output<typeof batchRequest>;

export type Admitted = { readonly commands: readonly CommandInput[]; readonly options: BatchOptions };

/**
 * What of a well-formed request only the service can judge: how many commands, and where they may run. Ids, texts and
 * variables are the dispatcher's to check, which takes all commands or none. Nothing is handed on before this is done.
 */
export async function admit(
  request: BatchRequest,
  limits: { readonly maxCommands: number },
  roots: readonly string[],
  directories: Directories,
): Promise<Admitted> {
  const { commands, cwd, ...options } = request;
  requireCount(commands.length, limits.maxCommands);
  requireMode(options.mode);
  const [root = '/'] = roots;
  const base = await directories.resolve(cwd ?? root, root, '/cwd');

  const admitted: CommandInput[] = [];
  for (const [index, each] of commands.entries()) {
    const place = `/commands/${index}`;
    const input: CommandInput = typeof each === 'string' ? { command: each } : each;
    if (input.command === '') {
      const pointer = typeof each === 'string' ? place : `${place}/command`;
      refuse('COMMAND_EMPTY', `Expected the text of a command, got an empty one at ${pointer}`, pointer);
    }
    const directory = input.cwd === undefined ? base : await directories.resolve(input.cwd, base, `${place}/cwd`);
    admitted.push({ ...input, cwd: directory });
  }
  return { commands: admitted, options: { ...options, cwd: base } };
}

/** Refuses the mode that this version does not have. */
export function requireMode(mode: string | undefined): void {
  if (mode === 'compound')
    refuse('MODE_UNAVAILABLE', 'Expected mode to be "simple" in this version, got "compound"', '/mode');
}

/** Refuses none and too many. */
export function requireCount(count: number, most: number): void {
  if (count === 0) refuse('COMMANDS_EMPTY', 'Expected at least one command, got none', '/commands');
  if (count > most) refuse('COMMANDS_TOO_MANY', `Expected at most ${most} commands, got ${count}`, '/commands');
}

function refuse(code: ErrorCode, detail: string, pointer: string): never {
  throw new SignalboxError(code, detail, { pointer });
}
