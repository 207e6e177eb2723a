import type { FastifyReply, FastifyRequest } from 'fastify';
import { batchTexts } from './batch-text.ts';
import type { RouteContext } from './context.ts';
import { preferredWait } from './headers.ts';
import { bodyOf } from './json-text.ts';
import type { KeptBatch } from './kept-batches.ts';

/** What of a request counts for the answer. */
export type Asked = Pick<FastifyRequest, 'method'> & { readonly headers: { readonly prefer?: string } };

/** Answers with a batch as it is, or after the wait that was asked for, made as fast as the client takes it. */
export async function answerBatch(
  kept: KeptBatch,
  request: Asked,
  reply: FastifyReply,
  { config, batches }: Pick<RouteContext, 'config' | 'batches'>,
): Promise<FastifyReply> {
  await waited(kept, request.headers.prefer, config.limits.maxWaitSeconds, reply);
  reply.type('application/json; charset=utf-8');
  const body = bodyOf(batchTexts(kept.batch.snapshot()));
  if (typeof body !== 'string') {
    body.once(
      'close',
      batches.hold(kept, () => body.destroy(new Error('The batch is no longer kept'))),
    );
    // Nobody is there to take it, and its length is not known before it is made.
    if (request.method === 'HEAD') body.destroy();
  }
  return reply.send(request.method === 'HEAD' && typeof body !== 'string' ? undefined : body);
}

/** Waits for the end for as long as was asked for and is allowed. The batch goes on when the client leaves. */
async function waited(
  { batch }: KeptBatch,
  prefer: string | undefined,
  most: number,
  reply: FastifyReply,
): Promise<void> {
  const asked = preferredWait(prefer);
  if (asked === undefined) return;
  const seconds = Math.min(asked, most);
  reply.header('preference-applied', `wait=${seconds}`);
  const { promise: enough, resolve } = withResolvers();
  const timer = setTimeout(resolve, seconds * 1_000);
  reply.raw.once('close', resolve);
  try {
    await Promise.race([batch.done, enough]);
  } finally {
    clearTimeout(timer);
    reply.raw.off('close', resolve);
  }
}

/** As Promise.withResolvers, which Node 20 does not have. */
function withResolvers(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
