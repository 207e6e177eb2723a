import type { Origin } from '../classifier/proof.ts';
import { invalid } from '../classifier/rule-set.ts';
import { overridesIn } from './overrides.ts';
import type { Profiles } from './profiles-schema.ts';
import type { RuleFile } from './schema.ts';
import type { Source } from './sources.ts';
import { loosenings } from './tightening.ts';

/** A rule file with whose it is. */
export type Placed = Source & { readonly origin: Origin };

/**
 * The files in force: a user's file for a new binary is added, one for a built-in binary takes its place. It may say
 * less than the built-in one; where it says more, or describes a name that is known to be unsafe, it has to say `override`.
 *
 * @throws SignalboxError RULES_INVALID when it says more without, or when two files of a kind are about one binary.
 */
export function mergeRules(
  builtIn: readonly Source[],
  users: readonly Source[],
  profiles: Profiles,
  never: Readonly<Record<string, string>>,
): readonly Placed[] {
  const files = new Map<string, Placed>();
  for (const source of builtIn) {
    refuseOverrides(source, {});
    refuseTwice(source, files.get(source.file.binary));
    files.set(source.file.binary, { ...source, origin: 'built-in' });
  }
  const theirs = new Map<string, Placed>();
  for (const source of users) {
    refuseTwice(source, theirs.get(source.file.binary));
    const replaced = files.get(source.file.binary);
    if (replaced === undefined) refuseOverrides(source, never);
    else refuseLoosenings(source, replaced.file, profiles);
    theirs.set(source.file.binary, { ...source, origin: 'user' });
  }
  return [...new Map([...files, ...theirs]).values()];
}

function refuseTwice({ name, file }: Source, other: Placed | undefined): void {
  if (other === undefined) return;
  throw invalid(name, [
    { pointer: '/binary', message: `expected one file for "${file.binary}", got another in ${other.name}` },
  ]);
}

/** Only a user's file for a built-in binary, or for a name that is known to be unsafe, has something to override. */
function refuseOverrides({ name, file }: Source, never: Readonly<Record<string, string>>): void {
  const isOfNever = [file.binary, ...(file.also ?? [])].some((one) => Object.hasOwn(never, one));
  const pointers = overridesIn(file).filter((pointer) => !(isOfNever && pointer === '/override'));
  if (pointers.length === 0) return;
  const message = 'expected no override here: this file takes the place of no built-in one';
  throw invalid(
    name,
    pointers.map((pointer) => ({ pointer, message })),
  );
}

function refuseLoosenings({ name, file }: Source, builtIn: RuleFile, profiles: Profiles): void {
  const problems = loosenings(file, builtIn, profiles);
  if (problems.length > 0) throw invalid(name, problems);
}
