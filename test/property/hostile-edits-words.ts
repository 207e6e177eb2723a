import { posix } from 'node:path';
import { parse } from 'unbash';
import type { RuleData, RuleValue } from '../../src/rules/schema.ts';

/*
 * What the independent reading in hostile-edits-listed.ts is made of: words as unbash reads them, and the kinds of values
 * as docs/rules.md describes them. Nothing here comes from `src/classifier`.
 */

export type Word = { readonly text: string; readonly glob: boolean };

/** The words of one simple command, leading assignments apart; null for anything more. */
export function wordsOf(command: string): { readonly assignments: readonly string[]; readonly words: Word[] } | null {
  const { commands, errors } = parse(command);
  const simple = commands[0]?.command;
  if (commands.length !== 1 || (errors?.length ?? 0) > 0 || simple?.type !== 'Command') return null;
  if (simple.name === undefined) return null;
  const assignments: string[] = [];
  for (const part of simple.prefix) {
    if (part.type !== 'Assignment') return null;
    assignments.push(part.text);
  }
  const words: Word[] = [];
  for (const part of [simple.name, ...simple.suffix]) {
    if (part.type !== 'Word') {
      if (part.type !== 'Assignment') return null;
      words.push({ text: part.text, glob: false });
      continue;
    }
    const kinds = (part.parts ?? []).map(({ type }) => type);
    if (kinds.some((kind) => !['Literal', 'Glob', 'SingleQuoted', 'DoubleQuoted'].includes(kind))) return null;
    for (const piece of part.parts ?? []) {
      if (piece.type === 'DoubleQuoted' && piece.parts.some(({ type }) => type !== 'Literal')) return null;
    }
    words.push({ text: part.value, glob: kinds.includes('Glob') });
  }
  return { assignments, words };
}

/** Where the command works: `-C` and its like have moved it when more than one directory is named. */
export type Where = readonly string[];

const DEVICES = /^\/+(?:dev|proc|sys)(?:\/|$)/;
const UNITS = /^[+-]?\d{1,15}(?:[KMGT]iB|[kKMGT]B|[bkKMGT])?$/;
const PACKAGE = /^(?:@[a-zA-Z0-9][\w.-]*\/)?[a-zA-Z0-9][\w.-]*(?:@[~^]?[a-zA-Z0-9][\w.+-]*)?$/;

function isPath(text: string, where: Where): boolean {
  return /^[^-]/s.test(text) && where.every((base) => !DEVICES.test(`${posix.resolve(base, text)}`));
}

/** Programs of the small languages that stand in the examples: somebody has read them. */
export type Programs = { readonly sed: ReadonlySet<string>; readonly jq: ReadonlySet<string> };

