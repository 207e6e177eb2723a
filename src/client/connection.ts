import { checkNames, namesOf } from '../classifier/option-names.ts';
import { SignalboxError } from '../errors.ts';
import { errorOf, unexpected } from './problems.ts';

export type ClientOptions = {
  /** Where the service listens. Default: `http://127.0.0.1:7311`. */
  readonly url?: string | URL;
  /** The bearer token, where the service wants one. */
  readonly token?: string;
  /** Default: the global one. */
  readonly fetch?: typeof fetch;
  /** Attempts in a row that may fail before a stream or a wait gives up, 0 upwards. Default 8, over about half a minute. */
  readonly retries?: number;
  /** Milliseconds before the first new attempt; each further one waits twice as long, up to 8 s. Default 100. */
  readonly retryMs?: number;
  /** Milliseconds without a sign of life after which a stream is asked for anew. Default 45,000: three heartbeats. */
  readonly silenceMs?: number;
};

const NAMES = namesOf<ClientOptions>({
  url: true,
  token: true,
  fetch: true,
  retries: true,
  retryMs: true,
  silenceMs: true,
});

const MAX_PAUSE_MS = 8_000;

export type Request = {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** Goes as JSON; a text goes as lines of JSON. */
  readonly body?: object | string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
};

/** Requests to one service, and what to do when they fail. */
export class Connection {
  readonly retries: number;
  readonly silenceMs: number;
  readonly #base: URL;
  readonly #fetch: typeof fetch;
  readonly #retryMs: number;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(options: ClientOptions) {
    checkNames(options, NAMES, 'createClient');
    const { url = 'http://127.0.0.1:7311', token, retries = 8, retryMs = 100, silenceMs = 45_000 } = options;
    this.#base = baseOf(url);
    // Called apart from its object, a browser's own refuses.
    this.#fetch = options.fetch ?? ((input, init) => fetch(input, init));
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    this.retries = atLeast('retries', retries, 0);
    this.#retryMs = atLeast('retryMs', retryMs, 1);
    this.silenceMs = atLeast('silenceMs', silenceMs, 1);
  }

  /** Sends one request. Throws what the service answers unless that is a success, and what `fetch` does. */
  async send(path: string, { method = 'GET', body, headers = {}, signal }: Request = {}): Promise<Response> {
    const isLines = typeof body === 'string';
    const response = await this.#fetch(new URL(path, this.#base), {
      method,
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': isLines ? 'application/x-ndjson' : 'application/json' }),
        ...this.#headers,
        ...headers,
      },
      // A redirect could lead the token elsewhere.
      redirect: 'error',
      ...(body === undefined ? {} : { body: isLines ? body : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    if (!response.ok) throw await errorOf(response);
    return response;
  }

  /** The same, for its JSON. */
  async ask<T>(path: string, request?: Request): Promise<T> {
    const response = await this.send(path, request);
    const text = await response.text();
    try {
      return JSON.parse(text) as T;
    } catch (cause) {
      throw unexpected(`Expected JSON at ${path}, got ${text.length} characters of something else`, cause);
    }
  }

  /** Waits before a new attempt, the n-th in a row from 1. Throws the failure itself when it is no use, or was the last. */
  async beforeRetry(failure: unknown, attempt: number, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted || attempt > this.retries || !isPassing(failure)) throw failure;
    await pause(Math.min(this.#retryMs * 2 ** (attempt - 1), MAX_PAUSE_MS), signal);
  }
}

/** Whether the same question may have another answer in a moment: a broken connection, too much at once, a proxy's 5xx. */
function isPassing(failure: unknown): boolean {
  return !(failure instanceof SignalboxError) || failure.status === 429 || failure.status >= 500;
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', aborted);
      resolve();
    }, ms);
    signal?.addEventListener('abort', aborted, { once: true });
  });
}

/** A path before the service, as a proxy may have one, is kept. */
function baseOf(url: string | URL): URL {
  try {
    const base = new URL(url);
    if (!base.pathname.endsWith('/')) base.pathname += '/';
    return base;
  } catch (cause) {
    throw new SignalboxError('OPTION_INVALID', `Expected url to be an address, got ${JSON.stringify(String(url))}`, {
      cause,
    });
  }
}

function atLeast(name: string, value: number, least: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new SignalboxError('OPTION_INVALID', `Expected ${name} to be an integer of at least ${least}, got ${value}`);
}
