import { stripVTControlCharacters } from 'node:util';
import { fc, test as prop } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { displayWidth } from '../../src/classifier/display-width.ts';
import type { Verdict } from '../../src/classifier/verdict.ts';
import { LiveScreen, rowsInView } from '../../src/cli/live-screen.ts';
import { choosePaint } from '../../src/cli/paint.ts';
import { followBatch, type Row } from '../../src/cli/progress.ts';
import { BLOCKS, drawTimeline, duration, LETTERS } from '../../src/cli/timeline.ts';
import type { BatchEvent } from '../../src/dispatcher/types.ts';
import { Screen } from '../e2e/screen.ts';

const plain = choosePaint({}, {});
const coloured = choosePaint({ isTTY: true }, {});

const parallel: Verdict = {
  kind: 'parallel',
  run: { form: 'bash' },
  profile: 'generic',
  rule: [],
  effects: [],
  assumes: [],
  ruleset: 'r',
};
const serial: Verdict = {
  kind: 'serial',
  reason: { check: 'input', code: 'TEXT_EMPTY', knowledge: 'unrecognised', span: [0, 0], message: 'empty' },
  ruleset: 'r',
};

function row(id: string, command: string, from: Partial<Row>): Row {
  const unknown = { exitCode: null, signal: null, note: null, joinedAt: null, startedAt: null, endedAt: null } as const;
  return { id, command, verdict: parallel, state: 'queued', addedAt: 0, ...unknown, ...from };
}

const done = { state: 'exited', exitCode: 0, joinedAt: 0 } as const;
const batch: Row[] = [
  row('c1', 'git status', { ...done, startedAt: 0, endedAt: 50 }),
  row('c2', 'grep -rn x src', { ...done, startedAt: 0, endedAt: 100, exitCode: 1 }),
  row('c3', 'echo hi > f', { ...done, startedAt: 100, endedAt: 150, verdict: serial }),
  row('c4', 'cat f', { ...done, joinedAt: 50, startedAt: 150, endedAt: 200 }),
  row('c5', 'sleep 9', { state: 'cancelled', endedAt: 200, joinedAt: 0 }),
];

