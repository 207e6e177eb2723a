import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { type Logger, pino } from 'pino';
import type { Judge } from './classifier/judgement.ts';
import type { Config } from './config.ts';
import { toolLocks } from './dispatcher/tool-locks.ts';
import type { Dispatcher } from './dispatcher/types.ts';
import { installConnections, ownTurn } from './http/connections.ts';
import type { RouteContext } from './http/context.ts';
import { documentRoutes, registerDocuments } from './http/documents.ts';
import { installDrain } from './http/drain.ts';
import { createGate, requireAccept } from './http/gate.ts';
import { createKeptBatches } from './http/kept-batches.ts';
import { LINES, sendsLines } from './http/line-bodies.ts';
import type { Locks } from './http/lock-view.ts';
import { LogLines, SERIALIZERS } from './http/log-lines.ts';
import { createMetrics, type Metrics } from './http/metrics.ts';
import { answerClientError, answerError } from './http/problem.ts';
import { createRateLimit } from './http/rate.ts';
import { appendRoutes } from './http/routes/append.ts';
import { approvalRoutes } from './http/routes/approvals.ts';
import { batchRoutes } from './http/routes/batches.ts';
import { classifyRoutes } from './http/routes/classify.ts';
import { eventRoutes } from './http/routes/events.ts';
import { insideRoutes } from './http/routes/inside.ts';
import { planRoutes } from './http/routes/plan.ts';
import { statusRoutes } from './http/routes/status.ts';
import { createAddresses } from './http/routing.ts';
import { createShare } from './http/shares.ts';
import { readTokens } from './http/token.ts';
import { installTransport, limitArrival, SECURITY_HEADERS } from './http/transport.ts';
import { compileValidator, parseBody } from './http/validation.ts';

export { type Config, type ConfigSources, loadConfig } from './config.ts';
export { type Listening, listen } from './http/listening.ts';
export { createMetrics, type Metrics, type MetricsOptions } from './http/metrics.ts';
export { createServiceDispatcher, createServiceJudge } from './http/service-dispatcher.ts';

/** What the service is made of. Closing the server shuts the dispatcher down. */
export type ServerDeps = {
  readonly config: Config;
  readonly dispatcher: Dispatcher;
  /** Must be total for any value, as `classify` is. */
  readonly judge: Judge;
  /** The content hash of the rule set, for `/capabilities`. */
  readonly ruleset: string;
  /** The version of the package, for `/capabilities` and the API document. */
  readonly version: string;
  /** What its `observe` was given to the dispatcher. Default: figures of requests and questions alone. */
  readonly metrics?: Metrics;
  /** The lock that the dispatcher takes, for `/locks`. Default: `toolLocks`, which it takes unless it was given another. */
  readonly lock?: Locks;
  /** Default: JSON lines on standard error, at the configured level. */
  readonly log?: Logger;
  /** Milliseconds of a clock that goes forward. Default: the process's. */
  readonly now?: () => number;
  /** A new UUID. Default: a random one. */
  readonly newId?: () => string;
};

/** Milliseconds in which the body of a request must arrive; that of a header is Node's own limit, the same. */
const REQUEST_TIMEOUT_MS = 60_000;

/**
 * The HTTP service as a Fastify instance that does not listen yet (see `listen`). Throws CONFIG_INVALID when the token
 * file cannot be used. `close()` refuses new batches, lets running commands end within the configured time, tells
 * every open stream, and then closes the connections.
 */
