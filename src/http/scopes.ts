/**
 * What a token may do. `classify`: ask for verdicts and plans. `run`: run batches, and see and cancel its own. `vouch`: say
 * of a command that it may run beside others though no proof says so. `admin`: see and cancel everybody's batches, the
 * locks and the metrics.
 */
export const ALL_SCOPES = ['classify', 'run', 'vouch', 'admin'] as const;

export type Scope = (typeof ALL_SCOPES)[number];

/** By the first part of an address: what it takes; null for any token. What is not listed takes `admin`. */
const SCOPES: ReadonlyMap<string, Scope | null> = new Map<string, Scope | null>([
  ['classify', 'classify'],
  ['plan', 'classify'],
  ['batches', 'run'],
  ['capabilities', null],
  ['readyz', null],
  ['healthz', null],
  ['openapi.json', null],
  ['docs', null],
]);

/**
 * The scope that a route asks for, or null.
 *
 * @param url the pattern of the route, `/batches/:id`.
 */
export function scopeOf(url: string): Scope | null {
  const scope = SCOPES.get(url.split('/')[1] ?? '');
  return scope === undefined ? 'admin' : scope;
}
