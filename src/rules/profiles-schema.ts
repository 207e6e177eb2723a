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

const Profile = z.strictObject({ why: Why, set: Variables, pass: Names });

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
