import { z } from 'zod';
import { namesOf } from '../classifier/usage.ts';
import { isCommandName, NAME_SHAPE } from './names.ts';
import type { DeepReadonly } from './schema.ts';

/**
 * The definition of `rules/never.json`: names that have no rule and never will in this form, each with what it is known
 * to do. They explain and never decide: without the file the same commands are serial, because nobody knows them.
 */

const NamesKey = z
  .string()
  .refine((key) => namesOf(key).every(isCommandName), `names with \`, \` between them, each ${NAME_SHAPE}`);

const Why = z.string().min(8).meta({ description: 'What it does that no command beside others may do' });

export const NeverSchema = z
  .strictObject({
    $schema: z.string().optional(),
    schema: z.literal(1),
    names: z.record(NamesKey, Why).refine(isEachNamedOnce, { error: 'each name once, in one key' }),
  })
  .meta({ id: 'Never', title: 'The names that Signalbox knows to be unsafe' });

export type Never = DeepReadonly<z.infer<typeof NeverSchema>>;

function isEachNamedOnce(names: Readonly<Record<string, string>>): boolean {
  const all = Object.keys(names).flatMap(namesOf);
  return new Set(all).size === all.length;
}
