import type { Asked, BatchEvidence, Finding, FindingKind, Trace, WireEvent, WireResult } from './evidence.ts';
import { faultOfOutput } from './outputs.ts';

/** Milliseconds by which the service's clock and the clients' may drift apart in hours. */
const CLOCK_SLACK_MS = 10_000;

const STEPS: readonly string[] = ['accepted', 'started', 'finished'];

/** What was told of one command. */
type Life = {
  readonly asked: Asked;
  readonly index: number;
  readonly accepted: WireEvent;
  readonly waiting: WireEvent | null;
  readonly started: WireEvent | null;
  readonly finished: WireEvent;
  readonly result: WireResult;
  readonly printed: { readonly stdout: string; readonly stderr: string };
};

export type BatchAudit = { readonly findings: readonly Finding[]; readonly traces: readonly Trace[] };

/**
 * Holds what the clients were told of one batch against what they asked. It knows the documentation and nothing of the
 * product: events are dense and in order, every command has one life and one result, and its output is its own.
 */
export function auditBatch(evidence: BatchEvidence): BatchAudit {
  const findings: Finding[] = [];
  const find = (kind: FindingKind, detail: string): void => {
    findings.push({ kind, batch: evidence.tag, detail });
  };
  if (evidence.batchId === null || evidence.result === null) {
    return { findings, traces: evidence.asked.map((asked, index) => unknownTrace(evidence, asked, index)) };
  }
  const events = eventsOf(evidence, find);
  const lives = livesOf(evidence, events, find);
  auditResult(evidence, lives.length, find);
  for (const life of lives) auditLife(evidence, life, find);
  auditCallOrder(lives, find);
  auditPolicies(evidence, lives, find);
  return { findings, traces: lives.map((life) => traceOf(evidence, life)) };
}

type Find = (kind: FindingKind, detail: string) => void;

/** All events, from readings that were broken off and taken up again: without a gap, and twice the same where told twice. */
function eventsOf({ readings, batchId, sentAt, endedAt }: BatchEvidence, find: Find): readonly WireEvent[] {
  const events: WireEvent[] = [];
  for (const { after, events: told } of readings) {
    for (const [index, event] of told.entries()) {
      const seq = after + index + 1;
      if (event.seq !== seq) return stopAt(find, events, `expected event ${seq}, got ${event.seq}`);
      if (event.batchId !== batchId) find('sequence', `event ${seq} is of batch ${event.batchId}`);
      const known = events[seq - 1];
      if (known !== undefined && JSON.stringify(known) !== JSON.stringify(event)) {
        find('sequence', `event ${seq} was told in two ways`);
      }
      if (known === undefined && events.length !== seq - 1)
        return stopAt(find, events, `nothing told event ${seq - 1}`);
      events[seq - 1] = event;
    }
  }
  let before = sentAt - CLOCK_SLACK_MS;
  for (const { seq, at } of events) {
    if (at < before) find('sequence', `event ${seq} is older than the one before it`);
    before = at;
  }
  if (before > endedAt + CLOCK_SLACK_MS) find('sequence', 'an event is told to have happened later than it was read');
  const end = events.findIndex(({ type }) => type === 'batch-finished');
  if (end === -1) find('sequence', 'no batch-finished was told');
  else if (end !== events.length - 1) find('sequence', 'something was told behind batch-finished');
  return events;
}

function stopAt(find: Find, events: readonly WireEvent[], detail: string): readonly WireEvent[] {
  find('sequence', detail);
  return events;
}

