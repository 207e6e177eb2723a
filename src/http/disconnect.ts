import type { ServerResponse } from 'node:http';
import type { Batch } from '../dispatcher/types.ts';

/** Cancels the batch when the client leaves before it has been answered. */
export function cancelOnLeave(batch: Batch, response: ServerResponse): void {
  if (response.destroyed) batch.cancel('The client left');
  response.once('close', () => response.writableFinished || batch.cancel('The client left'));
}
