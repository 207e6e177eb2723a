import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../support/dispatcher.ts';
import { auditBatch } from '../support/soak/audit-batch.ts';
import { auditOrder } from '../support/soak/audit-order.ts';
import { auditRecords, readJournal } from '../support/soak/audit-records.ts';
import type { Asked, BatchEvidence, FindingKind, WireEvent, WireResult } from '../support/soak/evidence.ts';
import { childrenOf, heldFiles, processesOf, strayFiles } from '../support/soak/leftovers.ts';
import { floodOf } from '../support/soak/outputs.ts';

/** A moment of the made-up evidence. */
const NOON = 1_700_000_000_000;

/** When a command came, started and ended, in milliseconds behind noon. */
type Times = { readonly came?: number; readonly from: number; readonly to: number };

/** One that writes in a place, keeps records and prints its name. */
function writer(name: string, place = 'one'): Asked {
  return {
    name,
    id: name,
    command: `write ${name}`,
    fields: {},
    verdict: 'serial',
    places: [place],
    reads: [],
    exits: [0],
    stdout: { kind: 'exact', text: `${name}\n` },
    stderr: { kind: 'exact', text: '' },
    records: 'both',
  };
}

function reader(name: string, place = 'one'): Asked {
  return { ...writer(name, place), command: `read ${name}`, verdict: 'parallel', records: 'none' };
}

type Plain = { -readonly [Field in keyof BatchEvidence]: BatchEvidence[Field] };

/** What an honest service tells of these commands. */
function told(tag: string, all: readonly (readonly [Asked, Times])[], options: Partial<BatchEvidence> = {}): Plain {
  const events: Omit<WireEvent, 'seq' | 'batchId'>[] = [];
  const results: WireResult[] = [];
  for (const [asked, { came = 0, from, to }] of all) {
    const verdict = { kind: asked.verdict };
    const text = asked.stdout.kind === 'exact' ? asked.stdout.text : '';
    const end = { state: 'exited', exitCode: asked.exits[0] ?? 0, signal: null, truncated: null, note: null };
    const ended = { ...end, ranMs: to - from };
    const ofIt = { commandId: asked.id };
    events.push({ ...ofIt, type: 'accepted', at: NOON + came, command: asked.command, verdict });
    events.push({ ...ofIt, type: 'started', at: NOON + from, verdict });
    if (text !== '') events.push({ ...ofIt, type: 'output', at: NOON + to, stream: 'stdout', text });
    events.push({ ...ofIt, type: 'finished', at: NOON + to, ...ended });
    results.push({ id: asked.id, command: asked.command, verdict, ...ended, stdout: text, stderr: '' });
  }
  events.sort((one, other) => one.at - other.at);
  const last = events.at(-1)?.at ?? NOON;
  const batchId = `id-of-${tag}`;
  const numbered = [...events, { type: 'batch-finished', at: last }].map((event, index) => ({
    ...event,
    seq: index + 1,
    batchId,
  }));
  return {
    tag,
    batchId,
    asked: all.map(([asked]) => asked),
    onFailure: 'continue',
    deadlineMs: null,
    mayBeCancelled: false,
    mayBeShort: false,
    sentAt: NOON,
    endedAt: last,
    readings: [{ after: 0, events: numbered }],
    result: { id: batchId, state: 'finished', commands: results },
    ...options,
  };
}

const eventsIn = ({ readings }: BatchEvidence): readonly WireEvent[] => readings.flatMap(({ events }) => events);

/** The same with other events, counted anew. */
function withEvents(evidence: Plain, change: (events: readonly WireEvent[]) => readonly WireEvent[]): Plain {
  const events = change(eventsIn(evidence)).map((event, index) => ({ ...event, seq: index + 1 }));
  return { ...evidence, readings: [{ after: 0, events }] };
}

/** The same with one command's end told in another way, by event and result alike. */
function withEnd(evidence: Plain, id: string, end: Partial<WireResult>): Plain {
  const changed = withEvents(evidence, (events) =>
    events.map((event) => (event.type === 'finished' && event.commandId === id ? { ...event, ...end } : event)),
  );
  return withResults(changed, (results) =>
    results.map((result) => (result.id === id ? { ...result, ...end } : result)),
  );
}

