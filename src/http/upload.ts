import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { type ErrorCode, type Fault, SignalboxError } from '../errors.ts';
import type { Asker, RequestedCommand } from './admission.ts';
import type { Intake, Taken } from './intake.ts';
import type { Ending, Line, LineReader } from './line-reader.ts';
import { failureOf } from './log-lines.ts';
import { batchLine } from './schemas.ts';
import { parseLine } from './validation.ts';

/** What is said of a line, to whoever sent it. It has no number of its own and is told once: it is no event of the batch. */
export type LineRecord = { readonly batchId: string; readonly line: number } & (
  | { readonly type: 'taken'; readonly commandId: string }
  | { readonly type: 'known'; readonly commandId: string }
  | {
      readonly type: 'error';
      readonly code: ErrorCode;
      readonly detail: string;
      readonly pointer?: string;
      readonly hint?: string;
      readonly errors?: readonly Fault[];
    }
);

/** How an upload ended. `refused`: at a line that could not be taken. `stalled`: nothing came for too long. */
export type UploadEnding = Ending | 'refused' | 'stalled';

/** Milliseconds between two attempts to take a line for which no place was left among those that wait. */
const ROOM_EVERY_MS = 50;

/** What an upload tells, and when it is to end. */
export type Reception = {
  readonly tell: (record: LineRecord) => void;
  readonly stop: AbortSignal;
  readonly log: FastifyBaseLogger;
  /** Lines that are taken. */
  readonly most: number;
  /** Who sends them. */
  readonly who: Asker;
};

/**
 * The first line, which is waited for before anything is answered. Whoever calls it tells what is wrong with it.
 *
 * @throws SignalboxError COMMANDS_EMPTY, HTTP_MALFORMED, and what `LineReader.next` throws.
 */
export async function firstLine(lines: LineReader): Promise<Line> {
  const first = await lines.next(new AbortController().signal);
  if (first === 'end') throw new SignalboxError('COMMANDS_EMPTY', 'Expected at least one line, got none');
  if (typeof first === 'string') throw new SignalboxError('HTTP_MALFORMED', 'Expected the first line to come whole');
  return first;
}

/** Takes the lines of an upload as `takeLines` does, then throws the rest of it away. Never rejects. */
export async function receive(
  lines: LineReader,
  intake: Intake,
  { tell, stop, log, most, who }: Reception,
): Promise<UploadEnding> {
  const { id: batchId } = intake.batch;
  const heard = (record: LineRecord): void => {
    if (record.type !== 'error')
      log.info({ batchId, commandId: record.commandId, known: record.type === 'known' }, 'line taken');
    else log.info({ batchId, code: record.code }, 'line refused');
    tell(record);
  };
  try {
    return await takeLines(lines, intake, { tell: heard, stop, most, who });
  } catch (error) {
    log.error({ batchId, failure: failureOf(error) }, 'upload failed');
    const fault = new SignalboxError('INTERNAL', 'Something went wrong; the log of the service has more');
    tell(faultOf(batchId, lines.number, fault));
    return 'refused';
  } finally {
    lines.discard();
  }
}

/**
 * Takes the lines of an upload one by one, each at once, until it ends or one cannot be taken; that is told, and nothing
 * behind it is read. While too many commands wait, nothing is read, so the sender waits too.
 *
 * @throws what is no fault of the sender.
 */
async function takeLines(
  lines: LineReader,
  intake: Intake,
  { tell, stop, most, who }: Omit<Reception, 'log'>,
): Promise<UploadEnding> {
  const { id: batchId } = intake.batch;
  for (let count = 1; ; count += 1) {
    let number: number | null = null;
    try {
      const line = await lines.next(stop);
      if (typeof line === 'string') return line;
      number = line.number;
      if (count > most) throw new SignalboxError('COMMANDS_TOO_MANY', `Expected at most ${most} commands, got more`);
      tell(recordOf(batchId, number, await whenThereIsRoom(() => takeLine(line, intake, who), stop)));
    } catch (error) {
      if (!isOfSender(error)) throw error;
      tell(faultOf(batchId, number ?? lines.number, error));
      return error.code === 'REQUEST_TIMEOUT' ? 'stalled' : 'refused';
    }
    // Thousands of lines can stand in one chunk; others have a turn between two of them.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Takes one line. Throws what is wrong with it, and QUEUE_FULL. */
export function takeLine(line: Line, intake: Intake, who: Asker): Promise<Taken> {
  return intake.take(parseLine(batchLine, line.bytes) as RequestedCommand, who);
}

export function recordOf(batchId: string, line: number, { id, known }: Taken): LineRecord {
  return { type: known ? 'known' : 'taken', batchId, line, commandId: id };
}

/** What is said of a line, or of the upload at that line, that cannot be taken. */
export function faultOf(batchId: string, line: number, error: SignalboxError): LineRecord {
  const { code, message: detail, pointer, hint, faults } = error;
  return {
    type: 'error',
    batchId,
    line,
    code,
    detail,
    // How many commands there are is no fault of any place in the line.
    ...(pointer === undefined || code === 'COMMANDS_TOO_MANY' ? {} : { pointer }),
    ...(hint === undefined ? {} : { hint }),
    ...(faults.length === 0 ? {} : { errors: faults }),
  };
}

function isOfSender(error: unknown): error is SignalboxError {
  return error instanceof SignalboxError && (error.status < 500 || error.code === 'SHUTTING_DOWN');
}

async function whenThereIsRoom<Result>(attempt: () => Promise<Result>, stop: AbortSignal): Promise<Result> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof SignalboxError) || error.code !== 'QUEUE_FULL' || stop.aborted) throw error;
    }
    // The place may become free in any batch, of which none tells the others.
    await sleep(ROOM_EVERY_MS, undefined, { signal: stop }).catch(() => undefined);
  }
}