/** One sed command of the plain kind, up to its end: what it may do is named letter by letter. */
const SED_REGEX = String.raw`(?:\/(?:\\.|[^/\\\n])+\/|\\([^\w\s\\])(?:\\.|(?!\k<mark>)[^\\\n])+\k<mark>)`;
const SED_ADDRESS = (name: string): string =>
  String.raw`(?:\d+(?:~\d+)?|\$|${SED_REGEX.replace('([^', `(?<${name}>[^`).replaceAll('mark', name)}[IM]*)`;
const SED_PAIR = String.raw`s(?<cut>[^\w\s\\]|_)(?:\\.|(?!\k<cut>)[^\\\n])*\k<cut>(?:\\.|(?!\k<cut>)[^\\\n])*\k<cut>[gpiImM0-9]*`;
const SED_COMMAND = new RegExp(
  String.raw`[\s;]*(?:${SED_ADDRESS('one')}\s*(?:,\s*(?:[+~]\d+|${SED_ADDRESS('two')})\s*)?)?!?\s*(?:${SED_PAIR}|[pdqQ=n{}])\s*(?:;[\s;]*|$|(?<=[{}]\s*)|(?=\}))`,
  'sy',
);

function isPlainSed(text: string): boolean {
  for (let at = 0; at < text.length; at = SED_COMMAND.lastIndex) {
    SED_COMMAND.lastIndex = at;
    if (!SED_COMMAND.test(text)) return false;
  }
  return true;
}

/** A filter that calls nothing but what the reviewed filters call; `{a, b: .c}` names keys. */
function isPlainJq(text: string, reviewed: ReadonlySet<string>): boolean {
  const callsIn = (filter: string): readonly string[] =>
    outsideStrings(filter).match(/(?<![.$\w])[A-Za-z_]\w*(?!\w|\s*[:,}])/g) ?? [];
  const known = new Set([...reviewed].flatMap(callsIn));
  return callsIn(text).every((call) => known.has(call));
}

/** A filter without the text of its strings, but with what is put into them by `\(…)`. */
function outsideStrings(filter: string): string {
  let code = '';
  // A string is open where the last mark is a quote; each `\(` in it opens code again.
  const open: string[] = [];
  for (const [piece] of filter.matchAll(/\\\(|\\.|"|\(|\)|[^\\"()]+|\\/gs)) {
    const inString = open.at(-1) === '"';
    if (piece === '"' && inString) open.pop();
    else if (piece === '"') open.push(piece);
    else if (inString && piece === '\\(') open.push(piece);
    else if (!inString && piece === '(') open.push(piece);
    else if (!inString && piece === ')') open.pop();
    code += inString || piece === '"' ? ' ' : piece;
  }
  return code;
}

/** Whether a text is a value of a kind, for files of one rule. */
export function isValue(
  kind: string | readonly string[],
  text: string,
  file: RuleData,
  where: Where,
  programs: Programs,
): boolean {
  if (typeof kind !== 'string') return kind.includes(text);
  const own = file.values?.[kind];
  if (own !== undefined && Object.hasOwn(file.values!, kind)) return isOwnValue(own, text);
  switch (kind) {
    case 'number':
      return /^\d{1,15}$/.test(text);
    case 'offset':
      return /^[+-]?\d{1,15}$/.test(text);
    case 'size':
      return UNITS.test(text);
    case 'word':
    case 'revision':
      return /^[^-]/s.test(text);
    case 'name':
      return /^[^-/][^/]*$/s.test(text);
    case 'dotted-name':
      return /^[^-]/s.test(text) && text.includes('.');
    case 'text':
    case 'pattern':
      return true;
    case 'package':
      return PACKAGE.test(text) && !/\.(?:tgz|tar|tar\.gz)$/i.test(text);
    case 'path':
    case 'directory':
      return isPath(text, where);
    case 'tree':
      return isPath(text, where) && where.every((base) => posix.resolve(base, text) !== '/');
    case 'unsigned-path':
      return isPath(text, where) && !text.startsWith('+');
    case 'local-path':
      return isPath(text, where) && !text.includes(':');
    case 'sed-program':
      return programs.sed.has(text) || isPlainSed(text);
    case 'jq-filter':
      return programs.jq.has(text) || isPlainJq(text, programs.jq);
    case 'printf-format':
      return /^(?:[^%]|%%|%[-+ 0#]*\d{0,3}(?:\.\d{0,3})?[sbqcdiouxXeEfFgG])*$/s.test(text);
  }
  return false;
}

function isOwnValue({ words = [], starts = [], template }: RuleValue, text: string): boolean {
  if (words.includes(text) || starts.some((start) => text.startsWith(start))) return true;
  if (template === undefined) return false;
  const literally = (part: string): string =>
    part.replaceAll(/[^\w]/g, (mark) => `\\u{${mark.codePointAt(0)!.toString(16)}}`);
  const longest = [...template.allow].sort((one, other) => other.length - one.length).map(literally);
  const placeholder = new RegExp(`${literally(template.mark)}(?:${longest.join('|')})`, 'gu');
  return template.after.some((prefix) => {
    if (!text.startsWith(prefix) || (prefix === '' && !text.includes(template.mark))) return false;
    return !text.slice(prefix.length).replaceAll(placeholder, '\0').includes(template.mark);
  });
}
