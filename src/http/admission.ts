import type { z } from 'zod';
import type { BatchOptions, CommandInput } from '../dispatcher/types.ts';
import { type ErrorCode, SignalboxError } from '../errors.ts';
import type { Directories } from './directories.ts';
import type { batchRequest } from './schemas.ts';

type BatchRequest = z.output<typeof batchRequest>;

export type Admitted = { readonly commands: readonly (string | CommandInput)[]; readonly options: BatchOptions };

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
  const [root = '/'] = roots;
  const base = await directories.resolve(cwd ?? root, root, '/cwd');

  const admitted: (string | CommandInput)[] = [];
  for (const [index, each] of commands.entries()) {
    const place = `/commands/${index}`;
    if (typeof each === 'string') {
      requireText(each, place);
      admitted.push(each);
      continue;
    }
    requireText(each.command, `${place}/command`);
    // Relative to the batch's; the dispatcher is given what was looked at, and looks at nothing else.
    const directory = each.cwd === undefined ? base : await directories.resolve(each.cwd, base, `${place}/cwd`);
    admitted.push({ ...each, cwd: directory });
  }
  return { commands: admitted, options: { ...options, cwd: base } };
}

/** Refuses none and too many. */
export function requireCount(count: number, most: number): void {
  if (count === 0) refuse('COMMANDS_EMPTY', 'Expected at least one command, got none', '/commands');
  if (count > most) refuse('COMMANDS_TOO_MANY', `Expected at most ${most} commands, got ${count}`, '/commands');
}

function requireText(command: string, pointer: string): void {
  if (command === '')
    refuse('COMMAND_EMPTY', `Expected the text of a command, got an empty one at ${pointer}`, pointer);
}

function refuse(code: ErrorCode, detail: string, pointer: string): never {
  throw new SignalboxError(code, detail, { pointer });
}