function livesOf(
  { asked, result, mayBeShort }: BatchEvidence,
  events: readonly WireEvent[],
  find: Find,
): readonly Life[] {
  const ofCommand = new Map<string, WireEvent[]>();
  for (const event of events) {
    if (event.commandId === undefined) continue;
    const list = ofCommand.get(event.commandId);
    if (list === undefined) ofCommand.set(event.commandId, [event]);
    else list.push(event);
  }
  const acceptedIds = events.filter(({ type }) => type === 'accepted').map(({ commandId }) => commandId);
  const wanted = mayBeShort ? asked.slice(0, acceptedIds.length) : asked;
  if (acceptedIds.join('\n') !== wanted.map(({ id }) => id).join('\n')) {
    find('life', `accepted were ${acceptedIds.join(' ')}, asked for ${wanted.map(({ id }) => id).join(' ')}`);
  }
  for (const id of ofCommand.keys()) {
    if (!wanted.some((one) => one.id === id)) find('life', `nobody asked for ${id}`);
  }
  return wanted.flatMap((one, index) => {
    const told = ofCommand.get(one.id) ?? [];
    const steps = told.filter(({ type }) => STEPS.includes(type)).map(({ type }) => type);
    const line = steps.join(' ');
    if (line !== 'accepted started finished' && line !== 'accepted finished') {
      find('life', `${one.id} (${one.name}) was told ${line || 'nothing'}`);
      return [];
    }
    auditMoments(one, told, find);
    const step = (type: string): WireEvent | null => told.find((event) => event.type === type) ?? null;
    const ended = result?.commands.find(({ id }) => id === one.id);
    if (ended === undefined) {
      find('result', `${one.id} has no result`);
      return [];
    }
    const printed = (stream: string) =>
      told.filter((event) => event.type === 'output' && event.stream === stream).map(({ text = '' }) => text);
    return [
      {
        asked: one,
        index,
        accepted: step('accepted') as WireEvent,
        waiting: step('waiting'),
        started: step('started'),
        finished: step('finished') as WireEvent,
        result: ended,
        printed: { stdout: printed('stdout').join(''), stderr: printed('stderr').join('') },
      },
    ];
  });
}

/** It waits before it starts, and prints only while it runs. */
function auditMoments({ id }: Asked, told: readonly WireEvent[], find: Find): void {
  const place = (type: string): number => told.findIndex((event) => event.type === type);
  const [start, end] = [place('started'), place('finished')];
  for (const [index, { type }] of told.entries()) {
    if (type === 'waiting' && (index === 0 || index > (start === -1 ? end : start))) {
      find('life', `${id} waited at the wrong time`);
    }
    if (type === 'output' && (start === -1 || index < start || index > end)) {
      find('life', `${id} printed while it did not run`);
    }
  }
}

function auditResult({ result, batchId, mayBeCancelled, asked }: BatchEvidence, count: number, find: Find): void {
  if (result === null) return;
  if (result.id !== batchId) find('result', `the result is of batch ${result.id}`);
  const ids = result.commands.map(({ id }) => id);
  const wanted = asked.slice(0, ids.length).map(({ id }) => id);
  if (ids.join('\n') !== wanted.join('\n') || ids.length !== count) {
    find(
      'result',
      `results are of ${ids.join(' ')}; ${count} commands were told of, from ${asked.map(({ id }) => id).join(' ')}`,
    );
  }
  const isEnded = result.state === 'finished' || (result.state === 'cancelled' && mayBeCancelled);
  if (!isEnded) find('result', `the batch is ${result.state}`);
}

function auditLife(evidence: BatchEvidence, life: Life, find: Find): void {
  const { asked, accepted, started, finished, result, printed } = life;
  const who = `${asked.id} (${asked.name}: ${asked.command.slice(0, 60)})`;
  if (accepted.command !== asked.command || result.command !== asked.command) find('result', `${who} is another text`);
  for (const field of ['state', 'exitCode', 'signal', 'ranMs', 'note'] as const) {
    if (finished[field] !== result[field]) {
      find('result', `${who}: the event tells ${field} ${finished[field]}, the result ${result[field]}`);
    }
  }
  if (JSON.stringify(finished.truncated) !== JSON.stringify(result.truncated))
    find('result', `${who}: cut in two ways`);
  for (const event of [accepted, started]) {
    if (asked.verdict === 'serial' && event?.verdict?.kind === 'parallel')
      find('verdict', `${who} was called parallel`);
  }
  if (accepted.verdict?.kind === 'serial' && started?.verdict?.kind === 'parallel') {
    find('verdict', `${who} was loosened`);
  }
  auditState(evidence, life, who, find);
  for (const stream of ['stdout', 'stderr'] as const) {
    const text = result[stream];
    if (printed[stream] !== text) find('output', `${who}: the events of ${stream} are not its result`);
    if (started === null && text !== '') find('output', `${who} never started and printed`);
    const cutBytes = result.truncated?.[stream === 'stdout' ? 'stdoutBytes' : 'stderrBytes'] ?? 0;
    const isWhole = result.state === 'exited';
    const fault = started === null ? null : faultOfOutput({ expected: asked[stream], text, cutBytes, isWhole });
    if (fault !== null) find(cutBytes > 0 ? 'bytes' : 'output', `${who}: ${stream}: ${fault}`);
  }
}

