import { atOperator, readWord, skipBlanks } from './scan.ts';
import { refuse, type Scan } from './scan-state.ts';
import type { Joint, Redirection } from './word.ts';

/**
 * Those that neither write nor read anything, as descriptor, operator and target in their raw spelling: a quoted target
 * is none of them, and neither is `02>&1` or `>/dev/null2`.
 */
const HARMLESS: ReadonlySet<string> = new Set([
  '2>&1',
  '1>&2',
  '>&2',
  '2>/dev/null',
  '>/dev/null',
  '&>/dev/null',
  '</dev/null',
]);

/** What begins with `<` or `>`, or is `&>`; the longest first, as bash reads them. */
const REDIRECTIONS = ['<<<', '<<-', '&>>', '<<', '<&', '<>', '>>', '>&', '>|', '&>', '<', '>'] as const;

/** Whether a redirection without a descriptor begins here. */
export function startsRedirection({ text, at }: Scan): boolean {
  const character = text.charAt(at);
  return character === '<' || character === '>' || text.startsWith('&>', at);
}

/**
 * Reads a redirection with its target, whose descriptor, if it has one, begins at `start`. Null unless it is a harmless
 * one; `scan.code` and `scan.span` tell why.
 */
export function readRedirection(scan: Scan, start: number): Redirection | null {
  const { text, at } = scan;
  // `<(` and `>(` start a process and pass its name: no redirection.
  if (text.charAt(at + 1) === '(') return refused(scan, 'TEXT_EXPANSION', at, at + 2);
  const operator = REDIRECTIONS.find((one) => text.startsWith(one, at)) as (typeof REDIRECTIONS)[number];
  scan.at = at + operator.length;
  if (operator.startsWith('<<')) return refused(scan, 'TEXT_HERE_DOCUMENT', start, scan.at);
  const { at: end } = scan;
  if (!skipBlanks(scan) || atOperator(scan)) return refused(scan, 'TEXT_REDIRECTION', start, end);
  const target = readWord(scan, false);
  if (target === null) return null;
  const spelled = text.slice(start, at) + operator + target.raw;
  if (!HARMLESS.has(spelled)) return refused(scan, 'TEXT_REDIRECTION', start, target.end);
  return { text: spelled, start, end: target.end };
}

/** Reads the operator that joins two commands. Null for any other; `scan.code` and `scan.span` tell why. */
export function readJoint(scan: Scan): Joint | null {
  const { text, at: start } = scan;
  const [first, second] = [text.charAt(start), text.charAt(start + 1)];
  if (first === '(' || first === ')') return refused(scan, 'TEXT_GROUP', start, start + 1);
  if (first === '&' && second !== '&') return refused(scan, 'TEXT_BACKGROUND', start, start + 1);
  if (first === '|' && second === '&') return refused(scan, 'TEXT_PIPE_ERRORS', start, start + 2);
  // Only between the branches of a `case`.
  if (first === ';' && (second === ';' || second === '&')) return refused(scan, 'TEXT_PART_EMPTY', start, start + 2);
  const isDouble = first === second;
  scan.at = start + (isDouble ? 2 : 1);
  const joint = isDouble ? (first === '&' ? '&&' : '||') : (first as ';' | '|');
  return { text: joint, start, end: scan.at };
}

function refused(scan: Scan, ...[code, from, to]: [Scan['code'], number, number]): null {
  refuse(scan, code, from, to);
  return null;
}
