import type { Kind } from '../classifier/kinds.ts';
import type { RuleValue } from './schema.ts';

/** Two names for one test: they accept any text. */
const ANYTHING: ReadonlySet<string> = new Set(['text', 'pattern']);

/** Where the words of a list are tried: without a pipe, in a directory nobody knows. */
const NOWHERE = Object.freeze({ base: '', piped: false });

/**
 * Whether everything that one kind accepts is accepted by the other too, as far as that can be told: false when it
 * cannot. A kind that is told to the dispatcher (a path, a directory) has to stay one.
 */
export function isNarrower(one: Kind, other: Kind): boolean {
  if (other.definition === undefined && ANYTHING.has(other.name)) return true;
  if (one.role !== other.role) return false;
  if (one.definition === undefined) return other.definition === undefined && one.name === other.name;
  const accepts = (text: string): boolean => other.refuses(text, NOWHERE) === null;
  if (isList(one.definition)) return one.definition.every(accepts);
  return valueIsNarrower(one.definition, other.definition, accepts);
}

type Definition = NonNullable<Kind['definition']>;

function isList(definition: Definition): definition is readonly string[] {
  return Array.isArray(definition);
}

function valueIsNarrower(
  { words, starts, template }: RuleValue,
  other: Definition | undefined,
  accepts: (text: string) => boolean,
): boolean {
  if (!(words ?? []).every(accepts)) return false;
  const wider: Partial<RuleValue> = other === undefined || isList(other) ? {} : other;
  const startsFit = (starts ?? []).every((prefix) => wider.starts?.some((one) => prefix.startsWith(one)));
  return startsFit && (template === undefined || templateIsNarrower(template, wider.template));
}

type Template = NonNullable<RuleValue['template']>;

function templateIsNarrower(one: Template, other: Template | undefined): boolean {
  if (other === undefined || one.mark !== other.mark) return false;
  return (
    one.after.every((prefix) => other.after.includes(prefix)) && one.allow.every((text) => other.allow.includes(text))
  );
}