describe('the timeline of a batch', () => {
  const lines = drawTimeline(batch, { width: 80, now: 200, glyphs: LETTERS, paint: plain });

  test('has a head, one row a command in call order, and a sentence about the whole', () => {
    expect(lines).toHaveLength(7);
    expect(lines[0]).toMatch(/^id command +0 +200 ms verdict +exit +waited +ran$/);
    expect(lines.slice(1, 6).map((line) => line.slice(0, 2))).toEqual(['c1', 'c2', 'c3', 'c4', 'c5']);
    expect(lines[6]).toBe('5 commands, 3 with exit code 0, 2 otherwise; 200 ms in all, 250 ms of running');
  });

  test('tells the code of a serial verdict where there is room', () => {
    const wide = drawTimeline(batch, { width: 120, now: 200, glyphs: LETTERS, paint: plain });
    expect(wide[3]).toMatch(/ serial TEXT_EMPTY 0 /);
    expect(wide[1]).toMatch(/ parallel +0 /);
    expect(lines[3]).toMatch(/ serial +0 /);
  });

  test('draws waiting and running on one axis', () => {
    const bars = lines.slice(1, 6).map((line) => /[.#-]+(?= *(?:parallel|serial))/.exec(line)?.[0] ?? '');
    const long = bars[2]?.length ?? 0;
    expect(bars[0]).toMatch(/^#+$/);
    expect(bars[1]).toMatch(/^#+$/);
    expect(bars[1]?.length).toBe((bars[0]?.length ?? 0) * 2);
    expect(bars[2]).toMatch(/^-+#+$/);
    expect(bars[3]).toMatch(/^\.+-+#+$/);
    expect(bars[4]).toMatch(/^-+$/);
    expect(bars[3]?.length).toBeGreaterThan(long);
    expect(bars[4]?.length).toBe(bars[3]?.length);
  });

  test('says verdict, exit code, waiting and running of each', () => {
    expect(lines[2]).toMatch(/parallel 1 +0 ms +100 ms$/);
    expect(lines[3]).toMatch(/serial {3}0 +100 ms +50 ms$/);
    expect(lines[5]).toMatch(/parallel cancelled +200 ms$/);
  });

  test('a command of no measurable length is still seen to have run', () => {
    const short = row('c9', 'true', { ...done, startedAt: 10_000, endedAt: 10_000 });
    const drawn = drawTimeline([row('c1', 'x', { ...done, startedAt: 0, endedAt: 10_000 }), short], {
      width: 60,
      now: 0,
      glyphs: LETTERS,
      paint: plain,
    });
    expect(drawn[2]).toContain('#');
  });

  test('a command that has not ended grows with the time', () => {
    const running = [row('c1', 'make', { state: 'running', joinedAt: 0, startedAt: 0 })];
    const early = drawTimeline(running, { width: 80, now: 100, glyphs: LETTERS, paint: plain });
    const late = drawTimeline(running, { width: 80, now: 3000, glyphs: LETTERS, paint: plain });
    expect(early[1]).toMatch(/running +0 ms +100 ms$/);
    expect(late[1]).toMatch(/running +0 ms +3.00 s$/);
  });

  test('colours change nothing but colours', () => {
    const options = { width: 90, now: 200, glyphs: BLOCKS };
    const painted = drawTimeline(batch, { ...options, paint: coloured });
    expect(painted.join('')).toContain('\u001b[');
    expect(painted.map(stripVTControlCharacters)).toEqual(drawTimeline(batch, { ...options, paint: plain }));
  });

  const time = fc.option(fc.nat(1_000_000), { nil: null });
  const anyRow = fc
    .record({
      id: fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }),
      command: fc.string({ unit: 'binary', maxLength: 200 }),
      verdict: fc.constantFrom(parallel, serial),
      state: fc.constantFrom('queued', 'waiting', 'running', 'exited', 'timed-out', 'not-started'),
      exitCode: fc.option(fc.nat(255), { nil: null }),
      signal: fc.constantFrom(null, 'SIGKILL'),
      addedAt: fc.nat(1000),
      joinedAt: time,
      startedAt: time,
      endedAt: time,
    })
    .map((fields) => row(fields.id, fields.command, fields as Partial<Row>));

  prop.prop([fc.array(anyRow, { maxLength: 8 }), fc.integer({ min: 1, max: 300 }), fc.nat(1_000_000)])(
    'no line is wider than the terminal, and none holds a control character, whatever the commands are',
    (rows, width, now) => {
      const drawn = drawTimeline(rows, { width, now, glyphs: BLOCKS, paint: plain });
      expect(drawn).toHaveLength(rows.length + 2);
      for (const line of drawn) {
        expect(displayWidth(line)).toBeLessThanOrEqual(Math.max(40, width));
        expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
      }
    },
  );
});

test('durations stay within eight columns', () => {
  const shown = [0, 0.4, 999, 999.6, 1250, 59_990, 60_000, 125_000, 3_600_000, 86_400_000].map(duration);
  expect(shown).toEqual([
    '0 ms',
    '0 ms',
    '999 ms',
    '1.00 s',
    '1.25 s',
    '59.99 s',
    '1m 00s',
    '2m 05s',
    '1h 00m',
    '24h 00m',
  ]);
});

describe('colours', () => {
  test('only on a terminal that shows them, and never with NO_COLOR', () => {
    const paints = (stream: { isTTY?: boolean }, env: Record<string, string>) =>
      choosePaint(stream, env)('red', 'x') !== 'x';
    expect(paints({ isTTY: true }, {})).toBe(true);
    expect(paints({ isTTY: true }, { NO_COLOR: '' })).toBe(true);
    expect(paints({ isTTY: true }, { NO_COLOR: '1' })).toBe(false);
    expect(paints({ isTTY: true }, { TERM: 'dumb' })).toBe(false);
    expect(paints({ isTTY: false }, {})).toBe(false);
    expect(paints({}, {})).toBe(false);
  });
});

describe('redrawing in place', () => {
  const options = { now: 100, glyphs: LETTERS, paint: coloured };

  function terminalOf(columns: number, rows: number) {
    const screen = new Screen(columns);
    return { screen, terminal: { columns, rows, write: (text: string) => screen.write(text) } };
  }

  test('the last drawing is all that is left on the screen', () => {
    const { screen, terminal } = terminalOf(80, 24);
    const live = new LiveScreen(terminal);
    screen.write('$ signalbox run x\n');
    for (let count = batch.length; count > 0; count -= 1) live.draw(batch.slice(0, count), options);
    live.draw(batch, options);
    const expected = drawTimeline(batch, { ...options, width: 79, paint: plain });
    expect(screen.text()).toBe(['$ signalbox run x', ...expected].join('\n'));
  });

  test('clearing leaves only what stood before', () => {
    const { screen, terminal } = terminalOf(80, 24);
    const live = new LiveScreen(terminal);
    screen.write('before\n');
    live.draw(batch, options);
    live.clear();
    screen.write('after\n');
    expect(screen.text()).toBe('before\nafter');
  });

  test('a terminal that became narrower has folded the lines, and the cursor climbs over the folds', () => {
    const wide = terminalOf(100, 24);
    const narrow = new Screen(50);
    let written = '';
    const terminal = { columns: 100, rows: 24, write: (text: string) => (written += text) };
    const live = new LiveScreen(terminal);
    live.draw(batch, options);
    wide.screen.write(written);
    narrow.write(`before\n${written}`);
    written = '';
    terminal.columns = 50;
    live.draw(batch, options);
    narrow.write(written);
    expect(narrow.text()).toBe(['before', ...drawTimeline(batch, { ...options, width: 49, paint: plain })].join('\n'));
  });

  test('more commands than lines: the running ones are in view, and the others are counted', () => {
    const many = Array.from({ length: 100 }, (_, n) =>
      row(
        `c${n + 1}`,
        'ls',
        n < 60
          ? { ...done, startedAt: 0, endedAt: 10 }
          : n < 65
            ? { state: 'running', joinedAt: 0, startedAt: 10 }
            : {},
      ),
    );
    const { shown, left } = rowsInView(many, 12);
    expect(shown).toHaveLength(11);
    expect(left).toBe(89);
    for (let n = 61; n <= 65; n += 1) expect(shown.map(({ id }) => id)).toContain(`c${n}`);
    const { screen, terminal } = terminalOf(80, 16);
    new LiveScreen(terminal).draw(many, options);
    expect(screen.text().split('\n')).toHaveLength(14);
    expect(screen.text()).toContain('… and 89 more');
    expect(screen.text()).toContain('100 commands, 60 with exit code 0, 40 to go');
  });
});

describe('following a batch from its events', () => {
  const events: BatchEvent[] = [
    { seq: 1, batchId: 'b', at: 1000, type: 'accepted', commandId: 'c1', command: 'ls', verdict: serial },
    { seq: 2, batchId: 'b', at: 1010, type: 'waiting', commandId: 'c1', waitsFor: [] },
    { seq: 3, batchId: 'b', at: 1030, type: 'started', commandId: 'c1', verdict: parallel, pid: 1 },
    { seq: 4, batchId: 'b', at: 1040, type: 'output', commandId: 'c1', stream: 'stdout', text: 'x' },
    {
      seq: 5,
      batchId: 'b',
      at: 1071,
      type: 'finished',
      commandId: 'c1',
      state: 'exited',
      exitCode: 3,
      signal: null,
      truncated: null,
      queuedMs: 10,
      waitedMs: 20,
      ranMs: 40,
      note: null,
    },
    { seq: 6, batchId: 'b', at: 1072, type: 'batch-finished', state: 'finished' },
  ];

  test('each state is seen as it comes, and the measured durations win in the end', () => {
    const progress = followBatch();
    const states = events.map((event) => {
      progress.advance(event);
      return progress.rows()[0]?.state;
    });
    expect(states).toEqual(['queued', 'waiting', 'running', 'running', 'exited', 'exited']);
    expect(progress.beganAt()).toBe(1000);
    expect(progress.rows()).toMatchObject([
      { verdict: { kind: 'parallel' }, exitCode: 3, addedAt: 0, joinedAt: 10, startedAt: 30, endedAt: 70 },
    ]);
  });

  test('a command that never started has waited and not run', () => {
    const progress = followBatch();
    for (const event of events.slice(0, 2)) progress.advance(event);
    const ended = { queuedMs: null, waitedMs: null, ranMs: null, exitCode: null, state: 'not-started' } as const;
    progress.advance({ ...events[4], ...ended, at: 1500 } as BatchEvent);
    expect(progress.rows()).toMatchObject([{ state: 'not-started', startedAt: null, endedAt: 500 }]);
  });

  test('an event of a command that was never accepted changes nothing', () => {
    const progress = followBatch();
    for (const event of events.slice(1)) progress.advance(event);
    expect(progress.rows()).toEqual([]);
  });
});
