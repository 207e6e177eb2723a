import { SignalboxError } from '../errors.ts';
import { visible } from './display-text.ts';

/** Exit codes: everything went well; something did not; the caller asked for something that cannot be. */
export const EXIT = Object.freeze({ ok: 0, failed: 1, usage: 2 });

/** Text that may hold a control character of the caller's input, made harmless line by line, each with the program's name. */
function lines(text: string): string {
  return text
    .split('\n')
    .map((line) => `signalbox: ${visible(line)}`)
    .join('\n');
}

/** What is said on standard error about an error: sentences that begin with the program's name. */
export function complaint(error: unknown): string {
  if (!(error instanceof SignalboxError)) {
    const detail = error instanceof Error ? error.message : String(error);
    return `${lines(detail)}\n`;
  }
  const { pointer = '' } = error;
  // Messages about rules name the place themselves.
  const where = error.message.includes(pointer) ? '' : ` (at ${pointer})`;
  const told = [`${lines(error.message)}${visible(where)}`];
  for (const fault of error.faults.slice(1))
    told.push(`${lines(`also: ${fault.detail}`)}${fault.pointer ? visible(` (at ${fault.pointer})`) : ''}`);
  if (error.hint !== undefined) told.push(lines(error.hint));
  return `${told.join('\n')}\n`;
}

/** What the caller gave is at fault (flags, files, configuration): usage; anything else: failed. */
export function exitCodeOf(error: unknown): number {
  if (!(error instanceof SignalboxError)) return EXIT.failed;
  const fromConfiguration = error.code === 'CONFIG_INVALID' || error.code === 'RULES_INVALID';
  return fromConfiguration || error.status < 500 ? EXIT.usage : EXIT.failed;
}
