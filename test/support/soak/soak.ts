import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { auditBatch } from './audit-batch.ts';
import { auditOrder } from './audit-order.ts';
import { auditRecords, readJournal } from './audit-records.ts';
import { errandOf } from './batches.ts';
import { runErrand } from './client.ts';
import type { Finding, Trace } from './evidence.ts';
import { heldFiles, processesOf, strayFiles } from './leftovers.ts';
import { type Ground, TREES } from './trees.ts';
import { ask, openWire, type Wire } from './wire.ts';

export type SoakOptions = {
  readonly seed: number;
  /** The number of the first batch; those before it are left out. */
  readonly first?: number;
  /** At least so many are sent, and the rest of the batch that the last one stands in. */
  readonly commands: number;
  readonly clients?: number;
  /** No new batch is sent after that. */
  readonly until?: () => boolean;
  readonly onProgress?: (progress: {
    readonly commands: number;
    readonly batch: number;
    readonly findings: number;
  }) => void;
};

export type SoakResult = {
  /** Commands that were sent. */
  readonly commands: number;
  readonly batches: number;
  /** The number with which a further soak goes on. */
  readonly next: number;
  readonly seconds: number;
  readonly states: Readonly<Record<string, number>>;
  /** Of those that started: on a proof, beside others. */
  readonly parallel: number;
  readonly connections: number;
  readonly findings: readonly Finding[];
};

const CLIENTS = 8;

/** Findings after which nothing more is sent: the first ones tell most. */
const ENOUGH = 25;

/** Milliseconds in which everything of a soak must have ended by itself once nobody asks for more. */
const SETTLE_MS = 20_000;

/** Sends batches from several clients at once and audits all that comes of them. The service stays up. */
export async function soak(port: number, ground: Ground, options: SoakOptions): Promise<SoakResult> {
  const { seed, first = 1, commands: wanted, clients = CLIENTS, until = () => false, onProgress = () => {} } = options;
  const wire = openWire(port);
  const findings: Finding[] = [];
  const traces: Trace[] = [];
  let [next, sent, connections] = [first, 0, 0];
  const began = performance.now();

  async function work(): Promise<void> {
    while (sent < wanted && findings.length < ENOUGH && !until()) {
      const errand = errandOf(seed, next++, ground);
      sent += errand.asked.length;
      try {
        const evidence = await runErrand(wire, errand);
        connections += evidence.readings.length + 2;
        const audit = auditBatch(evidence);
        findings.push(...audit.findings);
        traces.push(...audit.traces);
      } catch (error) {
        findings.push({
          kind: 'service',
          batch: errand.tag,
          detail: error instanceof Error ? error.message : `${error}`,
        });
      }
      onProgress({ commands: sent, batch: next - 1, findings: findings.length });
    }
  }

  await Promise.all(Array.from({ length: clients }, work));
  const seconds = (performance.now() - began) / 1000;
  findings.push(...(await auditRest(wire, ground)));
  findings.push(...auditOrder(traces), ...auditRecords(traces, readJournal(readFileSync(ground.journal, 'utf8'))));
  wire.kept.destroy();
  const states: Record<string, number> = {};
  for (const { state } of traces) states[state] = (states[state] ?? 0) + 1;
  const parallel = traces.filter(({ startedAs }) => startedAs === 'parallel').length;
  return { commands: sent, batches: next - first, next, seconds, states, parallel, connections, findings };
}

/** Nothing may be left when all is told: no process, no lock of the system, no file, and no key. */
async function auditRest(wire: Wire, ground: Ground): Promise<readonly Finding[]> {
  const left = (detail: string): Finding => ({ kind: 'left-over', batch: '', detail });
  const until = performance.now() + SETTLE_MS;
  const isThere = (): boolean => processesOf(ground, []).length > 0;
  while (isThere() && performance.now() < until) await sleep(50);
  const processes = processesOf(ground, []).map(({ pid, state, name }) => left(`process ${pid} (${name}, ${state})`));
  const files = [...heldFiles(ground).map((name) => `a hold of ${name}`), ...strayFiles(ground)].map(left);
  return [...processes, ...files, ...(await auditKeys(wire))];
}

/** A writer everywhere, with every key, must run at once: whoever still held one would be told as the one waited for. */
async function auditKeys(wire: Wire): Promise<readonly Finding[]> {
  const lockKeys = ['first', 'second', 'third'];
  const findings: Finding[] = [];
  for (const cwd of ['.', ...TREES.map(({ path }) => path)]) {
    const body = { commands: [{ command: 'echo >/dev/null', cwd, lockKeys }], deadlineMs: 10_000 };
    const { status, text } = await ask(wire, '/batches', { method: 'POST', body, headers: { prefer: 'wait=15' } });
    const state = status === 201 ? JSON.parse(text).commands[0].state : `${status}: ${text}`;
    const events = status === 201 ? await ask(wire, `/batches/${JSON.parse(text).id}/events`, EVENTS) : null;
    if (state !== 'exited' || events?.text.includes('"type":"waiting"')) {
      findings.push({ kind: 'left-over', batch: '', detail: `a key of ${cwd}: ${state} ${events?.text ?? ''}` });
    }
  }
  return findings;
}

const EVENTS = { headers: { accept: 'application/x-ndjson' } };
