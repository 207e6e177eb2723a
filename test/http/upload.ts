import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { onTestFinished } from 'vitest';
import type { BatchEvent } from '../../src/dispatcher/types.ts';
import type { LineRecord } from '../../src/http/upload.ts';
import type { Service } from './service.ts';

export type Told = BatchEvent | LineRecord;

/** An upload whose lines are sent one by one, and whose answer is read meanwhile, over one real connection. */
export type Upload = {
  /** Sends text or bytes as they are. False when the connection takes no more for now. */
  readonly write: (text: string | Uint8Array) => boolean;
  /** Sends values, a line each. */
  readonly lines: (...values: readonly unknown[]) => void;
  /** No more will come. */
  readonly end: () => void;
  /** Breaks the connection. */
  readonly destroy: () => void;
  /** The head of the answer. */
  readonly answer: () => Promise<IncomingMessage>;
  /** What has been told so far. */
  readonly told: readonly Told[];
  readonly text: () => string;
  /** The first thing told that fits, as soon as it is there. Fails when the answer ends before. */
  readonly until: (fits: (told: Told) => boolean) => Promise<Told>;
  /** Settles when the answer has ended, with what was told. */
  readonly whole: () => Promise<readonly Told[]>;
};

/** Begins an upload. It is broken off with the test if it has not ended. */
export function startUpload(
  { port }: Pick<Service, 'port'>,
  path = '/batches',
  headers: Record<string, string> = {},
): Upload {
  const outgoing: ClientRequest = request({
    host: '127.0.0.1',
    port,
    path,
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/x-ndjson', ...headers },
  });
  outgoing.flushHeaders();
  // Whoever writes into a connection that is gone learns of it by what it reads.
  outgoing.on('error', () => undefined);
  onTestFinished(() => {
    outgoing.destroy();
  });
  let text = '';
  let hasEnded = false;
  const told: Told[] = [];
  const waiting = new Set<() => void>();
  const wake = (): void => {
    for (const each of [...waiting]) each();
  };
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve).once('error', reject);
  });
  answer.catch(() => undefined);
  outgoing.once('response', (incoming: IncomingMessage) => {
    let rest = '';
    incoming.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      rest += chunk;
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      if (incoming.headers['content-type'] === 'application/x-ndjson')
        for (const line of lines) if (line.trim() !== '') told.push(JSON.parse(line));
      wake();
    });
    const end = (): void => {
      hasEnded = true;
      wake();
    };
    incoming.on('error', () => undefined).once('close', end);
  });
  const when = <Result>(look: () => Result | undefined, failed: () => string): Promise<Result> =>
    new Promise((resolve, reject) => {
      const attempt = (): void => {
        const found = look();
        if (found === undefined && !hasEnded) return;
        waiting.delete(attempt);
        if (found === undefined) reject(new Error(failed()));
        else resolve(found);
      };
      waiting.add(attempt);
      attempt();
    });
  return {
    write: (more) => outgoing.write(more),
    lines: (...values) => {
      outgoing.write(values.map((value) => `${JSON.stringify(value)}\n`).join(''));
    },
    end: () => {
      outgoing.end();
    },
    destroy: () => {
      outgoing.destroy();
    },
    answer: () => answer,
    told,
    text: () => text,
    until: (fits) =>
      when(
        () => told.find(fits),
        () => `The answer ended with ${text.slice(-2_000)}`,
      ),
    whole: async () => {
      await answer;
      return when(
        () => (hasEnded ? told : undefined),
        () => 'never',
      );
    },
  };
}

/** Fits an event of that type, of that command where one is named. */
export const isEvent =
  (type: Told['type'], commandId?: string) =>
  (told: Told): boolean =>
    told.type === type && (commandId === undefined || ('commandId' in told && told.commandId === commandId));
