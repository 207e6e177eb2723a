import type { Appended, Batch, BatchEvent, Command, CommandState, LineRecord } from './api.ts';
import type { Connection } from './connection.ts';
import { jsonLines } from './json-lines.ts';
import { unexpected } from './problems.ts';

/** Seconds that one request waits for the end of a batch; the next one goes on waiting. */
const WAIT_SECONDS = 60;

const UNENDED: ReadonlySet<CommandState> = new Set<CommandState>(['queued', 'waiting', 'running']);

/** A batch of the service. It goes on whatever becomes of this object. */
export class RemoteBatch {
  readonly id: string;
  readonly #connection: Connection;
  readonly #path: string;

  constructor(connection: Connection, id: string) {
    this.#connection = connection;
    this.id = id;
    this.#path = `batches/${encodeURIComponent(id)}`;
  }

  /** How it stands at this moment. */
  get(signal?: AbortSignal): Promise<Batch> {
    return this.#connection.ask<Batch>(this.#path, { signal });
  }

  /** How it ended. Waits for that over broken connections too; an open batch ends when it is closed. */
  async done(signal?: AbortSignal): Promise<Batch> {
    for (let failures = 0; ; ) {
      try {
        const headers = { prefer: `wait=${WAIT_SECONDS}` };
        const batch = await this.#connection.ask<Batch>(this.#path, { headers, signal });
        if (hasEnded(batch)) return batch;
        failures = 0;
      } catch (error) {
        failures += 1;
        await this.#connection.beforeRetry(error, failures, signal);
      }
    }
  }

  /**
   * The events behind number `after`, then live ones, each once and without a gap, ending behind `batch-finished`. A broken
   * or silent connection is made anew behind the last event that came.
   */
  async *events({ after = 0, signal }: { after?: number; signal?: AbortSignal } = {}): AsyncGenerator<BatchEvent> {
    let last = after;
    for (let failures = 0; ; ) {
      try {
        const headers = { accept: 'application/x-ndjson', 'last-event-id': String(last) };
        const { status, body } = await this.#connection.send(`${this.#path}/events`, { headers, signal });
        if (status === 204 || body === null) return;
        for await (const event of jsonLines<BatchEvent>(body, this.#connection.silenceMs)) {
          if (event.seq !== last + 1)
            throw unexpected(`Expected event ${last + 1} of batch ${this.id}, got event ${event.seq}`);
          last = event.seq;
          failures = 0;
          yield event;
          if (event.type === 'batch-finished') return;
        }
        throw new Error(`The stream of batch ${this.id} ended behind event ${last}`);
      } catch (error) {
        failures += 1;
        await this.#connection.beforeRetry(error, failures, signal);
      }
    }
  }

  /** Cancels it: what runs is ended, the rest is never started. The answer is its state at this moment. */
  cancel(signal?: AbortSignal): Promise<Batch> {
    return this.#connection.ask<Batch>(this.#path, { method: 'DELETE', signal });
  }

  /** Adds commands to a batch that was opened to grow: all or none. One that it has already, by its id, is not run twice. */
  async add(commands: readonly (string | Command)[], signal?: AbortSignal): Promise<Appended['commands']> {
    const request = { method: 'POST', body: { commands }, signal } as const;
    return (await this.#connection.ask<Appended>(`${this.#path}/commands`, request)).commands;
  }

  /** Adds commands as lines, each by itself: those before a bad one are taken. Yields what became of each. */
  async *addLines(commands: Iterable<string | Command>, signal?: AbortSignal): AsyncGenerator<LineRecord> {
    const body = Array.from(commands, (command) => `${JSON.stringify(command)}\n`).join('');
    const headers = { accept: 'application/x-ndjson' };
    const response = await this.#connection.send(`${this.#path}/commands`, { method: 'POST', body, headers, signal });
    if (response.body !== null) yield* jsonLines<LineRecord>(response.body, this.#connection.silenceMs);
  }

  /** No more commands will come. The answer is its state at this moment. */
  close(signal?: AbortSignal): Promise<Batch> {
    return this.#connection.ask<Batch>(`${this.#path}/close`, { method: 'POST', signal });
  }
}

/** A batch that was cancelled says so before its last command has ended. */
function hasEnded({ state, commands }: Batch): boolean {
  return (state === 'finished' || state === 'cancelled') && !commands.some((each) => UNENDED.has(each.state));
}
