import { areConflicting, holdsOf, placesAround } from './audit-order.ts';
import type { Finding, FindingKind, Trace } from './evidence.ts';

/**
 * The commands' own word. Each line of the journal is one append, so the lines stand in the order in which things
 * happened, without anybody's clock: `B NAME` when it began, `E NAME` when it ended, and `X NAME PLACE` when a command
 * found that a lock file of the system, which it and its children hold until the last of them is dead, was taken.
 */
export type Journal = readonly { readonly step: string; readonly name: string; readonly rest: string }[];

export function readJournal(text: string): Journal {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [step = '', name = '', ...rest] = line.split(' ');
      return { step, name, rest: rest.join(' ') };
    });
}

type Records = { begun: number; ended: number; beganAt: number };
type Find = (kind: FindingKind, trace: Trace, detail: string) => void;

/** Holds the commands' own records against what the service told of them. */
export function auditRecords(traces: readonly Trace[], journal: Journal): readonly Finding[] {
  const findings: Finding[] = [];
  const find: Find = (kind, { batch }, detail) => findings.push({ kind, batch, detail });
  const known = new Map(traces.map((trace) => [trace.name, trace]));
  const records = new Map<string, Records>();
  for (const [line, { step, name, rest }] of journal.entries()) {
    const trace = known.get(name);
    if (trace === undefined) {
      findings.push({ kind: 'records', batch: '', detail: `nobody knows of ${step} ${name} ${rest}` });
      continue;
    }
    if (step === 'X') {
      find('overlap', trace, `${name} found ${rest} held by another command or its children`);
      continue;
    }
    const own = records.get(name) ?? { begun: 0, ended: 0, beganAt: line };
    records.set(name, own);
    if (step === 'B') own.begun += 1;
    else own.ended += 1;
    if (own.ended > own.begun) find('records', trace, `${name} ended before it began`);
  }
  for (const trace of traces) auditCounts(trace, records.get(trace.name), find);
  auditTurnsOfJournal(known, records, journal, find);
  auditSeats(traces, records, find);
  return findings;
}

/** What started ran once, and what never started left nothing. */
function auditCounts(trace: Trace, own: Records | undefined, find: Find): void {
  const { name, isKnown, asked, startedAt, state } = trace;
  const { begun = 0, ended = 0 } = own ?? {};
  if (begun > 1 || ended > 1) find('records', trace, `${name} began ${begun} times and ended ${ended} times`);
  if (!isKnown) return;
  if (begun > 0 && startedAt === null) find('records', trace, `${name} is ${state} and has run all the same`);
  if (state !== 'exited' || asked.records === 'none') return;
  if (begun !== 1) find('records', trace, `${name} is told to have run, and began ${begun} times`);
  const wanted = asked.records === 'both' ? 1 : 0;
  if (ended !== wanted) find('records', trace, `${name} is told to have run to its end, and ended ${ended} times`);
}

/** By the order of the lines alone: no writer begins inside another one, and those of a batch begin in call order. */
function auditTurnsOfJournal(
  known: ReadonlyMap<string, Trace>,
  records: ReadonlyMap<string, Records>,
  journal: Journal,
  find: Find,
): void {
  let inside: Trace[] = [];
  const lastOf = new Map<string, Trace>();
  for (const { step, name } of journal) {
    const trace = known.get(name);
    if (trace === undefined || step === 'X') continue;
    inside = inside.filter((other) => other !== trace);
    if (step === 'E') continue;
    for (const other of inside) {
      if (areMeeting(other, trace)) find('overlap', trace, `${name} began inside ${other.name}, by their own records`);
    }
    const before = lastOf.get(trace.batch);
    if (before !== undefined && before.index > trace.index) {
      find('order', trace, `${name} began after ${before.name}, which stands behind it in its batch`);
    }
    lastOf.set(trace.batch, trace);
    // One that was killed leaves no end; the lock files watch over those.
    if ((records.get(name)?.ended ?? 0) > 0) inside.push(trace);
  }
}

function areMeeting(one: Trace, other: Trace): boolean {
  const holds = holdsOf(other.asked, 'serial', other.batch);
  return holdsOf(one.asked, 'serial', one.batch).some(({ key, mode }) =>
    holds.some((hold) => hold.key === key && areConflicting(hold.mode, mode)),
  );
}

/**
 * Each writer leaves `busy NAME` in the seat of its place when it begins and `free NAME` when it ends. A reader that
 * finds a writer busy that was not killed has run beside it; one that finds another name than that of the last writer
 * before it was overtaken, or has overtaken.
 */
function auditSeats(traces: readonly Trace[], records: ReadonlyMap<string, Records>, find: Find): void {
  const line = ({ name }: Trace): number => records.get(name)?.beganAt ?? 0;
  const byPlace = new Map<string, Trace[]>();
  for (const trace of traces) {
    if (trace.asked.records === 'none' || !records.has(trace.name)) continue;
    const seat = trace.asked.places[0] ?? '';
    const list = byPlace.get(seat);
    if (list === undefined) byPlace.set(seat, [trace]);
    else list.push(trace);
  }
  for (const writers of byPlace.values()) writers.sort((one, other) => line(one) - line(other));
  for (const reader of traces) {
    if (reader.seatRead === null || reader.startedAt === null) continue;
    const { place, text } = reader.seatRead;
    const writers = byPlace.get(place) ?? [];
    const allowed = seatsBefore(reader.startedAt, writers, records);
    if (!allowed.has(text)) {
      const wanted = [...allowed].map((seat) => seat.trimEnd()).join(' or ');
      find('seat', reader, `${reader.name} read ${JSON.stringify(text)} in ${place}, expected ${wanted}`);
    }
  }
}

/** What the seat may hold for a reader that started at this time. */
function seatsBefore(
  startedAt: number,
  writers: readonly Trace[],
  records: ReadonlyMap<string, Records>,
): ReadonlySet<string> {
  const allowed = new Set<string>();
  const next = writers.findIndex((writer) => isAfter(writer, startedAt));
  // One that nobody was told of may stand before the reader or behind it.
  for (let at = (next === -1 ? writers.length : next) - 1; at >= 0; at--) {
    const writer = writers[at] as Trace;
    const hasEnded = (records.get(writer.name)?.ended ?? 0) > 0;
    if (hasEnded) allowed.add(`free ${writer.name}\n`);
    else for (const word of ['busy', 'free']) allowed.add(`${word} ${writer.name}\n`);
    // Who is killed between emptying the seat and writing into it leaves it empty.
    if (!hasEnded) allowed.add('');
    if (!writer.isKnown && hasEnded) continue;
    if (hasEnded) return allowed;
  }
  return allowed.add('free nobody\n');
}

function isAfter({ isKnown, startedAt }: Trace, at: number): boolean {
  return isKnown && (startedAt ?? Number.POSITIVE_INFINITY) > at;
}

/** The system's lock files that a writer of this place takes: its own for itself, those around it together with others. */
export function lockFilesOf(place: string): readonly { readonly place: string; readonly isShared: boolean }[] {
  return placesAround(place).map((around) => ({ place: around, isShared: around !== place }));
}
