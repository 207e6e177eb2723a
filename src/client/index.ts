/** The entry `signalbox/client`: the service over `fetch`, without a dependency and without anything of Node's. */
import type { Batch, BatchRequest, Capabilities, ClassifyRequest, Plan, Verdict, Verdicts } from './api.ts';
import { RemoteBatch } from './batch.ts';
import { type ClientOptions, Connection } from './connection.ts';
import { unexpected } from './problems.ts';

export type { ErrorCode } from '../errors.ts';
export { SignalboxError } from '../errors.ts';
export type * from './api.ts';
export type { RemoteBatch } from './batch.ts';
export type { ClientOptions } from './connection.ts';

/** How questions are to be judged: what a `ClassifyRequest` says besides its commands. */
export type QuestionOptions = Omit<ClassifyRequest, 'command' | 'commands'>;

/** A service, as its clients see it. Every method rejects with a `SignalboxError` that has the code of the problem. */
export type Client = {
  /** May this command run at the same time as its siblings? */
  classify(command: string, options?: QuestionOptions, signal?: AbortSignal): Promise<Verdict>;
  /** The same of many, answered in the order asked. */
  classifyAll(
    commands: NonNullable<ClassifyRequest['commands']>,
    options?: QuestionOptions,
    signal?: AbortSignal,
  ): Promise<readonly Verdict[]>;
  /** How a batch would run. Nothing is run. */
  plan(request: BatchRequest, signal?: AbortSignal): Promise<Plan>;
  /** Starts a batch, or opens one that grows, and answers as soon as it has been taken. */
  start(request: BatchRequest, signal?: AbortSignal): Promise<RemoteBatch>;
  /** Starts a batch and waits for its end. The signal ends the waiting, not the batch. */
  run(request: BatchRequest, signal?: AbortSignal): Promise<Batch>;
  /** A batch that was started before, by its id. Asks nothing. */
  batch(id: string): RemoteBatch;
  /** What the service can do, its limits, and the hash of its rules. */
  capabilities(signal?: AbortSignal): Promise<Capabilities>;
};

/**
 * @throws SignalboxError OPTION_INVALID.
 *
 * @example
 * const client = createClient({ url: 'http://127.0.0.1:7311', token });
 * const { commands } = await client.run({ cwd: '/repo', commands: ['git status', 'npm test'] });
 */
export function createClient(options: ClientOptions = {}): Client {
  const connection = new Connection(options);
  const post = <T>(path: string, body: object, signal: AbortSignal | undefined): Promise<T> =>
    connection.ask<T>(path, { method: 'POST', body, signal });
  return {
    classify: (command, terms = {}, signal) => post<Verdict>('classify', { ...terms, command }, signal),
    async classifyAll(commands, terms = {}, signal) {
      const { verdicts } = await post<Verdicts>('classify', { ...terms, commands }, signal);
      if (verdicts.length !== commands.length)
        throw unexpected(`Expected ${commands.length} verdicts, got ${verdicts.length}`);
      return verdicts;
    },
    plan: (request, signal) => post<Plan>('plan', request, signal),
    start: async (request, signal) => new RemoteBatch(connection, (await post<Batch>('batches', request, signal)).id),
    // Its id is known before the waiting begins: a connection that breaks while it lasts loses nothing.
    async run(request, signal) {
      const { id } = await post<Batch>('batches', request, signal);
      return new RemoteBatch(connection, id).done(signal);
    },
    batch: (id) => new RemoteBatch(connection, id),
    capabilities: (signal) => connection.ask<Capabilities>('capabilities', { signal }),
  };
}
