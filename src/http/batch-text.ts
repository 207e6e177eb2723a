import { outputOf } from '../dispatcher/result.ts';
import type { BatchResult, CommandResult } from '../dispatcher/types.ts';
import { listTexts, objectTexts, SLICE_CHARS, stringTexts } from './json-text.ts';
import type { Told } from './told-events.ts';

/** The JSON of a batch, command by command: the output of one is read when its turn has come. */
export function batchTexts(batch: BatchResult): Iterable<string> {
  return objectTexts(batch, new Map([['commands', () => listTexts(batch.commands, commandTexts)]]));
}

/** The JSON of an event, or of a record among them. Only an accepted command can be long: output is told in pieces. */
export function eventTexts(event: Told): Iterable<string> {
  if (event.type !== 'accepted' || event.command.length <= SLICE_CHARS) return [JSON.stringify(event)];
  return objectTexts(event, new Map([['command', () => stringTexts([event.command])]]));
}

function commandTexts(result: CommandResult): Iterable<string> {
  const output = outputOf(result);
  const { command } = result;
  if (output !== undefined && output.bytes + command.length <= SLICE_CHARS) return [JSON.stringify(result)];
  return objectTexts(
    result,
    new Map([
      ['command', () => stringTexts([command])],
      ['stdout', () => stringTexts(output?.texts('stdout') ?? [result.stdout])],
      ['stderr', () => stringTexts(output?.texts('stderr') ?? [result.stderr])],
    ]),
  );
}
