import type { ClientRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Errand } from './batches.ts';
import type { BatchEvidence, Reading, WireEvent } from './evidence.ts';
import { ask, begin, headOf, leave, type Question, readStream, type Said, type Wire } from './wire.ts';

/** Runs one batch as its manner says and brings back what was told. Throws when the service answers what it should not. */
export async function runErrand(wire: Wire, errand: Errand): Promise<BatchEvidence> {
  const sentAt = Date.now();
  const { batchId, readings, hasLeft, isShort } = await send(wire, errand);
  const { manner, tag, asked, options } = errand;
  const evidence = {
    tag,
    asked,
    ...options,
    mayBeCancelled: manner.cancelAfterMs !== null || (hasLeft && manner.onDisconnect === 'cancel'),
    mayBeShort: isShort,
    sentAt,
  };
  if (batchId === null) return { ...evidence, batchId, readings: [], result: null, endedAt: Date.now() };
  const cancelling = manner.way === 'lines' ? null : cancelLater(wire, errand, batchId);
  const all = [...readings, ...(await readOn(wire, errand, batchId, readings))];
  await cancelling;
  const { status, text } = await ask(wire, `/batches/${batchId}`, { isKept: true });
  if (status !== 200) throw new Error(`${tag}: expected the result, got ${status}: ${text}`);
  return { ...evidence, batchId, readings: all, result: JSON.parse(text), endedAt: Date.now() };
}

type Sent = {
  readonly batchId: string | null;
  readonly readings: readonly Reading[];
  /** The client left before it was answered. */
  readonly hasLeft: boolean;
  /** Not all of the commands may have arrived. */
  readonly isShort: boolean;
};

function send(wire: Wire, errand: Errand): Promise<Sent> {
  switch (errand.manner.way) {
    case 'json':
      return sendWhole(wire, errand, {});
    case 'wait':
      return sendWhole(wire, errand, { prefer: 'wait=120' });
    case 'lost':
      return sendAndLeave(wire, errand);
    case 'lines':
      return sendLines(wire, errand);
    case 'grown':
      return sendGrowing(wire, errand);
  }
}

function bodyOf({
  asked,
  options,
  manner,
}: Errand): { readonly commands: readonly unknown[] } & Record<string, unknown> {
  const { deadlineMs, ...rest } = options;
  return {
    ...rest,
    ...(deadlineMs === null ? {} : { deadlineMs }),
    onDisconnect: manner.onDisconnect,
    commands: asked.map(({ id, name, command, fields }) => ({ ...(id === name ? { id } : {}), command, ...fields })),
  };
}

function idIn(status: number, wanted: number, text: string): string {
  if (status !== wanted) throw new Error(`Expected ${wanted}, got ${status}: ${text}`);
  return JSON.parse(text).id;
}

async function sendWhole(wire: Wire, errand: Errand, headers: Record<string, string>): Promise<Sent> {
  const question: Question = { method: 'POST', body: bodyOf(errand), headers, isKept: errand.random.chance(0.5) };
  const { status, text } = await ask(wire, '/batches', question);
  return { batchId: idIn(status, 201, text), readings: [], hasLeft: false, isShort: false };
}

/** Nobody ever learns what this batch is called. */
async function sendAndLeave(wire: Wire, errand: Errand): Promise<Sent> {
  const question = { method: 'POST', body: bodyOf(errand), headers: { prefer: 'wait=120' } };
  await leave(wire, '/batches', question, errand.random.integer(0, 200));
  return { batchId: null, readings: [], hasLeft: true, isShort: false };
}

/** Sends lines while the events of those before are read on the same connection. */
async function sendLines(wire: Wire, errand: Errand): Promise<Sent> {
  const { manner, random } = errand;
  const { commands, ...options } = bodyOf(errand);
  const headers = { 'content-type': 'application/x-ndjson', accept: manner.framing };
  const outgoing = begin(wire, '/batches', { method: 'POST', headers });
  const head = headOf(outgoing);
  outgoing.write(`${JSON.stringify({ batch: options })}\n`);
  // The answer begins with the first line; whoever breaks off before that never hears of the batch.
  const incoming = await head;
  const location = incoming.headers.location ?? '';
  if (incoming.statusCode !== 201) throw new Error(`${errand.tag}: expected 201 to lines, got ${incoming.statusCode}`);
  const events: WireEvent[] = [];
  const reading = readStream(incoming, Number.POSITIVE_INFINITY, (said) => {
    if ('seq' in said) events.push(said);
    else complain(errand, said);
  });
  const batchId = location.slice('/batches/'.length);
  const cancelling = cancelLater(wire, errand, batchId);
  const isSlow = random.chance(0.3);
  for (const [index, command] of commands.entries()) {
    if (index === manner.breaksAt) {
      outgoing.write(JSON.stringify(command).slice(0, -2));
      await sleep(random.integer(0, 100));
      outgoing.destroy();
      break;
    }
    await write(outgoing, `${JSON.stringify(command)}\n`);
    if (isSlow) await sleep(random.integer(0, 30));
  }
  if (!outgoing.destroyed) outgoing.end();
  await reading;
  await cancelling;
  const hasLeft = manner.breaksAt !== null;
  const isShort = hasLeft || manner.cancelAfterMs !== null || errand.options.deadlineMs !== null;
  return { batchId, readings: [{ after: 0, events }], hasLeft, isShort };
}

