/** The small notations inside rule files: `-n, --lines; -q`, `path*`, `["revision*", "--", "path*"]`. */

/** One item of a usage line: a kind by name or a list of words, and how often it may stand. */
export type UsageItem = { readonly kind: string | readonly string[]; readonly least: number; readonly most: number };

/** `-n, --lines; -q` is two options, the first with two spellings: `[["-n", "--lines"], ["-q"]]`. */
export function spellingsOf(key: string): readonly (readonly string[])[] {
  return key.split('; ').map((option) => option.split(', '));
}

/** `ls, list` is one subcommand with two spellings. */
export function namesOf(key: string): readonly string[] {
  return key.split(', ');
}

/** `-t | -s`: any of these. */
export function alternativesOf(relation: string): readonly string[] {
  return relation.split(' | ');
}

/** `path`: one; `path?`: none or one; `path*`: any number; `path+`: at least one. A list of words is one. */
export function itemOf(item: string | readonly string[]): UsageItem {
  if (typeof item !== 'string') return { kind: item, least: 1, most: 1 };
  const kind = item.slice(0, -1);
  if (item.endsWith('?')) return { kind, least: 0, most: 1 };
  if (item.endsWith('*')) return { kind, least: 0, most: Infinity };
  if (item.endsWith('+')) return { kind, least: 1, most: Infinity };
  return { kind: item, least: 1, most: 1 };
}

/** The lists before and after `"--"`, or the only one. */
export function partsOf<Item>(usage: readonly Item[]): readonly (readonly Item[])[] {
  const parts: Item[][] = [[]];
  for (const item of usage) {
    if (item === '--') parts.push([]);
    else parts.at(-1)!.push(item);
  }
  return parts;
}
