import { z } from 'zod';
import { REASON_CODES } from '../classifier/verdict.ts';

/**
 * The bodies that come in, strict: a field that is not listed is a fault. Everything else about them that can be wrong
 * (directories, duplicates, NUL) is told by the parts that know it.
 */

const DAY_MS = 86_400_000;
const id = z.string().min(1).max(128);
/** What the system takes; bash hands on names that are none of its own. */
const variable = z.string().regex(/^[^=\0]+$/, 'Expected the name of an environment variable');
const environment = z.record(variable, z.string()).describe('Variables added for this command alone');
const mode = z
  .enum(['simple', 'compound'])
  .describe('`compound` also proves lists and pipelines. Default: as the service is configured, which is `simple`');
const directory = z.string().min(1).max(4_096);
const allowance = z
  .strictObject({ network: z.boolean().exactOptional(), daemon: z.boolean().exactOptional() })
  .describe('Which readers may be parallel, within what the service allows. Default: all that it does');

const lockRequest = z
  .union([
    z.string().min(1).max(1_024),
    z.strictObject({ key: z.string().min(1).max(1_024), mode: z.enum(['shared', 'exclusive']).exactOptional() }),
  ])
  .meta({ id: 'LockRequest', description: 'A key in a mode; a bare string asks for the key exclusively' });

const commandFields = {
  id: id.exactOptional().describe('Unique in the batch. Default: `c1`, `c2` … by place'),
  command: z.string().describe('The text that would be given to `bash -c`'),
  cwd: directory.exactOptional().describe('Absolute, or relative to the directory of the batch'),
  env: environment.exactOptional(),
  timeoutMs: z.int().min(1).max(DAY_MS).exactOptional().describe('Milliseconds of running; waiting does not count'),
  stdin: z.string().exactOptional().describe('Text for standard input. Default: the null device'),
  lockKeys: z.array(lockRequest).max(64).exactOptional().describe('What the command changes besides its workspace'),
  assume: z
    .literal('parallel')
    .exactOptional()
    .describe(
      'The word of the caller that it may run beside others though nothing proves it. Takes an exclusive key in `lockKeys`, and a token with the scope `vouch`',
    ),
};

/** A command of a file, of which nobody is there to approve anything. */
const commandOfFile = z.strictObject(commandFields);

const commandObject = z
  .strictObject({
    ...commandFields,
    approval: z
      .literal('required')
      .exactOptional()
      .describe('It runs only when it has been approved, at `/batches/{id}/approvals`'),
  })
  .meta({
    id: 'Command',
    examples: [
      { id: 'list', command: 'ls -la', timeoutMs: 5_000 },
      { id: 'publish', command: 'npm publish', approval: 'required' },
      { command: 'touch a', lockKeys: ['file:/repo/a'], assume: 'parallel' },
    ],
  });

const batchOptions = {
  cwd: directory.exactOptional().describe('Absolute, or relative to the first root. Default: the first root'),
  mode: mode.exactOptional(),
  allow: allowance.exactOptional(),
  maxParallel: z.int().min(1).max(256).exactOptional().describe('Commands of this batch that run at once'),
  scope: z
    .enum(['workspace', 'host'])
    .exactOptional()
    .describe('How far a serial command is alone: in its workspace, or among all commands of the service'),
  onFailure: z
    .enum(['continue', 'stop', 'cancel-siblings'])
    .exactOptional()
    .describe('What a command that ends with a non-zero code does to the rest. Default: `continue`'),
  deadlineMs: z.int().min(1).max(DAY_MS).exactOptional().describe('Milliseconds for the whole batch, waiting included'),
};

/** What only a service can be asked: it has clients that leave and come back. */
const servedOptions = {
  open: z
    .boolean()
    .exactOptional()
    .describe('The batch takes more commands, at `/batches/{id}/commands`, until `/batches/{id}/close`'),
  onDisconnect: z
    .enum(['continue', 'cancel'])
    .exactOptional()
    .describe(
      'What becomes of the batch when the client of this request leaves before its answer. Default: `continue`',
    ),
};

const commandInput = z.union([z.string(), commandObject]);
const commandList = z.array(commandInput);

