import { Readable } from 'node:stream';
import { eventTexts } from './batch-text.ts';
import { PIECE_CHARS } from './json-text.ts';
import type { Told } from './told-events.ts';

/** How events are written: as server-sent events, or one JSON value a line. */
export type Framing = {
  readonly before: (told: Told) => string;
  readonly after: string;
  readonly heartbeat: string;
};

export const SSE: Framing = {
  // What is no event has no number to come back to.
  before: (told) => `${'line' in told ? '' : `id: ${told.seq}\n`}event: ${told.type}\ndata: `,
  after: '\n\n',
  heartbeat: ': still here\n\n',
};

/** A blank before the next line is nothing to a JSON parser, and keeps the connection in sight. */
export const NDJSON: Framing = { before: () => '', after: '\n', heartbeat: ' ' };

const BEAT = Symbol('beat');

export type EventStream = {
  readonly body: Readable;
  /** Ends the body cleanly behind what has been written. Idempotent. */
  end(): void;
};

/**
 * The events of a batch as a body. It pulls the next event only when the reader takes what is there, so a slow reader
 * costs one chunk; events that are there together are written together. `first` is a result already pulled.
 */
export function createEventStream(
  events: AsyncIterator<Told>,
  options: {
    readonly framing: Framing;
    readonly heartbeatMs: number;
    readonly first?: IteratorResult<Told>;
    /** Ends `events`; the iterator may be waiting for an event that never comes. */
    readonly abort: () => void;
  },
): EventStream {
  const body = Readable.from(frames(events, options), { objectMode: false, highWaterMark: 1 });
  body.once('close', options.abort);
  return { body, end: options.abort };
}

async function* frames(
  events: AsyncIterator<Told>,
  { framing, heartbeatMs, first }: { framing: Framing; heartbeatMs: number; first?: IteratorResult<Told> },
): AsyncGenerator<string> {
  let next = first === undefined ? events.next() : Promise.resolve(first);
  for (;;) {
    let result = await orBeat(next, heartbeatMs);
    if (result === BEAT) {
      yield framing.heartbeat;
      continue;
    }
    let chunk = '';
    const turn = nextTurn();
    while (result !== BEAT && result.done !== true) {
      chunk += framing.before(result.value);
      for (const text of eventTexts(result.value)) {
        chunk += text;
        if (chunk.length < PIECE_CHARS) continue;
        yield chunk;
        chunk = '';
      }
      chunk += framing.after;
      next = events.next();
      result = chunk.length < PIECE_CHARS ? await Promise.race([next, turn]) : BEAT;
    }
    if (chunk !== '') yield chunk;
    if (result !== BEAT) return;
  }
}

/** Whatever comes first: the result, or the time for a sign of life. */
async function orBeat<T>(result: Promise<T>, heartbeatMs: number): Promise<T | typeof BEAT> {
  let timer: NodeJS.Timeout | undefined;
  const beat = new Promise<typeof BEAT>((resolve) => {
    timer = setTimeout(resolve, heartbeatMs, BEAT);
  });
  try {
    return await Promise.race([result, beat]);
  } finally {
    clearTimeout(timer);
  }
}

function nextTurn(): Promise<typeof BEAT> {
  return new Promise((resolve) => setImmediate(resolve, BEAT));
}
