import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { BatchOptions, CommandInput } from '../dispatcher/types.ts';
import { SignalboxError } from '../errors.ts';
import { batchFile } from '../http/schemas.ts';
import { faultsOf } from '../issue-text.ts';
import { visible } from './display-text.ts';

/** What a batch file asks for: the body that `POST /batches` takes, without what only a service can be asked. */
export type BatchRequest = { readonly commands: readonly (string | CommandInput)[]; readonly options: BatchOptions };

/** Standard input, by its usual name. */
const STANDARD_INPUT = '-';

/** How a file is named in a sentence. */
function called(path: string): string {
  return path === STANDARD_INPUT ? 'standard input' : path;
}

/** The same where the sentence begins with it; the name of a file stays as it is. */
function subject(path: string): string {
  return path === STANDARD_INPUT ? 'Standard input' : path;
}

async function readText(path: string): Promise<string> {
  try {
    const bytes = await (path === STANDARD_INPUT ? buffer(process.stdin) : readFile(path));
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new SignalboxError('LIST_UNREADABLE', `Cannot read ${called(path)}: ${(cause as Error).message}`, { cause });
  }
}

function parse(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const why = visible((cause as Error).message);
    throw new SignalboxError('BODY_NOT_JSON', `${subject(path)} is not JSON: ${why}`, { cause });
  }
}

/**
 * Reads a batch from a JSON file, or from standard input for `-`. Relative directories are resolved against `cwd`, the
 * directory the batch runs in unless the file says otherwise. Throws LIST_UNREADABLE, BODY_NOT_JSON, COMMANDS_EMPTY and
 * REQUEST_INVALID, the last with a pointer to every fault.
 */
export async function readBatchFile(path: string, cwd: string): Promise<BatchRequest> {
  const input = parse(path, await readText(path));
  const parsed = batchFile.safeParse(input);
  if (!parsed.success) {
    const faults = faultsOf(parsed.error.issues, input);
    const [first] = faults;
    const pointer = first?.pointer;
    throw new SignalboxError('REQUEST_INVALID', `${subject(path)} is not a batch. ${first?.detail ?? ''}`, {
      faults,
      ...(pointer === undefined ? {} : { pointer }),
    });
  }
  const { commands, ...options } = parsed.data;
  if (commands.length === 0)
    throw new SignalboxError('COMMANDS_EMPTY', `Expected at least one command in ${called(path)}, got none`, {
      pointer: '/commands',
    });
  return {
    commands: commands as readonly (string | CommandInput)[],
    options: { ...(options as BatchOptions), cwd: resolve(cwd, options.cwd ?? '.') },
  };
}
