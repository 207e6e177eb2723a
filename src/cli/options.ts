import { InvalidArgumentError, Option } from 'commander';
import { SignalboxError } from '../errors.ts';

/** A parser of commander for whole numbers in a range; both ends are allowed. */
export function integerBetween(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d{1,10}$/.test(text) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`Expected an integer from ${least} to ${most}.`);
  };
}

/** `--mode`, known to every command that judges. */
export function modeOption(): Option {
  return new Option('--mode <mode>', 'simple: one command; compound: not in this version')
    .choices(['simple', 'compound'])
    .default('simple');
}

/**
 * Refuses what this version does not have. Throws MODE_UNAVAILABLE, or OPTION_INVALID for a mode that nobody knows.
 *
 * @param where said before the sentence: which line of the input asked for it
 */
export function assertSimple(mode: string | undefined, where = ''): void {
  if (mode === undefined || mode === 'simple') return;
  if (mode === 'compound') {
    const detail = `${where}Expected the mode "simple": "compound" is not available in this version`;
    throw new SignalboxError('MODE_UNAVAILABLE', detail);
  }
  throw new SignalboxError('OPTION_INVALID', `${where}Expected the mode "simple", got ${JSON.stringify(mode)}`);
}

/** For options that may be repeated. A list behind one flag would swallow the command that follows it. */
export function collect(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value];
}
