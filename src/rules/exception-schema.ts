import { z } from 'zod';

/**
 * What a run may do besides reading, because no sibling can be harmed by it. Only the proof by execution asks: an
 * exception decides no verdict, and what it lets pass the verdict tells as an effect.
 */

/** The effects under which a command keeps something. */
const KEEPING = ['temporary-files', 'own-log', 'own-cache'] as const;

const Why = z.string().min(8).meta({ description: 'Why no sibling can be harmed by it' });

/** Where one place begins; what begins elsewhere would depend on where the command runs. */
const ROOTS = ['/', '$HOME/', '$TMPDIR/'] as const;

/** `$HOME/.npm/_logs/*`: an asterisk stands for any text without a slash, `**` as the last part for everything below. */
const Places = z
  .string()
  .refine(isPlaces, 'a path behind `/`, `$HOME/` or `$TMPDIR/` without `.` and `..`, and `**` only as its last part');

const Writes = z.strictObject({
  why: Why,
  writes: Places.meta({ description: 'Files that are created, written, renamed or removed' }),
  effect: z.enum(KEEPING).meta({ description: 'Only runs whose verdict tells this effect may' }),
});

const Sockets = z.strictObject({
  why: Why,
  sockets: z.enum(['netlink', 'inet', 'inet6', 'loopback']).meta({
    description:
      'A socket of this family, connected to nobody; `loopback`: bound to any free port of the machine itself, to see whether it can be',
  }),
});

export const ExceptionSchema = z.union([Writes, Sockets], {
  error: '`writes` with its `effect`, or `sockets`, each with a `why`',
});

type Node = {
  readonly effects?: readonly string[] | undefined;
  readonly subcommands?: Readonly<Record<string, Node>> | undefined;
};

/** Whether every exception is of an effect that some verdict of the file tells. */
export function exceptionsFit(file: {
  readonly command: Node;
  readonly exceptions?: readonly z.infer<typeof ExceptionSchema>[] | undefined;
}): boolean {
  const told = new Set(effectsBelow(file.command));
  return (file.exceptions ?? []).every((exception) => !('effect' in exception) || told.has(exception.effect));
}

function effectsBelow({ effects = [], subcommands = {} }: Node): readonly string[] {
  return [...effects, ...Object.values(subcommands).flatMap(effectsBelow)];
}

function isPlaces(text: string): boolean {
  const root = ROOTS.find((one) => text.startsWith(one));
  if (root === undefined) return false;
  const parts = text.slice(root.length).split('/');
  return parts.every((part, index) => {
    if (part === '**') return index > 0 && index === parts.length - 1;
    return part !== '' && part !== '.' && part !== '..' && !part.includes('**');
  });
}
