import { spellingsOf } from '../classifier/usage.ts';
import type { Draft, OptionDraft, OptionsDraft } from './draft.ts';
import { removeSpelling } from './spelling-removal.ts';

/** One change of a draft. */
export type Edit = {
  readonly path: readonly (string | number)[];
  readonly change: string;
  readonly takesAway: boolean;
  readonly apply: (draft: Draft) => void;
};

/** Kinds that accept any text. */
export const ANYTHING: readonly unknown[] = ['text', 'pattern'];

/**
 * The changes of one table of options.
 *
 * @param find the table in a draft.
 * @param group its name, when it is a group that nodes use.
 */
export function* optionEdits(
  options: OptionsDraft,
  path: readonly (string | number)[],
  find: (draft: Draft) => OptionsDraft,
  group?: string,
): Generator<Edit> {
  for (const [key, option] of Object.entries(options)) {
    const at = [...path, key];
    for (const spelling of spellingsOf(key).flat()) {
      const apply = (draft: Draft): void => removeSpelling(draft, find(draft), key, spelling, group);
      // A word without a dash that is no option any more is an operand.
      yield { path: at, change: `drop ${spelling}`, takesAway: spelling.startsWith('-'), apply };
    }
    for (const [change, apply] of valueEdits(option)) {
      yield { path: at, change, takesAway: change.startsWith('drop '), apply: (draft) => apply(find(draft)[key]!) };
    }
  }
}

type OptionEdit = readonly [change: string, apply: (option: OptionDraft) => void];

function valueEdits({ takes, optional, form }: OptionDraft): readonly OptionEdit[] {
  if (takes === undefined) return [['switch takes a value', takeText]];
  const edits: OptionEdit[] = [
    ['becomes a switch', without('takes', 'optional', 'form')],
    optional ? ['value required', without('optional')] : ['value optional', makeOptional],
  ];
  if (form !== undefined) edits.push(['any form', without('form')]);
  if (!ANYTHING.includes(takes)) edits.push(['any text', takeText]);
  if (typeof takes !== 'string' && takes.length > 1) {
    for (const word of takes) edits.push([`drop ${word}`, withoutWord(word)]);
  }
  return edits;
}

function takeText(option: OptionDraft): void {
  option.takes = 'text';
}

function makeOptional(option: OptionDraft): void {
  delete option.form;
  option.optional = true;
}

function without(...keys: ('takes' | 'optional' | 'form')[]): (option: OptionDraft) => void {
  return (option) => {
    for (const key of keys) delete option[key];
  };
}

function withoutWord(word: string): (option: OptionDraft) => void {
  return (option) => {
    option.takes = (option.takes as string[]).filter((one) => one !== word);
  };
}