export const batchRequest = z
  .strictObject({ ...batchOptions, ...servedOptions, commands: commandList.describe('In the order that counts') })
  .meta({
    id: 'BatchRequest',
    examples: [{ cwd: '/repo', commands: ['git status', { id: 'list', command: 'ls -la', timeoutMs: 5_000 }] }],
  });

/** The first line of a batch that comes in lines, unless it is a command already. */
export const batchHead = z.strictObject({ batch: z.strictObject({ ...batchOptions, ...servedOptions }) }).meta({
  id: 'BatchHead',
  description: 'The options of a batch that comes in lines; only ever the first of them',
  examples: [{ batch: { cwd: '/repo', onFailure: 'stop', onDisconnect: 'cancel' } }],
});

/** Every other line. */
export const batchLine = commandInput;

/** Any line, for the document. */
export const anyLine = z.union([batchHead, z.string(), commandObject]).describe('One JSON value a line');

/** Commands for a batch that grows. */
export const appendRequest = z
  .strictObject({ commands: commandList.describe('In the order that counts') })
  .meta({ id: 'AppendRequest', examples: [{ commands: ['git status', { id: 'list', command: 'ls -la' }] }] });

/** A batch without what only a service can be asked. */
export const batchFile = z.strictObject({ ...batchOptions, commands: z.array(z.union([z.string(), commandOfFile])) });

/** What may stand for a command in a question: anything that JSON can say. What is no text gets the verdict INPUT_NOT_TEXT. */
const notAnObject = [z.string(), z.number(), z.boolean(), z.null(), z.array(z.unknown())] as const;
const anything = z.union([...notAnObject, z.record(z.string(), z.unknown())]).describe('Text; anything else is serial');

export const classifyRequest = z
  .strictObject({
    command: anything.exactOptional(),
    commands: z
      .array(
        z.union([
          ...notAnObject,
          z
            .strictObject({ command: anything, cwd: directory.exactOptional(), env: environment.exactOptional() })
            .meta({ id: 'Question' }),
        ]),
      )
      .exactOptional(),
    mode: mode.exactOptional(),
    allow: allowance.exactOptional(),
    cwd: directory
      .exactOptional()
      .describe('Where it would run: absolute. It need not exist here. Default: the first root'),
    env: environment.exactOptional(),
  })
  .refine(
    (body) => (body.command === undefined) !== (body.commands === undefined),
    'Expected either `command` or `commands`',
  )
  .meta({
    id: 'ClassifyRequest',
    examples: [{ command: 'git log --oneline -5' }, { commands: ['ls -la', 'rm -r build'] }],
  });

export const classifyQuery = z.strictObject({
  command: z.string().describe('Percent-encoded; a plus sign is a blank'),
  mode: mode.exactOptional(),
  cwd: directory.exactOptional(),
});

/** What somebody says of commands that ask. */
export const approvalsRequest = z
  .strictObject({
    approvals: z
      .array(
        z.strictObject({
          id: id.describe('Of the command'),
          decision: z.enum(['approve', 'decline']),
          reason: z.string().max(1_024).exactOptional().describe('Told in the event and, of a decline, in the result'),
        }),
      )
      .min(1),
  })
  .meta({
    id: 'ApprovalsRequest',
    examples: [
      {
        approvals: [
          { id: 'publish', decision: 'approve' },
          { id: 'wipe', decision: 'decline', reason: 'Keep it for now' },
        ],
      },
    ],
  });

export const batchParams = z.strictObject({ id: z.string().describe('The id of the batch') });

const sequence = z
  .string()
  .regex(/^\d{1,15}$/, 'Expected the number of an event')
  .describe('The number of the last event that was seen; the stream goes on behind it');
export const eventsQuery = z.strictObject({ after: sequence.exactOptional() });
/** Loose, since a request has many header fields; only the one is looked at. */
export const eventsHeaders = z.looseObject({ 'last-event-id': sequence.exactOptional() });

export const preferHeaders = z.looseObject({
  prefer: z
    .string()
    .exactOptional()
    .describe('`wait=N`: answer when the batch has ended, at the latest after N seconds'),
});

export const reasonCode = z
  .enum(REASON_CODES)
  .meta({ id: 'ReasonCode', description: 'Why a command is serial; see docs/verdicts.md' });
