/** What V8 needs for a string, an object or an array besides what is in it, and for a field; rounded up. */
const HEAD_BYTES = 24;
const FIELD_BYTES = 16;

/**
 * How many bytes of heap plain data takes, rather more than less: two bytes a character, and nothing is taken for shared.
 * For budgets that must hold, not for profiles.
 */
export function footprint(value: unknown): number {
  if (typeof value === 'string') return HEAD_BYTES + value.length * 2;
  if (typeof value !== 'object' || value === null) return 0;
  let bytes = HEAD_BYTES;
  for (const inner of Object.values(value)) bytes += FIELD_BYTES + footprint(inner);
  return bytes;
}
