import { EventEmitter } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fc, test } from '@fast-check/vitest';
import { afterAll, describe, expect } from 'vitest';
import type { Judge } from '../../src/classifier/judgement.ts';
import { createDispatcher } from '../../src/dispatcher/dispatcher.ts';
import { KeyedLock } from '../../src/dispatcher/keyed-lock.ts';
import type { ProcessTable } from '../../src/dispatcher/process-table.ts';
import type { Spawn } from '../../src/dispatcher/runner.ts';
import { createSlots } from '../../src/dispatcher/slots.ts';
import type { Owner } from '../../src/dispatcher/tool-locks.ts';
import type { Batch, BatchEvent, BatchResult, OnFailure } from '../../src/dispatcher/types.ts';
import { judgementOf, PROFILES, verdictOf } from '../support/dispatcher.ts';

/** `turning`: parallel when it is added, serial when it may start. */
type Kind = 'parallel' | 'serial' | 'turning';
type Step = { readonly kind: Kind; readonly directory: 'a' | 'b'; readonly exitCode: number };
type Wish = {
  readonly maxParallel: number;
  readonly onFailure: OnFailure;
  readonly steps: readonly Step[];
  readonly isStreamed: boolean;
  readonly isCancelled: boolean;
};

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom<Kind>('parallel', 'parallel', 'parallel', 'serial', 'turning'),
  directory: fc.constantFrom('a', 'a', 'b'),
  exitCode: fc.constantFrom(0, 0, 0, 1),
});
const wish: fc.Arbitrary<Wish> = fc.record({
  maxParallel: fc.integer({ min: 1, max: 4 }),
  onFailure: fc.constantFrom<OnFailure>('continue', 'continue', 'stop', 'cancel-siblings'),
  steps: fc.array(step, { minLength: 1, maxLength: 9 }),
  isStreamed: fc.boolean(),
  isCancelled: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
});

const root = realpathSync(mkdtempSync(join(tmpdir(), 'signalbox-law-')));
for (const name of ['a', 'b']) mkdirSync(join(root, name));
afterAll(() => rmSync(root, { recursive: true }));

/** A process that is none: it ends when the scheduler says so. */
type Pretended = {
  readonly text: string;
  readonly batch: string;
  readonly directory: string;
  readonly isSerial: boolean;
};

/** Everything that the dispatcher touches, with the scheduler in place of the operating system. */
class World {
  readonly lock = new KeyedLock<Owner>();
  readonly slots;
  readonly running = new Map<number, Pretended>();
  readonly faults: string[] = [];
  readonly batches: { readonly wish: Wish; readonly batch: Batch }[] = [];
  readonly #scheduler: fc.Scheduler;
  readonly #limit: number;
  readonly #asked = new Set<string>();
  /** Turned serial, and wait to start. */
  readonly #turned = new Set<string>();
  readonly #exits = new Map<number, (code: number | null, signal: NodeJS.Signals | null) => void>();
  #pid = 1_000_000_000;

  constructor(scheduler: fc.Scheduler, processLimit: number) {
    this.#scheduler = scheduler;
    this.#limit = processLimit;
    this.slots = createSlots({ limit: processLimit });
  }

  /** Texts are `KIND BATCH INDEX EXIT`; each is judged once when added, and once or more often when it may start. */
  readonly judge: Judge = (text) => {
    const isSecond = this.#asked.has(text);
    this.#asked.add(text);
    const isTurned = isSecond && text.startsWith('turning');
    if (isTurned) this.#turned.add(text);
    const isSerial = text.startsWith('serial') || isTurned;
    return judgementOf(verdictOf(isSerial ? 'serial' : 'parallel'));
  };

