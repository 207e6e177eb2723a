import { z } from 'zod';
import type { LockView } from './lock-view.ts';

const named = {
  batchId: z.string().nullable().describe('Null for work besides commands'),
  commandId: z.string().nullable(),
};
const lockUser = z
  .strictObject({
    ...named,
    mode: z.enum(['shared', 'exclusive', 'intention-shared', 'intention-exclusive', 'shared-intention-exclusive']),
    ageMs: z.number().describe('Milliseconds since it got the key, or since it asked'),
  })
  .meta({ id: 'LockUser' });

/** The body of `GET /locks`. */
export const locks: z.ZodType<LockView> = z
  .strictObject({
    waits: z
      .array(
        z.strictObject({
          ...named,
          waitingMs: z.number(),
          waitsFor: z.array(z.strictObject(named)).readonly().describe('They hold what it needs, or asked before it'),
          andMore: z.boolean().describe('There are others besides those'),
        }),
      )
      .readonly()
      .describe('Who waits for whom, the longest first'),
    moreWaits: z.int().min(0),
    keys: z
      .array(
        z.strictObject({
          key: z.string(),
          inside: z.strictObject(named).nullable().describe('The hold that covers the key for those who are named'),
          holders: z.array(lockUser).readonly(),
          waiters: z.array(lockUser).readonly(),
          moreHolders: z.int().min(0),
          moreWaiters: z.int().min(0),
        }),
      )
      .readonly()
      .describe('The keys that are held; first those that are waited for'),
    moreKeys: z.int().min(0),
  })
  .meta({
    id: 'Locks',
    examples: [
      {
        waits: [
          {
            batchId: '2b228abb-6835-4374-b32c-11aa55757ff9',
            commandId: 'tests',
            waitingMs: 1_204,
            waitsFor: [{ batchId: '2b228abb-6835-4374-b32c-11aa55757ff9', commandId: 'build' }],
            andMore: false,
          },
        ],
        moreWaits: 0,
        keys: [],
        moreKeys: 4,
      },
    ],
  });
