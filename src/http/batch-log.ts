import type { FastifyBaseLogger } from 'fastify';
import type { Batch } from '../dispatcher/types.ts';
import { commandLine } from './log-lines.ts';

/** Logs that a batch was taken in, with the commands that it has by now, and when it will have ended. */
export function logBatch(batch: Batch, of: FastifyBaseLogger, service: FastifyBaseLogger): void {
  const { commands } = batch.snapshot();
  of.info({ batchId: batch.id, commands: commands.length }, 'batch accepted');
  for (const { id, command, verdict } of commands)
    of.info({ batchId: batch.id, ...commandLine(id, command, verdict) }, 'command accepted');
  void batch.done.then(({ state }) => service.info({ batchId: batch.id, state }, 'batch ended'));
}