  readonly spawn: Spawn = (_file, args, { cwd }) => {
    const text = args.at(-1) as string;
    const [kind, batch, , exitCode] = text.split(' ') as [Kind, string, string, string];
    const one: Pretended = { text, batch, directory: cwd, isSerial: kind !== 'parallel' };
    this.#check(one);
    this.#pid += 1;
    const pid = this.#pid;
    const child = new EventEmitter();
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    this.running.set(pid, one);
    this.#exits.set(pid, (code, signal) => {
      if (!this.running.delete(pid)) return;
      stdout.end(text);
      stderr.end();
      child.emit('exit', code, signal);
    });
    this.#later(`exit ${text}`, () => this.#exits.get(pid)?.(Number(exitCode), null));
    return Object.assign(child, { pid, stdin: null, stdout, stderr }) as never;
  };

  readonly processes: ProcessTable = {
    signalGroup: (group, signal) => {
      if (!this.running.has(group)) return false;
      if (signal === 'SIGTERM') this.#later(`killed ${group}`, () => this.#exits.get(group)?.(null, signal));
      return true;
    },
    signal: () => false,
    isGroupAlive: (group) => this.running.has(group),
    members: (group) => (this.running.has(group) ? [group] : []),
    carriers: () => new Map(),
  };

  /** Asks for the batches, each at a moment that the scheduler chooses, and waits until nothing of them is left. */
  async live(wishes: readonly Wish[]): Promise<readonly BatchResult[]> {
    const dispatcher = createDispatcher({
      ...{ judge: this.judge, spawn: this.spawn, processes: this.processes, lock: this.lock, slots: this.slots },
      ...{ profiles: PROFILES, cwd: root, environment: { PATH: '/bin' } },
      limits: { graceMs: 60_000 },
      platform: { unproven: null, bash: '/bin/bash', builtins: new Set(['parallel', 'serial', 'turning']) },
    });
    const results = wishes.map(async (each, number) => {
      await this.#scheduler.schedule(Promise.resolve(), `open ${number}`);
      const { maxParallel, onFailure } = each;
      const commands = each.steps.map(({ kind, directory, exitCode }, index) => {
        return { command: `${kind} ${number} ${index} ${exitCode}`, cwd: directory };
      });
      const options = { maxParallel, onFailure };
      const batch = each.isStreamed ? dispatcher.open(options) : dispatcher.dispatch(commands, options);
      this.batches.push({ wish: each, batch });
      if (each.isCancelled) this.#later(`cancel ${number}`, () => this.#cancel(number, batch));
      if (each.isStreamed) {
        for (const command of commands) {
          await this.#scheduler.schedule(Promise.resolve(), `add ${command.command}`);
          if (batch.snapshot().state !== 'open') break;
          batch.add(command);
        }
        batch.close();
      }
      return batch.done;
    });
    const done = await this.#scheduler.waitFor(Promise.all(results));
    await this.#scheduler.waitFor(dispatcher.shutdown({ graceMs: 86_400_000 }));
    return done;
  }

  #later(label: string, act: () => void): void {
    void this.#scheduler.schedule(Promise.resolve(), label).then(act);
  }

  #cancel(number: number, batch: Batch): void {
    batch.cancel('by the test');
    for (const turned of this.#turned) if (turned.split(' ')[1] === String(number)) this.#turned.delete(turned);
  }

  #check(one: Pretended): void {
    const others = [...this.running.values()];
    const meets = (other: Pretended) => other.batch === one.batch || other.directory === one.directory;
    for (const other of others) {
      if (meets(other) && (other.isSerial || one.isSerial)) this.faults.push(`${one.text} beside ${other.text}`);
    }
    this.#turned.delete(one.text);
    for (const turned of this.#turned) {
      const [, batch, index] = turned.split(' ');
      if (batch === one.batch && Number(index) < Number(one.text.split(' ')[2])) {
        this.faults.push(`${one.text} before ${turned}, which waits anew`);
      }
    }
    if (others.length >= this.#limit) this.faults.push(`${one.text} beyond the limit of the process`);
    const limit = this.batches.find(({ batch }) => batch.snapshot().commands[0]?.command.split(' ')[1] === one.batch)
      ?.wish.maxParallel;
    if (limit !== undefined && others.filter(({ batch }) => batch === one.batch).length >= limit) {
      this.faults.push(`${one.text} beyond the limit of its batch`);
    }
  }
}

async function eventsOf(batch: Batch): Promise<readonly BatchEvent[]> {
  const events: BatchEvent[] = [];
  for await (const event of batch.events()) events.push(event);
  return events;
}

const numbersOf = (events: readonly BatchEvent[], type: 'accepted' | 'started' | 'finished') =>
  new Map(events.flatMap((event) => (event.type === type ? [[event.commandId, event.seq] as const] : [])));

const worlds = [
  fc.scheduler(),
  fc.integer({ min: 1, max: 5 }),
  fc.array(wish, { minLength: 1, maxLength: 3 }),
] as const;

