import type { RuleValue } from '../rules/schema.ts';
import { defined, type Kind } from './kinds.ts';

/** Words of a list that a message shows. */
const MOST_SHOWN = 8;

/** The words of a literal list, in an order that a message can show. */
export function kindOfWords(words: readonly string[]): Kind {
  const allowed = new Set(words);
  const more = words.length > MOST_SHOWN ? ' …' : '';
  return defined(`one of ${words.slice(0, MOST_SHOWN).join(', ')}${more}`, words, (text) => allowed.has(text));
}

/** A kind that a rule file defines in three positive forms, of which any may fit. */
export function kindOfValue(name: string, value: RuleValue): Kind {
  const words = new Set(value.words);
  const starts = value.starts ?? [];
  const template = value.template === undefined ? undefined : templateOf(value.template);
  const kind = defined(name, value, (text) => {
    if (words.has(text) || starts.some((prefix) => text.startsWith(prefix))) return true;
    return template?.(text) ?? false;
  });
  return value.otherwise === undefined ? kind : { ...kind, otherwise: value.otherwise };
}

/**
 * After one of the prefixes, every mark is followed by the longest allowed placeholder. The empty prefix counts only
 * where a mark occurs: a bare word may be a name that the program looks up elsewhere.
 */
function templateOf({ after, mark, allow }: NonNullable<RuleValue['template']>): (text: string) => boolean {
  const placeholders = [...allow].sort((one, other) => other.length - one.length);
  return (text) =>
    after.some((prefix) => {
      if (!text.startsWith(prefix) || (prefix === '' && !text.includes(mark))) return false;
      return holdsOnly(text, prefix.length, mark, placeholders);
    });
}

function holdsOnly(text: string, from: number, mark: string, placeholders: readonly string[]): boolean {
  let at = text.indexOf(mark, from);
  while (at >= 0) {
    const behind = at + mark.length;
    const placeholder = placeholders.find((one) => text.startsWith(one, behind));
    if (placeholder === undefined) return false;
    at = text.indexOf(mark, behind + placeholder.length);
  }
  return true;
}
