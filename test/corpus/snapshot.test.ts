import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  entryFor,
  keyOf,
  type Line,
  looseningsOf,
  readEntries,
  readLines,
  writeLines,
} from '../../scripts/snapshot-lines.ts';
import { CORPUS_RECORDS, loosenedPath, SNAPSHOT_NAMES, snapshotPath, snapshots } from '../../scripts/snapshot-rows.ts';
import { loadRules } from '../../src/rules/load.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const kept = (name: string): string => readFileSync(snapshotPath(CORPUS_RECORDS, name), 'utf8');

describe('the snapshot of the verdicts', () => {
  const taken = snapshots(loadRules());

  test('the vectors are always among what is held to it', () => {
    expect(taken.map(({ name }) => name)).toContain('vectors');
    expect(taken.every(({ lines }) => lines.length > 100)).toBe(true);
  });

  test('holds of every command that is here; `npm run snapshot` writes it anew', () => {
    for (const { name, lines } of taken) {
      const before = kept(name).split('\n');
      const now = writeLines(lines).split('\n');
      const gone = new Set(before);
      const changed = now.filter((line) => !gone.has(line));
      expect([name, changed, before.length]).toEqual([name, [], now.length]);
    }
  });

  test('holds no text of a corpus, and is small', () => {
    const sizes = SNAPSHOT_NAMES.map((name) => statSync(snapshotPath(CORPUS_RECORDS, name)).size);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(1_000_000);
    for (const name of SNAPSHOT_NAMES.filter((one) => one !== 'vectors')) {
      const foreign = readLines(kept(name)).filter(({ key }) => !/^[0-9a-f]{16}$/.test(key));
      expect([name, foreign]).toEqual([name, []]);
    }
  });

  test('every entry that permits a loosening has a reason and evidence', () => {
    const entries = readEntries(readFileSync(loosenedPath(CORPUS_RECORDS), 'utf8'));
    expect(entries.filter(({ evidence }) => evidence.length < 40)).toEqual([]);
  });
});

const line = (key: string, simple: string, compound = simple): Line => ({ key, simple, compound });
const entry = (fields: string): string => `# Page\n\n---\n\n## A title\n${fields}`;
const EVIDENCE = '- why: too strict\n- evidence: strace of the command on version 3.8 shows reads only\n';

describe('a loosening', () => {
  test('is a verdict that went from serial to parallel, in either mode, of a command that was there before', () => {
    const before = [
      line('a', 'TEXT_OPERATOR', 'TEXT_OPERATOR'),
      line('b', 'COMMAND_UNKNOWN', 'parallel x'),
      line('c', 'parallel ls', 'parallel ls'),
    ];
    const after = [
      line('a', 'TEXT_OPERATOR', 'parallel ls + wc'),
      line('b', 'parallel x', 'parallel x'),
      line('c', 'OPTION_UNKNOWN', 'parallel dir'),
      line('d', 'parallel ls', 'parallel ls'),
    ];
    expect(looseningsOf(before, after)).toEqual([
      { key: 'a', mode: 'compound', was: 'TEXT_OPERATOR', is: 'parallel ls + wc' },
      { key: 'b', mode: 'simple', was: 'COMMAND_UNKNOWN', is: 'parallel x' },
    ]);
    expect(looseningsOf(readLines(writeLines(before)), after)).toHaveLength(2);
  });

  test('is permitted by an entry that names its row, or one of its rules, and was not used yet', () => {
    const key = keyOf('ls | wc -l');
    const loosening = { key, mode: 'compound', was: 'TEXT_OPERATOR', is: 'parallel ls + wc' } as const;
    const permitted = (fields: string) => entryFor(loosening, readEntries(entry(fields))) !== undefined;
    expect(permitted(`- rows: 0123456789abcdef, ${key}\n${EVIDENCE}`)).toBe(true);
    expect(permitted(`- family: wc\n${EVIDENCE}`)).toBe(true);
    expect(permitted(`- rows: 0123456789abcdef\n${EVIDENCE}`)).toBe(false);
    expect(permitted(`- family: l\n${EVIDENCE}`)).toBe(false);
    expect(permitted(`- applied: 1 verdict\n- family: wc\n${EVIDENCE}`)).toBe(false);
    const vector = { ...loosening, key: JSON.stringify('ls | wc -l') };
    expect(entryFor(vector, readEntries(entry(`- rows: ${key}\n${EVIDENCE}`)))).toBeDefined();
  });

  test('an entry without rows, reason or evidence is an error', () => {
    for (const fields of [
      EVIDENCE,
      '- family: ls\n- evidence: strace of the command on version 3.8 shows reads only\n',
      '- family: ls\n- why: too strict\n',
      '- family: ls\n- why: too strict\n- evidence: trust me\n',
    ])
      expect(() => readEntries(entry(fields))).toThrow(/expected/);
  });
});

describe('npm run snapshot', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'signalbox-snapshot-'));
    mkdirSync(join(directory, 'snapshot'));
    copyFileSync(loosenedPath(CORPUS_RECORDS), loosenedPath(directory));
    copyFileSync(snapshotPath(CORPUS_RECORDS, 'vectors'), snapshotPath(directory, 'vectors'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  const key = JSON.stringify('ls -la');
  /** As if the rules had refused one vector before. */
  function beforeIt(): void {
    const lines = readLines(kept('vectors')).map((one) => (one.key === key ? line(key, 'OPTION_UNKNOWN') : one));
    writeFileSync(snapshotPath(directory, 'vectors'), writeLines(lines));
  }
  const update = () =>
    spawnSync(process.execPath, ['--import', 'tsx', 'scripts/snapshot.ts', directory], { cwd: root, encoding: 'utf8' });
  const written = () => readFileSync(snapshotPath(directory, 'vectors'), 'utf8');

  test('writes nothing when a line would loosen without an entry, and names the row', () => {
    beforeIt();
    const before = written();
    const { status, stderr } = update();
    expect(status).toBe(1);
    expect(stderr).toContain(`${keyOf('ls -la')}  ${key}  simple: OPTION_UNKNOWN -> parallel ls`);
    expect(written()).toBe(before);
  });

  test('writes it with an entry, and notes that the entry was used', () => {
    beforeIt();
    writeFileSync(loosenedPath(directory), entry(`- rows: ${keyOf('ls -la')}\n${EVIDENCE}`));
    expect(update()).toMatchObject({ status: 0, stderr: '' });
    expect(written()).toBe(kept('vectors'));
    expect(readFileSync(loosenedPath(directory), 'utf8')).toContain(
      '## A title\n- applied: 2 verdicts, with the rules ',
    );
    beforeIt();
    expect(update().status).toBe(1);
  });

  test('writes a line that became stricter without being asked why', () => {
    const stricter = readLines(kept('vectors')).map((one) => ({
      ...one,
      simple: 'parallel ls',
      compound: 'parallel ls',
    }));
    writeFileSync(snapshotPath(directory, 'vectors'), writeLines(stricter));
    expect(update()).toMatchObject({ status: 0, stderr: '' });
    expect(written()).toBe(kept('vectors'));
  });
});
