import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** Wraps text in the colours of a terminal, or returns it as it is. */
export type Paint = (style: Style, text: string) => string;

/** The part of an output stream and the environment that decides about colours. */
type Surface = { readonly isTTY?: boolean };

/** Colours only on a terminal that shows them, and never with NO_COLOR (no-color.org: set and not empty). */
export function choosePaint(stream: Surface, env: Readonly<Record<string, string | undefined>>): Paint {
  const wanted = stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
  if (!wanted) return (_style, text) => text;
  // The choice has been made above; styleText must not make another one from the process's own streams.
  return (style, text) => styleText(style, text, { validateStream: false });
}
