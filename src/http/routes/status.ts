import { SignalboxError } from '../../errors.ts';
import { capabilities, health } from '../answers.ts';
import type { App, RouteContext } from '../context.ts';
import { problems } from '../responses.ts';

/** What a client may rely on. A change that clients must notice gets a token here, never a version to sniff. */
const CAPABILITIES = Object.freeze([
  'approvals',
  'batches',
  'batches-cancel',
  'batches-disconnect',
  'batches-open',
  'batches-streaming',
  'classify',
  'compound',
  'events-carry-command-ids',
  'events-ndjson',
  'events-resume',
  'events-sse',
  'output-base64',
  'plan',
  'vouch',
  'wait',
]);

/** Those of a service that runs nothing. */
const JUDGING: ReadonlySet<string> = new Set(['classify', 'compound']);

const MODES = Object.freeze(['simple', 'compound']);

/** What the service is, and whether it is there. */
export function statusRoutes(app: App, { config, ruleset, version, drain }: RouteContext): void {
  app.route({
    method: 'GET',
    url: '/capabilities',
    schema: {
      operationId: 'getCapabilities',
      summary: 'What this service can do',
      tags: ['service'],
      response: { 200: capabilities, ...problems('plain') },
    },
    handler: async () => ({
      name: 'signalbox' as const,
      version,
      ruleset,
      capabilities: config.classifyOnly ? CAPABILITIES.filter((token) => JUDGING.has(token)) : CAPABILITIES,
      modes: MODES,
      mode: config.mode,
      limits: { ...config.limits },
      retention: { ...config.retention },
    }),
  });

  app.route({
    method: 'GET',
    url: '/healthz',
    schema: {
      operationId: 'getHealth',
      summary: 'Whether the service is there. Needs no token',
      tags: ['service'],
      security: [],
      response: { 200: health },
    },
    handler: async () => ({ status: 'ok' as const }),
  });

  app.route({
    method: 'GET',
    url: '/readyz',
    schema: {
      operationId: 'getReadiness',
      summary: 'Whether the service takes new batches',
      tags: ['service'],
      response: { 200: health, ...problems('plain', 503) },
    },
    handler: async () => {
      if (drain.isDraining()) throw new SignalboxError('SHUTTING_DOWN', 'The service takes no new batches');
      return { status: 'ok' as const };
    },
  });
}
