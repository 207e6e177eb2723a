import type { z } from 'zod';
import type { BatchOptions, CommandInput } from '../dispatcher/types.ts';
import { type ErrorCode, SignalboxError } from '../errors.ts';
import type { Directories } from './directories.ts';
import type { batchRequest } from './schemas.ts';
import type { Principal } from './token.ts';

export type BatchRequest = z.output<typeof batchRequest>;

/** A command as a request tells it. */
export type RequestedCommand = BatchRequest['commands'][number];

/** What a request asks for of a batch as a whole. */
export type RequestedOptions = Omit<BatchRequest, 'commands'>;

/** What of whoever asks counts for what it may ask for. */
export type Asker = Pick<Principal, 'scopes'>;

export type Admitted = {
  readonly commands: readonly (string | CommandInput)[];
  readonly options: BatchOptions & { readonly cwd: string };
};

/**
 * What of a well-formed request only the service can judge: how many commands, and where they may run. Ids, texts and
 * variables are the dispatcher's to check, which takes all commands or none. Nothing is handed on before this is done.
 */
export async function admit(
  request: BatchRequest,
  limits: { readonly maxCommands: number },
  roots: readonly string[],
  directories: Directories,
  who: Asker,
): Promise<Admitted> {
  const { commands, ...asked } = request;
  requireCount(commands.length, limits.maxCommands, asked.open === true ? 0 : 1);
  const options = await admitOptions(asked, roots, directories, '');
  return { commands: await admitCommands(commands, options.cwd, directories, who), options };
}

/** The options of a batch, with the real directory that its commands start in. */
export async function admitOptions(
  asked: RequestedOptions,
  roots: readonly string[],
  directories: Directories,
  place: string,
): Promise<BatchOptions & { readonly cwd: string }> {
  // What only the service minds is no option of a batch.
  const { cwd, open: _, onDisconnect: __, ...options } = asked;
  const [root = '/'] = roots;
  return { ...options, cwd: await directories.resolve(cwd ?? root, root, `${place}/cwd`) };
}

/** The commands of a list, each as `admitCommand` has it. */
export async function admitCommands(
  commands: readonly RequestedCommand[],
  base: string,
  directories: Directories,
  who: Asker,
): Promise<readonly (string | CommandInput)[]> {
  const admitted: (string | CommandInput)[] = [];
  for (const [index, each] of commands.entries())
    admitted.push(await admitCommand(each, base, directories, `/commands/${index}`, who));
  return admitted;
}

/** A command with the real directory that it may start in; `base` is that of its batch. */
export async function admitCommand(
  command: RequestedCommand,
  base: string,
  directories: Directories,
  place: string,
  who: Asker,
): Promise<string | CommandInput> {
  if (typeof command === 'string') {
    requireText(command, place);
    return command;
  }
  requireText(command.command, `${place}/command`);
  if (command.assume !== undefined) requireVoucher(who, `${place}/assume`);
  // Relative to the batch's; the dispatcher is given what was looked at, and looks at nothing else.
  const { cwd } = command;
  return { ...command, cwd: cwd === undefined ? base : await directories.resolve(cwd, base, `${place}/cwd`) };
}

/** Refuses fewer than `least`, which is none or one, and too many. */
export function requireCount(count: number, most: number, least = 1): void {
  if (count < least) refuse('COMMANDS_EMPTY', 'Expected at least one command, got none', '/commands');
  if (count > most) refuse('COMMANDS_TOO_MANY', `Expected at most ${most} commands, got ${count}`, '/commands');
}

function requireText(command: string, pointer: string): void {
  if (command === '')
    refuse('COMMAND_EMPTY', `Expected the text of a command, got an empty one at ${pointer}`, pointer);
}

function requireVoucher({ scopes }: Asker, pointer: string): void {
  if (scopes.has('vouch')) return;
  refuse(
    'SCOPE_MISSING',
    `Expected a token with the scope vouch for a command that is vouched for, at ${pointer}`,
    pointer,
  );
}

function refuse(code: ErrorCode, detail: string, pointer: string): never {
  throw new SignalboxError(code, detail, { pointer });
}