function withResults(evidence: Plain, change: (results: readonly WireResult[]) => readonly WireResult[]): Plain {
  const { result } = evidence;
  return result === null ? evidence : { ...evidence, result: { ...result, commands: change(result.commands) } };
}

/** Two readers beside each other, then a writer. */
const honest = (options: Partial<BatchEvidence> = {}): Plain =>
  told(
    'b1',
    [
      [reader('r1'), { from: 1, to: 5 }],
      [reader('r2'), { from: 2, to: 4 }],
      [writer('w1'), { from: 6, to: 9 }],
    ],
    options,
  );

const kindsOf = (findings: readonly { readonly kind: FindingKind }[]): readonly FindingKind[] => [
  ...new Set(findings.map(({ kind }) => kind)),
];

const isOf =
  (id: string, type: string) =>
  (event: WireEvent): boolean =>
    event.commandId === id && event.type === type;

describe('what a client was told of one batch', () => {
  test('an honest telling has no fault, also in two readings that overlap', () => {
    expect(auditBatch(honest()).findings).toEqual([]);
    const events = eventsIn(honest());
    const readings = [
      { after: 0, events: events.slice(0, 5) },
      { after: 3, events: events.slice(3) },
    ];
    expect(auditBatch(honest({ readings })).findings).toEqual([]);
  });

  test.each<[string, FindingKind, (evidence: Plain) => Plain]>([
    [
      'an event that is missing',
      'sequence',
      (evidence) => ({ ...evidence, readings: [{ after: 0, events: eventsIn(evidence).toSpliced(3, 1) }] }),
    ],
    [
      'an event that another reading tells in another way',
      'sequence',
      (evidence) => {
        const other = eventsIn(evidence).map((event) => ({ ...event, at: event.at + 1 }));
        return { ...evidence, readings: [...evidence.readings, { after: 0, events: other }] };
      },
    ],
    [
      'an event of another batch',
      'sequence',
      (evidence) => withEvents(evidence, (events) => events.map((event) => ({ ...event, batchId: 'id-of-b2' }))),
    ],
    [
      'an event behind the end',
      'sequence',
      (evidence) => withEvents(evidence, (events) => [...events, events.at(-1) as WireEvent]),
    ],
    ['no end', 'sequence', (evidence) => withEvents(evidence, (events) => events.slice(0, -1))],
    [
      'a command that finished twice',
      'life',
      (evidence) =>
        withEvents(evidence, (events) =>
          events.flatMap((event) => (isOf('r1', 'finished')(event) ? [event, event] : [event])),
        ),
    ],
    [
      'a command that never finished',
      'life',
      (evidence) => withEvents(evidence, (events) => events.filter((event) => !isOf('w1', 'finished')(event))),
    ],
    ['a command that nobody asked for', 'life', (evidence) => ({ ...evidence, asked: evidence.asked.slice(0, 2) })],
    [
      'output behind its end',
      'life',
      (evidence) =>
        withEvents(evidence, (events) => {
          const output = events.find(isOf('r1', 'output')) as WireEvent;
          const rest = events.filter((event) => event !== output);
          const end = rest.findIndex(({ type }) => type === 'batch-finished');
          return rest.toSpliced(end, 0, { ...output, at: rest[end]?.at ?? 0 });
        }),
    ],
    ['a result that is lost', 'result', (evidence) => withResults(evidence, (results) => results.toSpliced(1, 1))],
    [
      'a result that is doubled',
      'result',
      (evidence) =>
        withResults(evidence, (results) => results.flatMap((one) => (one.id === 'r2' ? [one, one] : [one]))),
    ],
    ['results out of call order', 'result', (evidence) => withResults(evidence, (results) => [...results].reverse())],
    [
      'a result that is not the event’s',
      'result',
      (evidence) => withResults(evidence, (results) => results.map((result) => ({ ...result, exitCode: 7 }))),
    ],
    ['an exit code that it cannot have', 'exit', (evidence) => withEnd(evidence, 'r1', { exitCode: 7 })],
    ['a signal that nobody sent', 'exit', (evidence) => withEnd(evidence, 'r1', { signal: 'SIGTERM' })],
    [
      'a writer that was called parallel',
      'verdict',
      (evidence) =>
        withEvents(evidence, (events) =>
          events.map((event) =>
            event.commandId === 'w1' && event.verdict ? { ...event, verdict: { kind: 'parallel' } } : event,
          ),
        ),
    ],
    [
      'an end by a deadline that it does not have',
      'state',
      (evidence) =>
        withEnd(evidence, 'w1', { state: 'timed-out', note: 'The batch reached its deadline of 5 ms', exitCode: null }),
    ],
    [
      'a cancelling that nobody asked for',
      'state',
      (evidence) => withEnd(evidence, 'w1', { state: 'cancelled', note: 'Cancelled', exitCode: null }),
    ],
    [
      'a failure',
      'state',
      (evidence) => withEnd(evidence, 'w1', { state: 'failed', note: 'It was not run', exitCode: null }),
    ],
    [
      'output of another command',
      'output',
      (evidence) => withResults(evidence, (results) => results.map((result) => ({ ...result, stdout: 'r1\n' }))),
    ],
    [
      'a writer that starts before the readers ahead of it have ended',
      'order',
      (evidence) =>
        withEvents(evidence, (events) => {
          const start = events.find(isOf('w1', 'started')) as WireEvent;
          const rest = events.filter((event) => event !== start);
          const place = rest.findIndex(isOf('r1', 'finished'));
          return rest.toSpliced(place, 0, { ...start, at: rest[place]?.at ?? 0 });
        }),
    ],
  ])('%s is found', (_, kind, plant) => {
    expect(kindsOf(auditBatch(plant(honest())).findings)).toContain(kind);
  });

  test('a start behind the failure that was to stop the batch is found', () => {
    const failing = { ...reader('r1'), exits: [3] };
    const all = [
      [failing, { from: 1, to: 2 }],
      [writer('w1'), { from: 3, to: 4 }],
    ] as const;
    expect(auditBatch(told('b1', all)).findings).toEqual([]);
    expect(kindsOf(auditBatch(told('b1', all, { onFailure: 'stop' })).findings)).toEqual(['order']);
  });

  test.each([
    ['as it was printed', 0, null],
    ['one byte short', 1, 'bytes'],
  ])('a cut output, %s', (_, missing, kind) => {
    const flood = floodOf('r1', 3_000);
    const text = `${flood.slice(0, 900)}\n… 2,000 bytes left out …\n${flood.slice(2_900 + missing)}`;
    const truncated = { stdoutBytes: 2_000, stderrBytes: 0 };
    const one: Asked = { ...reader('r1'), stdout: { kind: 'flood', line: 'r1', bytes: 3_000 } };
    const evidence = withEnd(told('b1', [[one, { from: 1, to: 5 }]]), 'r1', { truncated });
    const printed = withResults(evidence, (results) => results.map((result) => ({ ...result, stdout: text })));
    const whole = withEvents(printed, (events) =>
      events.flatMap((event) =>
        event.type === 'started'
          ? [event, { ...event, type: 'output', stream: 'stdout', text, verdict: undefined } as unknown as WireEvent]
          : [event],
      ),
    );
    expect(kindsOf(auditBatch(whole).findings)).toEqual(kind === null ? [] : [kind]);
  });
});

