/**
 * What a token may do. `classify`: ask for verdicts. `run`: plan and run batches, and see and cancel its own. `vouch`: say
 * of a command that it may run beside others though no proof says so. `admin`: see and cancel everybody's batches, and see
 * the locks. `metrics`: read the figures, and nothing else, so that whoever gathers them need not be trusted with more.
 */
export const ALL_SCOPES = ['classify', 'run', 'vouch', 'metrics', 'admin'] as const;

export type Scope = (typeof ALL_SCOPES)[number];

/** By the first part of an address: what it takes; null for any token. What is not listed takes `admin`. */
const SCOPES: ReadonlyMap<string, readonly Scope[] | null> = new Map<string, readonly Scope[] | null>([
  ['classify', ['classify']],
  // It looks at what the commands name wherever that lies, as they would.
  ['plan', ['run']],
  ['batches', ['run']],
  ['metrics', ['metrics', 'admin']],
  ['locks', ['admin']],
  ['capabilities', null],
  ['readyz', null],
  ['healthz', null],
  ['openapi.json', null],
  ['docs', null],
]);

/** Methods that look at a batch or end it: nothing runs because of them that would not have run. */
const OVERSEEING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE']);

const STRICTEST: readonly Scope[] = ['admin'];

/**
 * The scopes of which a route asks for one, or null when any token will do.
 *
 * @param url the pattern of the route, `/batches/:id`.
 */
export function scopesOf(method: string, url: string): readonly Scope[] | null {
  const first = url.split('/')[1] ?? '';
  if (first === 'batches' && OVERSEEING.has(method)) return ['run', 'admin'];
  const scopes = SCOPES.get(first);
  return scopes === undefined ? STRICTEST : scopes;
}
