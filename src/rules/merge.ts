import type { Origin } from '../classifier/proof.ts';
import { invalid } from '../classifier/rule-set.ts';
import type { Profiles } from './profiles-schema.ts';
import type { RuleFile } from './schema.ts';
import type { Source } from './sources.ts';

/** A rule file with whose it is. */
export type Placed = { readonly name: string; readonly origin: Origin; readonly file: RuleFile };

/** The files in force. */
export function mergeRules(
  builtIn: readonly Source[],
  users: readonly Source[],
  _profiles: Profiles,
): readonly Placed[] {
  const files = new Map<string, Placed>();
  for (const source of builtIn) files.set(source.file.binary, { ...source, origin: 'built-in' });
  for (const source of users) {
    if (files.has(source.file.binary)) throw invalid(source.name, []);
    files.set(source.file.binary, { ...source, origin: 'user' });
  }
  return [...files.values()];
}
