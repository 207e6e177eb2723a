import { ERROR_CODES, type ErrorCode, SignalboxError } from '../errors.ts';
import type { Problem } from './api.ts';

/** What an answer that is no success says, as an error with the service's own code; its `cause` is the problem document. */
export async function errorOf(response: Response): Promise<SignalboxError> {
  const text = await response.text();
  const problem = problemIn(text);
  if (problem === undefined)
    return unexpected(`Expected an answer of Signalbox, got status ${response.status} and ${text.length} characters`);
  const { code, detail, hint, pointer, errors = [] } = problem;
  // A service that is newer than this client may know more codes.
  if (!(ERROR_CODES as readonly string[]).includes(code)) return unexpected(`${code}: ${detail}`, problem);
  return new SignalboxError(code as ErrorCode, detail, {
    cause: problem,
    faults: errors,
    ...(hint === undefined ? {} : { hint }),
    ...(pointer === undefined ? {} : { pointer }),
  });
}

/** What was answered is not what this client understands. */
export function unexpected(detail: string, cause?: unknown): SignalboxError {
  return new SignalboxError('ANSWER_UNEXPECTED', detail, { cause });
}

function problemIn(text: string): Problem | undefined {
  try {
    const value = JSON.parse(text);
    return typeof value?.code === 'string' && typeof value.detail === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
