import { z } from 'zod';
import type { BatchEvent, BatchResult, CommandResult, LockRequest, Plan } from '../dispatcher/types.ts';
import { ERROR_CODES } from '../errors.ts';
import type { LineRecord } from './upload.ts';
import { verdict } from './verdict-answers.ts';

/**
 * The bodies that go out. They are the contract's own types (the annotations hold them to it), and the document and
 * the tests are made from them; an answer is not parsed again on its way out, since that would double its cost.
 */

const count = z.int().min(0);
const milliseconds = z.number().min(0).nullable();

const commandState = z
  .enum([
    'queued',
    'waiting',
    'running',
    'exited',
    'failed',
    'timed-out',
    'cancelled',
    'skipped',
    'not-started',
    'interrupted',
  ])
  .meta({ id: 'CommandState' });
const batchState = z.enum(['open', 'running', 'finished', 'cancelled']).meta({ id: 'BatchState' });
const truncation = z
  .strictObject({ stdoutBytes: count, stderrBytes: count })
  .nullable()
  .meta({ id: 'Truncation', description: 'Bytes that were printed but not kept; null when nothing was cut' });

const textEncoding = z.enum(['utf8', 'base64']);

const outcome = {
  state: commandState,
  exitCode: z.int().nullable().describe('As bash reports it'),
  signal: z.string().nullable(),
  truncated: truncation,
  queuedMs: milliseconds,
  waitedMs: milliseconds,
  ranMs: milliseconds,
  note: z.string().nullable().describe('Why it did not run, or was ended'),
};

const vouched = z
  .literal(true)
  .exactOptional()
  .describe('The verdict is serial, and it runs beside others on the word of the caller');

const commandResult: z.ZodType<CommandResult> = z
  .strictObject({
    id: z.string(),
    command: z.string(),
    verdict,
    vouched,
    ...outcome,
    encoding: z
      .strictObject({ stdout: textEncoding, stderr: textEncoding })
      .describe('What the texts are: as they were printed, or base64 of bytes that are no UTF-8'),
    stdout: z.string(),
    stderr: z.string(),
    orphans: z.array(z.int()),
  })
  .meta({ id: 'CommandResult' });

export const batchResult: z.ZodType<BatchResult> = z
  .strictObject({
    id: z.string(),
    state: batchState,
    paused: z.boolean().describe('Nothing of it starts; what runs goes on'),
    asks: z.array(z.string()).describe('The commands that wait to be approved or declined, in call order'),
    createdAt: z.iso.datetime(),
    commands: z.array(commandResult),
  })
  .meta({ id: 'Batch', description: 'The commands stand in call order, always' });

const plannedLock: z.ZodType<LockRequest> = z
  .union([
    z.string(),
    z.strictObject({
      key: z.string(),
      mode: z.enum(['shared', 'exclusive', 'intention-shared', 'intention-exclusive']).exactOptional(),
    }),
  ])
  .meta({ id: 'PlannedLock', description: 'A key that the command would take, and how' });

export const plan: z.ZodType<Plan> = z
  .strictObject({
    groups: z
      .array(z.strictObject({ kind: z.enum(['parallel', 'serial']), commandIds: z.array(z.string()) }))
      .describe('Neighbours that overlap, and commands that are alone, in call order'),
    commands: z.array(
      z.strictObject({ id: z.string(), command: z.string(), verdict, locks: z.array(plannedLock).readonly(), vouched }),
    ),
  })
  .meta({ id: 'Plan', description: 'How a batch would run, at the moment of asking' });

const happened = { seq: z.int().min(1), batchId: z.string(), at: z.number() };
const ofCommand = { ...happened, commandId: z.string() };