/** The traces of several batches, none of which has a fault of its own. */
function tracesOf(...batches: readonly Plain[]) {
  return batches.flatMap((evidence) => {
    const { findings, traces } = auditBatch(evidence);
    expect(findings).toEqual([]);
    return traces;
  });
}

describe('all batches together', () => {
  test.each<[string, Asked, Times, Asked, Times, readonly FindingKind[]]>([
    ['a writer behind a writer', writer('w1'), { from: 1, to: 5 }, writer('w2'), { from: 5, to: 9 }, []],
    ['readers beside each other', reader('r1'), { from: 1, to: 5 }, reader('r2'), { from: 2, to: 9 }, []],
    ['writers in two places', writer('w1'), { from: 1, to: 5 }, writer('w2', 'two'), { from: 2, to: 9 }, []],
    ['a writer inside a writer', writer('w1'), { from: 1, to: 5 }, writer('w2'), { from: 2, to: 3 }, ['overlap']],
    ['a writer beside a reader', reader('r1'), { from: 1, to: 5 }, writer('w1'), { from: 4, to: 6 }, ['overlap']],
    [
      'a writer of a directory beside one below it',
      writer('w1', '.'),
      { from: 1, to: 5 },
      writer('w2'),
      { from: 2, to: 9 },
      ['overlap'],
    ],
  ])('%s', (_, one, ofOne, other, ofOther, kinds) => {
    const traces = tracesOf(told('b1', [[one, ofOne]]), told('b2', [[other, ofOther]]));
    expect(kindsOf(auditOrder(traces))).toEqual(kinds);
  });

  test('whoever came later and started before one that stood in the queue is found', () => {
    const waits = withEvents(told('b1', [[writer('w1'), { from: 8, to: 9 }]]), (events) => {
      const [first, ...rest] = events as [WireEvent, ...WireEvent[]];
      return [first, { ...first, type: 'waiting', at: NOON + 1 }, ...rest];
    });
    const early = told('b2', [[writer('w2'), { came: 3, from: 4, to: 5 }]]);
    const late = told('b2', [[writer('w2'), { came: 3, from: 9, to: 10 }]]);
    expect(kindsOf(auditOrder(tracesOf(waits, early)))).toEqual(['overtaking']);
    expect(auditOrder(tracesOf(waits, late))).toEqual([]);
  });
});

