import { createHash } from 'node:crypto';
import { SignalboxError } from '../errors.ts';
import { show } from '../issue-text.ts';
import type { RequestedCommand } from './admission.ts';

/** Bytes that an id and a digest take in memory, rather more than less. */
const KNOWN_BYTES = 512;

/**
 * What a batch was asked to run under each id, as digests, so that a command that is sent again, because its sender does
 * not know whether it arrived, runs once.
 */
export class KnownCommands {
  readonly #digests = new Map<string, string>();

  /** What is remembered takes so much memory. */
  get bytes(): number {
    return this.#digests.size * KNOWN_BYTES;
  }

  keep(id: string, command: RequestedCommand): void {
    this.#digests.set(id, digestOf(command));
  }

  /**
   * The id, when this very command was asked for under it. One without an id is never known.
   *
   * @throws SignalboxError COMMAND_ID_CONFLICT when another command was.
   */
  find(command: RequestedCommand, place: string): string | undefined {
    if (typeof command === 'string' || command.id === undefined) return undefined;
    const { id } = command;
    const digest = this.#digests.get(id);
    if (digest === undefined) return undefined;
    if (digest === digestOf(command)) return id;
    const pointer = `${place}/id`;
    throw new SignalboxError(
      'COMMAND_ID_CONFLICT',
      `Expected the command that ${show(id)} was first sent with, got another`,
      { pointer },
    );
  }
}

/** Of everything but the id. The order of fields means nothing; that of lists does. */
function digestOf(command: RequestedCommand): string {
  const { id: _, ...content } = typeof command === 'string' ? { command } : command;
  const text = JSON.stringify(content, (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  return createHash('sha256').update(text).digest('hex');
}