describe('batches under a scheduler that chooses every end', () => {
  test.prop([...worlds], { numRuns: 150 })(
    'a serial command never overlaps any other of its batch or workspace, nothing overtakes one that turned serial, and no limit is passed',
    async (scheduler, processLimit, wishes) => {
      const world = new World(scheduler, processLimit);
      await world.live(wishes);
      expect(world.faults).toEqual([]);
      expect(world.running.size).toBe(0);
      expect([world.lock.size, world.slots.inUse, world.slots.waiting]).toEqual([0, 0, 0]);
    },
  );

  test.prop([...worlds], { numRuns: 150 })(
    'every command is accepted and finished exactly once, results are in call order, and event numbers are dense',
    async (scheduler, processLimit, wishes) => {
      const world = new World(scheduler, processLimit);
      await world.live(wishes);
      for (const { batch, wish: asked } of world.batches) {
        const { commands, state } = await batch.done;
        const events = await eventsOf(batch);
        expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
        expect(events.at(-1)?.type).toBe('batch-finished');
        expect(commands.map(({ id }) => id)).toEqual(commands.map((_, index) => `c${index + 1}`));
        if (!asked.isCancelled) expect(commands).toHaveLength(asked.steps.length);
        if (!asked.isCancelled) expect(state).toBe('finished');
        for (const type of ['accepted', 'finished'] as const) {
          const ids = events.flatMap((event) => (event.type === type ? [event.commandId] : []));
          expect([...ids].sort()).toEqual(commands.map(({ id }) => id).sort());
        }
        for (const { id, state: ended, command, stdout, exitCode } of commands) {
          const told = events.filter((event) => 'commandId' in event && event.commandId === id).map(({ type }) => type);
          expect(told[0]).toBe('accepted');
          expect(told.at(-1)).toBe('finished');
          expect(told.includes('started')).toBe(['exited', 'cancelled'].includes(ended));
          if (ended === 'exited') expect([stdout, exitCode]).toEqual([command, Number(command.split(' ')[3])]);
        }
      }
    },
  );

  test.prop([...worlds], { numRuns: 150 })(
    'what stands before a serial command ends before it starts, and what stands behind starts after it has ended',
    async (scheduler, processLimit, wishes) => {
      const world = new World(scheduler, processLimit);
      await world.live(wishes);
      for (const { batch } of world.batches) {
        const events = await eventsOf(batch);
        const [started, finished] = [numbersOf(events, 'started'), numbersOf(events, 'finished')];
        const { commands } = await batch.done;
        for (const [index, one] of commands.entries()) {
          for (const other of commands.slice(index + 1)) {
            if (!one.command.startsWith('serial') && !other.command.startsWith('serial')) continue;
            const start = started.get(other.id);
            if (start !== undefined) expect(start).toBeGreaterThan(finished.get(one.id) as number);
          }
        }
      }
    },
  );

  test.prop([fc.scheduler(), fc.array(wish, { minLength: 1, maxLength: 2 })], { numRuns: 100 })(
    'a non-zero exit stops the rest of its batch when that is the policy, and nothing else is left out',
    async (scheduler, wishes) => {
      const world = new World(scheduler, 8);
      await world.live(wishes.map((each) => ({ ...each, isCancelled: false })));
      for (const { batch, wish: asked } of world.batches) {
        const { commands } = await batch.done;
        const hasFailed = commands.some(({ state, exitCode }) => state === 'exited' && exitCode !== 0);
        const states = new Set(commands.map(({ state }) => state));
        if (asked.onFailure === 'continue' || !hasFailed) expect([...states]).toEqual(['exited']);
        const first = commands.findIndex(({ state }) => state === 'skipped');
        const mayBe: readonly string[] = [
          'exited',
          'skipped',
          ...(asked.onFailure === 'cancel-siblings' ? ['cancelled'] : []),
        ];
        expect([...states].filter((state) => !mayBe.includes(state))).toEqual([]);
        for (const { state, note } of commands) {
          if (state === 'skipped') expect(note).toMatch(/^Skipped because c\d+ exited with 1$/);
          if (state === 'cancelled') expect(note).toMatch(/^Cancelled because c\d+ exited with 1$/);
        }
        if (first >= 0) expect(hasFailed).toBe(true);
      }
    },
  );
});