describe('the commands’ own records', () => {
  const two = () =>
    tracesOf(told('b1', [[writer('w1'), { from: 1, to: 5 }]]), told('b2', [[writer('w2'), { from: 6, to: 9 }]]));

  test.each<[string, string, readonly FindingKind[]]>([
    ['one after the other', 'B w1\nE w1\nB w2\nE w2', []],
    ['a writer inside of another', 'B w1\nB w2\nE w2\nE w1', ['overlap']],
    ['a lock file that was taken', 'B w1\nE w1\nX w2 place-one\nB w2\nE w2', ['overlap']],
    ['one that ran twice', 'B w1\nE w1\nB w2\nE w2\nB w2\nE w2', ['records']],
    ['one that is told to have run, and did not', 'B w1\nE w1', ['records']],
    ['one that is told to have ended, and did not', 'B w1\nE w1\nB w2', ['records']],
    ['one that nobody knows', 'B w1\nE w1\nB w2\nE w2\nB w3', ['records']],
  ])('%s', (_, lines, kinds) => {
    expect(kindsOf(auditRecords(two(), readJournal(`${lines}\n`)))).toEqual(kinds);
  });

  test('one that never started and ran all the same is found', () => {
    const evidence = honest({ mayBeCancelled: true });
    const note = 'Aborted before dispatch';
    const never = withEvents(
      withEnd(evidence, 'w1', { state: 'not-started', note, exitCode: null, stdout: '', ranMs: null }),
      (events) => events.filter((event) => !isOf('w1', 'started')(event) && !isOf('w1', 'output')(event)),
    );
    expect(auditRecords(tracesOf(never), readJournal(''))).toEqual([]);
    expect(kindsOf(auditRecords(tracesOf(never), readJournal('B w1\nE w1\n')))).toEqual(['records']);
  });

  test('writers of a batch that began out of call order are found', () => {
    const batch = told('b1', [
      [writer('w1'), { from: 1, to: 2 }],
      [writer('w2'), { from: 3, to: 4 }],
    ]);
    expect(kindsOf(auditRecords(tracesOf(batch), readJournal('B w2\nE w2\nB w1\nE w1\n')))).toEqual(['order']);
  });

  test.each<[string, readonly FindingKind[]]>([
    ['free w1\n', []],
    ['busy w1\n', ['seat']],
    ['free nobody\n', ['seat']],
    ['free w2\n', ['seat']],
    ['', ['seat']],
  ])('a reader between two writers that finds the seat %j', (text, kinds) => {
    const looks: Asked = { ...reader('r1'), stdout: { kind: 'exact', text } };
    const middle = told('b3', [[looks, { from: 5, to: 6 }]]);
    const seen = tracesOf(middle).map((trace) => ({ ...trace, seatRead: { place: 'one', text } }));
    expect(kindsOf(auditRecords([...two(), ...seen], readJournal('B w1\nE w1\nB w2\nE w2\n')))).toEqual(kinds);
  });

  test.each<[string, readonly FindingKind[]]>([
    ['', []],
    ['busy w2\n', []],
    ['free w1\n', []],
    ['free nobody\n', ['seat']],
  ])('a reader behind a writer that was killed finds the seat %j', (text, kinds) => {
    const looks: Asked = { ...reader('r1'), stdout: { kind: 'exact', text } };
    const killed = withEnd(told('b2', [[writer('w2'), { from: 6, to: 9 }]], { mayBeCancelled: true }), 'w2', {
      state: 'cancelled',
      note: 'Cancelled',
      exitCode: null,
    });
    const seen = tracesOf(told('b3', [[looks, { from: 10, to: 11 }]])).map((trace) => ({
      ...trace,
      seatRead: { place: 'one', text },
    }));
    const traces = [...tracesOf(told('b1', [[writer('w1'), { from: 1, to: 5 }]]), killed), ...seen];
    expect(kindsOf(auditRecords(traces, readJournal('B w1\nE w1\nB w2\n')))).toEqual(kinds);
  });
});

