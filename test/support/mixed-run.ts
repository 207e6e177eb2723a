import { getEventListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDispatcher } from '../../src/dispatcher/dispatcher.ts';
import { KeyedLock } from '../../src/dispatcher/keyed-lock.ts';
import { schedule } from '../../src/dispatcher/schedule.ts';
import { createSlots } from '../../src/dispatcher/slots.ts';
import { StepGate } from '../../src/dispatcher/step-gate.ts';
import type { Owner } from '../../src/dispatcher/tool-locks.ts';
import { judgeByMark, PROFILES, parallel } from './judge-by-mark.ts';

/*
 * Everything that waits, once to its end and once until a signal aborts it, in a process of its own. It tells in one line
 * what is left, and has to end by itself: nothing here calls `process.exit`, and whatever were left would keep it alive.
 */

const [cwd = ''] = process.argv.slice(2);
const resources = (): readonly string[] => [...process.getActiveResourcesInfo()].sort();
const before = resources();
const signals: AbortSignal[] = [];
const complaints: string[] = [];

/** A signal whose listeners are counted in the end. */
function signalOf(controller: AbortController): AbortSignal {
  signals.push(controller.signal);
  return controller.signal;
}

/** Waits twice: left alone until `free` lets it, then aborted; it must reject with the reason itself. */
async function both(what: string, wait: (signal: AbortSignal) => Promise<unknown>, free: () => unknown): Promise<void> {
  const [kept, dropped] = [new AbortController(), new AbortController()];
  const [one, other] = [wait(signalOf(kept)), wait(signalOf(dropped))];
  const reason = new Error(what);
  dropped.abort(reason);
  const got = await other.then(
    () => 'it was granted',
    (error: unknown) => error,
  );
  if (got !== reason) complaints.push(`${what}: expected the reason of the signal, got ${String(got)}`);
  await free();
  const end = await one;
  if (typeof end === 'function') end();
}

const lock = new KeyedLock<Owner>();
const slots = createSlots({ limit: 2 });
const held = await lock.acquire('k');
await both('acquire', (signal) => lock.acquire('k', signal), held);
const again = await lock.acquire('k');
await both('run', (signal) => lock.run('k', () => null, signal), again);
const pool = slots.pool(1);
const slot = await pool.take();
await both('take', (signal) => pool.take(signal), slot);
const gate = new StepGate();
const step = await gate.exclusive();
await both('share', (signal) => gate.share(signal), step);
const share = await gate.share();
await both('exclusive', (signal) => gate.exclusive(signal), share);

const calls = new AbortController();
await schedule({ count: 20, safe: (index) => index % 3 > 0, run: (index) => index, signal: signalOf(calls) });
const aborted = new AbortController();
await schedule({
  count: 5,
  safe: true,
  maxParallel: 1,
  run: () => aborted.abort(),
  signal: signalOf(aborted),
});

const dispatcher = createDispatcher({
  judge: judgeByMark,
  profiles: PROFILES,
  lock,
  slots,
  cwd,
  limits: { graceMs: 100, drainMs: 50 },
});

/** Reads events until the signal aborts, in the midst of the batch or never. */
async function watch(events: AsyncIterable<unknown>, most: number, reading: AbortController): Promise<void> {
  let seen = 0;
  for await (const _ of events) if (++seen === most) reading.abort();
}

const mixed = [
  parallel('echo a'),
  'echo b',
  { command: 'sleep 1000', timeoutMs: 100 },
  { command: parallel('cat'), stdin: 'text' },
  'exit 3',
  'sleep 1000 & echo left behind',
  'no-such-program',
  'kill -9 $$',
];
for (const options of [
  {},
  { onFailure: 'stop' },
  { onFailure: 'cancel-siblings' },
  { deadlineMs: 300 },
  { maxParallel: 1 },
] as const) {
  const batch = dispatcher.dispatch(mixed, options);
  const [part, whole] = [new AbortController(), new AbortController()];
  const readers = [
    watch(batch.events({ signal: signalOf(part) }), 5, part),
    watch(batch.events({ signal: signalOf(whole) }), Number.POSITIVE_INFINITY, whole),
  ];
  await Promise.all([batch.done, ...readers]);
}
const cancelled = dispatcher.dispatch(['sleep 1000', 'echo never']);
for await (const { type } of cancelled.events()) if (type === 'started') cancelled.cancel('enough');
const outer = dispatcher.dispatch(['sleep 0.3']);
for await (const { type } of outer.events()) {
  if (type === 'started') {
    await dispatcher.dispatch(['echo inside'], { inside: { batchId: outer.id, commandId: 'c1' } }).done;
  }
}
// One that stays open and empty keeps nothing alive.
dispatcher.open();
const open = dispatcher.open();
open.add('echo in an open one');
open.close();
await open.done;

// Pipes may still be being made for later commands.
for (let time = 0; time < 200 && String(resources()) !== String(before); time++) await sleep(25);
const listeners = signals.map((signal) => getEventListeners(signal, 'abort').length);
process.stdout.write(
  JSON.stringify({
    before,
    after: resources(),
    listeners,
    locks: lock.size,
    slots: [slots.inUse, slots.waiting],
    complaints,
  }),
);
