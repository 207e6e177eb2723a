import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { BUILT_IN_DIRECTORY, readRuleDirectory } from '../../src/rules/sources.ts';
import type { Figures } from './figures.ts';
import { binariesOfPage, missingOfPage, pageOf } from './page.ts';

/** What the rule files say of being proved, held against the page of the last long run. */

const files = readRuleDirectory(BUILT_IN_DIRECTORY).map(({ file }) => file);
const page = readFileSync(new URL('../../docs/proof.md', import.meta.url), 'utf8');
const binaries = binariesOfPage(page);
const missing = missingOfPage(page);
// What has a meaning only behind a pipe is run in compounds.
const alone = files.filter(({ only, maturity }) => only !== 'compound' && maturity === 'stable');

describe('a stable file', () => {
  test('says whether it was proved by execution', () => {
    const silent = alone.filter(({ reviewed }) => reviewed.proved === undefined);
    expect(silent.map(({ binary }) => binary)).toEqual([]);
    expect(alone.length).toBeGreaterThan(150);
  });

  test('that says so stands on the page of the last long run, with nothing found', () => {
    const proved = alone.filter(({ reviewed }) => reviewed.proved !== 'no');
    const doubtful = proved.filter(({ binary }) => {
      const row = binaries.get(binary);
      return row === undefined || row.run === 0 || row.found > 0;
    });
    expect(doubtful.map(({ binary }) => binary)).toEqual([]);
  });

  test('that was not run says why, and was not on that machine', () => {
    const others = alone.filter(({ reviewed }) => reviewed.proved === 'no');
    for (const { binary, reviewed } of others) {
      expect(reviewed.how, binary).toContain('no run proves it');
      expect(missing).toContain(binary);
    }
    expect(others.length).toBeLessThan(5);
  });

  test('that was proved only as far as a connection talks to somebody', () => {
    const clients = alone.filter(({ reviewed }) => reviewed.proved === 'client');
    expect(clients.map(({ binary }) => binary)).toContain('docker');
    for (const { binary, command } of clients) {
      expect(JSON.stringify(command), binary).toMatch(/"(?:daemon|remote)"/);
    }
  });
});

describe('docs/proof.md', () => {
  test('names rules that exist, and no other', () => {
    const names = new Set(files.flatMap(({ binary, also = [] }) => [binary, ...also]));
    expect([...binaries.keys()].filter((name) => !names.has(name))).toEqual([]);
    expect(binaries.size).toBeGreaterThan(150);
  });

  test('tells of more than 1,500 commands, and that nothing was found', () => {
    const rows = [...binaries.values()];
    expect(rows.reduce((sum, { run }) => sum + run, 0)).toBeGreaterThanOrEqual(1500);
    expect(rows.filter(({ found }) => found > 0)).toEqual([]);
  });

  test('says on which day, which machine and of which rules', () => {
    expect(page).toMatch(/^- On: \d{4}-\d\d-\d\d$/m);
    expect(page).toMatch(/^- Machine: .+, Node v\d+/m);
    expect(page).toMatch(/^- Rule set: `sha256:[0-9a-f]{64}`, as it was then$/m);
  });
});

describe('the page of a run', () => {
  const options = { kind: 'option', all: 4, run: 3, answered: 2 } as const;
  const row = { binary: 'tool', maturity: 'stable', version: '1.0', run: 7, found: 1, answered: 6, options };
  const figures: Figures = {
    machine: 'one, Node v20',
    on: '2026-12-01',
    ruleset: 'sha256:0',
    sources: [{ source: 'example', run: 7, found: 1, answered: 6 }],
    left: 2,
    corpus: { drawn: 5, others: 1, mapped: 2 },
    comparisons: { same: 3, unsteady: 1, differs: 0 },
    entries: [options],
    binaries: [row],
    missing: ['other', '['],
    notRun: [{ key: 'tool -x', why: 'there was no time' }],
    exceptions: [{ binary: 'tool', what: '$HOME/.tool/*', why: 'a | in it' }],
  };
  const made = pageOf(figures);

  test('can be read back', () => {
    expect([...binariesOfPage(made)]).toEqual([['tool', { run: 7, found: 1 }]]);
    expect(missingOfPage(made)).toEqual(['other', '[']);
  });

  test('tells what was not run, and what there was no time for', () => {
    expect(made).toContain('- there was no time: `tool -x`');
    expect(made).toContain('There was no time for 2 more.');
    expect(made).toContain('| options | 4 | 3 | 75.0 % | 2 |');
    expect(made).toContain('a \\| in it');
  });
});
