import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { WireEvent } from './evidence.ts';

/** Where a service listens, and how its clients connect: some keep connections, some open one for each request. */
export type Wire = { readonly port: number; readonly kept: Agent };

export function openWire(port: number): Wire {
  return { port, kept: new Agent({ keepAlive: true, maxSockets: 32 }) };
}

export type Question = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly isKept?: boolean;
};

export type Reply = { readonly status: number; readonly text: string };

/** Begins a request; the body is up to the caller. */
export function begin(
  { port, kept }: Wire,
  path: string,
  { method = 'GET', headers = {}, isKept = false }: Question,
): ClientRequest {
  return request({ host: '127.0.0.1', port, path, method, headers, agent: isKept ? kept : false });
}

/** The head of the answer. */
export function headOf(outgoing: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.once('response', resolve);
    outgoing.once('error', reject);
  });
}

/** Sends a whole request and reads the whole answer. */
export async function ask(wire: Wire, path: string, question: Question = {}): Promise<Reply> {
  const outgoing = begin(wire, path, withType(question));
  const head = headOf(outgoing);
  outgoing.end(question.body === undefined ? undefined : JSON.stringify(question.body));
  const incoming = await head;
  return { status: incoming.statusCode ?? 0, text: await text(incoming) };
}

function withType(question: Question): Question {
  if (question.body === undefined) return question;
  return { ...question, headers: { 'content-type': 'application/json', ...question.headers } };
}

/** Sends a whole request and leaves before the answer. */
export function leave(wire: Wire, path: string, question: Question, afterMs: number): Promise<void> {
  const outgoing = begin(wire, path, withType(question));
  return new Promise((resolve) => {
    outgoing.on('error', () => {});
    outgoing.once('response', (incoming) => incoming.resume());
    outgoing.once('close', resolve);
    outgoing.end(JSON.stringify(question.body), () => {
      setTimeout(() => outgoing.destroy(), afterMs);
    });
  });
}

/** What a line of a stream says: an event, or a record about a line that was sent. */
export type Said = WireEvent | { readonly type: string; readonly line: number; readonly commandId?: string };

/**
 * Reads a stream of events until it ends, or until so many were read; then the connection is cut. Half a line that was
 * on its way is dropped, as it is by any client.
 */
export async function readStream(
  incoming: IncomingMessage,
  most: number,
  said: (one: Said) => void,
): Promise<'ended' | 'cut'> {
  const isSse = incoming.headers['content-type']?.startsWith('text/event-stream') ?? false;
  incoming.setEncoding('utf8');
  let rest = '';
  let count = 0;
  if (most === 0) return cut(incoming);
  try {
    for await (const chunk of incoming) {
      const lines = `${rest}${chunk}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const data = isSse ? (line.startsWith('data: ') ? line.slice(6) : '') : line.trim();
        if (data === '') continue;
        said(JSON.parse(data));
        count += 1;
        if (count >= most) return cut(incoming);
      }
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) return 'cut';
    throw error;
  }
  return incoming.complete ? 'ended' : 'cut';
}

function cut(incoming: IncomingMessage): 'cut' {
  incoming.on('error', () => {});
  incoming.destroy();
  return 'cut';
}