export async function buildServer(deps: ServerDeps): Promise<FastifyInstance> {
  const { config, dispatcher, judge, ruleset, version, newId = randomUUID, now = () => performance.now() } = deps;
  const log = deps.log ?? pino({ level: config.logLevel }, pino.destination(2));
  const tokens =
    config.tokenFile === null
      ? null
      : readTokens(config.tokenFile, ({ code }) => log.warn({ code }, 'token file not taken over'));
  const { maxBodyBytes } = config.limits;

  const app = Fastify({
    loggerInstance: log.child({}, { serializers: SERIALIZERS }) as FastifyBaseLogger,
    logController: new LogLines(),
    genReqId: () => newId(),
    bodyLimit: maxBodyBytes,
    // Our own answers are problem documents; Fastify's and Node's are not.
    return503OnClosing: false,
    http: { requireHostHeader: false },
    routerOptions: { maxParamLength: 200 },
    frameworkErrors: (error, request, reply) => {
      // An address that no route can be looked up for; whoever may not ask is told that and nothing else.
      try {
        admit(request, reply);
        answerError(error, request, reply);
      } catch (refusal) {
        answerError(refusal, request, reply);
      }
      request.log.info({ code: request.problemCode }, 'message refused');
    },
    clientErrorHandler: (error, socket) => {
      const code = answerClientError(error, socket, newId());
      if (code !== undefined) log.info({ code }, 'message refused');
    },
  }).withTypeProvider<ZodTypeProvider>();

  const addresses = createAddresses();
  // Over a Unix socket there is no port, and clients name the default one by naming none.
  const port = (): number =>
    config.socket === null ? ((app.server.address() as AddressInfo | null)?.port ?? config.port) : 80;
  const gate = createGate({ config, tokens, port });
  const admit = (request: FastifyRequest, reply: FastifyReply): void => {
    reply.headers({ ...SECURITY_HEADERS, 'x-request-id': request.id });
    gate(request);
  };

  const limitRate = await createRateLimit(app as unknown as FastifyInstance, config.limits.maxRequestsPerMinute);
  app.decorateRequest('problemCode', null);
  app.decorateRequest('principal');
  app.addHook('onRoute', addresses.add);
  app.addHook('onRequest', async (request, reply) => {
    let refusal: unknown;
    try {
      admit(request, reply);
    } catch (error) {
      refusal = error;
    }
    await limitRate(request, reply, refusal !== undefined);
    if (refusal !== undefined) throw refusal;
    if (!sendsLines(request)) limitArrival(app.server, request.raw, REQUEST_TIMEOUT_MS);
    await ownTurn(reply);
  });
  installConnections(app, config.limits.maxConnections);
  installTransport(app, newId, (code) => log.info({ code }, 'message refused'));
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: FastifyRequest, body: Buffer) =>
    parseBody(body),
  );
  // Whoever takes lines reads them from the connection, as they come and as they can be taken.
  app.addContentTypeParser(LINES, (_request: FastifyRequest, body, done) => done(null, body));
  app.setValidatorCompiler(compileValidator);
  // Answers are held to their schemas by types and tests; parsing each again would double its cost.
  app.setSerializerCompiler(() => JSON.stringify);
  app.setErrorHandler(answerError);
  app.setNotFoundHandler(addresses.refuse);

  const { lock = toolLocks, metrics = createMetrics({ version, ruleset }) } = deps;
  app.addHook('onResponse', async ({ problemCode }) => {
    if (problemCode !== null) metrics.refused(problemCode);
  });
  const drain = installDrain(app, { dispatcher, shutdown: config.shutdown });
  const context: RouteContext = {
    config,
    dispatcher,
    judge,
    ruleset,
    version,
    drain,
    lock,
    metrics,
    batches: createKeptBatches(config.retention, now),
    shares: {
      batches: createShare(config.limits.maxBatchesPerToken, 'BATCHES_TOO_MANY', 'batches that have not ended'),
      streams: createShare(config.limits.maxStreamsPerToken, 'STREAMS_TOO_MANY', 'open streams'),
    },
  };

  await registerDocuments(app, version, tokens !== null);
  await app.register((json, _options, done) => {
    json.addHook('onRequest', async (request) => sendsLines(request) || requireAccept(request, 'application/json'));
    batchRoutes(json, context);
    appendRoutes(json, context);
    approvalRoutes(json, context);
    classifyRoutes(json, context);
    planRoutes(json, context);
    statusRoutes(json, context);
    done();
  });
  eventRoutes(app, context);
  insideRoutes(app, context);
  await documentRoutes(app);
  await app.ready();
  return app;
}