export const batchEvent: z.ZodType<BatchEvent> = z
  .union([
    z.strictObject({
      ...ofCommand,
      type: z.literal('accepted'),
      command: z.string(),
      verdict,
      provisional: z.literal(true).exactOptional().describe('The command may still be changed before it starts'),
    }),
    z.strictObject({
      ...ofCommand,
      type: z.literal('waiting'),
      waitsFor: z.array(z.strictObject({ batchId: z.string(), commandId: z.string() })),
      others: z.int().min(1).exactOptional(),
    }),
    z.strictObject({
      ...ofCommand,
      type: z.literal('started'),
      verdict,
      pid: z.int().nullable(),
      command: z.string().exactOptional().describe('The text that runs, where it is not the accepted one'),
      vouched,
    }),
    z.strictObject({
      ...ofCommand,
      type: z.literal('output'),
      stream: z.enum(['stdout', 'stderr']),
      text: z.string(),
      encoding: z.literal('base64').exactOptional().describe('There when the piece is no UTF-8'),
    }),
    z.strictObject({ ...ofCommand, type: z.literal('finished'), ...outcome }),
    z.strictObject({
      ...ofCommand,
      type: z.literal('asking'),
      command: z.string().exactOptional().describe('The text that would run, where it is not the accepted one'),
    }),
    z.strictObject({
      ...ofCommand,
      type: z.literal('answered'),
      decision: z.enum(['approve', 'decline']),
      reason: z.string().exactOptional(),
    }),
    z.strictObject({ ...happened, type: z.enum(['paused', 'resumed']) }),
    z.strictObject({ ...happened, type: z.literal('batch-finished'), state: batchState }),
  ])
  .meta({ id: 'BatchEvent', description: '`seq` counts from 1 without a gap; every event says whose it is' });

const fault = z.strictObject({ pointer: z.string().exactOptional(), detail: z.string() });
const ofLine = { batchId: z.string(), line: z.int().min(1).describe('Counts every line of the body from 1') };

export const lineRecord: z.ZodType<LineRecord> = z
  .union([
    z.strictObject({ ...ofLine, type: z.literal('taken'), commandId: z.string() }),
    z.strictObject({ ...ofLine, type: z.literal('known'), commandId: z.string() }),
    z.strictObject({
      ...ofLine,
      type: z.literal('error'),
      code: z.enum(ERROR_CODES),
      detail: z.string(),
      pointer: z.string().exactOptional().describe('A JSON pointer into the line'),
      hint: z.string().exactOptional(),
      errors: z.array(fault).readonly().exactOptional(),
    }),
  ])
  .meta({
    id: 'LineRecord',
    description:
      'What became of a line: `taken` into the batch, `known` from before and not run again, or an `error`, behind which nothing is read',
    examples: [
      { type: 'taken', batchId: '2b228abb-6835-4374-b32c-11aa55757ff9', line: 1, commandId: 'build' },
      { type: 'known', batchId: '2b228abb-6835-4374-b32c-11aa55757ff9', line: 2, commandId: 'build' },
      {
        type: 'error',
        batchId: '2b228abb-6835-4374-b32c-11aa55757ff9',
        line: 3,
        code: 'REQUEST_INVALID',
        detail: 'Expected only fields that are documented, got "cmd" at /cmd',
        pointer: '/cmd',
      },
    ],
  });

export const appended = z
  .strictObject({
    batchId: z.string(),
    commands: z
      .array(z.strictObject({ id: z.string(), known: z.boolean().describe('It was in the batch before') }))
      .readonly(),
  })
  .meta({
    id: 'Appended',
    description: 'The commands that were sent, in that order',
    examples: [{ batchId: '2b228abb-6835-4374-b32c-11aa55757ff9', commands: [{ id: 'build', known: false }] }],
  });

export const capabilities = z
  .strictObject({
    name: z.literal('signalbox'),
    version: z.string(),
    ruleset: z.string().describe('The content hash of the rule set'),
    capabilities: z
      .array(z.string())
      .readonly()
      .describe('What this service can do; look for a token, never at the version'),
    modes: z.array(z.string()).readonly(),
    mode: z.string().describe('The one of a request that names none'),
    limits: z.record(z.string(), z.number()),
    retention: z
      .record(z.string(), z.number())
      .describe('How many ended batches are kept, for how long, in how many bytes'),
  })
  .meta({ id: 'Capabilities' });

export const health = z.strictObject({ status: z.literal('ok') }).meta({ id: 'Health' });

export const problem = z
  .strictObject({
    type: z.string().describe('Where the code is explained'),
    title: z.string(),
    status: z.int(),
    detail: z.string().describe('What was expected, what came, where'),
    instance: z.string().describe('Names this one request, as the log does'),
    code: z.enum(ERROR_CODES),
    pointer: z.string().optional().describe('A JSON pointer into the body'),
    hint: z.string().optional(),
    errors: z
      .array(z.strictObject({ pointer: z.string().optional(), detail: z.string() }))
      .optional()
      .describe('Every fault that was found'),
  })
  .meta({ id: 'Problem', description: 'RFC 9457. Switch on `code`, never on a text' });

export type Problem = z.output<typeof problem>;
