import { createHash } from 'node:crypto';

/**
 * `sha256:…` over plain data, whatever the order of its keys and the blanks of its files: two sets that say the same
 * have the same hash.
 */
export function contentHash(data: unknown): string {
  return `sha256:${createHash('sha256').update(canonical(data)).digest('hex')}`;
}

/** JSON with sorted keys and without blanks. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(',')}}`;
}
