import type { NodeRule } from './compiled.ts';
import type { Refusal } from './reading.ts';
import type { ReasonCode } from './verdict.ts';

/** The codes that say that no shape takes these operands. */
const OF_SHAPES: ReadonlySet<ReasonCode> = new Set<ReasonCode>(['OPERAND_UNEXPECTED', 'OPTION_REQUIRED']);

/**
 * What is known against a refused word: what the refusal itself brings, what the node says of the word, or of operands
 * that none of its shapes takes. Asked only when the verdict is serial already: a note explains and never decides.
 */
export function noteFor({ note, node, code }: Refusal, raw: string): string | null {
  if (note !== undefined || node === null) return note ?? null;
  return noteOn(node, raw) ?? (OF_SHAPES.has(code) ? node.otherwise : null);
}

/** From its `refuses`. */
function noteOn(node: NodeRule, raw: string): string | null {
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