describe('what is left', () => {
  const started = async (command: string, cwd: string, env: Record<string, string> = {}): Promise<ChildProcess> => {
    const child = spawn('bash', ['-c', `${command}; :`], {
      cwd,
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
    onTestFinished(() => {
      process.kill(-(child.pid as number), 'SIGKILL');
    });
    await once(child.stdout as NonNullable<typeof child.stdout>, 'data');
    return child;
  };

  test('a process that works below the root, or was started with a variable that leads there, is found', async () => {
    const root = temporaryDirectory();
    mkdirSync(join(root, 'one'));
    const elsewhere = temporaryDirectory();
    expect(processesOf({ root }, [])).toEqual([]);
    const there = await started('echo here; read -t 60 <> <(:)', join(root, 'one'));
    const named = await started('echo here; read -t 60 <> <(:)', elsewhere, { WHERE: join(root, 'one') });
    await started('echo here; read -t 60 <> <(:)', elsewhere);
    const pids = processesOf({ root }, []).map(({ pid }) => pid);
    expect(pids).toContain(there.pid);
    expect(pids).toContain(named.pid);
    expect(processesOf({ root }, pids)).toEqual([]);
    expect(processesOf({ root: elsewhere }, [])).not.toEqual([]);
  });

  test('a child that ended and was never asked about is found, as a zombie', async () => {
    // The shell is replaced by a program that asks after nobody.
    const parent = await started('true & echo here; exec sleep 60', temporaryDirectory());
    await expect.poll(() => childrenOf(parent.pid as number).map(({ state }) => state)).toEqual(['Z']);
  });

  test('a lock file that somebody holds is found', async () => {
    const held = temporaryDirectory();
    for (const name of ['free', 'taken']) writeFileSync(join(held, name), '');
    expect(heldFiles({ held })).toEqual([]);
    await started('exec {hold}>taken; flock -x $hold; echo here; sleep 60', held);
    expect(heldFiles({ held })).toEqual(['taken']);
  });

  test('temporary files, and locks of git, are found', () => {
    const [root, temporary] = [temporaryDirectory(), temporaryDirectory()];
    mkdirSync(join(root, 'one/.git'), { recursive: true });
    writeFileSync(join(root, 'one/file'), '');
    expect(strayFiles({ root, temporary })).toEqual([]);
    writeFileSync(join(root, 'one/.git/index.lock'), '');
    mkdirSync(join(temporary, 'signalbox-pipes-1'));
    expect(strayFiles({ root, temporary })).toEqual(['tmp/signalbox-pipes-1', 'one/.git/index.lock']);
  });
});