function write(outgoing: ClientRequest, text: string): Promise<void> {
  if (outgoing.destroyed || outgoing.write(text)) return Promise.resolve();
  return new Promise((resolve) => {
    const go = (): void => {
      outgoing.off('drain', go).off('close', go);
      resolve();
    };
    outgoing.once('drain', go).once('close', go);
  });
}

/** The only record that an upload of these may meet with is that of its own end. */
function complain({ tag, manner, options }: Errand, said: Said): void {
  const mayEnd = manner.breaksAt !== null || manner.cancelAfterMs !== null || options.deadlineMs !== null;
  if (!mayEnd) throw new Error(`${tag}: a line was answered with ${JSON.stringify(said)}`);
}

/** Opens a batch that is added to, now and then twice with the same, and closes it. */
async function sendGrowing(wire: Wire, errand: Errand): Promise<Sent> {
  const { commands, ...options } = bodyOf(errand);
  const opening = { method: 'POST', body: { ...options, open: true, commands: [] }, isKept: true };
  const { status, text } = await ask(wire, '/batches', opening);
  const batchId = idIn(status, 201, text);
  for (let from = 0; from < commands.length; ) {
    const to = from + errand.random.integer(1, 5);
    const part = commands.slice(from, to);
    const addition = { method: 'POST', body: { commands: part }, isKept: true };
    const isNamed = part.every((command) => Object.hasOwn(command as object, 'id'));
    const times = isNamed && errand.random.chance(0.3) ? 2 : 1;
    for (let time = 0; time < times; time++) {
      const answer = await ask(wire, `/batches/${batchId}/commands`, addition);
      // Its deadline has ended it meanwhile.
      if (answer.status === 409 && options.deadlineMs !== undefined) {
        return { batchId, readings: [], hasLeft: false, isShort: true };
      }
      if (answer.status !== 200) throw new Error(`${errand.tag}: expected 200, got ${answer.status}: ${answer.text}`);
    }
    from = to;
  }
  const closing = await ask(wire, `/batches/${batchId}/close`, { method: 'POST', isKept: true });
  idIn(closing.status, 200, closing.text);
  return { batchId, readings: [], hasLeft: false, isShort: false };
}

async function cancelLater(wire: Wire, { manner }: Errand, batchId: string): Promise<void> {
  if (manner.cancelAfterMs === null) return;
  await sleep(manner.cancelAfterMs);
  const { status, text } = await ask(wire, `/batches/${batchId}`, { method: 'DELETE' });
  if (status !== 200) throw new Error(`Expected 200 to DELETE, got ${status}: ${text}`);
}

/** Reads the events to the end, dropping connections on the way and going on behind the last event that was seen. */
async function readOn(
  wire: Wire,
  errand: Errand,
  batchId: string,
  before: readonly Reading[],
): Promise<readonly Reading[]> {
  const { manner, random } = errand;
  const readings: Reading[] = [];
  const seen = (): WireEvent | undefined =>
    [...before, ...readings].findLast(({ events }) => events.length > 0)?.events.at(-1);
  const drops = [...manner.drops];
  while (seen()?.type !== 'batch-finished') {
    const after = seen()?.seq ?? 0;
    const byHeader = random.chance(0.5);
    const question = {
      headers: { accept: manner.framing, ...(byHeader && after > 0 ? { 'last-event-id': `${after}` } : {}) },
    };
    const outgoing = begin(wire, `/batches/${batchId}/events${byHeader ? '' : `?after=${after}`}`, question);
    const head = headOf(outgoing);
    outgoing.end();
    const incoming = await head;
    if (incoming.statusCode !== 200)
      throw new Error(`${errand.tag}: expected events behind ${after}, got ${incoming.statusCode}`);
    const events: WireEvent[] = [];
    const end = await readStream(incoming, drops.shift() ?? Number.POSITIVE_INFINITY, (said) =>
      events.push(said as WireEvent),
    );
    readings.push({ after, events });
    if (end === 'ended' && events.length === 0) throw new Error(`${errand.tag}: the events ended behind ${after}`);
  }
  return readings;
}
