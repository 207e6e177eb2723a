import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Judge } from '../classifier/judgement.ts';
import type { Config } from '../config.ts';
import type { Dispatcher } from '../dispatcher/types.ts';
import type { Drain } from './drain.ts';
import type { KeptBatches } from './kept-batches.ts';
import type { Locks } from './lock-view.ts';
import type { Metrics } from './metrics.ts';
import type { Share } from './shares.ts';

/** Fastify with zod as its types. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>;

/** What the routes work with. */
export type RouteContext = {
  readonly config: Config;
  readonly dispatcher: Dispatcher;
  /** Total for any value: what is no text is serial with INPUT_NOT_TEXT. */
  readonly judge: Judge;
  readonly ruleset: string;
  readonly version: string;
  readonly batches: KeptBatches;
  readonly drain: Drain;
  /** The one that the dispatcher takes. */
  readonly lock: Locks;
  readonly metrics: Metrics;
  /** What one token may have open at once. */
  readonly shares: { readonly batches: Share; readonly streams: Share };
};
