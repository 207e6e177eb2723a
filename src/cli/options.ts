import { InvalidArgumentError, Option } from 'commander';
import type { Mode } from '../dispatcher/types.ts';

const MODES: readonly Mode[] = ['simple', 'compound'];

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
  return new Option(
    '--mode <mode>',
    'simple: one command; compound: lists and pipelines too (default: simple)',
  ).choices(MODES);
}

/** Whether a text is the name of a mode. */
export function isMode(mode: string): mode is Mode {
  return (MODES as readonly string[]).includes(mode);
}

/** For options that may be repeated. A list behind one flag would swallow the command that follows it. */
export function collect(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value];
}