/** Every end must have a reason that the clients know of. */
function auditState(evidence: BatchEvidence, life: Life, who: string, find: Find): void {
  const { asked, started, result } = life;
  const { mayBeCancelled, deadlineMs, onFailure } = evidence;
  const { state, exitCode, note, ranMs } = result;
  const text = note ?? '';
  const wrong = (): void => find('state', `${who} is ${state}: ${text}`);
  const hasRun = state === 'exited' || state === 'timed-out' || state === 'cancelled';
  if (hasRun !== (started !== null))
    find('state', `${who} is ${state} and ${started === null ? 'never started' : 'started'}`);
  switch (state) {
    case 'exited':
      if (!asked.exits.includes(exitCode ?? -1)) find('exit', `${who} exited with ${exitCode}`);
      if (
        (result.signal !== null) !==
        ((exitCode ?? 0) > 128 && asked.exits.includes(exitCode ?? 0) && isSignalled(asked))
      )
        find('exit', `${who} exited with ${exitCode} and the signal ${result.signal}`);
      break;
    case 'timed-out': {
      const { timeoutMs } = asked.fields;
      const isOwn = timeoutMs !== undefined && text === `Timed out after ${timeoutMs} ms`;
      if (isOwn && (ranMs ?? 0) < timeoutMs - 1) find('state', `${who} timed out after ${ranMs} ms`);
      if (!isOwn && !(deadlineMs !== null && text.includes(`deadline of ${deadlineMs} ms`))) wrong();
      break;
    }
    case 'cancelled':
      if (
        !(mayBeCancelled && text.startsWith('Cancelled')) &&
        !(onFailure === 'cancel-siblings' && text.includes('because'))
      )
        wrong();
      break;
    case 'skipped':
      if (onFailure === 'continue' || !text.startsWith('Skipped because ')) wrong();
      break;
    case 'not-started':
      if (!text.startsWith('Aborted before dispatch') || !(mayBeCancelled || deadlineMs !== null)) wrong();
      break;
    default:
      wrong();
  }
}

function isSignalled({ records, exits }: Asked): boolean {
  return records === 'begin' && exits.every((code) => code > 128);
}

/** Whatever conflicts in a batch runs in call order; and where all is serial that is one by one. */
function auditCallOrder(lives: readonly Life[], find: Find): void {
  for (const later of lives) {
    if (later.started === null) continue;
    for (const earlier of lives.slice(0, later.index)) {
      const isBarrier = kindOf(earlier.accepted) === 'serial' || kindOf(later.started) === 'serial';
      if (isBarrier && earlier.finished.seq > later.started.seq) {
        find('order', `${later.asked.id} started before ${earlier.asked.id} had ended, and one of them is a barrier`);
      }
    }
  }
}

function kindOf({ verdict }: WireEvent): string | undefined {
  return verdict?.kind;
}

/** After the first that let the batch down nothing starts, if the batch was asked to stop. */
function auditPolicies({ onFailure }: BatchEvidence, lives: readonly Life[], find: Find): void {
  if (onFailure === 'continue') return;
  const failures = lives.filter(
    ({ result: { state, exitCode } }) => (state === 'exited' && exitCode !== 0) || state === 'timed-out',
  );
  const first = Math.min(...failures.map(({ finished }) => finished.seq));
  for (const { asked, started } of lives) {
    if (started !== null && started.seq > first) find('order', `${asked.id} started after the batch was to stop`);
  }
}

function traceOf({ tag }: BatchEvidence, life: Life): Trace {
  const { asked, index, accepted, waiting, started, finished, result } = life;
  const { stdout } = asked;
  return {
    name: asked.name,
    batch: tag,
    index,
    asked: shortened(asked),
    isKnown: true,
    acceptedAs: kindOf(accepted) === 'parallel' ? 'parallel' : 'serial',
    startedAs: started === null ? null : kindOf(started) === 'parallel' ? 'parallel' : 'serial',
    acceptedAt: accepted.at,
    joinedAt: waiting?.at ?? started?.at ?? null,
    startedAt: started?.at ?? null,
    finishedAt: finished.at,
    state: result.state,
    seatRead: stdout.kind === 'seat' && result.state === 'exited' ? { place: stdout.place, text: result.stdout } : null,
  };
}

function unknownTrace({ tag, sentAt, endedAt }: BatchEvidence, asked: Asked, index: number): Trace {
  return {
    name: asked.name,
    batch: tag,
    index,
    asked: shortened(asked),
    isKnown: false,
    acceptedAs: asked.verdict,
    startedAs: null,
    acceptedAt: sentAt,
    joinedAt: null,
    startedAt: null,
    finishedAt: endedAt,
    state: 'unknown',
    seatRead: null,
  };
}

function shortened({ places, reads, records, fields }: Asked): Trace['asked'] {
  return { places, reads, records, lockKeys: fields.lockKeys ?? [] };
}
