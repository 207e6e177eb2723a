import { builtInKind, type Kind } from '../classifier/kinds.ts';
import type { RuleValue } from './schema.ts';

/** Texts to try where a built-in kind is asked for: the first is one, the others may be. */
const OF_KIND: ReadonlyMap<string, readonly string[]> = new Map([
  ['number', ['3', 'x']],
  ['offset', ['+3', '3', 'x']],
  ['size', ['+3k', '3', 'x']],
  ['word', ['x', '']],
  ['name', ['x', './x', '']],
  ['text', ['-x', 'x', '/dev/tty']],
  ['pattern', ['-x', 'x', '/dev/tty']],
  ['path', ['f', '/dev/tty', '']],
  ['tree', ['d', '/', '/dev/tty', '']],
  ['unsigned-path', ['f', '+f', '/dev/tty', '']],
  ['local-path', ['f', 'h:f', '/dev/tty']],
  ['directory', ['d', '/dev', '']],
  ['revision', ['HEAD', '']],
  ['dotted-name', ['a.b', 'ab']],
  ['package', ['x', './x']],
  ['sed-program', ['p', 'w f']],
  ['jq-filter', ['.', 'input']],
  ['printf-format', ['%s', '%n', '%*d']],
]);

/** A text that no list of words and no template is likely to hold. */
const STRANGE = ['-x', 'zz', '%G?', '%zz'];

/** Texts that are of a kind, and some that are not; the first is of the kind. */
export function samplesOf(kind: Kind): readonly string[] {
  const { definition, name } = kind;
  if (definition === undefined) return OF_KIND.get(name) ?? ['x'];
  const own = Array.isArray(definition) ? (definition as readonly string[]) : samplesOfValue(definition as RuleValue);
  const accepted = own.filter((text) => kind.refuses(text, { base: '', piped: false }) === null);
  return [...accepted, ...STRANGE];
}

function samplesOfValue({ words = [], starts = [], template }: RuleValue): readonly string[] {
  const placeholders = (template?.after ?? []).flatMap((prefix) =>
    (template?.allow ?? []).map((text) => `${prefix}${template?.mark}${text}`),
  );
  return [...words, ...starts.map((prefix) => `${prefix}1`), ...placeholders];
}

/** Every built-in kind has samples: a test holds this to it. */
export function hasSamples(name: string): boolean {
  return builtInKind(name) !== undefined && OF_KIND.has(name);
}

/** A word as a shell reads it back: bare where that is safe, else between single quotes. */
export function worded(text: string): string {
  const bare = text !== '' && [...text].every((character) => /[A-Za-z0-9_+.,:=@/-]/.test(character));
  return bare ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
