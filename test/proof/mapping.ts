import { existsSync } from 'node:fs';
import { classify, judge } from '../../src/classifier/classify.ts';
import { lex } from '../../src/classifier/lexer.ts';
import type { RuleSet } from '../../src/classifier/rule-set.ts';

/**
 * Gives a command that was seen elsewhere paths that the fixture can have: those outside the project go into it, under
 * the same names; commits become one that is there. A command whose verdict would be of another rule stays as it was.
 */
export function mapped(command: string, rules: RuleSet): string {
  const before = classify(command, { rules });
  const { directories, paths } = judge(command, { rules });
  const replaced = new Map<string, string>();
  for (const { text } of paths) replaced.set(text, placeFor(text));
  for (const text of directories) replaced.set(text, '.');
  const lexed = lex(command, undefined);
  if (!lexed.ok) return command;
  let after = command;
  for (const word of [...lexed.words].reverse()) {
    const [start, end] = [word.start, word.end];
    const raw = command.slice(start, end);
    const to = isCommit(raw) ? 'HEAD~1' : wordFor(raw, replaced);
    after = `${after.slice(0, start)}${to}${after.slice(end)}`;
  }
  const verdict = classify(after, { rules });
  const isSame =
    verdict.kind === 'parallel' && before.kind === 'parallel' && verdict.rule[0]?.path === before.rule[0]?.path;
  return isSame ? after : command;
}

/** The word with the longest path that it ends with replaced: it may stand behind an option. */
export function wordFor(raw: string, replaced: ReadonlyMap<string, string>): string {
  const quote = raw.endsWith('"') || raw.endsWith("'") ? raw.slice(-1) : '';
  const text = quote === '' ? raw : raw.slice(0, -1);
  const [from] = [...replaced.keys()].filter((path) => text.endsWith(path)).sort((a, b) => b.length - a.length);
  if (from === undefined || from === '') return raw;
  return `${text.slice(0, -from.length)}${replaced.get(from)}${quote}`;
}

/** What every machine has stays; what would be elsewhere is in the project. */
export function placeFor(path: string): string {
  const first = path.split('/')[1] ?? '';
  const isSystems = ['bin', 'etc', 'lib', 'sbin', 'usr', 'var', 'opt'].includes(first) && path.startsWith('/');
  if (isSystems && existsSync(path)) return path;
  const parts = path.split('/').filter((part) => part !== '' && part !== '..' && part !== '.');
  const inside = parts.join('/');
  if (inside === '') return '.';
  if (inside === path || `./${inside}` === path) return path;
  return path.endsWith('/') ? `${inside}/` : inside;
}

const HEXADECIMAL = '0123456789abcdef';

/** Seven hexadecimal digits or more with a figure among them name a commit of somebody's repository. */
function isCommit(word: string): boolean {
  const isHexadecimal = word.length >= 7 && word.length <= 40 && [...word].every((one) => HEXADECIMAL.includes(one));
  return isHexadecimal && [...word].some((one) => one >= '0' && one <= '9');
}
