import type { BatchEvent, BatchResult, CommandResult, OutputEncoding } from '../dispatcher/types.ts';
import { visible, visibleLines } from './display-text.ts';
import { columnsOf, LiveScreen, type Terminal } from './live-screen.ts';
import type { Output } from './output.ts';
import type { Paint } from './paint.ts';
import { followBatch, isGood, type Row } from './progress.ts';
import { drawTimeline, duration, ending, type Glyphs, verdictText } from './timeline.ts';

/** Shows one batch: told of every event as it happens, and of the results once. */
export type BatchView = {
  event(event: BatchEvent): Promise<void>;
  end(result: BatchResult): Promise<void>;
};

/** Whose output is printed below the timeline. */
export type ShownOutput = 'none' | 'failed' | 'all';

export type TextViewOptions = {
  readonly output: Output;
  readonly terminal: Terminal & { readonly isTTY?: boolean };
  readonly glyphs: Glyphs;
  readonly paint: Paint;
  readonly shown: ShownOutput;
  readonly now: () => number;
};

/** Pauses between two drawings: quick enough to look alive, slow enough to cost nothing. */
const REDRAW_MS = 100;
/** The width of the timeline where there is no terminal: a log is read on wider pages. */
const LOG_COLUMNS = 100;

/** One JSON document when all is over. */
export function jsonView(output: Output): BatchView {
  return {
    event: async () => undefined,
    end: (result) => output.write(`${JSON.stringify(result, null, 2)}\n`),
  };
}

/** Every event as one line of JSON, as it happens: the same lines that the service streams. */
export function linesView(output: Output): BatchView {
  return {
    event: (event) => output.write(`${JSON.stringify(event)}\n`),
    end: async () => undefined,
  };
}

function outputSection(command: CommandResult, paint: Paint): string {
  const parts = [
    ['stdout', command.stdout, command.truncated?.stdoutBytes ?? 0],
    ['stderr', command.stderr, command.truncated?.stderrBytes ?? 0],
  ] as const satisfies readonly (readonly [keyof OutputEncoding, string, number])[];
  const lines = [paint('bold', `${visible(command.id)}  ${visible(command.command)}`)];
  if (command.note !== null) lines.push(`  ${visible(command.note)}`);
  for (const [name, told, cut] of parts) {
    if (told === '' && cut === 0) continue;
    const isText = command.encoding[name] === 'utf8';
    // Here a person looks on, who can read some of it.
    const text = isText ? told : Buffer.from(told, 'base64').toString('utf8');
    const notes = `${isText ? '' : ', not all of it text'}${cut === 0 ? '' : `, ${cut} bytes of it not kept`}`;
    lines.push(paint('dim', `  ${name}${notes}`));
    lines.push(...visibleLines(text.endsWith('\n') ? text.slice(0, -1) : text).map((line) => `  ${line}`));
  }
  return `\n${lines.join('\n')}\n`;
}

async function printOutputs(result: BatchResult, { output, shown, paint }: TextViewOptions): Promise<void> {
  if (shown === 'none') return;
  for (const command of result.commands)
    if (shown === 'all' || !isGood(command)) await output.write(outputSection(command, paint));
}

function finalDrawing(rows: readonly Row[], width: number, { glyphs, paint, now }: TextViewOptions): string {
  return `${drawTimeline(rows, { width, glyphs, paint, now: now() }).join('\n')}\n`;
}

/** A timeline that is redrawn in place until the batch has ended. */
function liveView(options: TextViewOptions): BatchView {
  const { output, terminal, glyphs, paint, now } = options;
  const progress = followBatch();
  const screen = new LiveScreen(terminal);
  const sinceStart = () => now() - (progress.beganAt() ?? now());
  const draw = () => {
    if (!output.closed.aborted) screen.draw(progress.rows(), { now: sinceStart(), glyphs, paint });
  };
  let timer: NodeJS.Timeout | undefined;
  return {
    async event(event) {
      progress.advance(event);
      timer ??= setInterval(draw, REDRAW_MS);
    },
    async end(result) {
      clearInterval(timer);
      if (output.closed.aborted) return;
      screen.clear();
      await output.write(finalDrawing(progress.rows(), columnsOf(terminal) - 1, { ...options, now: sinceStart }));
      await printOutputs(result, options);
    },
  };
}

function plainLine(event: BatchEvent, row: Row | undefined, at: number): string | undefined {
  const head = `${duration(at).padStart(8)}  `;
  if (row === undefined) return undefined;
  if (event.type === 'started')
    return `${head}${visible(row.id)} started, ${verdictText(row.verdict)}: ${visible(row.command)}\n`;
  if (event.type !== 'finished') return undefined;
  const ran = event.ranMs === null ? '' : ` after ${duration(event.ranMs)}`;
  const how = row.state === 'exited' && row.signal === null ? `ended with exit code ${row.exitCode}` : ending(row);
  return `${head}${visible(row.id)} ${how}${ran}${row.note === null ? '' : `: ${visible(row.note)}`}\n`;
}

/** One line when a command starts and one when it has ended, then the timeline: for logs and pipes. */
function plainView(options: TextViewOptions): BatchView {
  const progress = followBatch();
  return {
    async event(event) {
      progress.advance(event);
      const row = 'commandId' in event ? progress.row(event.commandId) : undefined;
      // As in the timeline below: a command has ended before its output is all read and told.
      const line = plainLine(event, row, row?.endedAt ?? event.at - (progress.beganAt() ?? event.at));
      if (line !== undefined) await options.output.write(line);
    },
    async end(result) {
      await options.output.write(`\n${finalDrawing(progress.rows(), LOG_COLUMNS, options)}`);
      await printOutputs(result, options);
    },
  };
}

/** For people: redrawn in place on a terminal, line by line anywhere else. */
export function textView(options: TextViewOptions): BatchView {
  return options.terminal.isTTY === true ? liveView(options) : plainView(options);
}
