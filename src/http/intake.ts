import type { Batch, CommandInput } from '../dispatcher/types.ts';
import { SignalboxError } from '../errors.ts';
import { type Asker, admitCommand, admitCommands, type RequestedCommand } from './admission.ts';
import { createDirectories } from './directories.ts';
import { KnownCommands } from './known-commands.ts';

/** What became of a command that was sent: it is in the batch; `known` when it had been before. */
export type Taken = { readonly id: string; readonly known: boolean };

/** The way into a batch that grows: every command is held against what only the service knows, and taken once. */
export class Intake {
  readonly batch: Batch;
  readonly #known = new KnownCommands();
  readonly #base: string;
  readonly #roots: readonly string[];

  /** `base` is the real directory of the batch. */
  constructor(batch: Batch, base: string, roots: readonly string[]) {
    this.batch = batch;
    this.#base = base;
    this.#roots = roots;
  }

  /** What is remembered besides the batch takes so much memory. */
  get bytes(): number {
    return this.#known.bytes;
  }

  /** Remembers what the batch was opened with, in that order. */
  keep(commands: readonly RequestedCommand[], ids: readonly string[]): void {
    for (const [index, command] of commands.entries()) this.#known.keep(ids[index] as string, command);
  }

  /** Takes one. Throws what `Batch.add` and `admitCommand` do, and COMMAND_ID_CONFLICT. Pointers lead into the command. */
  async take(command: RequestedCommand, who: Asker): Promise<Taken> {
    const admitted = await admitCommand(command, this.#base, createDirectories(this.#roots), '', who);
    const known = this.#known.find(command, '');
    if (known !== undefined) return { id: known, known: true };
    const id = this.batch.add(admitted);
    this.#known.keep(id, command);
    return { id, known: false };
  }

  /** Takes all in one step, or none. Throws as `take` does, with pointers below `/commands`. */
  async takeAll(commands: readonly RequestedCommand[], who: Asker): Promise<readonly Taken[]> {
    const admitted = await admitCommands(commands, this.#base, createDirectories(this.#roots), who);
    // Nothing is waited for from here on, so that two who send the same do not both find it unknown.
    const found = commands.map((command, index) => this.#known.find(command, `/commands/${index}`));
    const fresh = found.flatMap((id, index) => (id === undefined ? [index] : []));
    const ids = fresh.length === 0 ? [] : this.#addAll(admitted, fresh);
    for (const [at, index] of fresh.entries()) this.#known.keep(ids[at] as string, commands[index] as RequestedCommand);
    return found.map((id, index) =>
      id === undefined ? { id: ids[fresh.indexOf(index)] as string, known: false } : { id, known: true },
    );
  }

  #addAll(admitted: readonly (string | CommandInput)[], fresh: readonly number[]): readonly string[] {
    try {
      return this.batch.addAll(fresh.map((index) => admitted[index] as string | CommandInput));
    } catch (error) {
      // The batch counts those that it was given, the client all that it sent.
      const [, at, field = ''] = /^\/commands\/(\d+)(.*)$/s.exec((error as SignalboxError).pointer ?? '') ?? [];
      if (at === undefined || !(error instanceof SignalboxError)) throw error;
      const pointer = `/commands/${fresh[Number(at)]}${field}`;
      throw new SignalboxError(error.code, error.message, { cause: error, pointer });
    }
  }
}
