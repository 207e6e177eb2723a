import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { keyOf, type Line, readLines } from '../../scripts/snapshot-lines.ts';
import { CORPUS_RECORDS, snapshotPath } from '../../scripts/snapshot-rows.ts';
import { vectors } from '../rules/built-in.ts';

/*
 * What the verdicts are held to. They are read from the snapshot, which snapshot.test.ts holds to the rules; only what a
 * row of the corpus is expected to be needs the corpus itself.
 */

const corpus = new URL('../../../shared/corpus/', import.meta.url);
const linesOf = (name: string): ReadonlyMap<string, Line> =>
  new Map(readLines(readFileSync(snapshotPath(CORPUS_RECORDS, name), 'utf8')).map((line) => [line.key, line]));

const isParallel = (answer: string | undefined): boolean => answer?.startsWith('parallel') ?? false;

function rowsOf<Row>(name: string): readonly Row[] {
  const path = new URL(name, corpus);
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
}

type Labelled = { readonly cmd: string; readonly expected: string; readonly borderline: boolean };
type Seen = { readonly cmd: string; readonly count: number; readonly guess: string };

/** Bars on rows of the corpus are held where it lies; elsewhere only that it is not there at all. */
const where = existsSync(corpus) ? 'held: the corpus is here' : 'not held: the corpus is not here';

test(`the corpus is whole, or not there at all (${where})`, () => {
  const sizes = ['labelled.jsonl', 'agent-commands.jsonl'].map((name) => rowsOf(name).length);
  if (existsSync(corpus)) expect(Math.min(...sizes)).toBeGreaterThan(150);
  else expect(sizes).toEqual([0, 0]);
});

describe('the bars', () => {
  test('no hostile vector is parallel, in either mode', () => {
    const lines = [...linesOf('vectors').values()];
    const parallel = new Set(
      lines.filter(({ simple, compound }) => [simple, compound].some(isParallel)).map(({ key }) => JSON.parse(key)),
    );
    expect(lines.length).toBeGreaterThan(700);
    expect(vectors('hostile').filter(({ cmd }) => parallel.has(cmd))).toEqual([]);
  });

  test('at least 97 % of the parallel vectors are parallel', () => {
    const lines = linesOf('vectors');
    const rows = vectors('parallel').map(({ cmd }) => lines.get(JSON.stringify(cmd)));
    const missed = rows.filter((line) => !isParallel(line?.simple));
    expect({ missed, enough: missed.length <= 0.03 * rows.length }).toEqual({ missed, enough: true });
  });

  test(`no labelled row that is expected to be serial is parallel, and 97 % of the clear parallel ones are (${where})`, () => {
    const lines = linesOf('labelled');
    const rows = rowsOf<Labelled>('labelled.jsonl');
    const answer = ({ cmd }: Labelled) => lines.get(keyOf(cmd));
    expect(rows.filter((row) => answer(row) === undefined)).toEqual([]);
    const wrong = rows.filter(
      (row) => row.expected === 'serial' && [answer(row)?.simple, answer(row)?.compound].some(isParallel),
    );
    expect(wrong).toEqual([]);
    const clear = rows.filter(({ expected, borderline }) => expected === 'parallel' && !borderline);
    const missed = clear.filter((row) => !isParallel(answer(row)?.simple));
    expect({ missed, enough: missed.length <= 0.03 * clear.length }).toEqual({ missed, enough: true });
  });

  test(`at least 60 % of what agents ran to read, weighted by count, is parallel in simple mode (${where})`, () => {
    const lines = linesOf('agent-commands');
    expect(lines.size).toBeGreaterThan(8_000);
    const reads = rowsOf<Seen>('agent-commands.jsonl').filter(({ guess }) => guess === 'ro' || guess === 'cond');
    const sum = (rows: readonly Seen[]) => rows.reduce((total, { count }) => total + count, 0);
    const parallel = reads.filter(({ cmd }) => isParallel(lines.get(keyOf(cmd))?.simple));
    expect(sum(parallel)).toBeGreaterThanOrEqual(0.6 * sum(reads));
  });
});

describe('the page of borderline rows', () => {
  const page = readFileSync(new URL('borderline.md', import.meta.url), 'utf8');
  const entries = page
    .split('\n')
    .map((line) => line.split(' | ').map((cell) => cell.replaceAll(/^\| | \|$/g, '')))
    .filter(([key = '']) => /^[0-9a-f]{16}$/.test(key))
    .map(([key = '', shape = '', simple = '', compound = '', why = '']) => ({ key, shape, simple, compound, why }));

  test('says of each row its shape, both verdicts and a reason', () => {
    expect(entries.length).toBeGreaterThan(20);
    for (const { key, shape, simple, compound, why } of entries) {
      expect([key, shape.length > 3, ['parallel', 'serial'].includes(simple)]).toEqual([key, true, true]);
      expect([key, why.length > 8, ['parallel', 'serial'].includes(compound)]).toEqual([key, true, true]);
    }
  });

  test('says what the rules say', () => {
    const lines = linesOf('labelled');
    const side = (answer: string): string => (isParallel(answer) ? 'parallel' : 'serial');
    const said = entries.map(({ key, simple, compound }) => `${key} ${simple} ${compound}`);
    const held = entries.map(({ key }) => {
      const line = lines.get(key)!;
      return `${key} ${side(line.simple)} ${side(line.compound)}`;
    });
    expect(said).toEqual(held);
  });

  test(`names every borderline row of the corpus (${where})`, () => {
    const rows = rowsOf<Labelled>('labelled.jsonl').filter(({ borderline }) => borderline);
    const named = new Set(entries.map(({ key }) => key));
    expect(rows.filter(({ cmd }) => !named.has(keyOf(cmd)))).toEqual([]);
    expect(entries).toHaveLength(existsSync(corpus) ? rows.length : entries.length);
  });
});

describe('the rows that were read', () => {
  const page = readFileSync(new URL('reading.md', import.meta.url), 'utf8');
  const lines = linesOf('agent-commands');
  /** The keys of one part of the page, with what was found. */
  function rowsUnder(heading: string): readonly { readonly key: string; readonly verdict: string }[] {
    const part = page.split(/^## /m).find((text) => text.startsWith(heading)) ?? '';
    return [...part.matchAll(/^\| ([0-9a-f]{16}) \|.*\| (\w+) \|$/gm)].map(([, key = '', verdict = '']) => ({
      key,
      verdict,
    }));
  }

  test('are a hundred in simple mode and fifty in compound mode, each once, and none of them wrong', () => {
    for (const [heading, count] of [
      ['Second draw', 100],
      ['Compound mode', 50],
    ] as const) {
      const rows = rowsUnder(heading);
      expect(new Set(rows.map(({ key }) => key)).size).toBe(count);
      expect(rows.filter(({ key, verdict }) => verdict !== 'right' || !lines.has(key))).toEqual([]);
    }
  });

  test('that were wrong are serial now, in both modes', () => {
    const wrong = rowsUnder('First draw');
    expect(wrong.map(({ verdict }) => verdict)).toEqual(['wrong']);
    for (const { key } of wrong) {
      const { simple, compound } = lines.get(key)!;
      expect([key, isParallel(simple), isParallel(compound)]).toEqual([key, false, false]);
    }
  });
});
