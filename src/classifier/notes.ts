import type { NodeRule } from './compiled.ts';

/**
 * What the rule knows against a word, from its `refuses`. Asked only when the verdict is serial already: a note explains
 * and never decides.
 */
export function noteOn(node: NodeRule, raw: string): string | null {
  const { refuses } = node;
  if (refuses.size === 0) return null;
  const equals = raw.indexOf('=');
  const exact = refuses.get(raw) ?? (equals > 0 ? refuses.get(raw.slice(0, equals)) : undefined);
  if (exact !== undefined) return exact;
  return raw.startsWith('-') && !raw.startsWith('--') ? noteOnCluster(node, raw) : null;
}

/** Letter by letter, up to the first that takes the rest as its value. */
function noteOnCluster(node: NodeRule, raw: string): string | null {
  for (const letter of raw.slice(1)) {
    const note = node.refuses.get(`-${letter}`);
    if (note !== undefined) return note;
    if ((node.options.get(`-${letter}`)?.value ?? null) !== null) return null;
  }
  return null;
}
