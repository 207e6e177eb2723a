import { SignalboxError } from '../errors.ts';
import { quoted } from './visible-text.ts';

/** The names of an options type: by its compiler's word neither one too few nor one too many. */
export function namesOf<Options>(names: Readonly<Record<keyof Options, true>>): ReadonlySet<string> {
  return new Set(Object.keys(names));
}

/**
 * Options as their names tell them, what is inherited too: spreading an object of a class would lose what it refuses.
 * What is undefined is left out.
 */
export function copyKnown<Options extends object>(options: Options, known: ReadonlySet<string>): Options {
  const copy: Record<string, unknown> = {};
  for (const name of known) {
    const value = (options as Readonly<Record<string, unknown>>)[name];
    if (value !== undefined) copy[name] = value;
  }
  return Object.freeze(copy) as Options;
}

/**
 * Checks that options are an object of known names: a misspelt one would silently leave the default.
 *
 * @param where what has the options, for the message: `createClassifier`, `limits`.
 * @throws SignalboxError OPTION_INVALID.
 */
export function checkNames(options: unknown, known: ReadonlySet<string>, where: string): void {
  if (typeof options !== 'object' || options === null) {
    throw new SignalboxError('OPTION_INVALID', `Expected the options of ${where} to be an object`);
  }
  for (const name in options) {
    if (known.has(name)) continue;
    const list = [...known].join(', ');
    throw new SignalboxError('OPTION_INVALID', `Expected ${where} to be given ${list}; got ${quoted(name)}`);
  }
}
