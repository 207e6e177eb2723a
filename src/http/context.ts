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
};
