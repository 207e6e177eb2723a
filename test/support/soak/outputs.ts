import type { Expected } from './evidence.ts';

/** The line that stands where bytes were left out, on a line of its own (docs/library.md, `truncated`). */
const MARK = /\n?… ([\d,]+) bytes left out …\n/;

/** What is expected of a stream, and how it came. */
export type Printed = {
  readonly expected: Expected;
  readonly text: string;
  /** Bytes that were printed and not kept. */
  readonly cutBytes: number;
  /** It ended by itself, so that all of its output is there. */
  readonly isWhole: boolean;
};

/** What is wrong with what a command printed; null when nothing is. */
export function faultOfOutput({ expected, text, cutBytes, isWhole }: Printed): string | null {
  if (expected.kind === 'any' || expected.kind === 'seat') return null;
  if (expected.kind === 'starts')
    return isWhole && !text.startsWith(expected.text) ? differs(expected.text, text) : null;
  if (expected.kind === 'holds') return isWhole && !text.includes(expected.text) ? differs(expected.text, text) : null;
  const whole = expected.kind === 'exact' ? expected.text : floodOf(expected.line, expected.bytes);
  if (cutBytes === 0) return isWhole ? sameText(whole, text) : beginsWith(whole, text);
  return faultOfCut(whole, text, cutBytes, isWhole);
}

/** Every byte of an output that was cut must be there or be counted. */
function faultOfCut(whole: string, text: string, cutBytes: number, isWhole: boolean): string | null {
  const mark = MARK.exec(text);
  if (mark === null) return `${cutBytes} bytes were cut and no mark says so`;
  const told = Number(mark[1]?.replaceAll(',', ''));
  if (told !== cutBytes) return `the mark tells of ${told} bytes and the result of ${cutBytes}`;
  const tail = text.slice(mark.index + mark[0].length);
  const faults = headsOf(text, mark.index).map((head) => faultOfEnds(whole, head, tail, cutBytes, isWhole));
  return faults.includes(null) ? null : (faults[0] ?? null);
}

/** The mark begins a line of its own: a line feed before it is the command's, or was put there. */
function headsOf(text: string, index: number): readonly string[] {
  const without = text.slice(0, index);
  return text.charAt(index) === '\n' ? [`${without}\n`, without] : [without];
}

function faultOfEnds(whole: string, head: string, tail: string, cutBytes: number, isWhole: boolean): string | null {
  const fault = beginsWith(whole, head);
  if (fault !== null) return fault;
  if (!isWhole) return whole.includes(tail) ? null : differs(whole, tail);
  // All of these texts are ASCII, so that a character is a byte.
  const counted = head.length + tail.length + cutBytes;
  if (counted !== whole.length) return `${whole.length} bytes were printed, and ${counted} are kept or counted`;
  return whole.endsWith(tail) ? null : differs(whole.slice(-64), tail);
}

export function floodOf(line: string, bytes: number): string {
  return `${line}\n`.repeat(Math.ceil(bytes / (line.length + 1))).slice(0, bytes);
}

function sameText(expected: string, got: string): string | null {
  return expected === got ? null : differs(expected, got);
}

function beginsWith(expected: string, got: string): string | null {
  return expected.startsWith(got) ? null : differs(expected, got);
}

function differs(expected: string, got: string): string {
  return `expected ${shown(expected)}, got ${shown(got)}`;
}

function shown(text: string): string {
  const start = JSON.stringify(text.slice(0, 120));
  return text.length > 120 ? `${start}… (${text.length} characters)` : start;
}
