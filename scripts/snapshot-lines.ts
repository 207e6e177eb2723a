import { createHash } from 'node:crypto';

/** What a command was answered: `parallel` and the rules it rests on, or the code of the reason why not. */
export type Answers = { readonly simple: string; readonly compound: string };

/** One line of a snapshot. `key` stands for the command: its hash, or the text itself where that may be published. */
export type Line = Answers & { readonly key: string };

/** The first 16 hexadecimal digits of the SHA-256 of a command: texts of a corpus stay out of the repository. */
export function keyOf(command: string): string {
  return createHash('sha256').update(command, 'utf8').digest('hex').slice(0, 16);
}

/** The answer in compound mode is left out where it is the one of simple mode. */
const SAME = '=';

/** Lines in the order of their keys, each key once. Fields are parted by a tab, and the key is last. */
export function writeLines(lines: readonly Line[]): string {
  const byKey = new Map(lines.map((line) => [line.key, line]));
  const sorted = [...byKey.values()].sort((one, other) => (one.key < other.key ? -1 : 1));
  return sorted
    .map(({ simple, compound, key }) => `${simple}\t${compound === simple ? SAME : compound}\t${key}\n`)
    .join('');
}

export function readLines(text: string): readonly Line[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [simple, field, key, ...more] = line.split('\t');
      if (key === undefined || more.length > 0) throw new Error(`Expected three fields, got ${JSON.stringify(line)}`);
      return { simple: simple!, compound: field === SAME ? simple! : field!, key };
    });
}

const isParallel = (answer: string): boolean => answer.startsWith('parallel');

/** A verdict that went from serial to parallel, in the mode where it did. */
export type Loosening = {
  readonly key: string;
  readonly mode: keyof Answers;
  readonly was: string;
  readonly is: string;
};

/** Every verdict that went from serial to parallel. A command that was not there before loosens nothing. */
export function looseningsOf(before: readonly Line[], after: readonly Line[]): readonly Loosening[] {
  const known = new Map(before.map((line) => [line.key, line]));
  const found: Loosening[] = [];
  for (const line of after) {
    for (const mode of ['simple', 'compound'] as const) {
      const was = known.get(line.key)?.[mode];
      const is = line[mode];
      if (was !== undefined && !isParallel(was) && isParallel(is)) found.push({ key: line.key, mode, was, is });
    }
  }
  return found;
}

/** One entry of loosened.md: which rows may go from serial to parallel, why, and how that is known. */
export type Entry = {
  readonly title: string;
  readonly rows: readonly string[];
  /** The path of a rule: each row that it makes parallel. */
  readonly family: string | null;
  readonly evidence: string;
  /** What the script wrote when the entry was used; a used entry permits nothing more. */
  readonly applied: string | null;
};

const LEAST_EVIDENCE = 40;

/** The entries behind the second rule of the page; what stands before it explains the format. */
export function readEntries(page: string): readonly Entry[] {
  const [, body = ''] = page.split('\n---\n');
  return body
    .split(/^## /m)
    .slice(1)
    .map((text) => {
      const [title = '', ...lines] = text.split('\n');
      const field = (name: string): string | null =>
        lines.find((line) => line.startsWith(`- ${name}: `))?.slice(name.length + 4) ?? null;
      const rows = (field('rows') ?? '').split(/[ ,]+/).filter((row) => row !== '');
      const family = field('family');
      const evidence = field('evidence') ?? '';
      if (rows.length > 0 === (family !== null)) throw new Error(`${title}: expected either rows or a family`);
      if ((field('why') ?? '') === '') throw new Error(`${title}: expected a why`);
      if (evidence.length < LEAST_EVIDENCE) {
        throw new Error(`${title}: expected evidence of at least ${LEAST_EVIDENCE} characters`);
      }
      return { title, rows, family, evidence, applied: field('applied') };
    });
}

/** The hash of the command that a key stands for: vectors are keyed by their text. */
export function hashOf(key: string): string {
  return key.startsWith('"') ? keyOf(JSON.parse(key)) : key;
}

/** The entry that permits a loosening, if one does. */
export function entryFor(loosening: Loosening, entries: readonly Entry[]): Entry | undefined {
  const hash = hashOf(loosening.key);
  const rules = new Set(loosening.is.slice('parallel '.length).split(' + '));
  return entries.find(
    ({ rows, family, applied }) => applied === null && (rows.includes(hash) || (family !== null && rules.has(family))),
  );
}
