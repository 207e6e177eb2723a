import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { type IncomingHttpHeaders, type IncomingMessage, type RequestOptions, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { type Config, type ConfigFlags, loadConfig } from '../../src/config.ts';
import { createJudge } from '../../src/dispatcher/judge.ts';
import type { BatchEvent, BatchResult, Dispatcher } from '../../src/dispatcher/types.ts';
import type { Problem } from '../../src/http/answers.ts';
import { loadRules } from '../../src/rules/load.ts';
import { buildServer, createMetrics, createServiceDispatcher, listen } from '../../src/server.ts';
import './routes.ts';

/** The real thing on a free port: real rules, a real dispatcher, real commands in a throw-away root. */
export type Service = {
  readonly app: FastifyInstance;
  readonly config: Config;
  readonly port: number;
  /** The only root, a real path, empty at first. */
  readonly root: string;
  /** Every log line so far, at the level of the configuration. */
  readonly logs: () => string;
  readonly call: (path: string, options?: Call) => Promise<Answer>;
  /** POSTs a batch and answers the 201's body. */
  readonly run: (body: object, headers?: Record<string, string>) => Promise<BatchResult>;
};

export type Call = {
  readonly method?: string;
  readonly headers?: Record<string, string | readonly string[]>;
  /** An object goes as JSON with its content type; a text or bytes go as they are. */
  readonly body?: object | string | Buffer;
};

export type Answer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into by tests, which say what they expect
  readonly json: any;
};

const rules = loadRules();

export type Setup = {
  readonly flags?: ConfigFlags;
  /** What the server's own process would have; commands see what the configuration lets through. */
  readonly env?: Record<string, string>;
  readonly dispatcher?: (real: Dispatcher) => Dispatcher;
};

/** Starts a service that ends with the test. */
export async function startService(setup: Setup = {}): Promise<Service> {
  const service = await openService(setup);
  onTestFinished(service.close);
  return service;
}

/** As `startService`; the caller closes it. */
export async function openService({
  flags = {},
  env = {},
  dispatcher = (real) => real,
}: Setup = {}): Promise<Service & { readonly close: () => Promise<void> }> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'signalbox-http-')));
  const config = loadConfig({
    cwd: root,
    env: {},
    flags: { port: 0, 'shutdown-grace-ms': 300, 'shutdown-deadline-ms': 5_000, ...flags },
  });
  const lines: string[] = [];
  const metrics = createMetrics({ version: '0.0.0-test', ruleset: rules.hash });
  const real = createServiceDispatcher(config, rules, { ...process.env, ...env }, metrics.observe);
  const removeRoot = () => rmSync(root, { recursive: true, force: true });
  const app = await buildServer({
    config,
    dispatcher: dispatcher(real),
    judge: createJudge(rules),
    ruleset: rules.hash,
    version: '0.0.0-test',
    metrics,
    log: pino({ level: config.logLevel }, { write: (line: string) => lines.push(line) }),
  }).catch((error: unknown) => {
    removeRoot();
    throw error;
  });
  const { port } = await listen(app, config);
  const call = (path: string, options: Call = {}) => ask(port, path, options);
  return {
    app,
    config,
    port,
    root,
    logs: () => lines.join(''),
    call,
    run: async (body, headers = {}) => {
      const answer = await call('/batches', { method: 'POST', body, headers });
      if (answer.status !== 201) throw new Error(`Expected 201, got ${answer.status}: ${answer.text}`);
      return answer.json;
    },
    close: async () => {
      await app.close();
      removeRoot();
    },
  };
}

/** Sends one request on a connection of its own; resolves when the answer's head is there. */
export function send(
  port: number,
  path: string,
  { method = 'GET', headers = {}, body }: Call = {},
): Promise<IncomingMessage> {
  const isPlain = body === undefined || typeof body === 'string' || Buffer.isBuffer(body);
  const payload = isPlain ? body : JSON.stringify(body);
  const options: RequestOptions = {
    host: '127.0.0.1',
    port,
    path,
    method,
    agent: false,
    headers: {
      ...(isPlain ? {} : { 'content-type': 'application/json' }),
      // Node adds none to DELETE, and an empty one would be chunked.
      ...(payload === undefined ? {} : { 'content-length': String(Buffer.byteLength(payload)) }),
      ...(headers as Record<string, string>),
    },
  };
  return new Promise((resolve, reject) => {
    const outgoing = request(options, resolve);
    outgoing.once('error', reject);
    outgoing.end(payload);
  });
}

/** Sends one request and reads the whole answer. */
export async function ask(port: number, path: string, call: Call = {}): Promise<Answer> {
  const incoming = await send(port, path, call);
  const body = await text(incoming);
  const isJson = /json/.test(incoming.headers['content-type'] ?? '') && body !== '';
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    text: body,
    json: isJson && !body.includes('\n') ? JSON.parse(body) : undefined,
  };
}

/** Writes bytes to the socket and reads until the server closes it, or for a moment. */
export function sendRaw(port: number, bytes: string, forMs = 1_500): Promise<string> {
  return new Promise((resolve) => {
    let got = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(Buffer.from(bytes, 'latin1')));
    const end = () => {
      clearTimeout(timer);
      socket.destroy();
      resolve(got);
    };
    const timer = setTimeout(end, forMs);
    socket.on('data', (chunk) => {
      got += chunk.toString('latin1');
    });
    socket.on('error', end);
    socket.on('close', end);
  });
}

/** The JSON body of a raw answer. */
export function bodyOf(raw: string): Problem {
  return JSON.parse(raw.slice(raw.indexOf('{'), raw.lastIndexOf('}') + 1));
}

/** The events of an SSE text, with what stood in their `id` and `event` lines. */
export function parseSse(
  stream: string,
): readonly { readonly id: string; readonly event: string; readonly data: BatchEvent }[] {
  return stream
    .split('\n\n')
    .filter((block) => block.includes('data: '))
    .map((block) => {
      const fields = new Map(
        block.split('\n').map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]),
      );
      return {
        id: fields.get('id') ?? '',
        event: fields.get('event') ?? '',
        data: JSON.parse(fields.get('data') ?? 'null'),
      };
    });
}

/** The events of an NDJSON text. */
export function parseLines(stream: string): readonly BatchEvent[] {
  return stream
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line));
}

/** Waits until something holds; fails after ten seconds. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 10_000;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error('It never came to hold');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
