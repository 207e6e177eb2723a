import { z } from 'zod';
import { isVariableName } from './names.ts';
import type { DeepReadonly } from './schema.ts';

/** The definition of `rules/profiles.json`: the environments that proofs presume. */

const Why = z.string().min(8);
const VariableName = z.string().refine(isVariableName, 'a name of an environment variable');
const Names = z.array(VariableName);
/** A NUL cannot stand in an environment. */
const Variables = z.record(
  VariableName,
  z.string().refine((value) => !value.includes('\0'), 'text without NUL'),
);

/** A name, or the beginning of names with a star at its end. */
const NamePattern = z
  .string()
  .refine(
    (text) => isVariableName(text.endsWith('*') ? text.slice(0, -1) : text),
    'a name of a variable, or `PREFIX*`',
  );

const Profile = z.strictObject({
  why: Why,
  set: Variables,
  pass: Names,
  /** What makes the program answer something else and is not handed over: with it in the base, nothing is proved. */
  minds: z.array(NamePattern).optional(),
});

export const ProfilesSchema = z
  .strictObject({
    $schema: z.string().optional(),
    schema: z.literal(1),
    assignments: z.record(VariableName, z.array(z.string()).min(1)),
    generic: Profile,
    profiles: z.record(z.string().min(1), Profile),
  })
  .refine((file) => !Object.hasOwn(file.profiles, 'generic'), { error: '`generic` stands by itself' })
  .meta({ id: 'Profiles', title: 'The environments that Signalbox proves commands in' });

export type Profiles = DeepReadonly<z.infer<typeof ProfilesSchema>>;
