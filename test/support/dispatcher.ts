import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { createDispatcher } from '../../src/dispatcher/dispatcher.ts';
import type { DispatcherOptions } from '../../src/dispatcher/options.ts';
import type { Batch, BatchEvent, CommandResult, Dispatcher } from '../../src/dispatcher/types.ts';
import { judgeByMark, PROFILES } from './judge-by-mark.ts';

export { judgeByMark, judgementOf, PROFILES, parallel, verdictOf } from './judge-by-mark.ts';

/** A directory of the test's own, by its real path. */
export function temporaryDirectory(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'signalbox-dispatcher-')));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A dispatcher in a directory of its own, which is shut down with the test. */
export function testDispatcher(options: Partial<DispatcherOptions> = {}): Dispatcher & { readonly directory: string } {
  const directory = options.cwd ?? temporaryDirectory();
  const dispatcher = createDispatcher({ judge: judgeByMark, profiles: PROFILES, cwd: directory, ...options });
  onTestFinished(() => dispatcher.shutdown({ graceMs: 0 }));
  return {
    directory,
    open: (settings) => dispatcher.open(settings),
    dispatch: (commands, settings) => dispatcher.dispatch(commands, settings),
    plan: (commands, settings) => dispatcher.plan(commands, settings),
    get: (id) => dispatcher.get(id),
    batches: () => dispatcher.batches(),
    shutdown: (settings) => dispatcher.shutdown(settings),
  };
}

/** Makes FIFOs in a directory: `read < gate` waits until somebody writes a line into it. */
export async function makeFifos(directory: string, ...names: readonly string[]): Promise<void> {
  await promisify(execFile)('mkfifo', names, { cwd: directory });
}

/** Lets a command that waits at a FIFO go on. Settles when one has opened it. */
export function openGate(directory: string, name: string): Promise<void> {
  return writeFile(join(directory, name), 'go\n');
}

/** Waits for a command to write into a FIFO. */
export function readLine(directory: string, name: string): Promise<string> {
  return readFile(join(directory, name), 'utf8');
}

/** All events of a batch, to its end. */
export async function allEvents(batch: Batch): Promise<readonly BatchEvent[]> {
  const events: BatchEvent[] = [];
  for await (const event of batch.events()) events.push(event);
  return events;
}

/** Waits for an event of a command. */
export async function eventOf<Type extends BatchEvent['type']>(
  batch: Batch,
  type: Type,
  commandId?: string,
): Promise<Extract<BatchEvent, { type: Type }>> {
  for await (const event of batch.events()) {
    const isOfCommand = commandId === undefined || ('commandId' in event && event.commandId === commandId);
    if (event.type === type && isOfCommand) return event as Extract<BatchEvent, { type: Type }>;
  }
  throw new Error(`The batch ended without ${type} of ${commandId ?? 'any command'}`);
}

/** The starts and ends of commands in the order they happened: `+c1`, `-c1`. */
export function comingsAndGoings(events: readonly BatchEvent[]): readonly string[] {
  return events.flatMap((event) => {
    if (event.type === 'started') return [`+${event.commandId}`];
    return event.type === 'finished' ? [`-${event.commandId}`] : [];
  });
}

export function brief({
  id,
  state,
  exitCode,
  note,
}: CommandResult): Pick<CommandResult, 'id' | 'state' | 'exitCode' | 'note'> {
  return { id, state, exitCode, note };
}

/** Whether a process lives. One that has ended and was not reaped does not. */
export function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
