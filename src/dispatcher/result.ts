import { type Entry, isVouched } from './entry.ts';
import type { KeptOutput } from './output.ts';
import type { CommandResult } from './types.ts';

/** Where the texts of a result stand. */
const OUTPUTS = new WeakMap<CommandResult, KeptOutput>();

/**
 * A command as others see it, at this moment. `output` is what a running one has printed so far; `stdout` and `stderr`
 * are made from it whenever they are read, so that keeping a result keeps no second copy.
 */
export function resultOf(entry: Entry, output: KeptOutput = entry.output): CommandResult {
  const result: CommandResult = Object.freeze({
    id: entry.id,
    command: entry.order.command,
    verdict: entry.verdict,
    ...(isVouched(entry) ? { vouched: true as const } : {}),
    state: entry.state,
    exitCode: entry.exitCode,
    signal: entry.signal,
    get encoding() {
      return output.encoding;
    },
    get stdout() {
      return output.stdout;
    },
    get stderr() {
      return output.stderr;
    },
    truncated: output.truncated,
    ...timesOf(entry),
    note: entry.note,
    orphans: entry.orphans,
  });
  OUTPUTS.set(result, output);
  return result;
}

/** The output behind a result that a batch gave, to read it piece by piece; undefined for a copy. */
export function outputOf(result: CommandResult): KeptOutput | undefined {
  return OUTPUTS.get(result);
}

/** How long it was queued, waited and ran, in milliseconds to the microsecond; null for what has not begun or ended. */
export function timesOf({
  addedAt,
  joinedAt,
  startedAt,
  endedAt,
}: Entry): Pick<CommandResult, 'queuedMs' | 'waitedMs' | 'ranMs'> {
  return {
    queuedMs: between(addedAt, joinedAt ?? endedAt),
    waitedMs: joinedAt === null ? null : between(joinedAt, startedAt ?? endedAt),
    ranMs: startedAt === null ? null : between(startedAt, endedAt),
  };
}

function between(from: number, to: number | null): number | null {
  return to === null ? null : Math.max(0, Math.round((to - from) * 1000) / 1000);
}
