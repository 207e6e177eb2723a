import type { AskedKey, Finding, FindingKind, Trace } from './evidence.ts';

/** The modes of a hold; the intentions are those of whoever works below a place. */
type Mode = 'shared' | 'exclusive' | 'below-shared' | 'below-exclusive';
type Hold = { readonly key: string; readonly mode: Mode };

type Find = (kind: FindingKind, trace: Trace, detail: string) => void;

/** Two holds of one key that must not be there at once. */
export function areConflicting(one: Mode, other: Mode): boolean {
  if (one === 'exclusive' || other === 'exclusive') return true;
  const modes = [one, other];
  return modes.includes('shared') && modes.includes('below-exclusive');
}

/** The place and all that it lies in; `.` is the root. */
export function placesAround(place: string): readonly string[] {
  if (place === '.') return ['.'];
  const parts = place.split('/');
  return ['.', ...parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join('/')), place];
}

/** Everything that a command of this kind must hold while it runs. */
export function holdsOf(
  { places, reads, lockKeys }: Trace['asked'],
  as: 'parallel' | 'serial',
  batch: string,
): readonly Hold[] {
  const mode = as === 'parallel' ? 'shared' : 'exclusive';
  const asked: AskedKey[] = [
    ...places.map((key) => ({ key, mode }) as const),
    ...reads.map((key) => ({ key, mode: 'shared' }) as const),
  ];
  const holds = asked.flatMap(({ key, mode: own }) =>
    placesAround(key).map((around): Hold => {
      if (around === key) return { key: `place ${around}`, mode: own };
      return { key: `place ${around}`, mode: own === 'shared' ? 'below-shared' : 'below-exclusive' };
    }),
  );
  const named = lockKeys.map(({ key, mode: own }): Hold => ({ key: `key ${key}`, mode: own }));
  return [...holds, ...named, { key: `batch ${batch}`, mode }];
}

/** All batches together: nobody meets whom it must not meet, and nobody is overtaken by whoever came later. */
export function auditOrder(traces: readonly Trace[]): readonly Finding[] {
  const findings: Finding[] = [];
  const seen = new Set<string>();
  const find: Find = (kind, trace, detail) => {
    const line = `${kind} ${detail}`;
    if (!seen.has(line)) findings.push({ kind, batch: trace.batch, detail });
    seen.add(line);
  };
  const known = traces.filter(({ isKnown }) => isKnown);
  auditOverlaps(known, find);
  auditTurns(known, find);
  return findings;
}

type Stay = { readonly trace: Trace; readonly mode: Mode; readonly from: number; readonly to: number };

function byKey<Item>(entries: Iterable<readonly [string, Item]>): ReadonlyMap<string, Item[]> {
  const lists = new Map<string, Item[]>();
  for (const [key, item] of entries) {
    const list = lists.get(key);
    if (list === undefined) lists.set(key, [item]);
    else list.push(item);
  }
  return lists;
}

function auditOverlaps(traces: readonly Trace[], find: Find): void {
  const entries = traces.flatMap((trace) => {
    const { startedAt, startedAs, finishedAt, batch } = trace;
    if (startedAt === null || startedAs === null) return [];
    const stay = { trace, from: startedAt, to: finishedAt };
    return holdsOf(trace.asked, startedAs, batch).map(({ key, mode }) => [key, { ...stay, mode }] as const);
  });
  for (const [key, stays] of byKey<Stay>(entries)) {
    stays.sort((one, other) => one.from - other.from);
    let there: Stay[] = [];
    for (const stay of stays) {
      there = there.filter(({ to }) => to > stay.from);
      for (const other of there) {
        if (other.trace === stay.trace || !areConflicting(other.mode, stay.mode)) continue;
        const detail = `${other.trace.name} and ${stay.trace.name} ran at once on ${key}`;
        find('overlap', stay.trace, detail);
      }
      there.push(stay);
    }
  }
}

type Turn = {
  readonly trace: Trace;
  /** By the verdict that it queued with; a later one is only ever stricter. */
  readonly queued: Mode | null;
  /** By the verdict that it started with. */
  readonly started: Mode | null;
};

/**
 * First come, first served: whoever stands in the queues when another command comes into being is not overtaken by it on a
 * key that they cannot share. (Who has not joined yet may be overtaken: a batch lets only so many of its commands queue.)
 */
function auditTurns(traces: readonly Trace[], find: Find): void {
  const entries = traces.flatMap((trace) => {
    const { asked, acceptedAs, startedAs, batch } = trace;
    const queued = holdsOf(asked, acceptedAs, batch);
    const started = startedAs === null ? null : holdsOf(asked, startedAs, batch);
    return queued.map(({ key, mode }, index) => {
      const turn: Turn = { trace, queued: mode, started: started?.[index]?.mode ?? null };
      return [key, turn] as const;
    });
  });
  for (const [key, turns] of byKey<Turn>(entries)) {
    const joining = turns
      .filter(({ trace }) => trace.joinedAt !== null)
      .sort((one, other) => (one.trace.joinedAt ?? 0) - (other.trace.joinedAt ?? 0));
    const coming = [...turns].sort((one, other) => one.trace.acceptedAt - other.trace.acceptedAt);
    let next = 0;
    let pending: Turn[] = [];
    for (const { trace, started } of coming) {
      for (; next < joining.length && (joining[next]?.trace.joinedAt ?? 0) < trace.acceptedAt; next++) {
        pending.push(joining[next] as Turn);
      }
      pending = pending.filter((turn) => settledAt(turn.trace) > trace.acceptedAt);
      if (started === null || trace.startedAt === null) continue;
      for (const { trace: first, queued } of pending) {
        if (first === trace || queued === null || !areConflicting(queued, started)) continue;
        if (trace.startedAt >= settledAt(first)) continue;
        find('overtaking', trace, `${trace.name} came later than ${first.name} and started before it on ${key}`);
      }
    }
  }
}

/** When it no longer waits. */
function settledAt({ startedAt, finishedAt }: Trace): number {
  return startedAt ?? finishedAt;
}
