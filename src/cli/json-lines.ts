import { type Allowance, checkAllowance } from '../classifier/allowance.ts';
import type { Mode } from '../dispatcher/types.ts';
import { SignalboxError } from '../errors.ts';
import { isMode } from './options.ts';

/** One line of input, counted from 1, without its line feed. */
export type Line = { readonly number: number; readonly text: string };

const LINE_FEED = 10;
/** A line longer than this is no command: reading stops instead of filling the memory. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

/** A fault in one line, told by its number: the caller's file is at fault, and the line is the place to look. */
function lineError(number: number, detail: string, cause?: unknown): SignalboxError {
  return new SignalboxError('REQUEST_INVALID', `Line ${number} of standard input: ${detail}`, { cause });
}

function decode(number: number, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw lineError(number, 'expected UTF-8, got bytes that are not', cause);
  }
}

/**
 * Cuts a stream of bytes into lines at LF, and nowhere else: JSON allows U+2028 and a lone CR inside its strings and
 * between its tokens. The last line needs no line feed. Throws REQUEST_INVALID, with the number of the line, for bytes
 * that are not UTF-8 and for a line of more than 64 MiB.
 */
export async function* readLines(input: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  let number = 1;
  let parts: Uint8Array[] = [];
  let size = 0;
  const take = (): Line => {
    const line = { number, text: decode(number, parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts)) };
    number += 1;
    parts = [];
    size = 0;
    return line;
  };
  for await (const chunk of input) {
    let from = 0;
    for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, from)) {
      parts.push(chunk.subarray(from, at));
      from = at + 1;
      yield take();
    }
    if (from === chunk.length) continue;
    parts.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size > MAX_LINE_BYTES) throw lineError(number, `expected at most ${MAX_LINE_BYTES} bytes, got more`);
  }
  if (size > 0) yield take();
}

/**
 * What one line asks about. `command` is whatever the line holds: what is no text gets its own serial verdict. `cwd`,
 * `env`, `mode` and `allow` change the verdict, so they are never ignored; other fields are.
 */
export type Question = {
  readonly command: unknown;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly mode?: Mode;
  readonly allow?: Allowance;
};

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTextRecord(value: unknown): value is Record<string, string> {
  return isRecord(value) && Object.values(value).every((text) => typeof text === 'string');
}

function isText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}

function allowanceOf(number: number, allow: unknown): Allowance {
  try {
    checkAllowance(allow);
  } catch (cause) {
    throw lineError(number, (cause as SignalboxError).message, cause);
  }
  return allow as Allowance;
}

/** Reads one line as a question. Throws REQUEST_INVALID, with the number of the line, for what is none. */
export function parseQuestion({ number, text }: Line): Question {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const got = text.trim() === '' ? 'an empty line' : (cause as Error).message;
    throw lineError(number, `expected a JSON value, got ${got}`, cause);
  }
  if (!isRecord(value)) return { command: value };
  const { command, cwd, env, mode, allow } = value;
  // Own fields only: a misspelt one must not be found on the prototype.
  if (!Object.hasOwn(value, 'command')) throw lineError(number, 'expected a string, or an object with "command"');
  if (!isText(cwd)) throw lineError(number, 'expected "cwd" to be a string');
  if (mode !== undefined && !(typeof mode === 'string' && isMode(mode))) {
    throw lineError(number, `expected "mode" to be "simple" or "compound", got ${JSON.stringify(mode)}`);
  }
  if (env !== undefined && !isTextRecord(env)) throw lineError(number, 'expected "env" to be an object of strings');
  return {
    command,
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env }),
    ...(mode === undefined ? {} : { mode }),
    ...(allow === undefined ? {} : { allow: allowanceOf(number, allow) }),
  };
}
